"""A contender head to head with the baseline: pairs of the two, and no opponents in common."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from experiments.inference.arguments import Ints, inside
from experiments.inference.clusters import Interval, Parts, rate_interval
from experiments.inference.comparison import Verdict
from experiments.inference.pairing import PairTable, record_of
from experiments.inference.pairs import PairCounts, count_pairs, pair_interval
from experiments.inference.permutation import sign_flip_test


@dataclass(frozen=True)
class Duel:
    """A contender head to head with the baseline.

    The question is about all openings of the kind played, on that board. `rate` is the contender's share of games won:
    with a `pool`, how many those openings are, it is exact once all are played; without one, as where chance has a
    part, the played ones are a sample, clustered by symmetry. `rate` holds by itself, `jointly` together with those of
    all contenders in one report; `parts` are what openings add to its error. `unfinished` pairs of the two lack a game
    and are left out. `p_value` is the exact sign-flip test over openings, after a census 0 or 1; `adjusted_p` is
    Holm-adjusted over the `family` of contenders in one report; in a report of one, and for a control, it is `p_value`.
    """

    contender: str
    baseline: str
    pairs: PairCounts
    unfinished: int
    pool: int | None
    rate: Interval
    jointly: Interval
    p_value: float
    adjusted_p: float
    family: int
    alpha: float
    parts: Parts = field(repr=False, compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare: no complete pairs."""
        return not self.pairs.n

    @property
    def is_census(self) -> bool:
        """Whether every opening of the pool was played, so that `rate` is exact."""
        return self.pool is not None and self.pool == self.pairs.n

    @property
    def plays_alike(self) -> bool:
        """Never known: two that split every pair may do so by different games."""
        return False

    @property
    def verdict(self) -> Verdict:
        """By the adjusted p-value; "equal" after a census only."""
        if self.pairs.score == 0.5 and self.is_census:
            return "equal"
        if self.adjusted_p > self.alpha or self.pairs.score == 0.5:
            return "cannot tell"
        return "better" if self.pairs.score > 0.5 else "worse"

    @property
    def lead(self) -> tuple[float, float]:
        """Between which differences from one half the truth lies, all contenders of the report together."""
        return self.jointly.low - 0.5, self.jointly.high - 0.5


def compare_directly(
    table: PairTable,
    contender: str,
    baseline: str,
    *,
    confidence: float = 0.95,
    alpha: float = 0.05,
    pool: int | None = None,
) -> Duel:
    """The pairs that `contender` and `baseline` played with each other.

    `pool` is the number of openings the schedule draws from without replacement; give it only if both play an opening
    the same way every time. If more pairs were played than it has openings they are not from this pool alone, and
    nothing is said about it.

    Raises:
        ValueError: an agent is unknown.
    """
    inside("alpha", alpha)
    record, other = record_of(table, contender), table.code(baseline)
    chosen = record.opponent == other
    wins = record.wins[chosen]
    pairs = count_pairs(wins)
    _, unit = np.unique(record.cluster[chosen], return_inverse=True)
    known = pool if pool and pairs.n <= pool else None
    test = sign_flip_test(np.bincount(unit, 2 * (wins - 1)).astype(np.int64))
    p_value = float(pairs.score == 0.5) if known and known == pairs.n else test.p_value
    of_both = np.intersect1d(table.pairs_of(contender), table.pairs_of(baseline))
    rate = rate_interval(np.bincount(unit, wins), 2 * np.bincount(unit), confidence=confidence)
    if known:
        of_pool = pair_interval(pairs, confidence, pool=known)
        rate = Interval(of_pool.estimate, of_pool.low, of_pool.high, confidence)
    return Duel(
        contender=contender,
        baseline=baseline,
        pairs=pairs,
        unfinished=int(np.count_nonzero(~table.complete[of_both])),
        pool=known,
        rate=rate,
        jointly=rate,
        p_value=p_value,
        adjusted_p=p_value,
        family=1,
        alpha=alpha,
        parts=_parts(record.cluster[chosen], wins, known),
    )


def _parts(cluster: Ints, wins: Ints, pool: int | None) -> Parts:
    """Of the share of games won; none after a census."""
    numbers, unit = np.unique(cluster, return_inverse=True)
    is_census = pool is not None and pool == wins.size
    if is_census or not wins.size:
        return Parts(numbers, np.zeros(numbers.size), numbers.size)
    parts = np.bincount(unit, (wins - wins.mean()) / (2 * wins.size), numbers.size).astype(np.float64)
    return Parts(numbers, parts, numbers.size)
