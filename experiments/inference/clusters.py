"""Intervals for means over openings, when everything played from one opening moves together.

The unit is the opening (or a class of openings alike by symmetry): whatever is played from it is summed first, and only
openings are taken as independent. Each opening enters as one number, chosen so that their mean is the estimate.

Where hardly anything varies (shares near 0 or 1, agents that play alike) a resampled or normal interval collapses. As
with Agresti and Coull, openings never played are therefore added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtr, ndtri, stdtrit

from experiments.inference.arguments import Floats, Ints, inside
from experiments.inference.pairs import added_pairs

DRAWS = 5000

_DISTINCT = 1000
_GRID = 256
"""Steps of a grid between the smallest and the largest of values."""
_NEGLIGIBLE = 1e-40
"""Values of a characteristic function that add nothing to a probability."""
_FAR = 9
"""Standard deviations beyond which there is nothing."""


@dataclass(frozen=True)
class Interval:
    """An estimate between its ends. NaN with the widest possible ends when there is nothing to estimate from."""

    estimate: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True, eq=False)
class Parts:
    """What each opening, or class of openings alike, adds to the error of an estimate: its number, and its part.

    Estimates that rest on the same openings err together, by as much as their parts do. `clusters` is how many of them
    the contender met: what else the baseline played has small parts.
    """

    cluster: Ints
    part: Floats
    clusters: int


def stretch(interval: Interval, by: float, least: float = -1.0) -> Interval:
    """The interval with both its ends `by` times as far from the estimate, between `least` and 1."""
    low, high = (interval.estimate + by * (end - interval.estimate) for end in (interval.low, interval.high))
    if math.isnan(interval.estimate):
        return interval
    return Interval(interval.estimate, max(low, least), min(high, 1.0), interval.confidence)


def rate_interval(
    wins: npt.ArrayLike, games: npt.ArrayLike, opponents: float = 1.0, confidence: float = 0.95
) -> Interval:
    """The share of games won, from wins and games per opening, with the normal interval of Agresti and Coull.

    `opponents` is how many were met per opening on average. With one opponent and two games per opening this is
    exactly the default interval of `pairs`: two lost and two won openings are added. With more opponents, an opening
    tells more the less its games hang together, and the added ones weigh less accordingly: by the variance of openings
    over its possible maximum, and at least by 1/opponents. That share is itself estimated, from next to nothing where
    nearly all games were won, so one opening whose games all go together is counted in. Simulated coverage at 95 % with
    20 openings or more, 2 to 20 opponents, rates of 0.5 to 0.99: 0.93 and more, also where openings decide all.
    """
    inside("confidence", confidence)
    won, played = np.asarray(wins, np.float64), np.asarray(games, np.float64)
    if played.size == 0 or played.sum() == 0:
        return Interval(math.nan, 0.0, 1.0, confidence)
    rate = float(won.sum() / played.sum())
    values = rate + (won - rate * played) * played.size / played.sum()
    most = rate * (1 - rate)
    hanging_together = (float(values.var()) * values.size + 1) / (most * values.size + 1)
    added = added_pairs(confidence) * min(max(hanging_together, 1 / max(opponents, 1.0)), 1.0)
    n = values.size + 2 * added
    mean = (values.sum() + added) / n
    squares = ((values - mean) ** 2).sum() + added * (mean**2 + (1 - mean) ** 2)
    half = float(ndtri(0.5 + confidence / 2)) * math.sqrt(squares) / n
    low, high = max(min(mean - half, rate), 0.0), min(max(mean + half, rate), 1.0)
    return Interval(rate, float(low), float(high), confidence)


def bootstrap_interval(
    values: npt.ArrayLike,
    rng: np.random.Generator,
    opponents: float = 1.0,
    confidence: float = 0.95,
    sampled: int | None = None,
) -> Interval:
    """The mean of one difference in [−1, 1] per opening, by resampling openings.

    Where only `sampled` of them were met by both, values are larger by so much, so that their mean is the estimate.

    Two openings are added, one up and one down (after Agresti and Min, 2005, for paired differences), by the largest
    difference seen: by one game of two with each opponent at least, by √½/√opponents at most. The percentiles are taken
    further out for few openings by the ratio of Student's to the normal quantile (Hesterberg, 2015). Simulated coverage
    at 95 %: 0.94 and more from 20 openings on, unless rare openings that differ far more than the rest make up the
    difference: where they were not drawn, no interval knows of them (`docs/statistics.md`).
    """
    array = np.asarray(values, np.float64)
    inside("confidence", confidence)
    if array.size == 0:
        return Interval(math.nan, -1.0, 1.0, confidence)
    if array.size == 1:
        return Interval(float(array[0]), -1.0, 1.0, confidence)
    against, openings = max(opponents, 1.0), sampled or array.size
    scale = array.size / openings
    reach = scale * min(max(float(np.abs(array).max()) / scale, 0.5 / against), math.sqrt(0.5 / against))
    widened = np.append(array, [-reach, reach])
    if scale == 1:
        return _ends(float(array.mean()), _resample(widened, rng), openings, confidence)
    tail = student_tail(openings, confidence)
    return _within(float(array.mean()), *_resampled_quantiles(widened, tail), confidence)


def bootstrap_difference(
    contender: npt.ArrayLike,
    baseline: npt.ArrayLike,
    rng: np.random.Generator,
    opponents: float = 1.0,
    confidence: float = 0.95,
) -> Interval:
    """The difference of two means over openings, one score in [0, 1] per opening, each set resampled by itself."""
    one, other = np.asarray(contender, np.float64), np.asarray(baseline, np.float64)
    inside("confidence", confidence)
    if not one.size or not other.size:
        return Interval(math.nan, -1.0, 1.0, confidence)
    estimate = float(one.mean() - other.mean())
    fewest = min(one.size, other.size)
    if fewest == 1:
        return Interval(estimate, -1.0, 1.0, confidence)
    reach = 0.5 / math.sqrt(max(opponents, 1.0))
    # as many times to the larger sample, so that both are drawn towards one half alike
    added = [[0.5 - reach, 0.5 + reach] * round(values.size / fewest) for values in (one, other)]
    draws = _resample(np.append(one, added[0]), rng) - _resample(np.append(other, added[1]), rng)
    return _ends(estimate, draws, fewest, confidence)


def _resampled_quantiles(values: Floats, tail: float) -> tuple[float, float]:
    """Between what means of resamples lie but for a share of `tail` on either side, from their distribution itself.

    Values are rounded to a grid, so that the sum of n of them has as its characteristic function the n-th power of
    that of one. It is turned back on a circle long enough that what goes round it is nothing.
    """
    n, low = values.size, float(values.min())
    step = float(np.ptp(values)) / _GRID
    if step == 0:
        return low, low
    places = np.round((values - low) / step).astype(np.int64)
    around = round(float(places.mean()) * n)
    size = next_fast_len(int(2 * _FAR * places.std() * math.sqrt(n)) + 2 * _GRID, real=True)
    of_one = rfft(np.bincount(places, minlength=size) / n)
    left = np.flatnonzero(np.abs(of_one) > _NEGLIGIBLE ** (1 / n))
    # shifted, so that the mean lies in the middle
    shift = np.exp(2j * np.pi * np.remainder(left / size * (around - size // 2), 1))
    characteristic = np.zeros_like(of_one)
    characteristic[left] = of_one[left] ** n * shift
    chances = np.clip(irfft(characteristic, size), 0, None).cumsum()
    ends = np.searchsorted(chances / chances[-1], [tail, 1 - tail]) + around - size // 2
    lower, upper = (float(values.mean() + step * (end / n - places.mean())) for end in ends)
    return lower, upper


def _resample(values: Floats, rng: np.random.Generator) -> Floats:
    """Means of resamples. Equal values are drawn together, so the cost depends on how many are distinct, not on n."""
    # values that differ by rounding errors alone are one value
    distinct, times = np.unique(np.round(values, 12), return_counts=True)
    if distinct.size > _DISTINCT:
        step = np.ptp(values) / _DISTINCT
        rounded = np.round(values / step) * step
        distinct, times = np.unique(rounded, return_counts=True)
        distinct = distinct + (values.mean() - rounded.mean())
    return np.asarray(rng.multinomial(values.size, times / values.size, size=DRAWS) @ distinct / values.size)


def student_tail(openings: int, confidence: float) -> float:
    """The share of resamples to leave out on either side, so that few openings are not too sure of themselves.

    Smaller than (1 − confidence)/2 by the ratio of Student's to the normal quantile, and because resamples spread less
    than samples do (Hesterberg, 2015). 0 for a single opening.
    """
    if openings < 2:
        return 0.0
    student = math.sqrt(openings / (openings - 1)) * float(stdtrit(openings - 1, 0.5 + confidence / 2))
    return float(ndtr(-student))


def _ends(estimate: float, draws: Floats, openings: int, confidence: float) -> Interval:
    tail = student_tail(openings, confidence)
    low, high = np.quantile(draws, [tail, 1 - tail])
    return _within(estimate, float(low), float(high), confidence)


def _within(estimate: float, low: float, high: float, confidence: float) -> Interval:
    return Interval(estimate, max(min(low, estimate), -1.0), min(max(high, estimate), 1.0), confidence)
