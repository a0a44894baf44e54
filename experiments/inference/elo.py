"""Elo: what a score means on the chess scale, logistic and normalized.

Elo belongs to one player against one other. A score averaged over several opponents has no Elo; compare it in
percentage points, or fit ratings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from experiments.inference.argument_checks import check_between
from experiments.inference.argument_checks import check_counts as checked_counts

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


@dataclass(frozen=True)
class EloEstimate:
    """Logistic and normalized Elo with their error bars at `confidence`.

    `counts` are over equally spaced outcomes from 0 to 1: (lost, won) for single games, (both lost, split, both won)
    for pairs, five half-point classes for pairs of games that can be drawn. The errors are half-widths, as match
    programs print them; where a score is near 0 or 1 prefer an interval of `pairs`, whose ends transform exactly.
    """

    counts: tuple[float, ...]
    confidence: float
    score: float
    elo: float
    elo_error: float
    normalized_elo: float
    normalized_elo_error: float


def estimate_elo(counts: Sequence[float], confidence: float = 0.95) -> EloEstimate:
    """Elo and normalized Elo of counts over equally spaced outcomes (normal approximation).

    Normalized Elo is (score − ½) over the standard deviation of one game, times 800/ln 10: an effect size, comparable
    between matches whose openings differ in how often they decide the game. Source: M. Van den Bergh, "Normalized Elo".
    Raises ValueError without any observation.
    """
    array = checked_counts("counts", counts)
    check_between("confidence", confidence)
    n = float(array.sum())
    if n == 0:
        raise ValueError(f"counts must hold at least one observation, not {tuple(counts)!r}")
    outcomes = np.linspace(0, 1, array.size)
    score = float(array @ outcomes) / n
    variance = max(float(array @ outcomes**2) / n - score**2, 0.0)
    games = games_per_outcome(array.size)
    z = float(ndtri(0.5 + confidence / 2))
    half = z * math.sqrt(variance / n)
    ends = elo_from_score(min(score + half, 1.0)), elo_from_score(max(score - half, 0.0))
    deviation = math.sqrt(games * variance)
    direction = (score > 0.5) - (score < 0.5)
    return EloEstimate(
        counts=tuple(float(c) for c in array),
        confidence=confidence,
        score=score,
        elo=elo_from_score(score),
        elo_error=(ends[0] - ends[1]) / 2 if all(map(math.isfinite, ends)) else math.inf,
        normalized_elo=(
            (score - 0.5) / deviation * NORMALIZED_ELO_PER_SIGMA if deviation else math.copysign(math.inf, direction)
        ),
        normalized_elo_error=NORMALIZED_ELO_PER_SIGMA * z / math.sqrt(games * n),
    )
