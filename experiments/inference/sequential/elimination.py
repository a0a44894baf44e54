"""Best-of elimination: drop each contender once another is significantly better.

All contenders meet the same opponents from the same openings, and every opening gives each a share of the points. Of
two contenders a gambler bets, opening after opening, that one has the larger share: if it has not, on average, the
chance that the stake is ever multiplied by (K − 1)/α is at most α/(K − 1) (see `betting`). A contender drops out when
that has happened against it, for the one who leads. The best of K contenders has K − 1 others who might be shown to be
better by luck: it ever drops out with a chance of at most α, however often one looks and whoever leads meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from experiments.inference.argument_checks import Floats, Ints, check_between
from experiments.inference.cluster_intervals import Interval
from experiments.inference.sequential.confidence_sequence import capital_above, confidence_sequence

ALPHA = 0.05


def elimination_times(
    shares: Floats, checkpoints: Iterable[int], alpha: float = ALPHA, pool: int | None = None
) -> Ints:
    """For each contender, after how many openings it dropped out; 0 if it is left.

    At each checkpoint all who are left are compared with the one who leads. It ends when one is left, or where somebody
    who is left has not played on.

    Args:
        shares: (openings, contenders) in playing order, each in [0, 1]; NaN where a contender has not played.
        checkpoints: after how many openings to look, rising.
        alpha: the chance that the best contender drops out.
        pool: how many openings there are to draw from, where chance has no part; see `betting.confidence_sequence`.
    """
    after = np.zeros(shares.shape[1], np.int64)
    allowed = pairwise_alpha(shares.shape[1], alpha)
    for checkpoint in checkpoints:
        left = np.flatnonzero(after == 0)
        seen = shares[:checkpoint]
        if len(left) < 2 or len(seen) < checkpoint or np.isnan(seen[:, left]).any():
            break
        leader = left[np.argmax(seen[:, left].mean(axis=0))]
        for contender in left[left != leader]:
            if capital_above(_leads(seen[:, leader], seen[:, contender]), 0.5, allowed, pool).max() >= -math.log(
                allowed
            ):
                after[contender] = checkpoint
    return after


def gap_to_leader(
    leader: Floats, other: Floats, contenders: int, alpha: float = ALPHA, pool: int | None = None
) -> Interval:
    """By how much larger the leader's share is, over the openings both have played, with the interval drop-outs go by.

    Each end of it is false with a chance of at most α/(K − 1) for K contenders, at any time.
    """
    both = ~(np.isnan(leader) | np.isnan(other))
    leads = _leads(leader[both], other[both])
    confidence = 1 - 2 * pairwise_alpha(contenders, alpha)
    low, high = confidence_sequence(leads, confidence, pool).last
    mean = 2 * float(leads.mean()) - 1 if leads.size else math.nan
    return Interval(mean, 2 * low - 1, 2 * high - 1, confidence)


def pairwise_alpha(contenders: int, alpha: float = ALPHA) -> float:
    """The chance of error allowed to each comparison of two contenders: α/(K − 1)."""
    return check_between("alpha", alpha, 0, 0.5) / max(1, contenders - 1)


def _leads(leader: Floats, other: Floats) -> Floats:
    """Differences of shares, from −1 to 1, as values in [0, 1]."""
    return np.asarray((1 + leader - other) / 2)
