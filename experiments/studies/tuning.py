"""Tune parameters by games: a search chooses the values that play, round by round; finals; and a judgement.

The searches are SPSA (`spsa_tuning`), and vectors that Optuna suggests: its sampler is TPE, the tree-structured Parzen
estimator (Bergstra et al. 2011). Both see few games of each vector, so the best of many looks better than it is. The
best values therefore play finals, on openings that they were not chosen by; of Optuna's, each half of these openings
judges the vector that the other half prefers. Values are judged on openings of the half that no tuning sees.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from knights_isolation.isolation.rules.parameters import Parameter

from ..plan import AgentLike, complete, make_agent, parse_limit, settings_text, spec_of
from ..plan.run_keeping import kept_config
from ..play.runner import Play, play_kept, play_tournament
from ..statistics.contender_verdicts import judge as judge_run
from ..statistics.game_pairs import matchups
from ..statistics.paired_differences import compare_directly
from ..statistics.proportions import Interval
from ..statistics.run_results import load_findings
from .parameter_space import Space, TunedParameter, Vector
from .spsa_tuning import Spsa
from .tuning_games import (
    Batch,
    BatchResult,
    Floats,
    Sampler,
    SpsaPlan,
    Study,
    TuningTask,
    opened_study,
    opponent_of,
    plan_of,
    promise,
    subject_of,
    with_values,
)


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
    choice = OptunaSearch if question.sampler == "optuna" else Spsa
    with opened_study(question, out, choice.described, **where) as study:
        search: OptunaSearch | Spsa = choice(study)
        rounds = question.plan.rounds
        path = [search.point]
        show(TuningProgress(0, rounds, study.space.names, np.array(path)))
        for round_ in range(rounds):
            search.learn(study.meet(search.batches(round_)))
            path.append(search.point)
            show(TuningProgress(round_ + 1, rounds, study.space.names, np.array(path)))
        parameters, promised = search.concluded()
    results = study.results.values()
    games, forfeits = 2 * sum(result.openings for result in results), sum(result.forfeits for result in results)
    vectors = len(search.tried) if isinstance(search, OptunaSearch) else None
    return Tuning(parameters, promised, games, forfeits, np.array(path), vectors)


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


ROUNDS = 16
FINALISTS = 8
_FINALS = 0.25
"""Share of all games that are played in the finals."""
Point = tuple[float, ...]
"""Values of the parameters that are tuned."""


def sampling_plan(games: int, seed: int) -> SpsaPlan:
    """Return a plan of about this many games, a quarter of them for the finals; few games make fewer rounds."""
    return plan_of((1 - _FINALS) * games, seed, ROUNDS)


def check_optuna() -> str:
    """Return the version of Optuna.

    Raises:
        ValueError: it is not installed.
    """
    try:
        import optuna
    except ImportError:
        raise ValueError("--sampler optuna needs Optuna: pip install 'knights-isolation[tuning]'") from None
    return str(optuna.__version__)


class OptunaSearch:
    """The search: every vector `tried`, with the games that it won and played; the values as they are come first."""

    def __init__(self, study: Study) -> None:
        import optuna

        self._study, self._plan, space = study, study.question.plan, study.space
        self.tried: dict[Point, tuple[int, int]] = {}
        self._start: Point = tuple(map(float, space.start))
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        with warnings.catch_warnings():
            # the constant liar takes vectors being played for bad ones, so that a round's are not all the same
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(seed=self._plan.seed, constant_liar=True)
        self._optuna = optuna.create_study(direction="maximize", sampler=sampler)
        self._optuna.enqueue_trial({each.name: each.checked(each.default) for each in space.searched})
        self._distributions = {parameter.name: _distribution(parameter) for parameter in space.searched}

    @staticmethod
    def described(space: Space) -> dict[str, object]:
        """Return the version of Optuna, and the ranges in words."""
        ranges = [[parameter.name, parameter.range_text] for parameter in space.searched]
        return {"what": "sampling", "sampler": f"optuna {check_optuna()}", "parameters": ranges}

    @property
    def point(self) -> Vector:
        """float64[p], the vector that has won most so far."""
        return np.array(max(self.tried, key=lambda point: _shrunk(self.tried, point), default=self._start))

    def batches(self, round_: int) -> list[Batch]:
        """Return a round's vectors, each against the opponent or the values as they are."""
        plan, space = self._plan, self._study.space
        self._trials = [self._optuna.ask(self._distributions) for _ in range(plan.directions)]
        vectors = [np.array([trial.params[name] for name in space.names]) for trial in self._trials]
        self._points = [tuple(space.rounded(vector)) for vector in vectors]
        key, first = round_ * plan.directions, round_ * plan.openings
        return self._study.against_opponent(self._points, key, first, plan.openings)

    def learn(self, results: Sequence[BatchResult]) -> None:
        """Tell Optuna how many games were won."""
        for trial, point, tally in zip(self._trials, self._points, results, strict=True):
            self._optuna.tell(trial, tally.wins / (2 * tally.openings))
            wins, games = self.tried.get(point, (0, 0))
            self.tried[point] = wins + tally.wins, games + 2 * tally.openings

    def concluded(self) -> tuple[tuple[TunedParameter, ...], Interval]:
        """Let the best meet once more, on openings that none of them was chosen by."""
        others = (point for point in self.tried if point != self._start)
        best = sorted(others, key=lambda point: _shrunk(self.tried, point), reverse=True)[:FINALISTS]
        return finals(self._study, best)


def finals(study: Study, finalists: Sequence[Point]) -> tuple[tuple[TunedParameter, ...], Interval]:
    """Return the parameters with the best of the finalists, or as they are, and what may be expected of it."""
    plan, pool, alone = study.question.plan, study.pool, study.is_against_itself
    start: Point = tuple(map(float, study.space.start))
    count = max(2, min(len(pool), round(_FINALS / (1 - _FINALS) * plan.games / (2 * FINALISTS))))
    points, first = [*finalists] if alone else [start, *finalists], plan.rounds * plan.openings
    met = study.meet(study.against_opponent(points, plan.rounds * plan.directions, first, count))
    won = [result.each for result in met]
    leads = np.array(won) - 1 if alone else np.array(won[1:]) - won[0]
    orbits = pool.orbits_of(first, count)
    # The values as they are lead by nothing, and are preferred to whatever does not lead.
    leads = np.vstack([np.zeros(count, np.int64), leads])
    halves = orbits % 2
    preferred = [int(leads[:, halves == half].sum(axis=1).argmax()) for half in (1, 0)]
    judged = np.where(halves == 0, leads[preferred[0]], leads[preferred[1]])
    promised = promise(judged, orbits, alone)
    best = [start, *finalists][int(leads.sum(axis=1).argmax())]
    if promised.estimate <= (0.5 if alone else 0):
        best = start
    parameters = tuple(
        TunedParameter(each.name, (each.low, each.high), before, after, range_text=each.range_text)
        for each, before, after in zip(study.space.searched, start, best, strict=True)
    )
    return parameters, promised


def _distribution(parameter: Parameter) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.choices:
        return CategoricalDistribution(parameter.choices)
    if parameter.is_whole:
        return IntDistribution(math.ceil(parameter.low), math.floor(parameter.high))
    return FloatDistribution(parameter.low, parameter.high)


def _shrunk(tried: Mapping[Point, tuple[int, int]], point: Point) -> float:
    """The share of games that a vector won, shrunk towards that of all vectors by the games of a single trial."""
    # Vectors asked for again have played more than others, so that their shares stray less.
    won, played = np.sum(list(tried.values()), axis=0)
    wins, games = tried[point]
    prior_games = min(games for _, games in tried.values())
    return float((wins + prior_games * won / played) / (games + prior_games))
