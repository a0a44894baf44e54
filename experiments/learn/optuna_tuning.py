"""Tune parameters with Optuna, then play finals between the best values.

The sampler is TPE, the tree-structured Parzen estimator (Bergstra et al. 2011). It sees few
games of each vector, so the best of many looks better than it is. The best vectors therefore play finals on openings of
their own; the estimate is cross-validated: each half of these openings judges the vector that the other half prefers.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from knights_isolation.isolation.rules.parameters import Parameter

from ..roster import AgentLike, complete, parse_limit, spec_of
from ..statistics.proportions import Interval
from . import spsa_tuning, tuning_games
from .parameter_space import Space
from .spsa_tuning import Tuning
from .tuning_games import BatchResult, Sampler, ShowTuning, SpsaPlan, Study, TuningProgress, TuningTask, with_values

ROUNDS, VECTORS = 16, 8
FINALISTS = 8
_FINALS = 0.25
"""Share of all games that are played in the finals."""


@dataclass(frozen=True)
class SampledParameter:
    """A parameter tuned by Optuna: the range searched, in words, and its values before and after."""

    name: str
    range_text: str
    before: float
    after: float


@dataclass(frozen=True)
class Sampling:
    """Result of a tuning by Optuna: the parameters, the result of the finals, and the number of games.

    `promised` is the share of games that the new values should win against the old, or their gain against the opponent;
    `vectors` is the number of different vectors tried.
    """

    parameters: tuple[SampledParameter, ...]
    promised: Interval
    vectors: int
    games: int
    forfeits: int

    @property
    def values(self) -> dict[str, float]:
        """The new values of the parameters that change."""
        return {parameter.name: parameter.after for parameter in self.parameters if parameter.after != parameter.before}


def sampling_plan(games: int, seed: int) -> SpsaPlan:
    """Return a plan of about this many games, a quarter of them for the finals; few games make fewer rounds."""
    asked = (1 - _FINALS) * games
    rounds = max(1, min(ROUNDS, int(asked // (2 * VECTORS * 8))))
    return SpsaPlan(rounds, VECTORS, max(1, round(asked / (2 * rounds * VECTORS))), seed)


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


def tuning_task(
    agent: AgentLike, opponent: AgentLike | None, limit: str, games: int, seed: int, sampler: Sampler, **asked: Any
) -> TuningTask:
    """Return the task of tuning an agent's parameters by about so many games; `asked` are further fields of it.

    Raises:
        ValueError: a spec or the limit is invalid, the agent has no heuristic, or Optuna is not installed.
    """
    if sampler == "optuna":
        check_optuna()
    bound, plan_games = parse_limit(limit), sampling_plan if sampler == "optuna" else tuning_games.plan_of
    subject = tuning_games.subject_of(spec_of(agent), bound)
    other = complete(tuning_games.opponent_of(spec_of(opponent)), bound) if opponent else None
    plan = plan_games(games // 2 if other else games, seed)
    return TuningTask(subject, other, tuple(asked.pop("wanted", ())), plan=plan, sampler=sampler, **asked)


def run_tuning(task: TuningTask, out: Path | None, **settings: Any) -> Tuning | Sampling:
    """Play a tuning by its sampler; for `settings` see `spsa_tuning.tune`."""
    return (sample if task.sampler == "optuna" else spsa_tuning.tune)(task, out, **settings)


def sample(
    question: TuningTask, out: Path | None = None, *, show: ShowTuning = lambda progress: None, **where: Any
) -> Sampling:
    """Play the vectors that Optuna suggests, or the missing ones, and finals between the best.

    The result does not depend on the number of jobs, but may depend on the version of Optuna.

    Args:
        out: file of the journal.
        show: called after each round, with the vector that has won most so far.
        where: `jobs` and `cluster`, see `parallel_mapper`.

    Raises:
        ValueError: there is nothing to tune, `out` has other settings, or Optuna is not installed.
    """
    version = check_optuna()

    def described(space: Space) -> dict[str, object]:
        range_text = [[space.parameters[at].name, space.parameters[at].range_text] for at in space.free]
        return {"what": "sampling", "sampler": f"optuna {version}", "parameters": range_text}

    question = replace(question, sampler="optuna")
    with tuning_games.opened_study(question, out, described, **where) as study:
        tried = _asked_for(study, show)
        start = _start(study)
        chosen = sorted(
            (point for point in tried if point != start), key=lambda point: _shrunk(tried, point), reverse=True
        )
        return _finals(study, chosen[:FINALISTS], len(tried))


Point = tuple[float, ...]
"""Values of the parameters that are tuned."""


def _start(study: Study) -> Point:
    return tuple(map(float, study.space.start))


def _meet(
    study: Study, points: Sequence[Point], first_key: int, first_opening: int, openings: int
) -> list[BatchResult]:
    texts = [str(with_values(study.question.spec, study.space.values(np.array(point)))) for point in points]
    other = str(study.question.opponent or study.question.spec)
    return study.meet(
        [study.pool.batch(first_key + index, text, other, first_opening, openings) for index, text in enumerate(texts)]
    )


def _asked_for(study: Study, show: ShowTuning) -> dict[Point, tuple[int, int]]:
    """Every vector tried, with the games that it won and played; the values as they are come first."""
    import optuna

    plan, space = study.question.plan, study.space
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        # the constant liar takes vectors being played for bad ones, so that a round's are not all the same
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(seed=plan.seed, constant_liar=True)
    trials_so_far = optuna.create_study(direction="maximize", sampler=sampler)
    declared = zip(space.names, space.start, space.is_whole, strict=True)
    trials_so_far.enqueue_trial({name: int(value) if whole else float(value) for name, value, whole in declared})
    distributions = {
        name: _distribution(space.parameters[at]) for name, at in zip(space.names, space.free, strict=True)
    }
    tried: dict[Point, tuple[int, int]] = {}
    path = [space.start]
    show(TuningProgress(0, plan.rounds, space.names, np.array(path)))
    for round_ in range(plan.rounds):
        trials = [trials_so_far.ask(distributions) for _ in range(plan.directions)]
        points = [tuple(space.rounded(np.array([trial.params[name] for name in space.names]))) for trial in trials]
        tallies = _meet(study, points, round_ * plan.directions, round_ * plan.openings, plan.openings)
        for trial, point, tally in zip(trials, points, tallies, strict=True):
            trials_so_far.tell(trial, tally.wins / (2 * tally.openings))
            wins, games = tried.get(point, (0, 0))
            tried[point] = wins + tally.wins, games + 2 * tally.openings
        path.append(np.array(max(tried, key=lambda point: _shrunk(tried, point))))
        show(TuningProgress(round_ + 1, plan.rounds, space.names, np.array(path)))
    return tried


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


def _finals(study: Study, finalists: Sequence[Point], vectors: int) -> Sampling:
    """The best meet once more, on openings that none of them was chosen by."""
    plan, pool, space, start = study.question.plan, study.pool, study.space, _start(study)
    against_itself = study.question.opponent is None
    count = max(2, min(len(pool), round(_FINALS / (1 - _FINALS) * plan.games / (2 * FINALISTS))))
    points = [*finalists] if against_itself else [start, *finalists]
    first = plan.rounds * plan.openings
    won = [result.each for result in _meet(study, points, plan.rounds * plan.directions, first, count)]
    leads = np.array(won) - 1 if against_itself else np.array(won[1:]) - won[0]
    orbits = pool.orbits[np.arange(first, first + count) % len(pool)]
    # The values as they are lead by nothing, and are preferred to whatever does not lead.
    leads = np.vstack([np.zeros(count, np.int64), leads])
    halves = orbits % 2
    preferred = [int(leads[:, halves == half].sum(axis=1).argmax()) for half in (1, 0)]
    judged = np.where(halves == 0, leads[preferred[0]], leads[preferred[1]])
    promised = tuning_games.promise(judged, orbits, against_itself)
    best = [start, *finalists][int(leads.sum(axis=1).argmax())]
    if promised.estimate <= (0.5 if against_itself else 0):
        best = start
    parameters = tuple(
        SampledParameter(name, space.parameters[at].range_text, before, after)
        for name, at, before, after in zip(space.names, space.free, start, best, strict=True)
    )
    return Sampling(parameters, promised, vectors, study.games, study.forfeits)
