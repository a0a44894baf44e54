"""Compare a contender with the baseline head to head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..argument_checks import Ints, check_between
from ..game_pairs import PairTable, record_of
from ..intervals import ErrorContributions, Interval, PairCounts, agree, count_pairs, pair_interval, rate_interval
from .baseline_comparison import Result
from .multiple_testing import flip


@dataclass(frozen=True, kw_only=True)
class HeadToHead(Result):
    """Head-to-head result of a contender against the baseline.

    `rate` is the contender's share of games won, and holds for this comparison alone; `jointly` is of this share too,
    so no difference is one half. With a `pool`, the number of existing openings, it is exact once all are played.
    Without one, or if games depend on chance, the played openings are a sample, clustered by symmetry. The p-value is
    of sign flips of openings, and after a census 0 or 1.
    """

    pairs: PairCounts
    rate: Interval

    @property
    def openings(self) -> int:
        """Number of openings of which both games are finished."""
        return self.pairs.n

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to compare: no complete pairs."""
        return not self.pairs.n

    @property
    def is_census(self) -> bool:
        """Return whether every opening of the pool was played, so that `rate` is exact."""
        return self.pool is not None and self.pool == self.pairs.n

    @property
    def plays_alike(self) -> bool:
        """Always false: two agents that split every pair may do so by different games."""
        return False

    @property
    def estimate(self) -> float:
        """Difference from the baseline, in share of games won; NaN without any."""
        return self.pairs.score - 0.5

    @property
    def lead(self) -> tuple[float, float]:
        """Joint confidence limits of the difference from one half, over all contenders of the report."""
        return self.jointly.low - 0.5, self.jointly.high - 0.5


def rate_of(lead: Interval) -> Interval:
    """Return the share of games won, given the lead over one half."""
    low, high = (min(max(0.5 + end, 0.0), 1.0) for end in (lead.low, lead.high))
    return Interval(0.5 + lead.estimate, low, high, lead.confidence)


def compare_directly(
    table: PairTable, contender: str, baseline: str, *, alpha: float = 0.05, pool: int | None = None
) -> HeadToHead:
    """Compare `contender` and `baseline` by the pairs they played with each other; intervals hold with 1 − `alpha`.

    `pool` is the number of openings the schedule draws from without replacement; give it only if both play an opening
    the same way every time. If more pairs were played than it has openings, they are not from this pool alone, and it
    is ignored.

    Raises:
        ValueError: an agent is unknown.
    """
    check_between("alpha", alpha)
    record, other = record_of(table, contender), table.code(baseline)
    chosen = record.opponent == other
    wins = record.wins[chosen]
    pairs = count_pairs(wins)
    known = pool if pool and pairs.n <= pool else None
    parts = _parts(record.cluster[chosen], wins, pairs, known, 1 - alpha)
    test = flip(parts)
    of_both = np.intersect1d(table.pairs_of(contender), table.pairs_of(baseline))
    rate = rate_of(agree(parts.alone, test.p_value <= alpha))
    return HeadToHead(
        contender=contender,
        baseline=baseline,
        pairs=pairs,
        unfinished=int(np.count_nonzero(~table.complete[of_both])),
        pool=known,
        rate=rate,
        jointly=rate,
        p_value=test.p_value,
        adjusted_p=test.p_value,
        alpha=alpha,
        parts=parts,
    )


def _parts(cluster: Ints, wins: Ints, pairs: PairCounts, pool: int | None, confidence: float) -> ErrorContributions:
    numbers, unit = np.unique(cluster, return_inverse=True)
    rate = rate_interval(np.bincount(unit, wins), 2 * np.bincount(unit), confidence=confidence)
    if pool:
        rate = pair_interval(pairs, confidence, pool=pool)
    alone = Interval(rate.estimate - 0.5, rate.low - 0.5, rate.high - 0.5, confidence)
    scores, parts = (
        np.bincount(unit, (wins - centre) / (2 * max(wins.size, 1)), numbers.size).astype(np.float64)
        for centre in (1, wins.mean() if wins.size else 1)
    )
    unseen = 1 - pairs.n / pool if pool else 1.0
    step = 1 / (4 * pool) if pool and unseen else 0.0
    return ErrorContributions(numbers, parts, scores, numbers.size, unseen, step, alone)
