"""Tunings, and their paired games between parameter values: openings to learn from and openings held out, and journals.

A journal has the settings, then a line per batch. It is the only state; a tuning resumes where it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.rules.game import USUAL_SIZE, Limit, Size
from knights_isolation.isolation.rules.seeds import splitmix64

from ..plan import Spec, complete, make_agent, named, parse_spec, settings_text
from ..plan.openings import OpeningSet, orbit_ids, random_openings, split_of
from ..play.cluster.cluster_access import UserFile, chosen, files_of, placed_specs
from ..play.parallel_map import parallel_mapper
from ..record.checked_lines import append_lines, open_journal
from ..statistics.proportions import Interval, mean_parts, rate_interval
from .parameter_space import Space, Vector, space_of

if TYPE_CHECKING:
    from knights_isolation.isolation.search.agents import Agent

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BatchResult:
    """Results of a batch: for each opening a digit, the games won by the first agent, and the games lost by anything
    but having no move."""

    key: int
    won: str
    forfeits: int

    @classmethod
    def of(cls, key: int, wins: Ints, forfeits: int) -> BatchResult:
        """The result of a batch of which so many games were won by opening: int64[n]."""
        return cls(key, "".join(map(str, wins.tolist())), forfeits)

    @property
    def each(self) -> Ints:
        """int64[n], games won of each opening's two."""
        return np.array(list(map(int, self.won)), np.int64)

    @property
    def openings(self) -> int:
        """How many were played."""
        return len(self.won)

    @property
    def wins(self) -> int:
        """Games won in all."""
        return int(self.each.sum())

    @property
    def squares(self) -> float:
        """The sum over openings of the squared deviation of their wins from the mean."""
        return float(((self.each - self.each.mean()) ** 2).sum())


@dataclass(frozen=True)
class Batch:
    """Openings to be played by two agents, each twice with sides swapped: by key, specs, and the openings' numbers."""

    key: int
    first: str
    second: str
    openings: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class OpeningPool:
    """Openings of one side of the split, and their orbits: int64[n]."""

    openings: OpeningSet
    orbits: Ints

    def __len__(self) -> int:
        return len(self.openings)

    def batch(self, key: int, first: str, second: str, start: int, count: int) -> Batch:
        """So many openings from a place on, around and around."""
        numbers = tuple(number % len(self) for number in range(start, start + count))
        return Batch(key, first, second, tuple(self.openings[number] for number in numbers), numbers)

    def orbits_of(self, start: int, count: int) -> Ints:
        """Return the orbits of so many openings from a place on: int64[count]."""
        orbits: Ints = self.orbits[np.arange(start, start + count) % len(self)]
        return orbits


def pool_of(size: Size, plies: int, count: int, seed: int) -> OpeningPool:
    """Draw at most `count` random openings of the half for fitting.

    Raises:
        ValueError: the board has too few openings of that many plies.
    """
    drawn = random_openings(size, plies, 2 * count + 200, seed)
    orbits = orbit_ids(drawn.cells, size)
    rows = np.flatnonzero(split_of(orbits) == "fit")[:count]
    if not len(rows):
        raise ValueError(f"a {size} board has too few openings of {plies} plies to hold some out; use more plies")
    return OpeningPool(OpeningSet(size, drawn.cells[rows], 0), np.unique(orbits[rows], return_inverse=True)[1])


def subject_of(text: str, limit: Limit | None, *, needs: str = "heuristic") -> Spec:
    """The completed spec of an agent that goes by a heuristic, or only needs to search under a limit.

    Raises:
        ValueError: the spec names no agent, or the agent has no heuristic or `limit`, whichever it `needs`.
    """
    spec = complete(named(parse_spec(text)), limit)
    if needs == "heuristic" and (not spec.method or spec.target in ("", "*")):
        raise ValueError(f"{text} has no heuristic with parameters: name one, as in ID:my.py:score")
    if needs == "limit" and (not spec.method or spec.target == "*" or spec.limit is None):
        raise ValueError(f"--over: {text} has no limit to sweep; use a search such as ID:improved or MCTS")
    return spec


def opponent_of(text: str) -> Spec:
    """The spec of an opponent, named.

    Raises:
        ValueError: the spec names no agent, or it is a pattern for many agents.
    """
    spec = named(parse_spec(text))
    if spec.target == "*":
        raise ValueError(f"--opponent: {text} matches many agents; name one of them")
    return spec


def with_values(spec: Spec, values: Mapping[str, float]) -> Spec:
    """Return the spec of the agent with these values of some parameters, under the same name."""
    return replace(spec, parameters=tuple(sorted((dict(spec.parameters) | dict(values)).items())))


PlayBatches = Callable[[Sequence[Batch]], Iterator[BatchResult]]
"""What becomes of batches, in no order."""


@contextmanager
def playing(size: Size, jobs: int = 1, cluster: str | None = None) -> Iterator[PlayBatches]:
    """Return a function that plays batches on boards of one size; see `parallel_mapper`."""
    with parallel_mapper(jobs, cluster) as spread:

        def play(batches: Sequence[Batch]) -> Iterator[BatchResult]:
            specs = (spec for batch in batches for spec in (batch.first, batch.second))
            files = files_of(specs) if chosen(cluster, jobs) else ()
            return spread(play_batch, ((batch, size, files) for batch in batches))

        yield play


def play_batch(batch: Batch, size: Size, files: Sequence[UserFile] = ()) -> BatchResult:
    """Play every opening of a batch twice, by agents that may come from these users' files of another machine."""
    first, second = (make_agent(parse_spec(text)) for text in placed_specs((batch.first, batch.second), files))
    return BatchResult.of(batch.key, *play_pairs(first, second, batch.openings, batch.numbers, size))


def play_pairs(
    first: Agent, second: Agent, openings: Sequence[Sequence[int]], numbers: Iterable[int], size: Size
) -> tuple[Ints, int]:
    """Play every opening twice with sides swapped; seeds follow from the openings' numbers.

    Returns:
        int64[n], the games that the first agent won of each opening's two, and how many games were forfeited.
    """
    from knights_isolation.isolation.games.match import play_games

    seeds = [int(splitmix64(number + 1)) for number in numbers]
    games = (play_games(first, second, openings, seeds, size), play_games(second, first, openings, seeds, size))
    wins = (games[0].winner == 1).astype(np.int64) + (games[1].winner == 2)
    return wins, sum(int(game.is_forfeit.sum()) for game in games)


def prepare(specs: Sequence[str], size: Size) -> list[Agent]:
    """The agents of specs, compiled, so that workers find their code.

    Raises:
        SpecError: a spec names no agent.
    """
    agents = [make_agent(parse_spec(text)) for text in specs]
    for agent in agents:
        agent.compiled(size)
    return agents


def kept_results(path: Path | None, question: Mapping[str, Any]) -> dict[int, BatchResult]:
    """Return the batches that a tuning's file has, by key; begin it if there is none. Without a path none are kept.

    Raises:
        ValueError: the file has other settings, is damaged, or is not a journal.
    """
    played = open_journal(path, question, lambda line: BatchResult(**line)) if path else []
    return {result.key: result for result in played}


@dataclass(frozen=True)
class SpsaPlan:
    """How a run goes: after each round the parameters move.

    So many `directions`, pairs of ends drawn by `seed`, are played a round; each plays so many openings, two games
    each.
    """

    rounds: int
    directions: int
    openings: int
    seed: int

    @property
    def games(self) -> int:
        """Total number of games."""
        return 2 * self.rounds * self.directions * self.openings


def plan_of(games: float, seed: int, rounds: int = 100) -> SpsaPlan:
    """A plan of about so many games: eight directions, and fewer rounds if a direction had fewer than 8 openings."""
    rounds = max(1, min(rounds, int(games // (2 * DIRECTIONS * 8))))
    return SpsaPlan(rounds, DIRECTIONS, max(1, round(games / (2 * rounds * DIRECTIONS))), seed)


DIRECTIONS = 8
OPENINGS = 4000
"""Number of openings to tune on, if the board has as many."""
Sampler = Literal["spsa", "optuna"]


@dataclass(frozen=True)
class TuningTask:
    """A tuning: agent, opponent, board, random openings and plan.

    Both specs are completed; without an opponent the agent meets itself with other values. `wanted` are the parameters
    to tune, all if empty. `openings` is the largest number of openings to tune on. `sampler` chooses the values.
    """

    spec: Spec
    opponent: Spec | None
    wanted: tuple[str, ...] = ()
    size: Size = USUAL_SIZE
    plies: int = 4
    openings: int = OPENINGS
    plan: SpsaPlan = plan_of(20_000, 1)
    sampler: Sampler = "spsa"


@dataclass(frozen=True)
class Study:
    """A tuning that is being played: what is tuned, on which openings, and the results so far by the batches' keys.

    `play` plays batches; what it played is appended to the file `out`, if there is one.
    """

    question: TuningTask
    space: Space
    pool: OpeningPool
    play: PlayBatches
    results: dict[int, BatchResult] = field(default_factory=dict)
    out: Path | None = None

    @property
    def is_against_itself(self) -> bool:
        """Whether values meet those of the agent as it is, not an opponent."""
        return self.question.opponent is None

    def meet(self, batches: Sequence[Batch]) -> list[BatchResult]:
        """Return the results of batches in order; missing ones are played, and kept as they finish."""
        missing = [batch for batch in batches if batch.key not in self.results]
        for result in self.play(missing) if missing else ():
            self.results[result.key] = result
            if self.out:
                append_lines(self.out, [asdict(result)])
        return [self.results[batch.key] for batch in batches]

    def text_of(self, point: Vector | Sequence[float]) -> str:
        """Return the spec of the agent under values of the parameters that are tuned."""
        return str(with_values(self.question.spec, self.space.values(np.asarray(point))))

    def against_opponent(
        self, points: Sequence[Vector | Sequence[float]], key: int, first: int, count: int
    ) -> list[Batch]:
        """Return batches of values against the opponent, or the agent as it is, on openings from a place on."""
        other = str(self.question.opponent or self.question.spec)
        return [self.pool.batch(key + n, self.text_of(point), other, first, count) for n, point in enumerate(points)]


@contextmanager
def opened_study(
    question: TuningTask, out: Path | None, described: Callable[[Space], Mapping[str, object]], **where: Any
) -> Iterator[Study]:
    """Start a tuning, or resume it where its journal ends; Optuna tunes categorical parameters as well.

    For the arguments see `tuning.tune`; `described` returns further settings that determine the games.

    Raises:
        ValueError: there is nothing to tune, or `out` has other settings.
    """
    specs = [spec for spec in (question.spec, question.opponent) if spec]
    agents = prepare([str(spec) for spec in specs], question.size)
    settings = [settings_text(spec, agent) for spec, agent in zip(specs, agents, strict=True)]
    if len(set(settings)) < len(settings):
        raise ValueError(f"--opponent: {specs[1].name} is the agent itself, which it meets without the option")
    assert agents[0].heuristic is not None
    space = space_of(agents[0].heuristic, question.wanted, with_choices=question.sampler == "optuna")
    pool = pool_of(question.size, question.plies, question.openings, question.plan.seed)
    openings, plan = [question.plies, len(pool)], asdict(question.plan)
    facts = {**described(space), "agents": settings, "size": str(question.size), "openings": openings, "plan": plan}
    with playing(question.size, **where) as play:
        yield Study(question, space, pool, play, kept_results(out, facts), out)


def promise(leads: Ints, orbits: Ints, against_itself: bool) -> Interval:
    """Return the result of the finals: the share of games won against the old values, or the gain.

    Args:
        leads: int64[n], of each opening's two games, those won by the new values less those won by the old.
        orbits: int64[n], of the openings.
        against_itself: whether new and old met each other; else both met the opponent.
    """
    by_orbit, games = np.bincount(orbits, leads), 2 * np.bincount(orbits)
    met = games > 0
    if against_itself:
        return rate_interval(by_orbit[met] + games[met] / 2, games[met])
    return mean_parts(by_orbit[met] / games[met]).alone
