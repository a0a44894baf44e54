"""Tune parameters by games: a sampler proposes the values that play, round by round; finals; and a judgement.

Openings are split by orbit: values are tuned on those of one half, and judged on those of the other. The games of a
tuning are kept in a journal, which has the settings, then a line for each batch. It is the only state; a tuning resumes
where it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from knights_isolation.isolation.rules.game import USUAL_SIZE, Limit, Size
from knights_isolation.isolation.rules.seeds import splitmix64

from ..plan import AgentLike, Spec, complete, make_agent, named, parse_limit, parse_spec, settings_text, spec_of
from ..plan.openings import OpeningSet, orbit_ids, random_openings, split_of
from ..plan.run_keeping import kept_config
from ..play.cluster.cluster_access import UserFile, chosen, files_of, placed_specs
from ..play.parallel_map import parallel_mapper
from ..play.runner import Play, play_kept, play_tournament
from ..record.checked_lines import append_lines, open_journal
from ..statistics.contender_verdicts import judge as judge_run
from ..statistics.game_pairs import matchups
from ..statistics.paired_differences import compare_directly
from ..statistics.proportions import Floats, Interval, Ints
from ..statistics.run_results import load_findings
from .parameter_space import Space, TunedParameter, space_of
from .samplers import BatchResult, Meeting, OptunaSearch, Spsa, SpsaPlan, check_optuna, plan_of, sampling_plan

if TYPE_CHECKING:
    from knights_isolation.isolation.search.agents import Agent


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
        """Return so many openings from a place on, around and around."""
        numbers = tuple(number % len(self) for number in range(start, start + count))
        return Batch(key, first, second, tuple(self.openings[number] for number in numbers), numbers)

    def orbits_of(self, meetings: Sequence[Meeting]) -> Ints:
        """Return the orbits of the openings of meetings that share them all: int64[n]; none without meetings."""
        places = np.arange(meetings[0].openings) + meetings[0].first if meetings else np.empty(0, np.int64)
        orbits: Ints = self.orbits[places % len(self)]
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
    """Return the agents of specs, compiled, so that workers find their code.

    Raises:
        SpecError: a spec names no agent.
    """
    agents = [make_agent(parse_spec(text)) for text in specs]
    for agent in agents:
        agent.compiled(size)
    return agents


def subject_of(text: str, limit: Limit | None, *, needs: str = "heuristic") -> Spec:
    """Return the completed spec of an agent that goes by a heuristic; it may `need` a limit to search under instead.

    Raises:
        ValueError: the spec names no agent, or the agent has not what it needs.
    """
    spec = complete(named(parse_spec(text)), limit)
    if needs == "heuristic" and (not spec.method or spec.target in ("", "*")):
        raise ValueError(f"{text} has no heuristic with parameters: name one, as in ID:my.py:score")
    if needs == "limit" and (not spec.method or spec.target == "*" or spec.limit is None):
        raise ValueError(f"--over: {text} has no limit to sweep; use a search such as ID:improved or MCTS")
    return spec


def opponent_of(text: str) -> Spec:
    """Return the spec of an opponent, named.

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


def tuning_task(
    agent: AgentLike, opponent: AgentLike | None, limit: str, games: int, seed: int, sampler: Sampler, **asked: Any
) -> TuningTask:
    """Return the task of tuning an agent's parameters by about so many games; `asked` are further fields of it.

    Raises:
        ValueError: a spec or the limit is invalid, the agent has no heuristic, or Optuna is not installed.
    """
    if sampler == "optuna":
        check_optuna()
    bound, plan_games = parse_limit(limit), sampling_plan if sampler == "optuna" else plan_of
    subject = subject_of(spec_of(agent), bound)
    other = complete(opponent_of(spec_of(opponent)), bound) if opponent else None
    plan = plan_games(games // 2 if other else games, seed)
    return TuningTask(subject, other, tuple(asked.pop("wanted", ())), plan=plan, sampler=sampler, **asked)


@dataclass(frozen=True)
class TuningProgress:
    """Progress: rounds done and planned, parameter names, and the path so far, float64[rounds + 1, p]."""

    done: int
    rounds: int
    names: tuple[str, ...]
    path: Floats


@dataclass(frozen=True)
class Tuning:
    """Result of a tuning: the parameters, the result of the finals, the games, and the path of the search.

    `promised` is the share of games that the new values should win against the old, or their gain against the opponent.
    `vectors` is the number of different vectors that Optuna tried; None for SPSA.
    """

    parameters: tuple[TunedParameter, ...]
    promised: Interval
    games: int
    forfeits: int
    path: Floats = field(compare=False)
    vectors: int | None = None

    @property
    def values(self) -> dict[str, float]:
        """The new values of the parameters that change."""
        return {parameter.name: parameter.after for parameter in self.parameters if parameter.after != parameter.before}


@dataclass(frozen=True)
class Study:
    """A tuning that is being played: its openings, and the results so far by key, kept in a file `out`."""

    question: TuningTask
    space: Space
    pool: OpeningPool
    results: dict[int, BatchResult]
    play: PlayBatches
    out: Path | None

    def meet(self, meetings: Sequence[Meeting]) -> list[BatchResult]:
        """Return the results of meetings in order; missing ones are played, and kept as they finish."""
        missing = [
            self.pool.batch(each.key, self._spec(each.values), self._spec(each.other), each.first, each.openings)
            for each in meetings
            if each.key not in self.results
        ]
        for result in self.play(missing) if missing else ():
            self.results[result.key] = result
            if self.out:
                append_lines(self.out, [asdict(result)])
        return [self.results[each.key] for each in meetings]

    def _spec(self, values: Floats | None) -> str:
        if values is None:
            return str(self.question.opponent or self.question.spec)
        return str(with_values(self.question.spec, self.space.values(values)))


def tune(
    question: TuningTask,
    out: Path | None = None,
    *,
    show: Callable[[TuningProgress], None] = lambda progress: None,
    **where: Any,
) -> Tuning:
    """Play the tuning, or its missing batches, and return the best values.

    The result does not depend on the number of jobs, but may depend on the version of Optuna.

    Args:
        out: file of the journal.
        show: called after each round.
        where: `jobs` and `cluster`, see `parallel_mapper`.

    Raises:
        ValueError: there is nothing to tune, `out` has other settings, or Optuna is not installed.
    """
    agent, settings = _prepared(question)
    assert agent.heuristic is not None
    plan, is_optuna = question.plan, question.sampler == "optuna"
    space = space_of(agent.heuristic, question.wanted, with_choices=is_optuna)
    pool = pool_of(question.size, question.plies, question.openings, plan.seed)
    choice = OptunaSearch if is_optuna else Spsa
    facts = {
        **choice.described(space), "agents": settings, "size": str(question.size),
        "openings": [question.plies, len(pool)], "plan": asdict(plan),
    }  # fmt: skip
    search: OptunaSearch | Spsa = choice(space, plan, question.opponent is None)
    path = [search.point]
    with playing(question.size, **where) as play:
        played = open_journal(out, facts, lambda line: BatchResult(**line)) if out else []
        study = Study(question, space, pool, {result.key: result for result in played}, play, out)
        show(TuningProgress(0, plan.rounds, space.names, np.array(path)))
        for round_ in range(plan.rounds):
            search.tell(study.meet(search.ask(round_)))
            path.append(search.point)
            show(TuningProgress(round_ + 1, plan.rounds, space.names, np.array(path)))
        finals = search.finals(len(pool))
        parameters, promised = search.conclude(study.meet(finals), pool.orbits_of(finals))
    results, vectors = study.results.values(), len(search.tried) if isinstance(search, OptunaSearch) else None
    games, forfeits = 2 * sum(result.openings for result in results), sum(result.forfeits for result in results)
    return Tuning(parameters, promised, games, forfeits, np.array(path), vectors)


def _prepared(question: TuningTask) -> tuple[Agent, list[str]]:
    """Return the agent to tune, and the settings of all agents."""
    specs = [spec for spec in (question.spec, question.opponent) if spec]
    agents = prepare([str(spec) for spec in specs], question.size)
    settings = [settings_text(spec, agent) for spec, agent in zip(specs, agents, strict=True)]
    if len(set(settings)) < len(settings):
        raise ValueError(f"--opponent: {specs[1].name} is the agent itself, which it meets without the option")
    return agents[0], settings


@dataclass(frozen=True)
class Judgement:
    """Results of new values on held-out openings, each played twice, and the directory of the games.

    `rate` is the share of games that the new values won against the old ones, its `p_value` against one half. `before`
    and `after` are the shares of games won against the opponent, if there is one, `gain` is their difference.
    """

    run: Path
    pairs: int
    rate: Interval
    p_value: float
    before: Interval | None = None
    after: Interval | None = None
    gain: Interval | None = None
    gain_p_value: float = float("nan")


def judge(
    question: TuningTask,
    values: Mapping[str, float],
    pairs: int,
    *,
    jobs: int = 0,
    cluster: str | None = None,
    out: Path | None = None,
    play: Play = play_tournament,
) -> Judgement:
    """Play the new values against the old ones, and both against the opponent, on held-out openings.

    Args:
        jobs, cluster: see `Config`; a cluster replaces the processes of this machine.
        out: directory of the run; the default is one below `runs/` that the same call finds again.

    Raises:
        KeyboardInterrupt: the run was interrupted; calling this again with the same arguments resumes it.
    """
    old, opponent = question.spec, question.opponent
    new = replace(with_values(old, values), name=f"{old.name}_tuned")
    keys: dict[str, Any] = {
        "format": "gauntlet" if opponent else "head-to-head", "contenders": (str(new),), "baseline": str(old),
        "board": str(question.size), "openings": f"random:{question.plies},screen", "pairs": pairs,
        "seed": question.plan.seed, "limit": str(old.limit),
    }  # fmt: skip
    if opponent:
        keys |= {"opponents": (str(opponent), str(old)), "control": False}
    players = [settings_text(spec, make_agent(spec)) for spec in (new, old, opponent) if spec]
    where = {"jobs": 0 if cluster else jobs, "cluster": cluster}
    results = load_findings([play_kept(kept_config("tune", keys, players, out, where), play)])
    names = (new.name, old.name)
    duel = compare_directly(results.pairs, *names, pool=results.pool_of(names))
    judgement = Judgement(results.sources[0].info.path, duel.pairs.n, duel.rate, duel.p_value)
    if not opponent:
        return judgement
    (comparison,) = judge_run(results).claims
    after, before = (
        {matchup.opponent: matchup.rate for matchup in matchups(results.pairs, name)}[opponent.name] for name in names
    )
    return replace(judgement, before=before, after=after, gain=comparison.difference, gain_p_value=comparison.p_value)
