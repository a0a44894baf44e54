"""A contender head to head with the baseline: pairs of the two, and no opponents in common."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from experiments.inference.arguments import inside
from experiments.inference.clusters import Interval, rate_interval
from experiments.inference.comparison import Verdict
from experiments.inference.pairing import PairTable, record_of
from experiments.inference.pairs import PairCounts, PairInterval, count_pairs, pair_interval
from experiments.inference.permutation import sign_flip_test
from experiments.inference.planning import pairs_after_pilot


@dataclass(frozen=True)
class Duel:
    """A contender head to head with the baseline.

    `rate` is the contender's share of games won, over openings at large, clustered by symmetry; `on_these` is about
    the pool the openings were drawn from, None if that is unknown or chance had a part. `unfinished` pairs of the two
    lack a game and are left out. `p_value` is the exact sign-flip test over openings; `adjusted_p` is Holm-adjusted
    over the `family` of contenders in one report; in a report of one, and for a control, it is `p_value`.
    """

    contender: str
    baseline: str
    pairs: PairCounts
    unfinished: int
    rate: Interval
    on_these: PairInterval | None
    p_value: float
    adjusted_p: float
    family: int
    alpha: float

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare: no complete pairs."""
        return not self.pairs.n

    @property
    def is_census(self) -> bool:
        """Whether every opening of the pool was played, so that `on_these` is exact."""
        return self.on_these is not None and self.on_these.is_census

    @property
    def verdict(self) -> Verdict:
        """For openings at large, by the adjusted p-value."""
        if self.adjusted_p > self.alpha or self.pairs.score == 0.5:
            return "cannot tell"
        return "better" if self.pairs.score > 0.5 else "worse"

    @property
    def more_pairs(self) -> float:
        """About how many pairs are missing to find a difference of the size seen: infinite if none, 0 if it is found.

        With power 0.8, at the share of `alpha` that the family leaves.
        """
        if self.verdict != "cannot tell":
            return 0.0
        if self.is_empty or self.pairs.score == 0.5:
            return math.inf
        lead = self.pairs.score - 0.5
        return float(max(pairs_after_pilot(self.pairs, lead, alpha=self.alpha / self.family).more, 1))


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
    p_value = sign_flip_test(np.bincount(unit, 2 * (wins - 1)).astype(np.int64)).p_value
    both = [table.code(contender), other]
    of_both = np.isin(table.first, both) & np.isin(table.second, both)
    return Duel(
        contender=contender,
        baseline=baseline,
        pairs=pairs,
        unfinished=int(np.count_nonzero(of_both & ~table.complete)),
        rate=rate_interval(np.bincount(unit, wins), 2 * np.bincount(unit), confidence=confidence),
        on_these=pair_interval(pairs, confidence, pool=pool) if pool and pairs.n <= pool else None,
        p_value=p_value,
        adjusted_p=p_value,
        family=1,
        alpha=alpha,
    )
