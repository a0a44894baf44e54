"""Multinomial likelihood over equally spaced outcomes with a given mean.

Both the sequential test and the profile-likelihood interval use one fact: under a linear constraint Σ pᵢ·aᵢ = 0 the
maximum-likelihood shares are pᵢ = p̂ᵢ / (1 + x·aᵢ), where x solves Σ p̂ᵢ·aᵢ / (1 + x·aᵢ) = 0. All functions work on the
last axis, so that a whole path of counts is one call.

Source: M. Van den Bergh, "Comments on Normalized Elo" and "The generalized SPRT"; A. B. Owen, "Empirical Likelihood".
"""

from __future__ import annotations

import numpy as np
import scipy

from .argument_checks import Floats


class ConvergenceError(ValueError):
    """A fit did not converge: the message names it and its number of steps."""


_STEPS = 200
_NEWTON_STEPS = 130
"""Limit of Newton steps; at most 75 have been observed. Afterwards bisection is used, which always ends."""
_ROUNDS = 50
_STILL = 1e-6
"""Convergence tolerance. Near the end of a tilt's range rounding alone moves shares by about 1e-9."""


def solve_tilt(shares: Floats, deviations: Floats) -> Floats:
    """Solve Σ sharesᵢ·deviationsᵢ / (1 + x·deviationsᵢ) = 0 for x, within the range that keeps all 1 + x·aᵢ ≥ 0.

    `shares` and `deviations` broadcast to (…, k); every set of deviations has both signs. If an extreme outcome has no
    share the sum may not change sign; x is then the end of its range, which is the constrained maximum as well.

    Raises:
        ValueError: a share is not a number.
        ConvergenceError: there is no solution because all deviations have one sign, or none is found.
    """
    shares, deviations = np.broadcast_arrays(shares, deviations)
    classes = shares.shape[-1]
    p, a = shares.reshape(-1, classes), deviations.reshape(-1, classes)
    if not np.isfinite(p).all():
        raise ValueError(f"shares must be numbers, not {p[~np.isfinite(p)][0]}")
    one_sided = (a.max(axis=-1) <= 0) | (a.min(axis=-1) >= 0)
    if one_sided.any():
        raise ConvergenceError(f"no shares give deviations all of one sign a mean of 0: {a[one_sided][0].tolist()}")
    low, high = -1 / a.max(axis=-1), -1 / a.min(axis=-1)
    tolerance = 1e-14 * (high - low)
    x = np.zeros(len(p))
    # most rows take a few Newton steps, those near the end of their range dozens: iterate over unsolved rows only
    rows = np.arange(len(p))
    for step in range(_STEPS):
        ratios = a[rows] / (1 + x[rows, None] * a[rows])
        value = (p[rows] * ratios).sum(axis=-1)
        low[rows] = np.where(value > 0, x[rows], low[rows])
        high[rows] = np.where(value < 0, x[rows], high[rows])
        newton = x[rows] + value / (p[rows] * ratios**2).sum(axis=-1)
        inside = (low[rows] < newton) & (newton < high[rows])
        takes_newton = (inside & (step < _NEWTON_STEPS)) | (value == 0)
        following = np.where(takes_newton, newton, (low[rows] + high[rows]) / 2)
        is_settled = np.abs(following - x[rows]) <= tolerance[rows]
        x[rows] = following
        rows = rows[~is_settled]
        if not rows.size:
            break
    else:
        raise ConvergenceError(
            f"no likeliest shares found in {_STEPS} steps, given shares such as {p[rows[0]].tolist()}"
        )
    return x.reshape(shares.shape[:-1])


def constrain_mean(shares: Floats, mean: float) -> Floats:
    """Maximum-likelihood shares (…, k) of equally spaced outcomes in [0, 1] with mean `mean`, given `shares`.

    All `shares` must be positive.
    """
    deviations = np.linspace(0, 1, shares.shape[-1]) - mean
    return shares / (1 + solve_tilt(shares, deviations)[..., None] * deviations)


def constrain_deviations(shares: Floats, deviations_from_half: float) -> Floats:
    """Maximum-likelihood shares (…, k) whose mean is ½ plus `deviations_from_half` of their own standard deviations.

    The constraint is not linear; it is linearised at the last solution until the shares converge. All `shares` must be
    positive.

    Raises:
        ConvergenceError: the shares do not converge.
    """
    outcomes, t = np.linspace(0, 1, shares.shape[-1]), deviations_from_half
    observed = shares.reshape(-1, shares.shape[-1])
    result = np.full_like(observed, 1 / shares.shape[-1])
    # most rows are still after a few rounds: go on with the others only
    rows = np.arange(len(observed))
    for _ in range(_ROUNDS):
        fitted = result[rows]
        mean = (fitted @ outcomes)[:, None]
        deviation = np.sqrt((fitted @ outcomes**2)[:, None] - mean**2)
        linear = outcomes - 0.5 - t * deviation * (1 + ((mean - outcomes) / deviation) ** 2) / 2
        result[rows] = constrained = observed[rows] / (1 + solve_tilt(observed[rows], linear)[:, None] * linear)
        moved = np.abs(constrained - fitted).max(axis=-1)
        rows, moved = rows[moved >= 1e-12], moved[moved >= 1e-12]
        if not rows.size:
            break
    if not moved.max(initial=0.0) < _STILL:
        raise ConvergenceError(
            f"shares that are {t:g} deviations from a half still move by {moved.max():.1g} after {_ROUNDS} rounds"
        )
    return result.reshape(shares.shape)


def deviance(counts: Floats, mean: float) -> Floats:
    """Twice the log-likelihood lost by fixing the mean to `mean`, in (0, 1), for `counts` (…, k) of 0 or more."""
    deviations = np.linspace(0, 1, counts.shape[-1]) - mean
    shares = counts / counts.sum(axis=-1, keepdims=True)
    tilt = solve_tilt(shares, deviations)[..., None]
    with np.errstate(invalid="ignore"):
        terms = scipy.special.xlog1py(counts, tilt * deviations)
    return 2 * np.asarray(terms.sum(axis=-1), dtype=np.float64)
