"""Pairs (one opening, both sides): counts and intervals.

A pair is lost twice, split, or won twice. The opening decides many games, so the two games of a pair depend on each
other, and the pair is the unit: its score is 0, ½ or 1. The variance per pair is p2 + p1/4 − s². If openings decide
games, this is far below the variance of two independent games.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from .argument_checks import Floats, check_between, check_choice, check_integer
from .elo import elo_from_score
from .likelihood import deviance
from .proportions import Interval, clopper_pearson

METHODS = ("Agresti–Coull on pairs", "profile likelihood", "guaranteed")


@dataclass(frozen=True)
class PairCounts:
    """Numbers of pairs that were lost twice, split, and won twice.

    >>> PairCounts(40, 100, 60).score
    0.55
    """

    lost: int
    split: int
    won: int

    def __post_init__(self) -> None:
        for name in ("lost", "split", "won"):
            check_integer(name, getattr(self, name))

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.lost + self.split + self.won

    @property
    def score(self) -> float:
        """Share of games won; NaN without pairs."""
        return (self.won + self.split / 2) / self.n if self.n else math.nan

    @property
    def variance(self) -> float:
        """Variance of one pair's score; NaN without pairs."""
        return (self.won + self.split / 4) / self.n - self.score**2 if self.n else math.nan

    def as_tuple(self) -> tuple[int, int, int]:
        """Return (lost, split, won)."""
        return self.lost, self.split, self.won


def count_pairs(wins: npt.ArrayLike) -> PairCounts:
    """Count pairs, given an array with the games won per pair: 0, 1 or 2."""
    array = np.asarray(wins)
    wrong = array[~np.isin(array, (0, 1, 2))]
    if wrong.size:
        raise ValueError(f"games won in a pair must be 0, 1 or 2, not {wrong.flat[0]}")
    lost, split, won = np.bincount(array.astype(np.int64).ravel(), minlength=3)
    return PairCounts(int(lost), int(split), int(won))


@dataclass(frozen=True)
class PairInterval(Interval):
    """A score over pairs with its interval.

    `pool` is the number of openings from which the pairs were drawn without replacement, if the question is about
    exactly those ("these N openings"); None treats the pairs as a sample from an infinite population. Without pairs the
    estimate is NaN and the interval [0, 1].
    """

    pairs: PairCounts
    pool: int | None
    method: str

    @property
    def is_census(self) -> bool:
        """Return whether every opening of the pool was played, so that the estimate is exact for that pool."""
        return self.pool is not None and self.pool == self.pairs.n

    @property
    def elo(self) -> tuple[float, float, float]:
        """Elo of the estimate, of the low end and of the high end. The ends are transformed, never a half-width."""
        estimate = elo_from_score(self.estimate) if self.pairs.n else math.nan
        return estimate, elo_from_score(self.low), elo_from_score(self.high)


def pair_interval(
    pairs: PairCounts, confidence: float = 0.95, method: str = METHODS[0], pool: int | None = None
) -> PairInterval:
    """Return an interval for the score of `pairs`.

    Methods:

    - "Agresti–Coull on pairs" (default): two lost and two won pairs are added at 95 % (in proportion to the squared
      normal quantile elsewhere), then the normal interval, clipped. After Agresti and Coull (1998).
    - "profile likelihood": the scores that the likelihood-ratio test does not reject; for many pairs and scores away
      from the edges.
    - "guaranteed": the score is (P(not lost) + P(won))/2, each from a Clopper–Pearson interval at half the error;
      covers at least nominally for any number of pairs.

    With a `pool` only the unplayed openings are uncertain: the variance is multiplied by 1 − n/pool, added pairs are
    reduced in the same proportion, half a step of the attainable scores is added on either side, and the ends are
    limited to what the unplayed pairs can still change; the width is zero at a census. Valid for agents that play an
    opening the same way every time. Only the default method supports a pool.
    """
    check_between("confidence", confidence)
    check_choice("method", method, METHODS)
    n = pairs.n
    if pool is not None and check_integer("pool", pool) < n:
        raise ValueError(f"pool must be at least the {n} pairs played, not {pool}")
    if pool is not None and method != METHODS[0]:
        raise ValueError(f"method must be {METHODS[0]!r} for a pool of openings, not {method!r}")
    if n == 0:
        return PairInterval(math.nan, 0.0, 1.0, confidence, pairs, pool, method)
    if method == "profile likelihood":
        low, high = _profile(pairs, confidence)
    elif method == "guaranteed":
        low, high = _guaranteed(pairs, confidence)
    else:
        low, high = (float(end) for end in agresti_coull_ends(pairs.as_tuple(), confidence, pool))
    return PairInterval(pairs.score, low, high, confidence, pairs, pool, method)


def added_pairs(confidence: float) -> float:
    """Number of lost pairs, and of won pairs, that Agresti–Coull on pairs adds: two at 95 %."""
    return 2 * float(scipy.special.ndtri(0.5 + confidence / 2) / scipy.special.ndtri(0.975)) ** 2


def agresti_coull_ends(
    counts: npt.ArrayLike, confidence: float = 0.95, pool: int | None = None
) -> tuple[Floats, Floats]:
    """Both ends of the default interval for counts (…, 3) of lost, split and won pairs (at least one pair)."""
    lost, split, won = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    n = lost + split + won
    unseen = 1.0 - n / pool if pool else np.ones_like(n)
    added = added_pairs(confidence) * unseen
    total = n + 2 * added
    score = (won + added + split / 2) / total
    variance = (won + added + split / 4) / total - score**2
    half = float(scipy.special.ndtri(0.5 + confidence / 2)) * np.sqrt(np.maximum(variance, 0) / total * unseen)
    if not pool:
        return np.clip(score - half, 0, 1), np.clip(score + half, 0, 1)
    half = half + 1 / (4 * pool)
    points = won + split / 2
    return np.maximum(score - half, points / pool), np.minimum(score + half, (points + pool - n) / pool)


def _profile(pairs: PairCounts, confidence: float) -> tuple[float, float]:
    from scipy.optimize import brentq
    from scipy.stats import chi2

    counts, score, bound = np.array(pairs.as_tuple(), float), pairs.score, chi2.ppf(confidence, 1)

    def excess(mean: float) -> float:
        return float(deviance(counts, mean)) - bound if mean != score else -bound

    edge = 1e-9
    low = brentq(excess, edge, score) if score > 0 else 0.0
    high = brentq(excess, score, 1 - edge) if score < 1 else 1.0
    return float(low), float(high)


def _guaranteed(pairs: PairCounts, confidence: float) -> tuple[float, float]:
    level = (1 + confidence) / 2
    not_lost = clopper_pearson(pairs.split + pairs.won, pairs.n, level)
    won = clopper_pearson(pairs.won, pairs.n, level)
    return (not_lost.low + won.low) / 2, (not_lost.high + won.high) / 2
