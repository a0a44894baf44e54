"""Alpha spending: p-values of questions that are looked at again and again.

The first run was planned with N openings; by the look after n a test at level α may have erred with probability
`spent(α, n / N)`: hardly at all before the plan is played, with `PLANNED` of α once it is, and the rest is kept for
extensions, without end. The bounds follow from the times of all looks so far, as for Brownian motion. The p-value of a
look is the least level at which the test would reject.

Sources: Lan and DeMets 1983, *Biometrika* 70 (spending); Armitage, McPherson and Rowe 1969, *J. R. Stat. Soc. A* 132
(recursion); Jennison and Turnbull 2000, *Group Sequential Methods*, ch. 9 (repeated p-values).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import scipy

from .proportions import Floats, check_shares

PLANNED = 0.9
"""Share of the error level that is spent once the planned openings are played."""
LEAST_STEP = 0.02
"""Share of new openings below which a look is none: it repeats the answer of the one before."""

_LEVELS = np.exp(np.linspace(math.log(1e-10), math.log(0.999), 60))
_GRID = 257
_FARTHEST = 8.0
"""Standard errors beyond which a sum is never found."""
_HALVINGS = 45
_LARGEST = 9.0
"""Standard errors beyond which a difference is not distinguished."""


@dataclass(frozen=True)
class Look:
    """A look at the different openings so far; `z` is their difference in standard errors, 0 if it is not known."""

    openings: int
    z: float

    @property
    def p_value(self) -> float:
        """Two-sided p-value of a test with only this look."""
        return 2 * float(scipy.special.ndtr(-abs(self.z)))


def deviate(p_value: float, estimate: float) -> float:
    """Return a difference in standard errors from its two-sided p-value and its sign."""
    return math.copysign(min(-float(scipy.special.ndtri(p_value / 2)), _LARGEST), estimate) if p_value < 1 else 0.0


def pooled(before: Look, openings: int, z: float) -> Look:
    """Return a look at all openings after `openings` more, whose own difference is `z` standard errors (Stouffer)."""
    total = before.openings + openings
    return Look(total, (math.sqrt(before.openings) * before.z + math.sqrt(openings) * z) / math.sqrt(total))


def counted(looks: Sequence[Look]) -> tuple[Look, ...]:
    """Return the looks that added at least `LEAST_STEP` to the openings of the one before."""
    chosen: list[Look] = []
    for look in looks:
        if not chosen or look.openings >= (1 + LEAST_STEP) * chosen[-1].openings:
            chosen.append(look)
    return tuple(chosen)


@lru_cache(maxsize=4096)
def evidence_p_value(looks: tuple[Look, ...], planned: int) -> float:
    """Return a p-value that holds however often one looks, of `counted` looks.

    It is the least of all looks that had the sign of the last one, but not less than the last one's own: a verdict
    that was once made stands as long as the data would bear it.
    """
    times = [look.openings / planned for look in looks]
    agreeing = [number for number, look in enumerate(looks) if look.z * looks[-1].z > 0]
    p_values = [repeated_p_value(times[: number + 1], looks[number].p_value) for number in agreeing]
    return max(min(p_values, default=1.0), looks[-1].p_value)


def spent(levels: Floats, time: float) -> Floats:
    """Return the probability with which tests at these levels may have rejected a true hypothesis by a time.

    `time` is the number of openings over the number planned first.
    """
    planned = scipy.special.ndtri(levels * PLANNED / 2)
    if time <= 1:
        return np.asarray(2 * scipy.special.ndtr(planned / time))
    return np.asarray(levels * (1 - (1 - PLANNED) / (1 + math.log2(time))))


def repeated_p_value(times: Sequence[float], p_value: float) -> float:
    """Return the p-value of the last of several looks, given the two-sided one of a test with only this look.

    `times` are openings at each look over those planned first. ValueError if there is none, or they do not ascend.

    >>> round(repeated_p_value([1.0], 0.045), 6)
    0.05
    """
    check_shares("p_value", [p_value])
    if not times or times[0] <= 0 or any(later <= earlier for earlier, later in pairwise(times)):
        raise ValueError(f"times of looks must be positive and ascend, not {list(times)}")
    if p_value == 0:
        return 0.0
    observed = -float(scipy.special.ndtri(p_value / 2))
    if len(times) == 1:  # the first look is planned with at least as many openings
        level = 2 * float(scipy.special.ndtr(-observed * min(times[0], 1.0)))
        return min(level / PLANNED, 1.0)
    bounds = _bounds(tuple(round(time, 6) for time in times))
    observed = min(observed, _FARTHEST - 1e-6)  # bounds that are farther are not known
    return float(np.exp(np.interp(-observed, -bounds, np.log(_LEVELS), right=0.0)))


def nominal_level(times: Sequence[float], level: float) -> float:
    """Return the level of the last look's own test, of a test at `level` over all looks."""
    if len(times) == 1:
        return float(spent(np.array([level]), min(times[0], 1.0))[0])
    bounds = _bounds(tuple(round(time, 6) for time in times))
    return 2 * float(scipy.special.ndtr(-np.interp(math.log(level), np.log(_LEVELS), bounds)))


@lru_cache(maxsize=512)
def _bounds(times: tuple[float, ...]) -> Floats:
    """Return the bounds of the last look in standard errors, at each of `_LEVELS`: they fall with the level."""
    sums = np.linspace(-1.0, 1.0, _GRID)
    simpson = np.where(np.arange(_GRID) % 2, 4.0, 2.0) / 3
    simpson[[0, -1]] = 1 / 3
    step = 2 / (_GRID - 1)
    before, density, used, bound = 0.0, np.zeros((0, 0)), np.zeros_like(_LEVELS), np.zeros_like(_LEVELS)
    for time in times:
        total = spent(_LEVELS, time)
        increment, used = np.maximum(total - used, 1e-300), total
        deviation = math.sqrt(time - before)
        points = bound[:, None] * sums
        if before:
            bound = _bound_at(increment, points, density, deviation)
        else:
            bound = -scipy.special.ndtri(increment / 2) * deviation
        bound = np.minimum(bound, _FARTHEST * math.sqrt(time))
        reached = bound[:, None] * sums
        if before:
            ways = np.exp(-0.5 * ((reached[:, :, None] - points[:, None, :]) / deviation) ** 2)
            arrived = np.einsum("lij,lj->li", ways, density)
        else:
            arrived = np.exp(-0.5 * (reached / deviation) ** 2)
        density = arrived * simpson * step * bound[:, None] / (deviation * math.sqrt(2 * math.pi))
        before = time
    return np.asarray(bound / math.sqrt(before))


def _bound_at(increment: Floats, points: Floats, density: Floats, deviation: float) -> Floats:
    """Return the bounds that sums pass with these probabilities, on both sides, if they have passed none before."""
    low = np.zeros_like(increment)
    high = np.full_like(increment, points.max() + _FARTHEST * deviation)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        passed = 2 * (density * scipy.special.ndtr((points - middle[:, None]) / deviation)).sum(axis=1)
        low, high = np.where(passed > increment, middle, low), np.where(passed > increment, high, middle)
    return high
