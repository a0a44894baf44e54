"""Stratified exact test of two players' results against several opponents, from counts alone.

Each opponent is a stratum of its own, so that players are compared against the same opponent, and a different mix of
opponents cannot cause an apparent difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from .argument_checks import Floats, check_between, check_integer
from .intervals import Interval


@dataclass(frozen=True)
class Stratum:
    """Wins and losses of contender and baseline against one opponent."""

    contender_wins: int
    contender_losses: int
    baseline_wins: int
    baseline_losses: int

    def __post_init__(self) -> None:
        for name in ("contender_wins", "contender_losses", "baseline_wins", "baseline_losses"):
            check_integer(name, getattr(self, name))


@dataclass(frozen=True)
class MantelHaenszel:
    """The common difference of win rates (contender minus baseline) and the exact test of no difference."""

    strata: tuple[Stratum, ...]
    difference: Interval
    p_value: float


@dataclass(frozen=True)
class Homogeneity:
    """Test of the hypothesis that several players, or several runs of one, have equal win rates against every opponent.

    `chi_squared` on `degrees` of freedom; `counts[run][opponent]` is (wins, losses).
    """

    counts: tuple[tuple[tuple[int, int], ...], ...]
    chi_squared: float
    degrees: int
    p_value: float


def mantel_haenszel(strata: Sequence[Stratum], confidence: float = 0.95) -> MantelHaenszel:
    """Combine `strata`; strata in which one side did not play carry no information and are left out.

    The difference is that of Mantel and Haenszel, with the variance of Greenland and Robins (1985), made unbiased for
    few games per stratum. For the interval one win and one loss are added to either side, spread over the strata, so
    that the interval has a width even if a player won every game (after Agresti and Caffo, 2000). Simulated coverage at
    95 % from two games against each of seven opponents on: at least 0.94. The p-value is exact given the margins,
    two-sided by the probability of a result: the sum of independent hypergeometric wins.
    """
    check_between("confidence", confidence)
    used = [s for s in strata if s.contender_wins + s.contender_losses and s.baseline_wins + s.baseline_losses]
    if not used:
        return MantelHaenszel(tuple(strata), Interval(math.nan, -1.0, 1.0, confidence), 1.0)
    counts = np.array([[s.contender_wins, s.contender_losses, s.baseline_wins, s.baseline_losses] for s in used], float)
    estimate, _ = _difference(counts)
    centre, variance = _difference(counts + 1 / len(used))
    half = float(scipy.special.ndtri(0.5 + confidence / 2)) * math.sqrt(variance)
    low, high = max(min(centre - half, estimate), -1.0), min(max(centre + half, estimate), 1.0)
    return MantelHaenszel(tuple(strata), Interval(estimate, low, high, confidence), _exact_p(counts.astype(np.int64)))


def homogeneity(counts: Sequence[Sequence[tuple[int, int]]]) -> Homogeneity:
    """Generalized Cochran–Mantel–Haenszel test over runs × (win, loss), stratified by opponent.

    `counts[run][opponent]` is (wins, losses); every run lists the same opponents in the same order. Fewer than two
    runs, or no loss or no win anywhere, give p = 1. Raises ValueError for runs of different length.
    """
    kept = tuple(tuple((check_integer("wins", w), check_integer("losses", ls)) for w, ls in run) for run in counts)
    if len({len(run) for run in kept}) > 1:
        raise ValueError(f"runs must list the same opponents, not {[len(run) for run in kept]} of them")
    degrees = max(len(kept) - 1, 0)
    if not degrees or not kept[0]:
        return Homogeneity(kept, 0.0, degrees, 1.0)
    array = np.array(kept, dtype=float)
    played, wins = array.sum(axis=2), array[:, :, 0]
    total, won = played.sum(axis=0), wins.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = played * won / total
        scale = np.where(total > 1, won * (total - won) / (total**2 * (total - 1)), 0.0)
    shift = np.nan_to_num(wins - expected).sum(axis=1)[:-1]
    spread = -np.einsum("k,ik,jk->ij", scale, played, played)
    spread += np.diag((scale * total * played).sum(axis=1))
    spread = spread[:-1, :-1]
    if not np.any(spread):
        return Homogeneity(kept, 0.0, degrees, 1.0)
    q = float(shift @ np.linalg.pinv(spread) @ shift)
    return Homogeneity(kept, q, degrees, float(scipy.special.chdtrc(degrees, q)))


def _difference(counts: Floats) -> tuple[float, float]:
    """Mantel–Haenszel difference from counts (strata, 4), and its variance; NaN for a single game of a stratum."""
    a, b, c, d = counts.T
    row_1, other = a + b, c + d
    weights = row_1 * other / (row_1 + other)
    difference = float((weights * (a / row_1 - c / other)).sum() / weights.sum())
    # over n − 1, not n, which with four games per stratum would be too small by a quarter
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = a * b / (row_1**2 * (row_1 - 1)) + c * d / (other**2 * (other - 1))
    return difference, float((weights**2 * parts).sum() / weights.sum() ** 2)


def _exact_p(counts: Floats) -> float:
    from scipy.stats import hypergeom

    chances, least = np.ones(1), 0
    for a, b, c, d in counts.astype(int).tolist():
        low, high = max(0, a + c - (c + d)), min(a + c, a + b)
        wins = np.arange(low, high + 1)
        chances = np.convolve(chances, hypergeom.pmf(wins, a + b + c + d, a + c, a + b))
        least += low
    observed = chances[int(counts[:, 0].sum()) - least]
    return min(float(chances[chances <= observed * (1 + 1e-7)].sum()), 1.0)
