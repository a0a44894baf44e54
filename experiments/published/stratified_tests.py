"""Exact tests of two players' win rates from counts alone, stratified by opponent (Mantel and Haenszel).

Each opponent is a stratum of its own, so that players are compared against the same opponent, and a different mix of
opponents cannot cause an apparent difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from ..statistics.proportions import ALPHA, Floats, Interval, check_integer


class Stratum(NamedTuple):
    """Wins and losses of contender and baseline against one opponent."""

    contender_wins: int
    contender_losses: int
    baseline_wins: int
    baseline_losses: int

    @property
    def contender_games(self) -> int:
        """Number of the contender's games."""
        return self.contender_wins + self.contender_losses

    @property
    def baseline_games(self) -> int:
        """Number of the baseline's games."""
        return self.baseline_wins + self.baseline_losses


@dataclass(frozen=True)
class MantelHaenszel:
    """The common difference of win rates (contender minus baseline) and the exact test of no difference."""

    difference: Interval
    p_value: float


def mantel_haenszel(strata: Sequence[Stratum]) -> MantelHaenszel:
    """Combine `strata`; strata in which one side did not play carry no information and are left out.

    The difference is that of Mantel and Haenszel, with the variance of Greenland and Robins (1985), made unbiased for
    few games per stratum. For the interval one win and one loss are added to either side, spread over the strata, so
    that the interval has a width even if a player won every game (after Agresti and Caffo, 2000). Simulated coverage at
    95 % from two games against each of seven opponents on: at least 0.94. The p-value is exact given the margins,
    two-sided by the probability of a result: the sum of independent hypergeometric wins. Raises ValueError for counts
    below 0.
    """
    checked = (Stratum(*(check_integer("wins and losses", count) for count in stratum)) for stratum in strata)
    counts = np.array([stratum for stratum in checked if stratum.contender_games and stratum.baseline_games], float)
    if not len(counts):
        return MantelHaenszel(Interval(math.nan, -1.0, 1.0, 1 - ALPHA), 1.0)
    estimate, _ = _difference(counts)
    centre, variance = _difference(counts + 1 / len(counts))
    half = float(scipy.special.ndtri(1 - ALPHA / 2)) * math.sqrt(variance)
    low, high = max(min(centre - half, estimate), -1.0), min(max(centre + half, estimate), 1.0)
    return MantelHaenszel(Interval(estimate, low, high, 1 - ALPHA), _exact_p(counts))


def homogeneity(counts: Sequence[Sequence[tuple[int, int]]]) -> float:
    """P-value of the hypothesis that several players, or runs of one, have equal win rates against every opponent.

    Generalized Cochran–Mantel–Haenszel test over runs × (win, loss), stratified by opponent. `counts[run][opponent]` is
    (wins, losses); every run lists the same opponents in the same order. 1 for fewer than two runs, or no loss or no
    win anywhere. Raises ValueError for runs of different length.
    """
    if len({len(run) for run in counts}) > 1:
        raise ValueError(f"runs must list the same opponents, not {[len(run) for run in counts]} of them")
    if len(counts) < 2 or not counts[0]:
        return 1.0
    array = np.array(counts, float)
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
        return 1.0
    q = float(shift @ np.linalg.pinv(spread) @ shift)
    return float(scipy.special.chdtrc(len(counts) - 1, q))


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
        low, high = max(0, a - d), min(a + c, a + b)
        wins = np.arange(low, high + 1)
        chances = np.convolve(chances, hypergeom.pmf(wins, a + b + c + d, a + c, a + b))
        least += low
    observed = chances[int(counts[:, 0].sum()) - least]
    return min(float(chances[chances <= observed * (1 + 1e-7)].sum()), 1.0)
