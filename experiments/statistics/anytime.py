"""Confidence sequences, intervals that are valid at any time, for means in [0, 1]; elimination in best-of runs.

For every candidate mean m one gambler bets that the next value lies above m, and another that it lies below. If m is
the true mean, neither can expect to gain. So a mean is ruled out permanently once one of them has multiplied the stake
by 2/alpha. The chance that the true mean is ever ruled out is at most alpha, regardless of how often one looks.

A best-of drops each contender once another is significantly better. All meet the same opponents from the same openings,
and every opening gives each a share of the points. A contender drops out when the bet on the leader against it has
multiplied its stake by (K − 1)/α. The best of K contenders has K − 1 others that might appear better by chance: the
chance that it ever drops out is at most α, regardless of how often one looks and of who leads meanwhile.

Source: I. Waudby-Smith and A. Ramdas (2024), "Estimating means of bounded random variables by betting", J. R. Stat.
Soc. B 86: the hedged capital process with predictable plug-in bets, with and without replacement.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .proportions import ALPHA, Floats, Interval, Ints, check_between, check_integer, check_shares

if TYPE_CHECKING:
    from .run_results import RunResults

_CANDIDATES = 1000
_LARGEST_STAKE = 0.5
_CHUNK = 128
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    """The interval after every value, in playing order: `low[i]`, `high[i]` after `values[: i + 1]`.

    All intervals of the sequence hold the true mean together with probability `confidence`.
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
    played by deterministic agents), and the interval is for the pool's mean: once it is exhausted, the interval is
    exact. Ends are rounded outwards to multiples of 1/1000. Transform differences d in [−1, 1] to (1 + d)/2.
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
    """Return the log capital, after each value, of a gambler who bets 1 at first that values in [0, 1] exceed `mean`.

    If the true mean is `mean` or less, the chance that it ever reaches ln(1/α) is at most α. The bets are those of
    `confidence_sequence` at confidence 1 − 2α: at that point its lower end has passed `mean`. For `pool` see there.
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


def elimination_times(shares: Floats, times: Iterable[int], alpha: float = ALPHA, pool: int | None = None) -> Ints:
    """For each contender, return the number of openings after which it dropped out; 0 if it is left.

    `shares` (openings, contenders) are in playing order, each in [0, 1]; NaN if a contender has not played. At each of
    the `times`, numbers of openings, all remaining contenders are compared with the leader, until one is left, or has
    not played on. `alpha` is the chance that the best contender drops out; for `pool` see `confidence_sequence`.
    """
    after = np.zeros(shares.shape[1], np.int64)
    allowed = pairwise_alpha(shares.shape[1], alpha)
    for checkpoint in times:
        left = np.flatnonzero(after == 0)
        seen = shares[:checkpoint]
        if len(left) < 2 or len(seen) < checkpoint or np.isnan(seen[:, left]).any():
            break
        leader = left[np.argmax(seen[:, left].mean(axis=0))]
        for contender in left[left != leader]:
            capital = capital_above(_leads(seen[:, leader], seen[:, contender]), 0.5, allowed, pool)
            if capital.max() >= -math.log(allowed):
                after[contender] = checkpoint
    return after


def gap_to_leader(leader: Floats, other: Floats, contenders: int, pool: int | None = None) -> Interval:
    """Estimate the leader's surplus share over the openings both have played, with the interval used for elimination.

    Each end of it is wrong with a chance of at most α/(K − 1) for K contenders, at any time.
    """
    both = ~(np.isnan(leader) | np.isnan(other))
    leads = _leads(leader[both], other[both])
    confidence = 1 - 2 * pairwise_alpha(contenders)
    low, high = confidence_sequence(leads, confidence, pool).last
    mean = 2 * float(leads.mean()) - 1 if leads.size else math.nan
    return Interval(mean, 2 * low - 1, 2 * high - 1, confidence)


def pairwise_alpha(contenders: int, alpha: float = ALPHA) -> float:
    """Error level of each comparison of two contenders: α/(K − 1)."""
    return check_between("alpha", alpha, 0, 0.5) / max(1, contenders - 1)


def _leads(leader: Floats, other: Floats) -> Floats:
    return np.asarray((1 + leader - other) / 2)


@dataclass(frozen=True)
class BestOfContender:
    """A contender of a best-of, the openings it has played against all opponents, and its share of the points there.

    `behind` is its `gap_to_leader`. It dropped out after `out_after` openings, or is left if that is 0.
    """

    contender: str
    openings: int
    rate: float
    behind: Interval
    out_after: int


@dataclass(frozen=True)
class BestOfResult:
    """A best-of: its contenders, in the order leader, other remaining ones, and the others by descending drop-out time.

    `allowed` is the chance of error of each end of an interval. `exhausted`: all of the run's openings were played.
    """

    contestants: tuple[BestOfContender, ...]
    allowed: float
    exhausted: bool

    @property
    def left(self) -> tuple[BestOfContender, ...]:
        """Contenders that have not dropped out, the leader first."""
        return tuple(contestant for contestant in self.contestants if not contestant.out_after)


def read_contest(findings: RunResults) -> BestOfResult | None:
    """Return the state of a best-of run; None for other runs, and if a baseline to compare with is named.

    Raises:
        ValueError: there are several runs, and one of them is a best-of.
    """
    best_ofs = [info for info in findings.infos if info.requested["format"] == "best-of"]
    if not best_ofs or findings.baseline is not None:
        return None
    if len(findings.infos) > 1:
        raise ValueError(
            f"{best_ofs[0].path} is a best-of, whose eliminations depend on all contenders, and cannot "
            f"be pooled: analyse it alone"
        )
    names, shares = _shares(findings)
    populations = findings.games["population"].unique()
    pool = int(populations[0]) or None if len(populations) == 1 else None
    after = elimination_times(shares, checkpoints(len(shares)), pool=pool)
    played = [int(np.count_nonzero(~np.isnan(column))) for column in shares.T]
    rates = [float(np.nanmean(column)) if count else math.nan for column, count in zip(shares.T, played, strict=True)]
    lead = max(range(len(names)), key=lambda index: (after[index] == 0, played[index], rates[index]))
    contenders = []
    for index, name in enumerate(names):
        lag = gap_to_leader(shares[:, lead], shares[:, index], len(names), pool=pool)
        contenders.append(BestOfContender(name, played[index], rates[index], lag, int(after[index])))
    leader = contenders[lead]
    contenders.sort(key=lambda each: (each is not leader, each.out_after > 0, -each.out_after, each.behind.low))
    exhausted = max(played, default=0) == len(shares)
    return BestOfResult(tuple(contenders), pairwise_alpha(len(names)), exhausted)


def _shares(findings: RunResults) -> tuple[list[str], Floats]:
    """Return the contenders, and each one's share of the points per opening in playing order, against all opponents."""
    # NaN if a game is missing.
    import pandas as pd

    (source,) = findings.sources
    agents = {source.names[name]: entry.roles for name, entry in source.info.agents.items()}
    names = [name for name, roles in agents.items() if "contender" in roles]
    opponents = sum("opponent" in roles for roles in agents.values())
    games = findings.games
    rounds = games["own_id"].to_numpy() // 2 // (len(names) * opponents)
    shares = np.full((source.info.openings, len(names)), np.nan)
    for column, name in enumerate(names):
        for_it = np.where(games["agent_1"] == name, 1, np.where(games["agent_2"] == name, 2, 0))
        own = pd.DataFrame({"round": rounds, "won": for_it == games["winner"]})[for_it > 0].groupby("round")["won"]
        complete = own.mean()[own.size() == 2 * opponents]
        shares[complete.index.to_numpy(), column] = complete
    return names, shares
