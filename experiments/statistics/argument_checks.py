"""Argument checks: return the value, or raise a ValueError that names it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def check_integer(name: str, value: int, minimum: int = 0) -> int:
    """Return `value` as an int; raise ValueError unless it is a whole number of at least `minimum`."""
    if isinstance(value, bool) or value != value or int(value) != value or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, not {value!r}")
    return int(value)


def check_between(name: str, value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return `value` as a float; raise ValueError unless it lies strictly between `low` and `high`."""
    if not low < value < high:
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, both excluded, not {value!r}")
    return float(value)


def positive(name: str, value: float) -> float:
    """Return `value` as a float; raise ValueError unless it is positive and finite."""
    return check_between(name, value, 0.0, np.inf)


def check_choice(name: str, value: str, choices: Sequence[str]) -> str:
    """Return `value`; raise ValueError unless it is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value


def check_shares(name: str, values: npt.ArrayLike) -> Floats:
    """Return `values` as a flat float array; raise ValueError unless each lies in [0, 1]."""
    array = np.asarray(values, dtype=np.float64).ravel()
    wrong = array[~((array >= 0) & (array <= 1))]
    if wrong.size:
        raise ValueError(f"{name} must lie in [0, 1], not {wrong[0]!r}")
    return array


def check_counts(name: str, values: npt.ArrayLike) -> Floats:
    """Return `values` as a float array of counts (last axis); ValueError if negative or fewer than two."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] < 2:
        raise ValueError(f"{name} must hold at least 2 counts, not {values!r}")
    wrong = array[~(array >= 0) | ~np.isfinite(array)]
    if wrong.size:
        raise ValueError(f"{name} must be counts of at least 0, not {wrong[0]!r}")
    return array
