"""Confidence sequences: intervals that are valid at any time, by betting, for means in [0, 1].

For every candidate mean m one gambler bets that the next value lies above m, and another that it lies below. If m is
the true mean, neither can expect to gain. So a mean is ruled out permanently once one of them has multiplied the stake
by 2/alpha. The chance that the true mean is ever ruled out is at most alpha, regardless of how often one looks.

Source: I. Waudby-Smith and A. Ramdas (2024), "Estimating means of bounded random variables by betting", J. R. Stat.
Soc. B 86: the hedged capital process with predictable plug-in bets, with and without replacement.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .argument_checks import Floats, check_between, check_integer, check_shares

_CANDIDATES = 1000
_LARGEST_STAKE = 0.5
_CHUNK = 128
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    """The interval after every value, in playing order: `low[i]`, `high[i]` after `values[: i + 1]`.

    All intervals of the sequence hold the true mean together with probability `confidence`. Without values the arrays
    are empty.
    """

    values: Floats
    pool: int | None
    confidence: float
    low: Floats
    high: Floats

    @property
    def mean(self) -> Floats:
        """The running mean after every value."""
        return np.asarray(np.cumsum(self.values) / np.arange(1, self.values.size + 1))

    @property
    def last(self) -> tuple[float, float]:
        """The current interval; (0, 1) without values."""
        return (float(self.low[-1]), float(self.high[-1])) if self.values.size else (0.0, 1.0)


def confidence_sequence(values: npt.ArrayLike, confidence: float = 0.95, pool: int | None = None) -> ConfidenceSequence:
    """Compute the anytime-valid interval for the mean of `values`, each in [0, 1], in schedule order.

    With `pool` the values are draws without replacement from a finite pool of that size (openings of a fixed set,
    played by deterministic agents). The interval is then for the pool's mean, and the values seen are known parts of
    it: once the pool is exhausted, the interval is exact. Ends are rounded outwards to multiples of 1/1000. Transform
    differences d in [−1, 1] to (1 + d)/2.
    """
    x = check_shares("values", values)
    check_between("confidence", confidence)
    if pool is not None and check_integer("pool", pool) < x.size:
        raise ValueError(f"pool must be at least the {x.size} values seen, not {pool}")
    stakes = _stakes(x, 1 - confidence)
    threshold = math.log(2 / (1 - confidence))
    candidates = np.linspace(0, 1, _CANDIDATES + 1)
    above, below = np.zeros_like(candidates), np.zeros_like(candidates)
    before = np.cumsum(x) - x
    low, high = np.zeros(x.size), np.ones(x.size)
    first, last = 0, candidates.size  # candidates[first:last] are not ruled out yet
    for start in range(0, x.size, _CHUNK):
        part = slice(start, min(start + _CHUNK, x.size))
        alive = slice(first, last)
        means = candidates[alive][None, :]
        if pool is not None:
            left = pool - np.arange(part.start, part.stop)
            means = (pool * means - before[part, None]) / left[:, None]
        means = np.clip(means, _TINY, 1 - _TINY)
        gains = x[part, None] - means
        stake = stakes[part, None]
        won_above = above[alive] + np.cumsum(np.log1p(np.minimum(stake, _LARGEST_STAKE / means) * gains), axis=0)
        won_below = below[alive] + np.cumsum(np.log1p(-np.minimum(stake, _LARGEST_STAKE / (1 - means)) * gains), axis=0)
        above[alive], below[alive] = won_above[-1], won_below[-1]
        # capital falls with the candidate for one gambler and rises for the other: ruled-out candidates are at the ends
        too_low = first + np.maximum.accumulate((won_above >= threshold).sum(axis=1))
        too_high = last - np.maximum.accumulate((won_below >= threshold).sum(axis=1))
        low[part] = candidates[np.maximum(too_low - 1, 0)]
        high[part] = candidates[np.minimum(too_high, candidates.size - 1)]
        first, last = int(too_low[-1]), max(int(too_high[-1]), int(too_low[-1]))
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high)
    # drifting values can rule out every mean; the interval then stays a point instead of having low above high
    low = np.minimum(low, high)
    if pool is not None:
        least = (before + x) / pool
        most = least + (pool - np.arange(1, x.size + 1)) / pool
        low, high = np.clip(low, least, most), np.clip(high, least, most)
    return ConfidenceSequence(x, pool, confidence, low, high)


def capital_above(values: npt.ArrayLike, mean: float, alpha: float, pool: int | None = None) -> Floats:
    """Return the log capital, after each value, of a gambler who bets that values in [0, 1] exceed `mean`.

    The initial capital is 1.

    If the true mean is `mean` or less, the chance that it ever reaches ln(1/α) is at most α. The bets are those of
    `confidence_sequence` at confidence 1 − 2α: at that point its lower end has passed `mean`. For `pool` see there; the
    capital is infinite once the unplayed rest of the pool cannot lower its mean to `mean`.
    """
    x = check_shares("values", values)
    check_between("mean", mean)
    stakes, before = _stakes(x, 2 * check_between("alpha", alpha, 0, 0.5)), np.cumsum(x) - x
    means = np.full(x.size, mean)
    if pool is not None:
        means = np.clip((pool * mean - before) / (pool - np.arange(x.size)), _TINY, 1 - _TINY)
    capital = np.cumsum(np.log1p(np.minimum(stakes, _LARGEST_STAKE / means) * (x - means)))
    return np.asarray(capital if pool is None else np.where(before + x > pool * mean + _TINY, np.inf, capital))


def _stakes(x: Floats, alpha: float) -> Floats:
    """Return bets fixed before each value: sqrt(2·ln(2/α) / (v·t·ln(t + 1))), v the variance so far."""
    t = np.arange(1, x.size + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    known = np.concatenate([[0.25], variance[:-1]]) if x.size else variance
    return np.asarray(np.sqrt(2 * math.log(2 / alpha) / (known * t * np.log(t + 1))))


def checkpoints(rounds: int) -> Iterator[int]:
    """Yield the rounds at which a stop rule is evaluated: every 8 at first, then after another eighth."""
    checkpoint = 8
    while checkpoint < rounds:
        yield checkpoint
        checkpoint += max(8, checkpoint // 8)
    yield rounds
