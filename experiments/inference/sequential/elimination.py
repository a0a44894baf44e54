"""Best-of elimination: drop each contender once another is significantly better.

All contenders meet the same opponents from the same openings, and every opening gives each a share of the points. For
two contenders a gambler bets, opening after opening, that one of them has the larger share. If its mean share is not
larger, the chance that the stake is ever multiplied by (K − 1)/α is at most α/(K − 1) (see `confidence_sequence`). A
contender drops out when the bet on the leader against it reaches that factor. The best of K contenders has K − 1 others
that might appear better by chance: the chance that it ever drops out is at most α, regardless of how often one looks
and of who leads meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..argument_checks import Floats, Ints, check_between
from ..cluster_intervals import Interval
from .confidence_sequence import capital_above, confidence_sequence

ALPHA = 0.05


def elimination_times(
    shares: Floats, checkpoints: Iterable[int], alpha: float = ALPHA, pool: int | None = None
) -> Ints:
    """For each contender, return the number of openings after which it dropped out; 0 if it is left.

    At each checkpoint all remaining contenders are compared with the leader. The procedure ends when one is left, or
    when a remaining contender has not played on.

    Args:
        shares: (openings, contenders) in playing order, each in [0, 1]; NaN if a contender has not played.
        checkpoints: numbers of openings after which to look, ascending.
        alpha: chance that the best contender drops out.
        pool: number of openings to draw from, if games do not depend on chance; see `confidence_sequence`.
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
    """Estimate the leader's surplus share over the openings both have played, with the interval used for elimination.

    Each end of it is wrong with a chance of at most α/(K − 1) for K contenders, at any time.
    """
    both = ~(np.isnan(leader) | np.isnan(other))
    leads = _leads(leader[both], other[both])
    confidence = 1 - 2 * pairwise_alpha(contenders, alpha)
    low, high = confidence_sequence(leads, confidence, pool).last
    mean = 2 * float(leads.mean()) - 1 if leads.size else math.nan
    return Interval(mean, 2 * low - 1, 2 * high - 1, confidence)


def pairwise_alpha(contenders: int, alpha: float = ALPHA) -> float:
    """Error level of each comparison of two contenders: α/(K − 1)."""
    return check_between("alpha", alpha, 0, 0.5) / max(1, contenders - 1)


def _leads(leader: Floats, other: Floats) -> Floats:
    return np.asarray((1 + leader - other) / 2)
