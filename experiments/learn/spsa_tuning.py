"""Tune parameters with SPSA and a response surface; finals.

SPSA, simultaneous perturbation stochastic approximation (Spall 1992, 1998), chooses the values that play. All
parameters are scaled to [0, 1]. In round k every parameter is moved up or down at random by c_k, games between the two
ends say which end is better, and all parameters move that way. c_k = c / k^0.101, and the gain falls as
1 / (A + k)^0.602 with A a tenth of the rounds: what Spall recommends for runs of any practical length.

A quadratic fitted to all games (`response_surface`) gives the best values, within the range that was played; parameters
without a significant effect keep their values. The quadratic overestimates small effects, so the new values play finals
against the old ones, on openings that were not used for the choice. Openings are split by orbit: values tuned on one
half are judged on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..play.runner import Play, play_kept, play_tournament
from ..record.run_directory import kept_config
from ..roster import Spec, make_agent, settings_text
from ..statistics.contender_verdicts import judge as judge_run
from ..statistics.game_pairs import matchups
from ..statistics.paired_differences import compare_directly
from ..statistics.proportions import ALPHA, Interval, mean_parts, rate_interval
from ..statistics.run_results import load_findings
from .parameter_space import Space, Vector, end_of, space_of
from .response_surface import Contests, Response, fit_response, importance
from .tuning_games import Batch, BatchResult, Journal, OpeningPool, PlayBatches, playing, pool_of, prepare, with_values

_DECAY = 0.602
GAMMA = 0.101
STABILITY = 0.1
WIDTH = 0.25
"""The perturbation in the first round, as a share of the range: smaller ones move nothing."""
_DRIFT = 0.5
"""How far mere luck moves a parameter over a whole run, in perturbations."""


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


def plan_of(games: int, seed: int, directions: int = 8) -> SpsaPlan:
    """A plan of about so many games: a hundred rounds, fewer if a pair of ends had fewer than eight openings."""
    rounds = max(1, min(100, games // (2 * directions * 8)))
    return SpsaPlan(rounds, directions, max(1, round(games / (2 * rounds * directions))), seed)


def width(round_: int) -> float:
    """How far parameters are moved in a round, the first of which is 1."""
    return float(WIDTH / round_**GAMMA)


def directions(plan: SpsaPlan, round_: int, parameters: int) -> Vector:
    """The signs of a round's perturbations, [directions, parameters]; in pairs that differ, where there are several."""
    signs: Vector = np.random.default_rng([plan.seed, round_]).choice([-1.0, 1.0], (plan.directions, parameters))
    return signs


def ends(point: Vector, signs: Vector, round_: int) -> tuple[Vector, Vector]:
    """The two ends of each direction, within [0, 1]."""
    away = width(round_) * signs
    return np.clip(point + away, 0, 1), np.clip(point - away, 0, 1)


def moved(plan: SpsaPlan, point: Vector, signs: Vector, leads: Vector, round_: int) -> Vector:
    """Return the parameters after a round.

    Args:
        leads: of each direction, games won minus games lost by the upper end.
    """
    pairs = plan.rounds * plan.directions * plan.openings
    late = (STABILITY * plan.rounds + round_) / (STABILITY * plan.rounds + (plan.rounds + 1) / 2)
    gain = _DRIFT / np.sqrt(pairs) / late**_DECAY
    stepped: Vector = np.clip(point + gain * width(round_) * (leads @ signs), 0, 1)
    return stepped


Sampler = Literal["spsa", "optuna"]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
OPENINGS = 4000
"""Number of openings to tune on, if the board has as many."""
FINALS = 0.1
"""Games of the finals, as a share of the games before them."""


@dataclass(frozen=True)
class TuningTask:
    """A tuning: agent, opponent, board, random openings and plan.

    Both specs are completed; without an opponent the agent meets itself with other values. `wanted` are the parameters
    to tune, all if empty. `openings` is the largest number of openings to tune on. `sampler` chooses the values.
    """

    spec: Spec
    opponent: Spec | None
    wanted: tuple[str, ...] = ()
    size: str = "7x7"
    plies: int = 4
    openings: int = OPENINGS
    plan: SpsaPlan = plan_of(20_000, 1)
    sampler: Sampler = "spsa"


@dataclass(frozen=True)
class TuningProgress:
    """Progress: rounds done and planned, parameter names, and the path so far, float64[rounds + 1, p]."""

    done: int
    rounds: int
    names: tuple[str, ...]
    path: Floats


@dataclass(frozen=True)
class TunedParameter:
    """A tuned parameter: its range, values, interval of the best value, and whether it has an effect.

    `p_value` is adjusted for the number of parameters.
    `end` is `lower` or `upper` if the best value lies where no further games were played.
    """

    name: str
    range: tuple[float, float]
    before: float
    after: float
    low: float
    high: float
    p_value: float
    end: str

    @property
    def matters(self) -> bool:
        """Whether the effect on the results is significant."""
        return self.p_value <= ALPHA


@dataclass(frozen=True)
class Tuning:
    """Result of a tuning: the parameters, the result of the finals, the games, and the path of the search.

    `promised` is the share of games that the new values win against the old, or their gain against the opponent.
    """

    parameters: tuple[TunedParameter, ...]
    promised: Interval
    games: int
    forfeits: int
    path: Floats

    @property
    def values(self) -> dict[str, float]:
        """The new values of the parameters that matter."""
        return {parameter.name: parameter.after for parameter in self.parameters if parameter.after != parameter.before}


@dataclass(frozen=True)
class Study:
    """A tuning that is being played: what is tuned, on which openings, and the results so far; `play` plays batches."""

    question: TuningTask
    space: Space
    pool: OpeningPool
    journal: Journal
    play: PlayBatches

    @property
    def games(self) -> int:
        """Number of games played."""
        return 2 * sum(result.openings for result in self.journal.tallies.values())

    @property
    def forfeits(self) -> int:
        """Number of games lost otherwise than by having no move."""
        return sum(result.forfeits for result in self.journal.tallies.values())

    def meet(self, batches: Sequence[Batch]) -> list[BatchResult]:
        """Return the results of batches in order; missing ones are played."""
        return self.journal.meet(batches, self.play)


@contextmanager
def opened_study(
    question: TuningTask,
    out: Path | None,
    jobs: int,
    cluster: str | None,
    described: Callable[[Space], Mapping[str, object]],
    *,
    with_choices: bool = False,
) -> Iterator[Study]:
    """Start a tuning, or resume it where its journal ends.

    Args:
        question, out, jobs, cluster: see `tune`.
        described: returns further settings that determine the games.
        with_choices: whether to tune categorical parameters as well.

    Raises:
        ValueError: there is nothing to tune, or `out` has other settings.
    """
    specs = [spec for spec in (question.spec, question.opponent) if spec]
    agents = prepare([str(spec) for spec in specs], question.size)
    settings = [settings_text(spec, agent) for spec, agent in zip(specs, agents, strict=True)]
    if len(set(settings)) < len(settings):
        raise ValueError(f"--opponent: {specs[1].name} is the agent itself, which it meets without the option")
    assert agents[0].heuristic is not None
    space = space_of(agents[0].heuristic, question.wanted, with_choices=with_choices)
    pool = pool_of(question.size, question.plies, question.openings, question.plan.seed)
    facts = {
        **described(space),
        "agents": settings,
        "size": question.size,
        "openings": [question.plies, len(pool)],
        "plan": asdict(question.plan),
    }
    journal = Journal(out, facts)
    with playing(question.size, jobs, cluster) as play:
        yield Study(question, space, pool, journal, play)


def tune(
    question: TuningTask,
    out: Path | None = None,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    show: Callable[[TuningProgress], None] = lambda progress: None,
) -> Tuning:
    """Play the tuning, or its missing batches, and return the best values.

    The result does not depend on the number of jobs.

    Args:
        out: file of the journal.
        jobs, cluster: see `parallel_mapper`.
        show: called after each round.

    Raises:
        ValueError: there is nothing to tune, or `out` has other settings.
    """
    plan = question.plan
    with opened_study(question, out, jobs, cluster, _described) as study:
        space = study.space
        path = [_scaled(space, space.start)]
        contests: list[_Contest] = []
        show(TuningProgress(0, plan.rounds, space.names, _unscaled(space, np.array(path))))
        for round_ in range(1, plan.rounds + 1):
            signs = directions(plan, round_, len(space.free))
            played = _play_round(study, ends(path[-1], signs, round_), round_)
            contests += played
            leads = np.array([result.lead for result in played])
            path.append(moved(plan, path[-1], signs, leads, round_))
            show(TuningProgress(round_, plan.rounds, space.names, _unscaled(space, np.array(path))))
        uppers, lowers = (np.array([getattr(contest, end) for contest in contests]) for end in ("upper", "lower"))
        matters = importance(uppers, lowers, np.array([contest.lead / contest.games for contest in contests]))
        tuned = _tuned(space, fit_response(_contests(contests, question.opponent is None), path[0], matters))
        promised = _finals(
            study, {parameter.name: parameter.after for parameter in tuned if parameter.after != parameter.before}
        )
    return Tuning(tuned, promised, study.games, study.forfeits, _unscaled(space, np.array(path)))


@dataclass(frozen=True)
class _Contest:
    """The two ends of a direction, scaled, and their results: against each other, or each against the opponent."""

    upper: Vector
    lower: Vector
    tallies: tuple[BatchResult, ...]

    @property
    def lead(self) -> float:
        """Wins minus losses of the upper end; against an opponent, its wins minus those of the lower end."""
        if len(self.tallies) == 1:
            return float(2 * (self.tallies[0].wins - self.tallies[0].openings))
        return float(self.tallies[0].wins - self.tallies[1].wins)

    @property
    def games(self) -> int:
        """Games of each end."""
        return 2 * self.tallies[0].openings


def _described(space: Space) -> dict[str, object]:
    ranges = [[name, low, high] for name, low, high in zip(space.names, space.low, space.high, strict=True)]
    return {"what": "tuning", "parameters": ranges}


def _play_round(study: Study, both: tuple[Vector, Vector], round_: int) -> list[_Contest]:
    question, space, count = study.question, study.space, study.question.plan.openings
    uppers, lowers = (np.array([_nearest_playable(space, point) for point in points]) for points in both)
    due: list[Batch] = []
    for index, points in enumerate(zip(uppers, lowers, strict=True)):
        contest = (round_ - 1) * len(uppers) + index
        upper, lower = (str(with_values(question.spec, space.values(_unscaled(space, end)))) for end in points)
        other = str(question.opponent)
        meetings = [(upper, lower)] if question.opponent is None else [(upper, other), (lower, other)]
        due += [study.pool.batch(2 * contest + n, *pair, contest * count, count) for n, pair in enumerate(meetings)]
    results = study.meet(due)
    each = len(due) // len(uppers)
    return [
        _Contest(upper, lower, tuple(results[index * each : (index + 1) * each]))
        for index, (upper, lower) in enumerate(zip(uppers, lowers, strict=True))
    ]


def _contests(contests: Sequence[_Contest], against_itself: bool) -> Contests:
    tallies = [tally for contest in contests for tally in contest.tallies]
    uppers, lowers = (np.array([getattr(contest, end) for contest in contests]) for end in ("upper", "lower"))
    return Contests(
        uppers if against_itself else np.hstack([uppers, lowers]).reshape(len(tallies), -1),
        lowers if against_itself else None,
        np.array([tally.wins for tally in tallies], np.float64),
        np.array([2 * tally.openings for tally in tallies], np.float64),
        np.array([tally.squares for tally in tallies]),
    )


def _tuned(space: Space, response: Response) -> tuple[TunedParameter, ...]:
    best = space.rounded(_unscaled(space, response.best))
    low, high, edges = (_unscaled(space, point) for point in (response.low, response.high, response.edges))
    width = space.high - space.low
    parameters = []
    for index, name in enumerate(space.names):
        end = end_of(best[index], edges[0, index], edges[1, index], 0.01 * width[index])
        before = float(space.start[index])
        after = float(best[index]) if response.p_values[index] <= ALPHA else before
        parameters.append(
            TunedParameter(
                name, (float(space.low[index]), float(space.high[index])), before, after, float(low[index]),
                float(high[index]), float(response.p_values[index]), end,
            )
        )  # fmt: skip
    return tuple(parameters)


def _finals(study: Study, values: dict[str, float]) -> Interval:
    """Play new values against the old ones, or both against the opponent, on openings kept for this."""
    question, pool, plan = study.question, study.pool, study.question.plan
    against_itself = question.opponent is None
    if not values:
        return promise(np.zeros(1, np.int64), np.zeros(1, np.int64), against_itself)
    first, count = plan.games // 2, max(1, min(len(pool), round(FINALS * plan.games / 2)))
    new, old = str(with_values(question.spec, values)), str(question.spec)
    meetings = [(new, old)] if against_itself else [(agent, str(question.opponent)) for agent in (new, old)]
    key = 2 * plan.rounds * plan.directions
    due = [pool.batch(key + n, *meeting, first, count) for n, meeting in enumerate(meetings)]
    won = [result.each for result in study.meet(due)]
    return promise(won[0] - (1 if against_itself else won[1]), pool.orbits[list(due[0].numbers)], against_itself)


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


def _scaled(space: Space, vector: Vector) -> Vector:
    scaled: Vector = (vector - space.low) / (space.high - space.low)
    return scaled


def _unscaled(space: Space, points: Floats) -> Floats:
    values: Floats = space.low + points * (space.high - space.low)
    return values


def _nearest_playable(space: Space, point: Vector) -> Vector:
    vector = _unscaled(space, point)
    return _scaled(space, np.where(space.is_whole, np.round(vector), vector))


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
        "board": question.size, "openings": f"random:{question.plies},screen", "pairs": pairs,
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
