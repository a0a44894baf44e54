"""Convert scores to Elo, logistic and normalized.

Elo differences are between two players. A score averaged over several opponents has no Elo; compare it in percentage
points, or fit ratings.
"""

from __future__ import annotations

import math

ELO_PER_LOGIT = 400 / math.log(10)
NORMALIZED_ELO_PER_SIGMA = 800 / math.log(10)


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


def games_per_outcome(outcomes: int) -> int:
    """Games behind one observation of `outcomes` possible values: a single game has two (there are no draws)."""
    return 1 if outcomes == 2 else 2
