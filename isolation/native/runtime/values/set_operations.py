"""Sets of cells together with other sets."""

from __future__ import annotations

import operator

from numba import types
from numba.extending import overload

from knights_isolation.isolation.native.position import CellsType
from knights_isolation.isolation.native.runtime.values.equality import contains
from knights_isolation.isolation.native.runtime.values.lists_and_sets import as_set, new_set, none_of_set, with_element


def intersection(a, b):
    """Return the elements of a set that are among the others."""


def difference(a, b):
    """Return the elements of a set that are not among the others."""


def union(a, b):
    """Return the elements of both."""


def issubset(a, b):
    """Return whether all elements of a are in b."""


def issuperset(a, b):
    """Return whether all elements of b are in a."""


def isdisjoint(a, b):
    """Return whether no element of a is in b."""


def _is_other(kind):
    return isinstance(kind, types.Set | types.List | types.BaseTuple)


@overload(intersection)
def _intersection(a, b):
    if isinstance(a, CellsType) and isinstance(b, CellsType):
        return lambda a, b: a & b

    def intersection(a, b):
        common = none_of_set(a)
        for element in a:
            if contains(b, element):
                common = with_element(common, element)
        return common

    return intersection


@overload(difference)
def _difference(a, b):
    if isinstance(a, CellsType) and isinstance(b, CellsType):
        return lambda a, b: a - b

    def difference(a, b):
        remaining = none_of_set(a)
        for element in a:
            if not contains(b, element):
                remaining = with_element(remaining, element)
        return remaining

    return difference


@overload(union)
def _union(a, b):
    if isinstance(a, CellsType) and isinstance(b, CellsType):
        return lambda a, b: a | b

    def union(a, b):
        elements = new_set(a)
        for element in b:
            elements.add(element)
        return elements

    return union


@overload(issubset)
def _issubset(a, b):
    return lambda a, b: len(difference(a, b)) == 0


@overload(issuperset)
def _issuperset(a, b):
    return lambda a, b: len(difference(as_set(b), a)) == 0


@overload(isdisjoint)
def _isdisjoint(a, b):
    return lambda a, b: len(intersection(a, b)) == 0


def symmetric_difference(a, b):
    """Return the elements that are in one of both only."""


def _is_smaller(a, b):
    """Return whether a is a subset of b, and b has more."""


def _is_larger(a, b):
    """Return whether b is a subset of a, and a has more."""


@overload(symmetric_difference)
def _symmetric_difference(a, b):
    return lambda a, b: union(difference(a, b), difference(as_set(b), a))


@overload(_is_smaller)
def _typed_is_smaller(a, b):
    return lambda a, b: issubset(a, b) and not issubset(as_set(b), a)


@overload(_is_larger)
def _typed_is_larger(a, b):
    return lambda a, b: issuperset(a, b) and not issuperset(as_set(b), a)


_OF_SETS = (operator.xor, operator.le, operator.ge, operator.lt, operator.gt)


def _with_other_sets(symbol, function):
    @overload(symbol)
    def operation(a, b):
        are_new = symbol in _OF_SETS and isinstance(a, CellsType) and isinstance(b, CellsType)
        if are_new or (isinstance(a, CellsType) and _is_other(b)) or (_is_other(a) and isinstance(b, CellsType)):
            return lambda a, b: function(a, b)
        return None


_with_other_sets(operator.and_, intersection)
_with_other_sets(operator.sub, difference)
_with_other_sets(operator.or_, union)
_with_other_sets(operator.xor, symmetric_difference)
_with_other_sets(operator.le, issubset)
_with_other_sets(operator.ge, issuperset)
_with_other_sets(operator.lt, _is_smaller)
_with_other_sets(operator.gt, _is_larger)
