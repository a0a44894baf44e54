"""Estimates after a sequential test has stopped.

A test stops when its statistic, partly by luck, has reached a bound. The plain mean of its observations is therefore
too extreme, and intervals for a fixed number of observations are invalid. Here outcomes are ordered from strongest to
weakest: a test that accepted H1, the earlier the stronger; a test still open at the end; a test that accepted H0
(stagewise ordering: Armitage 1958; Siegmund 1978, *Biometrika* 65; Tsiatis, Rosner and Mehta 1984, *Biometrics* 40).
The estimate is the strength at which outcomes stronger and weaker than the observed one are equally likely, so that it
is as often too high as too low. The interval ends at the strengths at which their chance is (1 − confidence)/2.

These chances are those of Brownian motion between two bounds, in units of one observation's standard deviation, as in
fishtest (M. Van den Bergh). The crossed bound is placed where the sum ended, overshoot included, because sums of single
steps cross a bound as Brownian motion crosses one 0.583 steps further out (Siegmund 1985, *Sequential Analysis*, ch.
X). The other bound is moved by the same amount.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from ..argument_checks import Floats, check_between
from ..cluster_intervals import Interval
from ..elo import NORMALIZED_ELO_PER_SIGMA, elo_from_score, games_per_outcome, score_from_elo
from .sprt import Sprt, SprtPath

_OVERSHOOT = 0.583
"""Mean overshoot of sums of normal steps beyond a bound, in standard deviations of a step."""
_GRID = 1001
_FARTHEST = 1e-4
"""Means are kept at least this far from 0 and 1."""


def stopped_estimate(path: SprtPath, confidence: float = 0.95) -> Interval | None:
    """Return the median-unbiased estimate of the strength after a test, and its interval, in the units of the test.

    These are Elo, normalized Elo, or with model "score" the mean outcome. A test still open is treated as ended by its
    last observation. Only observations before the test's decision count. None without observations.
    """
    check_between("confidence", confidence)
    n = path.decided_after or path.outcomes.size
    if not n:
        return None
    stand = _Stand.of(path, n)
    tail = (1 - confidence) / 2
    estimate, low, high = (stand.strength_at(chance) for chance in (0.5, tail, 1 - tail))
    return Interval(estimate, low, high, confidence)


@dataclass(frozen=True)
class _Stand:
    """A test as Brownian motion, with one unit of time per observation."""

    # `position` is its position after `n` observations, between (or on) `lower` and `upper`. `drift_of` is the drift
    # for a strength between `weakest` and `strongest`.

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
        # an open test may be beyond these bounds: far from both hypotheses the ratio grows more slowly than the sum
        lower, upper = min(lower, position), max(upper, position)
        return cls(path, n, position, lower, upper, *ends, lambda strength: drift_of(strength) - middle)

    def strength_at(self, chance: float) -> float:
        """Return the strength that gives this or a stronger outcome a chance; an end of the range if none."""
        from scipy.optimize import brentq  # here, since its import takes 0.2 s, and most commands estimate nothing

        def excess(strength: float) -> float:
            return self.at_least(self.drift_of(strength)) - chance

        if excess(self.weakest) >= 0:
            return -math.inf if self.path.sprt.model != "score" else 0.0
        if excess(self.strongest) <= 0:
            return math.inf if self.path.sprt.model != "score" else 1.0
        return float(brentq(excess, self.weakest, self.strongest, xtol=1e-6))

    def at_least(self, drift: float) -> float:
        """Return the chance of this outcome or a stronger one for a drift."""
        if self.path.decision == "H0":
            return 1 - crossing_chance(-drift, self.n, -self.upper, -self.lower)
        crossed = crossing_chance(drift, self.n, self.lower, self.upper)
        return crossed if self.path.decision else crossed + self._open_chance(drift)

    def _open_chance(self, drift: float) -> float:
        """Return the chance that neither bound has been reached, and that the position is this one or higher."""
        positions, reflected = self._reflected
        density = np.exp(-((positions - drift * self.n) ** 2) / (2 * self.n)) * reflected
        return float(np.trapezoid(density, positions)) / math.sqrt(2 * math.pi * self.n)

    @cached_property
    def _reflected(self) -> tuple[Floats, Floats]:
        """Positions from this one to the upper bound, and the effect of the bounds on the density there."""
        positions = np.linspace(self.position, self.upper, _GRID)
        shifts = _shifts(self.n, self.upper - self.lower)[:, None]
        return positions, sum(
            sign * np.exp((shifts + first) * (2 * positions - shifts - first) / (2 * self.n)).sum(axis=0)
            for sign, first in ((1, 0.0), (-1, 2 * self.lower))
        )


def _drifts(sprt: Sprt, deviation: float, classes: int) -> tuple[Callable[[float], float], tuple[float, float]]:
    """Return the drift by strength, in deviations per observation, and the range of strengths to search."""
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
    """Chance that Brownian motion of unit variance from 0 reaches `upper` by `time`, without reaching `lower` before.

    By the method of images: one image per reflection, each contributing an inverse Gaussian distribution.
    """
    distances = upper + _shifts(time, upper - lower)
    away, root = np.abs(distances), math.sqrt(time)
    ways = [
        np.exp(
            drift * upper + sign * abs(drift) * away + scipy.special.log_ndtr((-sign * abs(drift) * time - away) / root)
        )
        for sign in (-1, 1)
    ]
    return float(np.clip((np.sign(distances) * (ways[0] + ways[1])).sum(), 0, 1))


def _shifts(time: float, width: float) -> Floats:
    """Positions of the images of the start: all that Brownian motion may reach in this time."""
    most = 2 + math.ceil(5 * math.sqrt(time) / width)
    return np.asarray(2 * width * np.arange(-most, most + 1), np.float64)
