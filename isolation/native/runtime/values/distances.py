"""Norms and distances of vectors, as in NumPy and SciPy."""

from __future__ import annotations

from numba import types
from numba.core.errors import TypingError

from ...decorators import by_type, for_all_types
from ..checked_arithmetic import REFUSED, give_up, negative_of, plus
from ..math_functions import _abs
from ..math_functions import mathematics as math
from ..numpy_functions import fraction_dot, in_memory_order
from ..numpy_functions import numbers as np
from .arrays import float_array
from .conversions import _EXACT


@by_type
def norm(values):
    """Return the Euclidean norm of a tuple, list or array of numbers."""
    if isinstance(values, types.Array) and isinstance(values.dtype, types.Float):

        def norm_of_fractions(values):
            flat = in_memory_order(values)
            return math.sqrt(fraction_dot(flat, flat))

        return norm_of_fractions
    if isinstance(values, types.Array) and values.ndim > 1:
        return lambda values: norm(in_memory_order(values))
    if not _are_wholes(values):
        return lambda values: norm(float_array(values))

    def norm_of_wholes(values):
        total = 0.0
        for value in values:
            total += float(value) * float(value)
        give_up(total > _EXACT)
        return math.sqrt(total)

    return norm_of_wholes


@by_type
def norm_of_order(values, order):
    """Return numpy.linalg.norm(values, order), of an array with one axis."""
    if not isinstance(values, types.Array) or values.ndim != 1:
        raise TypingError(f"{REFUSED}it calls numpy.linalg.norm with an order, of what is no list of numbers")

    def norm_of_order(values, order):
        sizes = np.abs(values.astype(np.float64))
        if order == 1:
            return np.sum(sizes)
        if order == 2:
            return norm(sizes)
        if order == np.inf:
            return np.max(sizes)
        raise ValueError("no order that compiled code has")

    return norm_of_order


def _are_wholes(values):
    """Whether all numbers of a tuple, list or array are whole, so that the order of a sum of few does not matter."""
    return isinstance(getattr(values, "dtype", None), types.Integer)


@by_type
def _apart(a, b):
    if isinstance(a, types.Integer) and isinstance(b, types.Integer):
        return lambda a, b: _abs(plus(a, negative_of(b)))
    return lambda a, b: abs(a - b)


@for_all_types
def _check_lengths(a, b):
    if len(a) != len(b):
        raise ValueError("vectors of different length")


@by_type
def sqeuclidean(a, b):
    """Return the squared Euclidean distance."""
    if not (_are_wholes(a) and _are_wholes(b)):

        def sqeuclidean_of_fractions(a, b):
            _check_lengths(a, b)
            apart = float_array(a) - float_array(b)
            return fraction_dot(apart, apart)

        return sqeuclidean_of_fractions

    def sqeuclidean(a, b):
        _check_lengths(a, b)
        total = 0.0
        for index in range(len(a)):
            apart = float(_apart(a[index], b[index]))
            total += apart * apart
        give_up(total > _EXACT)
        return total

    return sqeuclidean


@by_type
def euclidean(a, b):
    """Return the Euclidean distance of two tuples, lists or arrays."""
    if _are_wholes(a) and _are_wholes(b):
        return lambda a, b: math.sqrt(sqeuclidean(a, b))
    raise TypingError(f"{REFUSED}it calls SciPy's euclidean with fractions, whose last digit differs: use math.dist")


@by_type
def cityblock(a, b):
    """Return the sum of the distances along each axis."""
    if not (_are_wholes(a) and _are_wholes(b)):

        def cityblock_of_fractions(a, b):
            _check_lengths(a, b)
            return np.sum(np.abs(float_array(a) - float_array(b)))

        return cityblock_of_fractions

    def cityblock(a, b):
        _check_lengths(a, b)
        total = 0
        for index in range(len(a)):
            total = plus(total, _apart(a[index], b[index]))
        return total

    return cityblock


@for_all_types
def chebyshev(a, b):
    """Return the largest of the distances along each axis."""
    _check_lengths(a, b)
    longest = _apart(a[0], b[0])
    for index in range(1, len(a)):
        apart = _apart(a[index], b[index])
        if apart > longest:
            longest = apart
    return longest
