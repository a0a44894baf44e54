"""Arrays from lists and tuples, what NumPy and the statistics module make of them; norms and distances."""

from __future__ import annotations

from numba import types
from numba.core.errors import TypingError
from numba.extending import overload
from numba.np.numpy_support import as_dtype
from numba.typed.typedobjectutils import _nonoptional

from ..decorators import by_type, for_all_types
from ..position import CellsType, MaskType
from .checked_arithmetic import REFUSED, give_up, jit, negative_of, plus, times
from .conversions import _EXACT
from .math_functions import _abs, squared
from .math_functions import mathematics as math
from .numpy_functions import fraction_dot, in_memory_order, sum_along
from .numpy_functions import numbers as np
from .wide_numbers import WIDE, narrowed


@by_type
def array(values):
    """Return numpy.array(values)."""
    if isinstance(values, types.Optional):
        return lambda values: array(_nonoptional(values))
    if isinstance(values, CellsType) or (isinstance(values, types.List) and isinstance(values.dtype, types.UniTuple)):
        return _array_of_tuples
    if isinstance(values, types.List) and isinstance(values.dtype, types.List):
        kind = values.dtype.dtype
        if isinstance(kind, types.Number | types.Boolean):
            numbers_of = as_dtype(kind)
            return lambda values: np.array(values) if len(values) > 0 else np.empty((0, 0), numbers_of)
    if isinstance(values, types.List) and values.dtype == WIDE:
        return lambda values: np.array([narrowed(value) for value in values])
    if isinstance(values, types.BaseTuple | types.List):
        return lambda values: np.array(values)
    if isinstance(values, MaskType):
        return lambda values: np.array([value for value in values])  # noqa: C416
    return lambda values: values


def _array_of_tuples(values):
    flat = [part for row in values for part in row]
    return np.array(flat).reshape(len(values), -1)


@for_all_types
def float_array(values):
    """Return numpy.array(values, dtype=float)."""
    return array(values).astype(np.float64)


@for_all_types
def whole_array(values):
    """Return numpy.array(values, dtype=int)."""
    return array(values).astype(np.int64)


@by_type
def numeric(values):
    """Return what NumPy functions take: tuples, lists and cells as arrays, all else as it is."""
    if isinstance(values, types.BaseTuple | types.List | MaskType):
        return lambda values: array(values)
    return lambda values: values


@by_type
def clip(values, low, high):
    """Return numpy.clip(values, low, high)."""
    if isinstance(values, types.Number) and isinstance(low, types.Number) and isinstance(high, types.Number):
        return lambda values, low, high: low if values < low else (high if values > high else values)
    return lambda values, low, high: np.clip(values, low, high)


@by_type
def count_ones(value):
    """Return bin(value).count("1") of a whole number."""
    if value == WIDE:
        return lambda value: value.bit_count()
    if not isinstance(value, types.Integer):
        raise TypingError(f"{REFUSED}it counts the bits of what is no whole number")

    def count_ones(value):
        left, ones = abs(value), 0
        while left:
            left &= left - 1
            ones += 1
        return ones

    return count_ones


@for_all_types
def unique_counts(values):
    """Return numpy.unique(values, return_counts=True)."""
    ordered = np.sort(numeric(values).ravel())
    starts = [index for index in range(len(ordered)) if index == 0 or ordered[index] != ordered[index - 1]]
    unique = np.empty(len(starts), ordered.dtype)
    counts = np.empty(len(starts), np.int64)
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(ordered)
        unique[index], counts[index] = ordered[start], end - start
    return unique, counts


@by_type
def average(values, weights=None):
    """Return numpy.average(values, weights=weights)."""
    if weights is None or isinstance(weights, types.Omitted):
        return lambda values, weights=None: np.mean(values)

    def average(values, weights=None):
        whole = np.sum(weights)
        if whole == 0.0:
            raise ZeroDivisionError("weights sum to zero")
        return np.sum(np.multiply(values, weights)) / whole

    return average


@by_type
def mean_of_whole(values):
    """Return statistics.mean of whole numbers; that of fractions is rounded from their exact sum."""
    if not isinstance(values.dtype, types.Integer | types.Boolean):
        raise TypingError(
            f"{REFUSED}it calls statistics.mean of fractions: write sum(x) / len(x), or statistics.fmean(x)"
        )

    def mean_of_whole(values):
        if len(values) == 0:
            raise ValueError("mean requires at least one data point")
        total = 0
        for value in values:
            total = plus(total, value)
        return total / len(values)

    return mean_of_whole


@by_type
def variance_of_whole(values, fewer):
    """Return numerator and denominator of the variance of whole numbers."""
    if not isinstance(values.dtype, types.Integer | types.Boolean):
        raise TypingError(f"{REFUSED}it calls statistics for the spread of fractions: write sums and math.sqrt")

    def variance_of_whole(values, fewer):
        count = len(values)
        if count <= fewer:
            raise ValueError("too few values")
        total, squares = 0, 0
        for value in values:
            total = plus(total, value)
            squares = plus(squares, squared(value))
        above = plus(times(count, squares), negative_of(squared(total)))
        give_up(above > 1 << 52)
        return above, count * (count - fewer)

    return variance_of_whole


@for_all_types
def quotient(both):
    """Return a quotient of whole numbers."""
    return both[0] / both[1]


@for_all_types
def root_of_quotient(both):
    """Return the square root of a quotient of whole numbers, rounded once, as `statistics.stdev` does."""
    above, below = float(both[0]), float(both[1])
    root = math.sqrt(above / below)
    if root == 0.0:
        return root
    # above - below * root * root, with every product as the exact sum of two fractions
    square, square_rest = exact_product(root, root)
    product, product_rest = exact_product(below, square)
    return root + (above - product - product_rest - below * square_rest) / (2.0 * below * root)


@for_all_types
def exact_product(a, b):
    """Return the product of two fractions, and by how much it is rounded (Dekker)."""
    a_high, b_high = 134217729.0 * a, 134217729.0 * b
    a_high, b_high = a_high - (a_high - a), b_high - (b_high - b)
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def max_along(values, axis):
    """Return numpy.max(values, axis=axis)."""


def min_along(values, axis):
    """Return numpy.min(values, axis=axis)."""


@by_type
def _rows_along(values, axis):
    """Return an array with two axes such that its first one is the given one."""
    if not isinstance(values, types.Array) or values.ndim != 2:
        raise TypingError(f"{REFUSED}it looks for the largest along an axis of what is no array with two axes")
    return lambda values, axis: values if axis == 0 or axis == -2 else values.T


def _with_extreme(function, is_beyond):
    @overload(function)
    def along(values, axis):
        def extreme_along(values, axis):
            rows = _rows_along(values, axis).copy()
            best = rows[0].copy()
            for row in range(1, rows.shape[0]):
                for column in range(rows.shape[1]):
                    if is_beyond(rows[row, column], best[column]):
                        best[column] = rows[row, column]
            return best

        return extreme_along


_with_extreme(max_along, jit(lambda value, best: value > best or value != value))
_with_extreme(min_along, jit(lambda value, best: value < best or value != value))


@by_type
def prod_along(values, axis):
    """Return numpy.prod(values, axis=axis), of the last axis."""
    if not isinstance(values.dtype, types.Integer):
        raise TypingError(f"{REFUSED}it multiplies fractions along an axis: write a loop")

    def prod_along(values, axis):
        moved = np.swapaxes(values, axis, 0)
        product = np.ones_like(moved[0])
        for row in moved:
            product *= row
        return product

    return prod_along


@by_type
def var_along(values, axis):
    """Return numpy.var(values, axis=axis)."""
    if values.ndim != 2:
        raise TypingError(f"{REFUSED}it calls numpy.var along an axis of what has not two")

    def var_along(values, axis):
        means = mean_along(values, axis)
        squares = np.empty(values.shape)
        for row in range(values.shape[0]):
            for column in range(values.shape[1]):
                apart = values[row, column] - means[column if axis == 0 or axis == -2 else row]
                squares[row, column] = apart * apart
        return mean_along(squares, axis)

    return var_along


@for_all_types
def std_along(values, axis):
    """Return numpy.std(values, axis=axis)."""
    return np.sqrt(var_along(values, axis))


@for_all_types
def mean_along(values, axis):
    """Return numpy.mean(values, axis=axis)."""
    return sum_along(values, axis) / values.shape[axis]


@by_type
def alike(items):
    """Return a tuple of whole numbers and fractions as one of fractions; all else as it is."""
    if not isinstance(items, types.Tuple) or not all(isinstance(kind, types.Number) for kind in items.types):
        return lambda items: items
    return lambda items: _fractions(items)


@by_type
def _fractions(items):
    if len(items) == 1:
        return lambda items: (float(items[0]),)
    return lambda items: (float(items[0]), *_fractions(items[1:]))


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
