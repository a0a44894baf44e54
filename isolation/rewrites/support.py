"""What generated modules import: a decorator, and functions that give Python's answers in compiled code.

Each function works on what a heuristic may hold: tuples, lists, arrays, and the sets of cells of a position, which
stay sets of cells as long as nothing else is asked of them.
"""

from __future__ import annotations

import builtins
import math
import operator
from functools import partial
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload, overload_method
from numba.typed.typedobjectutils import _nonoptional

from isolation import bits
from isolation.position import CellsType, as_cells

__all__ = ["builtins", "jit", "math", "np"]

# Without bounds checks an index out of range would read whatever lies there.
jit = njit(error_model="python", boundscheck=True)

_implements = partial(overload, strict=False)


# --- sets of cells, and lists ---------------------------------------------------------------------------------------


def none_of(items: Any) -> Any:
    """Return an empty collection for some of the items, in their order."""


def none_of_set(items: Any) -> Any:
    """Return an empty collection for some of the items, without repeats."""


def with_element(found: Any, element: Any) -> Any:
    """Return a collection with one more element."""


def as_list(items: Any) -> Any:
    """Return the items as a list that nobody changes."""


def as_set(items: Any) -> Any:
    """Return the items as a set that nobody changes."""


def new_list(items: Any) -> Any:
    """Return the items as a list of its own."""


@_implements(none_of)
def _none_of(items: Any) -> Any:
    if isinstance(items, CellsType):
        by_column = items.by_column
        return lambda items: as_cells(items, bits.difference(items._mask, items._mask), by_column)
    if isinstance(items, types.List):
        return lambda items: items[:0]

    def none_of(items: Any) -> Any:
        found = [item for item in items]  # noqa: C416 -- to learn the element's type
        found.clear()
        return found

    return none_of


@_implements(none_of_set)
def _none_of_set(items: Any) -> Any:
    if isinstance(items, CellsType):
        by_column = items.by_column
        return lambda items: as_cells(items, bits.difference(items._mask, items._mask), by_column)

    def none_of_set(items: Any) -> Any:
        found = set(items)
        found.clear()
        return found

    return none_of_set


@_implements(with_element)
def _with_element(found: Any, element: Any) -> Any:
    if isinstance(found, CellsType):
        columns, by_column = found.columns, found.by_column

        def with_cell(found: Any, element: Any) -> Any:
            return as_cells(found, bits.with_cell(found._mask, element[0] * columns + element[1]), by_column)

        return with_cell

    def with_item(found: Any, element: Any) -> Any:
        found.append(element)
        return found

    def with_member(found: Any, element: Any) -> Any:
        found.add(element)
        return found

    return with_member if isinstance(found, types.Set) else with_item


@_implements(as_list)
def _as_list(items: Any) -> Any:
    if isinstance(items, CellsType | types.BaseTuple):
        return lambda items: items
    return lambda items: list(items)


@_implements(as_set)
def _as_set(items: Any) -> Any:
    if isinstance(items, CellsType):
        return lambda items: items
    return lambda items: set(items)


@_implements(new_list)
def _new_list(items: Any) -> Any:
    return lambda items: [item for item in items]  # noqa: C416


def new_set(items: Any) -> Any:
    """Return the items as a set of its own."""


def backwards(items: Any) -> Any:
    """Return the items in reverse order."""


@_implements(new_set)
def _new_set(items: Any) -> Any:
    return lambda items: set(new_list(items))


@_implements(backwards)
def _backwards(items: Any) -> Any:
    return lambda items: new_list(items)[::-1]


@overload_method(CellsType, "copy")
def _copy(cells: Any) -> Any:
    return lambda cells: cells


@overload_method(CellsType, "count")
def _count(cells: Any, cell: Any) -> Any:
    return lambda cells, cell: int(cell in cells)


@overload_method(CellsType, "index")
def _index(cells: Any, cell: Any) -> Any:
    def index(cells: Any, cell: Any) -> Any:
        for place, found in enumerate(cells):
            if found == cell:
                return place
        raise ValueError("not in list")

    return index


@_implements(operator.getitem)
def _slice(cells: Any, wanted: Any) -> Any:
    if isinstance(cells, CellsType) and isinstance(wanted, types.SliceType):
        return lambda cells, wanted: new_list(cells)[wanted]
    return None


@_implements(operator.add)
def _add(a: Any, b: Any) -> Any:
    if isinstance(a, CellsType) and isinstance(b, CellsType | types.List):
        return lambda a, b: new_list(a) + new_list(b)
    if isinstance(a, types.List) and isinstance(b, CellsType):
        return lambda a, b: a + new_list(b)
    return None


# --- sets of cells together with other sets -------------------------------------------------------------------------


def intersection(a: Any, b: Any) -> Any:
    """Return the elements of a set that are among the others."""


def difference(a: Any, b: Any) -> Any:
    """Return the elements of a set that are not among the others."""


def union(a: Any, b: Any) -> Any:
    """Return the elements of both."""


def issubset(a: Any, b: Any) -> Any:
    """Return whether all elements of a are in b."""


def issuperset(a: Any, b: Any) -> Any:
    """Return whether all elements of b are in a."""


def isdisjoint(a: Any, b: Any) -> Any:
    """Return whether no element of a is in b."""


def _is_other(kind: Any) -> bool:
    return isinstance(kind, types.Set | types.List | types.BaseTuple)


@_implements(intersection)
def _intersection(a: Any, b: Any) -> Any:
    if isinstance(a, CellsType) and isinstance(b, CellsType):
        return lambda a, b: a & b

    def intersection(a: Any, b: Any) -> Any:
        found = none_of_set(a)
        for element in a:
            if contains(b, element):
                found = with_element(found, element)
        return found

    return intersection


@_implements(difference)
def _difference(a: Any, b: Any) -> Any:
    if isinstance(a, CellsType) and isinstance(b, CellsType):
        return lambda a, b: a - b

    def difference(a: Any, b: Any) -> Any:
        found = none_of_set(a)
        for element in a:
            if not contains(b, element):
                found = with_element(found, element)
        return found

    return difference


@_implements(union)
def _union(a: Any, b: Any) -> Any:
    if isinstance(a, CellsType) and isinstance(b, CellsType):
        return lambda a, b: a | b

    def union(a: Any, b: Any) -> Any:
        found = new_set(a)
        for element in b:
            found.add(element)
        return found

    return union


@_implements(issubset)
def _issubset(a: Any, b: Any) -> Any:
    return lambda a, b: len(difference(a, b)) == 0


@_implements(issuperset)
def _issuperset(a: Any, b: Any) -> Any:
    return lambda a, b: len(difference(as_set(b), a)) == 0


@_implements(isdisjoint)
def _isdisjoint(a: Any, b: Any) -> Any:
    return lambda a, b: len(intersection(a, b)) == 0


def _with_other_sets(symbol: Any, function: Any) -> None:
    @_implements(symbol)
    def operation(a: Any, b: Any) -> Any:
        if (isinstance(a, CellsType) and _is_other(b)) or (_is_other(a) and isinstance(b, CellsType)):
            return lambda a, b: function(a, b)
        return None


_with_other_sets(operator.and_, intersection)
_with_other_sets(operator.sub, difference)
_with_other_sets(operator.or_, union)


LONGEST_UNROLLED = 12

# --- looking for an element -----------------------------------------------------------------------------------------


def contains(items: Any, element: Any) -> Any:
    """Return whether the element is among the items."""


def equal(a: Any, b: Any) -> Any:
    """Return whether two values are equal; a tuple never equals a list."""


@_implements(equal)
def _equal(a: Any, b: Any) -> Any:
    tuples = isinstance(a, types.BaseTuple) + isinstance(b, types.BaseTuple)
    if tuples == 1 or (tuples == 2 and len(a) != len(b)):
        return lambda a, b: False
    return lambda a, b: a == b


@_implements(contains)
def _contains(items: Any, element: Any) -> Any:
    if isinstance(items, types.BaseTuple):
        if len(items) == 0:
            return lambda items, element: False
        if isinstance(items, types.UniTuple) and len(items) > LONGEST_UNROLLED:
            return _contains_by_search
        return lambda items, element: equal(items[0], element) or contains(items[1:], element)
    if isinstance(items, types.List):
        return _contains_by_search
    return lambda items, element: element in items


def _contains_by_search(items: Any, element: Any) -> Any:
    for item in items:  # noqa: SIM110
        if equal(item, element):
            return True
    return False


# --- numbers --------------------------------------------------------------------------------------------------------


def power(a: Any, b: Any) -> Any:
    """Return a ** b as a float, rounded as Python does."""


def whole_power(a: Any, b: Any) -> Any:
    """Return a ** b for a constant whole b: whole if a is."""


@_implements(power)
def _power(a: Any, b: Any) -> Any:
    if isinstance(a, types.Array) or isinstance(b, types.Array):
        return lambda a, b: a**b

    def power(a: Any, b: Any) -> Any:
        if a == 0 and b < 0:
            raise ZeroDivisionError("0.0 cannot be raised to a negative power")
        if a < 0 and b != math.floor(b):
            raise ValueError("a complex number")
        return math.pow(float(a), float(b))

    return power


@_implements(whole_power)
def _whole_power(a: Any, b: Any) -> Any:
    if isinstance(a, types.Float):
        return lambda a, b: math.pow(a, float(b))
    return lambda a, b: a**b


def array(values: Any) -> Any:
    """Return numpy.array(values)."""


def float_array(values: Any) -> Any:
    """Return numpy.array(values, dtype=float)."""


def numeric(values: Any) -> Any:
    """Return what NumPy functions take: tuples, lists and cells as arrays, all else as it is."""


@_implements(array)
def _array(values: Any) -> Any:
    if isinstance(values, types.Optional):
        return lambda values: array(_nonoptional(values))
    if isinstance(values, CellsType) or (isinstance(values, types.List) and isinstance(values.dtype, types.UniTuple)):
        return _array_of_tuples
    if isinstance(values, types.BaseTuple | types.List):
        return lambda values: np.array(values)
    return lambda values: values


def _array_of_tuples(values: Any) -> Any:
    flat = [part for row in values for part in row]
    return np.array(flat).reshape(len(values), -1)


@_implements(float_array)
def _float_array(values: Any) -> Any:
    return lambda values: array(values).astype(np.float64)


@_implements(numeric)
def _numeric(values: Any) -> Any:
    if isinstance(values, types.BaseTuple | types.List | CellsType):
        return lambda values: array(values)
    return lambda values: values


# --- distances ------------------------------------------------------------------------------------------------------


def norm(values: Any) -> Any:
    """Return the Euclidean norm of a tuple, list or array of numbers."""


def euclidean(a: Any, b: Any) -> Any:
    """Return the Euclidean distance of two tuples, lists or arrays."""


def sqeuclidean(a: Any, b: Any) -> Any:
    """Return the squared Euclidean distance."""


def cityblock(a: Any, b: Any) -> Any:
    """Return the sum of the distances along each axis."""


def chebyshev(a: Any, b: Any) -> Any:
    """Return the largest of the distances along each axis."""


@_implements(norm)
def _norm(values: Any) -> Any:
    def norm(values: Any) -> Any:
        total = 0.0
        for value in values:
            total += float(value) * float(value)
        return math.sqrt(total)

    def norm_of_matrix(values: Any) -> Any:
        return norm(values.ravel())

    return norm_of_matrix if isinstance(values, types.Array) and values.ndim > 1 else norm


@_implements(sqeuclidean)
def _sqeuclidean(a: Any, b: Any) -> Any:
    def sqeuclidean(a: Any, b: Any) -> Any:
        total = 0.0
        for index in range(len(a)):
            total += float(a[index] - b[index]) * float(a[index] - b[index])
        return total

    return sqeuclidean


@_implements(euclidean)
def _euclidean(a: Any, b: Any) -> Any:
    return lambda a, b: math.sqrt(sqeuclidean(a, b))


@_implements(cityblock)
def _cityblock(a: Any, b: Any) -> Any:
    def cityblock(a: Any, b: Any) -> Any:
        total = 0 * abs(a[0] - b[0])
        for index in range(len(a)):
            total += abs(a[index] - b[index])
        return total

    return cityblock


@_implements(chebyshev)
def _chebyshev(a: Any, b: Any) -> Any:
    def chebyshev(a: Any, b: Any) -> Any:
        longest = 0 * abs(a[0] - b[0])
        for index in range(len(a)):
            longest = max(longest, abs(a[index] - b[index]))
        return longest

    return chebyshev


# --- sums as Python 3.12 makes them ---------------------------------------------------------------------------------


def add(total: Any, rest: Any, value: Any) -> Any:
    """Return a running sum and its rounding error with one more value; for floats, Neumaier's summation."""


def added(total: Any, rest: Any) -> Any:
    """Return the sum."""


@_implements(add)
def _add_value(total: Any, rest: Any, value: Any) -> Any:
    if not isinstance(value, types.Float):
        return lambda total, rest, value: (total + value, rest)

    def add(total: Any, rest: Any, value: Any) -> Any:
        both = total + value
        if abs(total) >= abs(value):
            return both, rest + ((total - both) + value)
        return both, rest + ((value - both) + total)

    return add


@_implements(added)
def _added(total: Any, rest: Any) -> Any:
    if not isinstance(total, types.Float):
        return lambda total, rest: total
    return lambda total, rest: total + rest if rest != 0.0 and math.isfinite(rest) else total
