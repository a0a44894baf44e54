"""Sums of fractions as Python 3.12 and later make them: what rounding loses is carried along (Neumaier 1974)."""

from __future__ import annotations

from numba import types
from numba.extending import overload

from knights_isolation.isolation.native.runtime.checked_arithmetic import plus
from knights_isolation.isolation.native.runtime.math_functions import mathematics as math


def add(total, compensation, value):
    """Return a running sum and its rounding error with one more value; for floats, Neumaier's summation."""


def rest_of(start):
    """Return the rounding error of a start: NaN for a whole number, to which Python adds the first float plainly."""


def add_from(total, compensation, value):
    """Return what `add` does, of a sum that may start from a whole number."""


def added(total, compensation):
    """Return the sum."""


@overload(add)
def _add_value(total, compensation, value):
    if not isinstance(value, types.Float):
        return lambda total, compensation, value: (plus(total, value), compensation)

    def add(total, compensation, value):
        both = total + value
        if abs(total) >= abs(value):
            return both, compensation + ((total - both) + value)
        return both, compensation + ((value - both) + total)

    return add


@overload(rest_of)
def _rest_of(start):
    rest = 0.0 if isinstance(start, types.Float) else math.nan
    return lambda start: rest


@overload(add_from)
def _add_from(total, compensation, value):
    if not isinstance(value, types.Float):
        return lambda total, compensation, value: add(total, compensation, value)

    def add_from(total, compensation, value):
        if math.isnan(compensation):
            return total + value, 0.0
        return add(total, compensation, value)

    return add_from


@overload(added)
def _added(total, compensation):
    if not isinstance(total, types.Float):
        return lambda total, compensation: total
    return lambda total, compensation: (
        total + compensation if compensation != 0.0 and math.isfinite(compensation) else total
    )
