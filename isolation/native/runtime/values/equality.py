"""Equality of values as in Python, and looking for an element."""

from __future__ import annotations

import operator

from numba import types
from numba.extending import overload
from numba.typed.typedobjectutils import _nonoptional

from knights_isolation.isolation.native.position import CellsType

LONGEST_UNROLLED = 12
_EXACT = 2.0**53
"""Up to here sums of whole float64s are exact, in whatever order they are made."""


def contains(items, element):
    """Return whether the element is among the items."""


def equal(a, b):
    """Return whether two values are equal; a tuple never equals a list."""


_TEXTS = (types.UnicodeType, types.StringLiteral)


def _equal_part_by_part(length):
    if length == 1:
        return lambda a, b: equal(a[0], b[0])
    return lambda a, b: equal(a[0], b[0]) and equal(a[1:], b[1:])


@overload(equal)
def _equal(a, b):
    if isinstance(a, types.Optional) or isinstance(b, types.Optional):
        return _equal_if_there
    tuples = isinstance(a, types.BaseTuple) + isinstance(b, types.BaseTuple)
    texts = isinstance(a, _TEXTS) + isinstance(b, _TEXTS)
    if tuples == 1 or texts == 1 or (tuples == 2 and len(a) != len(b)):
        return lambda a, b: False
    if isinstance(a, types.Tuple) or isinstance(b, types.Tuple):
        return _equal_part_by_part(len(a))
    return lambda a, b: a == b


def _equal_if_there(a, b):
    """Whether two values of which one may be None are equal: numba's own comparison raises an exception for None."""
    if a is None or b is None:
        return a is None and b is None
    return equal(_there(a), _there(b))


def _there(value):
    """Return a value that is not None as one that cannot be."""


@overload(_there)
def _typed_there(value):
    is_optional = isinstance(value, types.Optional)
    return (lambda value: _nonoptional(value)) if is_optional else (lambda value: value)


def _is_collection(kind):
    return isinstance(kind, CellsType | types.BaseTuple | types.List | types.Set)


@overload(operator.eq)
def _collection_eq(a, b):
    if (_is_collection(a) and isinstance(b, types.Number)) or (isinstance(a, types.Number) and _is_collection(b)):
        return lambda a, b: False
    return None


@overload(operator.ne)
def _collection_ne(a, b):
    if (_is_collection(a) and isinstance(b, types.Number)) or (isinstance(a, types.Number) and _is_collection(b)):
        return lambda a, b: True
    return None


@overload(contains)
def _contains(items, element):
    if isinstance(element, types.Optional):
        return lambda items, element: element is not None and contains(items, _nonoptional(element))
    if isinstance(items, types.BaseTuple):
        if len(items) == 0:
            return lambda items, element: False
        if isinstance(items, types.UniTuple) and len(items) > LONGEST_UNROLLED:
            return _contains_by_search
        return lambda items, element: equal(items[0], element) or contains(items[1:], element)
    if isinstance(items, types.List):
        return _contains_by_search
    return lambda items, element: element in items


def _contains_by_search(items, element):
    for item in items:  # noqa: SIM110
        if equal(item, element):
            return True
    return False
