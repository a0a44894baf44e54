"""Tune parameters with Optuna: vectors that it suggests, then finals between the best of them.

The sampler is TPE, the tree-structured Parzen estimator (Bergstra et al. 2011). The estimate of the finals is
cross-validated: each half of their openings judges the vector that the other half prefers.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from knights_isolation.isolation.rules.parameters import Parameter

from ..statistics.proportions import Interval
from .parameter_space import Space, TunedParameter, Vector
from .tuning_games import Batch, BatchResult, SpsaPlan, Study, plan_of, promise

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
