"""Intervals for win rates: of independent games, of pairs, and of means over openings; scores as Elo.

Elo differences are between two players. A score averaged over several opponents has no Elo; compare it in percentage
points, or fit ratings.

Independent games (Wilson): no opening is played twice, and no game depends on another.

Pairs (one opening, both sides): a pair is lost twice, split, or won twice. The opening decides many games, so the two
games of a pair depend on each other, and the pair is the unit: its score is 0, ½ or 1. The variance per pair is
p2 + p1/4 − s². If openings decide games, this is far below the variance of two independent games.

Clusters: the unit is the opening (or a class of symmetric openings), as one number each, chosen so that their mean is
the estimate. If results hardly vary (shares near 0 or 1, agents that play identically), a resampled or normal interval
collapses. Hypothetical openings are therefore added, as in the method of Agresti and Coull (1998).
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt
import scipy

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ALPHA = 0.05
"""Significance level of tests, unless another is given; intervals hold with 1 − `ALPHA`."""
WORTH = 0.02
"""Default for a difference worth detecting, in share of games won."""


def check_integer(name: str, value: int, minimum: int = 0) -> int:
    """Return `value` as an int; raise ValueError unless it is a whole number of at least `minimum`."""
    if isinstance(value, bool) or value != value or int(value) != value or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, not {value!r}")
    return int(value)


def check_between(name: str, value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return `value` as a float; raise ValueError unless it lies strictly between `low` and `high`."""
    if not low < value < high:
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, both excluded, not {value!r}")
    return float(value)


def check_shares(name: str, values: npt.ArrayLike) -> Floats:
    """Return `values` as a flat float array; raise ValueError unless each lies in [0, 1]."""
    array = np.asarray(values, dtype=np.float64).ravel()
    wrong = array[~((array >= 0) & (array <= 1))]
    if wrong.size:
        raise ValueError(f"{name} must lie in [0, 1], not {wrong[0]!r}")
    return array


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval. NaN with the widest possible interval without data."""

    estimate: float
    low: float
    high: float
    confidence: float

    @property
    def elo(self) -> tuple[float, float, float]:
        """Of a score, Elo of the estimate, of the low and of the high end. Ends are transformed, never a half-width."""
        estimate = math.nan if math.isnan(self.estimate) else elo_from_score(self.estimate)
        return estimate, elo_from_score(self.low), elo_from_score(self.high)


@dataclass(frozen=True)
class Proportion(Interval):
    """A share of games won with its interval. Without games the estimate is NaN and the interval [0, 1]."""

    wins: int
    games: int


def wilson(wins: int, games: int, confidence: float = 0.95) -> Proportion:
    """Score interval of E. B. Wilson (1927): close to nominal on average for any number of games."""
    check_integer("games", games)
    check_integer("wins", wins)
    check_between("confidence", confidence)
    if wins > games:
        raise ValueError(f"wins must be at most games, not {wins} of {games}")
    if games == 0:
        return Proportion(math.nan, 0.0, 1.0, confidence, wins, games)
    from scipy.stats import binomtest

    interval = binomtest(wins, games).proportion_ci(confidence, "wilson")
    # rounding can leave the interval slightly short of the estimate at its ends
    estimate = wins / games
    low, high = min(float(interval.low), estimate), max(float(interval.high), estimate)
    return Proportion(estimate, low, high, confidence, wins, games)


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
    """A score over pairs with its interval. Without pairs the estimate is NaN and the interval [0, 1]."""

    pairs: PairCounts


def pair_interval(pairs: PairCounts, confidence: float = 0.95, pool: int | None = None) -> PairInterval:
    """Return an interval for the score of `pairs`: two lost and two won pairs are added (at 95 %), normal, clipped.

    `pool` is the number of openings from which the pairs were drawn without replacement, if the question is about
    exactly those, and the agents play an opening the same way every time. Then only the unplayed openings are
    uncertain, and the width is zero at a census.
    """
    check_between("confidence", confidence)
    n = pairs.n
    if pool is not None and check_integer("pool", pool) < n:
        raise ValueError(f"pool must be at least the {n} pairs played, not {pool}")
    if n == 0:
        return PairInterval(math.nan, 0.0, 1.0, confidence, pairs)
    low, high = (float(end) for end in agresti_coull_ends(astuple(pairs), confidence, pool))
    return PairInterval(pairs.score, low, high, confidence, pairs)


def _added_pairs(confidence: float) -> float:
    """Number of lost pairs, and of won pairs, that are added: in proportion to the squared normal quantile."""
    return 2 * float(scipy.special.ndtri(0.5 + confidence / 2) / scipy.special.ndtri(0.975)) ** 2


def agresti_coull_ends(
    counts: npt.ArrayLike, confidence: float = 0.95, pool: int | None = None
) -> tuple[Floats, Floats]:
    """Both ends of the interval of pairs for counts (…, 3) of lost, split and won pairs (at least one pair)."""
    # With a pool the variance and the added pairs are reduced by the share that is known, half a step of the attainable
    # scores is added on either side, and the ends are limited to what the unplayed pairs can still change.
    lost, split, won = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    n = lost + split + won
    unseen = 1.0 - n / pool if pool else np.ones_like(n)
    added = _added_pairs(confidence) * unseen
    total = n + 2 * added
    score = (won + added + split / 2) / total
    variance = (won + added + split / 4) / total - score**2
    half = float(scipy.special.ndtri(0.5 + confidence / 2)) * np.sqrt(np.maximum(variance, 0) / total * unseen)
    if not pool:
        return np.clip(score - half, 0, 1), np.clip(score + half, 0, 1)
    half = half + 1 / (4 * pool)
    points = won + split / 2
    return np.maximum(score - half, points / pool), np.minimum(score + half, (points + pool - n) / pool)


OPEN = 1e-9
"""Distance from the null hypothesis at which an open end of an interval is placed."""

_DIGITS = 12
"""Number of decimals of exact differences; further ones are rounding errors."""


@dataclass(frozen=True, eq=False)
class ErrorContributions:
    """Contribution of each opening (or class of symmetric openings) to a difference and to its error.

    The `part`s sum to zero; the error of the difference is that of such sums. The `score`s sum to the difference; under
    the null hypothesis each has either sign with equal probability. `clusters` is how many of them the contender met.
    `unseen` is the share of the variance that remains if the openings come from a finite pool, 0 if all are known;
    `step` is half a step of the attainable differences there. `alone` is the interval of this difference by itself,
    before `agree` reconciles it with a test.
    """

    cluster: Ints
    part: Floats
    score: Floats
    clusters: int
    unseen: float
    step: float
    alone: Interval


def without_gap(end: float, null: float = 0.0) -> float:
    """Return an end of an interval for whoever reads numbers: `null` itself if the end is open there (see `agree`)."""
    return null if abs(end - null) <= 2 * OPEN else end


def agree(interval: Interval, is_rejected: bool, null: float = 0.0) -> Interval:
    """Make an interval consistent with a test of `null`: exclude `null` if the test rejects it, else include it.

    On rejection the interval is open on the side of `null`, and its end is placed `OPEN` away from it.
    """
    estimate, low, high = interval.estimate, interval.low, interval.high
    if math.isnan(estimate):
        return interval
    if not is_rejected:
        low, high = min(low, null), max(high, null)
    elif estimate > null:
        low = min(max(low, null + OPEN), estimate)
    else:
        high = max(min(high, null - OPEN), estimate)
    return Interval(estimate, low, high, interval.confidence)


def stretch(interval: Interval, by: float, least: float = -1.0) -> Interval:
    """Return the interval with the distance of both ends from the estimate times `by`, clipped to [`least`, 1]."""
    low, high = (interval.estimate + by * (end - interval.estimate) for end in (interval.low, interval.high))
    if math.isnan(interval.estimate):
        return interval
    return Interval(interval.estimate, max(low, least), min(high, 1.0), interval.confidence)


def of_pool(interval: Interval, seen: float) -> Interval:
    """Return the interval if a share `seen` of a finite pool of openings is known; its width is zero once all are."""
    return stretch(interval, math.sqrt(max(1 - seen, 0.0)), 0.0)


def standard_error(parts: Floats, scores: Floats, clusters: int, opponents: float = 1.0) -> float:
    """Standard error of a difference: the sum of `scores`, one per opening, with error contributions `parts`.

    Two hypothetical openings are added, one positive and one negative (after Agresti and Min, 2005, for paired
    differences). Their size is the largest observed difference, but at least one game of two with each opponent and at
    most √½/√opponents. The result is infinite for one opening.
    """
    if clusters < 2:
        return math.inf
    against = max(opponents, 1.0)
    largest = clusters * float(np.abs(scores).max(initial=0.0))
    reach = min(max(largest, 0.5 / against), math.sqrt(0.5 / against))
    return math.sqrt((float((parts**2).sum()) + 2 * (reach / clusters) ** 2) * clusters / (clusters - 1))


def difference_interval(
    estimate: float, error: float, clusters: int, confidence: float, unseen: float = 1.0, step: float = 0.0
) -> Interval:
    """Student's t interval of a difference of two shares; `unseen` is the remaining share of the variance."""
    if math.isnan(estimate):
        return Interval(estimate, -1.0, 1.0, confidence)
    if not unseen:
        exact = round(estimate, _DIGITS)
        return Interval(exact, exact, exact, confidence)
    half = step + math.sqrt(unseen) * error * float(scipy.special.stdtrit(max(clusters - 1, 1), 0.5 + confidence / 2))
    return Interval(estimate, max(estimate - half, -1.0), min(estimate + half, 1.0), confidence)


def rate_interval(
    wins: npt.ArrayLike, games: npt.ArrayLike, opponents: float = 1.0, confidence: float = 0.95
) -> Interval:
    """Share of games won, from wins and games per opening, with the normal interval of Agresti and Coull.

    `opponents` is the mean number of opponents per opening. With one opponent and two games per opening this is exactly
    the default interval of pairs: two lost and two won openings are added. With more opponents, an opening is more
    informative the less its games are correlated, and the added ones weigh less accordingly. Simulated coverage at 95 %
    with at least 20 openings, 2 to 20 opponents, and rates of 0.5 to 0.99: at least 0.93, even if openings decide all
    games.
    """
    check_between("confidence", confidence)
    won, played = np.asarray(wins, np.float64), np.asarray(games, np.float64)
    if played.size == 0 or played.sum() == 0:
        return Interval(math.nan, 0.0, 1.0, confidence)
    rate = float(won.sum() / played.sum())
    values = rate + (won - rate * played) * played.size / played.sum()
    most = rate * (1 - rate)
    # the variance of openings over its possible maximum; one opening with perfectly correlated games is included, since
    # hardly any data is left to estimate it from if nearly all games were won
    hanging_together = (float(values.var()) * values.size + 1) / (most * values.size + 1)
    added = _added_pairs(confidence) * min(max(hanging_together, 1 / max(opponents, 1.0)), 1.0)
    n = values.size + 2 * added
    mean = (values.sum() + added) / n
    squares = ((values - mean) ** 2).sum() + added * (mean**2 + (1 - mean) ** 2)
    half = float(scipy.special.ndtri(0.5 + confidence / 2)) * math.sqrt(squares) / n
    low, high = max(min(mean - half, rate), 0.0), min(max(mean + half, rate), 1.0)
    return Interval(rate, float(low), float(high), confidence)


def mean_parts(
    values: npt.ArrayLike, opponents: float = 1.0, confidence: float = 0.95, cluster: Ints | None = None
) -> ErrorContributions:
    """Mean of one difference in [−1, 1] per opening, against `opponents` on average.

    `cluster` numbers the openings, to identify those that several means share. Simulated coverage at 95 %: at least
    0.94 from 20 openings on, unless the difference is due to rare openings that differ far more than the rest: if none
    of them was drawn, no interval can account for them (`docs/explanation/error-rates.md`).
    """
    check_between("confidence", confidence)
    array = np.asarray(values, np.float64)
    many = max(array.size, 1)
    mean = float(array.mean()) if array.size else math.nan
    part, score = (array - array.mean()) / many if array.size else array, array / many
    error = standard_error(part, score, array.size, opponents)
    alone = difference_interval(mean, error, array.size, confidence)
    return ErrorContributions(
        np.arange(array.size) if cluster is None else cluster, part, score, array.size, 1.0, 0.0, alone
    )


ELO_PER_LOGIT = 400 / math.log(10)


def elo_from_score(score: float) -> float:
    """The Elo difference −400·log10(1/score − 1); −inf at 0, inf at 1.

    >>> round(elo_from_score(0.55), 2)
    34.86
    """
    if not 0 <= score <= 1:
        raise ValueError(f"a score must lie in [0, 1], not {score!r}")
    if score in (0, 1):
        return math.inf if score else -math.inf
    return -400 * math.log10(1 / score - 1)


def score_from_elo(elo: float) -> float:
    """The expected score of a player `elo` points stronger; the inverse of `elo_from_score`."""
    if elo != elo:
        raise ValueError(f"an Elo difference must be a number, not {elo!r}")
    # tanh, unlike a power of ten, never overflows
    return 0.5 + 0.5 * math.tanh(elo / (2 * ELO_PER_LOGIT))


class ConvergenceError(ValueError):
    """A fit did not converge: the message names it and its number of steps."""
