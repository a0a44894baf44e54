"""Estimates after a sequential test has stopped.

A test stops when luck has carried it to a bound, so the plain mean of what it read lies too far out, and intervals made
for a fixed number of observations miss. Here outcomes are put in order: a test that accepted H1 earlier is stronger
evidence than one that did later, that than one still open at the end, that than one that accepted H0 (stagewise
ordering: Armitage 1958; Siegmund 1978, *Biometrika* 65; Tsiatis, Rosner and Mehta 1984, *Biometrics* 40). The estimate
is the strength at which stronger and weaker outcomes than that seen are equally likely, so that it is as often too high
as too low; the interval ends at the strengths at which they have a chance of (1 − confidence)/2.

These chances are those of Brownian motion between two bounds, in units of one observation's standard deviation, as in
fishtest (M. Van den Bergh). The bound that was crossed is where the sum came to stand, its overshoot included, as
sums of single steps cross a bound as Brownian motion does one 0.583 steps further out (Siegmund 1985, *Sequential
Analysis*, ch. X); the other bound is moved by as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from experiments.inference.argument_checks import Floats, check_between
from experiments.inference.elo import (
    NORMALIZED_ELO_PER_SIGMA,
    elo_from_score,
    games_per_outcome,
    score_from_elo,
)
from experiments.inference.sequential.sprt import Sprt, SprtPath

_OVERSHOOT = 0.583
"""How far sums of normal steps are beyond a bound on average, in steps' standard deviations."""
_GRID = 1001
_FARTHEST = 1e-4
"""Means nearer to 0 or 1 than this are not told from these."""


@dataclass(frozen=True)
class StoppedEstimate:
    """The median-unbiased estimate after a test with its interval at `confidence`.

    In the units of the test: Elo, normalized Elo, or with model "score" the mean outcome.
    """

    estimate: float
    low: float
    high: float
    confidence: float


def stopped_estimate(path: SprtPath, confidence: float = 0.95) -> StoppedEstimate | None:
    """What a test that is over says of the strength; one still open is taken as ended by its last observation.

    Only what the test has read counts: observations that came after its decision do not. None without observations.
    """
    check_between("confidence", confidence)
    n = path.decided_after or path.outcomes.size
    if not n:
        return None
    stand = _Stand.of(path, n)
    tail = (1 - confidence) / 2
    estimate, low, high = (stand.strength_at(chance) for chance in (0.5, tail, 1 - tail))
    return StoppedEstimate(estimate, low, high, confidence)


@dataclass(frozen=True)
class _Stand:
    """A test as Brownian motion, a unit of time for each observation.

    `position` is where it stands after `n` of them, between (or on) `lower` and `upper`. `drift_of` is the drift of a
    strength between `weakest` and `strongest`.
    """

    path: SprtPath
    n: int
    position: float
    lower: float
    upper: float
    weakest: float
    strongest: float
    drift_of: Callable[[float], float]

    @classmethod
    def of(cls, path: SprtPath, n: int) -> _Stand:
        sprt = path.sprt
        values = path.outcomes[:n] / (path.classes - 1)
        mean, added = float(values.mean()), np.array([0.25, 0.75] if sprt.model == "score" else [0.0, 1.0])
        squares = float(((values - mean) ** 2).sum() + ((added - mean) ** 2).mean())
        deviation = math.sqrt(squares / (n + 1))
        drift_of, ends = _drifts(sprt, deviation, path.classes)
        middle = (drift_of(sprt.low) + drift_of(sprt.high)) / 2
        unit = 1 / (drift_of(sprt.high) - drift_of(sprt.low))
        position = n * (_drift_of_mean(sprt, mean, deviation) - middle)
        lower, upper = sprt.lower_bound * unit - _OVERSHOOT, sprt.upper_bound * unit + _OVERSHOOT
        if path.decision == "H1":
            upper = position = max(position, 1e-9)
        elif path.decision == "H0":
            lower = position = min(position, -1e-9)
        # one still open may stand beyond these bounds: far from both hypotheses the ratio grows slower than the sum
        lower, upper = min(lower, position), max(upper, position)
        return cls(path, n, position, lower, upper, *ends, lambda strength: drift_of(strength) - middle)

    def strength_at(self, chance: float) -> float:
        """The strength at which this outcome or a stronger one has a chance; an end of the range if there is none."""

        def excess(strength: float) -> float:
            return self.at_least(self.drift_of(strength)) - chance

        if excess(self.weakest) >= 0:
            return -math.inf if self.path.sprt.model != "score" else 0.0
        if excess(self.strongest) <= 0:
            return math.inf if self.path.sprt.model != "score" else 1.0
        return float(brentq(excess, self.weakest, self.strongest, xtol=1e-6))

    def at_least(self, drift: float) -> float:
        """The chance of this outcome or a stronger one under a drift."""
        if self.path.decision == "H0":
            return 1 - crossing_chance(-drift, self.n, -self.upper, -self.lower)
        crossed = crossing_chance(drift, self.n, self.lower, self.upper)
        return crossed if self.path.decision else crossed + self._open_chance(drift)

    def _open_chance(self, drift: float) -> float:
        """The chance that neither bound has been met, and that it stands here or higher."""
        positions, reflected = self._reflected
        density = np.exp(-((positions - drift * self.n) ** 2) / (2 * self.n)) * reflected
        return float(np.trapezoid(density, positions)) / math.sqrt(2 * math.pi * self.n)

    @cached_property
    def _reflected(self) -> tuple[Floats, Floats]:
        """Places from here to the upper bound, and what the bounds leave of the density there, whatever the drift."""
        positions = np.linspace(self.position, self.upper, _GRID)
        shifts = _shifts(self.n, self.upper - self.lower)[:, None]
        return positions, sum(
            sign * np.exp((shifts + first) * (2 * positions - shifts - first) / (2 * self.n)).sum(axis=0)
            for sign, first in ((1, 0.0), (-1, 2 * self.lower))
        )


def _drifts(sprt: Sprt, deviation: float, classes: int) -> tuple[Callable[[float], float], tuple[float, float]]:
    """The drift of a strength, in deviations an observation, and between which strengths to look."""
    if sprt.model == "normalized":
        scale = math.sqrt(games_per_outcome(classes)) / NORMALIZED_ELO_PER_SIGMA
        farthest = 0.5 / deviation / scale
        return lambda strength: strength * scale, (-farthest, farthest)
    if sprt.model == "logistic":
        farthest = elo_from_score(1 - _FARTHEST)
        return lambda strength: (score_from_elo(strength) - 0.5) / deviation, (-farthest, farthest)
    return lambda strength: strength / deviation, (_FARTHEST, 1 - _FARTHEST)


def _drift_of_mean(sprt: Sprt, mean: float, deviation: float) -> float:
    return (mean if sprt.model == "score" else mean - 0.5) / deviation


def crossing_chance(drift: float, time: float, lower: float, upper: float) -> float:
    """The chance that Brownian motion of unit variance from 0 meets `upper` by `time`, and not `lower` before.

    By the method of images: one for each reflection, each an inverse Gaussian distribution.
    """
    distances = upper + _shifts(time, upper - lower)
    away, root = np.abs(distances), math.sqrt(time)
    ways = [
        np.exp(drift * upper + sign * abs(drift) * away + log_ndtr((-sign * abs(drift) * time - away) / root))
        for sign in (-1, 1)
    ]
    return float(np.clip((np.sign(distances) * (ways[0] + ways[1])).sum(), 0, 1))


def _shifts(time: float, width: float) -> Floats:
    """Where images of the start lie: as many as Brownian motion may reach in this time."""
    most = 2 + math.ceil(5 * math.sqrt(time) / width)
    return np.asarray(2 * width * np.arange(-most, most + 1), np.float64)
