"""Lists, dictionaries, sets, and sets of cells: made, copied, joined, compared, and read by indices."""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.extending import overload, overload_method
from numba.typed import List

from .. import bitboards
from ..decorators import always, by_type, for_all_types, operation
from ..position import CellsType, as_cells
from .arrays import array
from .checked_arithmetic import give_up
from .conversions import contains, equal
from .numpy_functions import numbers as np

_LISTED = types.List | types.ListType


@by_type
def none_of(items):
    """Return an empty collection for some of the items, in their order."""
    if isinstance(items, CellsType):
        by_column = items.by_column
        return lambda items: as_cells(items, bitboards.difference(items._mask, items._mask), by_column)
    if isinstance(items, types.List):
        return lambda items: items[:0]

    def none_of(items):
        elements = [item for item in items]  # noqa: C416 -- to learn the element's type
        elements.clear()
        return elements

    return none_of


@by_type
def none_of_set(items):
    """Return an empty collection for some of the items, without repeats."""
    if isinstance(items, CellsType):
        return lambda items: as_cells(items, bitboards.difference(items._mask, items._mask), False)

    def none_of_set(items):
        elements = set()
        for item in items:
            elements.add(item)
            break
        elements.clear()
        return elements

    return none_of_set


@by_type
def with_element(elements, element):
    """Return a collection with one more element."""
    if isinstance(elements, CellsType):
        columns, by_column = elements.columns, elements.by_column

        def with_cell(elements, element):
            return as_cells(elements, bitboards.with_cell(elements._mask, element[0] * columns + element[1]), by_column)

        return with_cell

    def with_item(elements, element):
        elements.append(element)
        return elements

    def with_member(elements, element):
        elements.add(element)
        return elements

    return with_member if isinstance(elements, types.Set) else with_item


@by_type
def as_list(items):
    """Return the items as a list that nobody changes."""
    if isinstance(items, CellsType | types.BaseTuple):
        return lambda items: items
    return lambda items: list(items)


@by_type
def copied(items):
    """Return copy.copy(items)."""
    if isinstance(items, types.List | CellsType):
        return lambda items: new_list(items)
    return (lambda items: set(items)) if isinstance(items, types.Set) else (lambda items: items)


@by_type
def copied_deeply(items):
    """Return copy.deepcopy(items)."""
    if isinstance(items, types.List) and isinstance(items.dtype, types.List):
        return lambda items: [copied(row) for row in items]
    return lambda items: copied(items)


@by_type
def own_list(items):
    """Return the items as a list; those of a tuple, such as a cell, as one that may be changed."""
    return (lambda items: new_list(items)) if isinstance(items, types.UniTuple) else (lambda items: as_list(items))


@by_type
def as_set(items):
    """Return the items as a set that nobody changes."""
    if isinstance(items, CellsType):  # in one order, as Python's sets have none
        return lambda items: as_cells(items, items._mask, False)
    return lambda items: set(items)


@for_all_types
def new_list(items):
    """Return the items as a list of its own."""
    return [item for item in items]  # noqa: C416


@for_all_types
def empty_list(example):
    """Return a list of nothing, of such elements."""
    elements = [example]
    elements.clear()
    return elements


@for_all_types
def empty_set(example):
    """Return a set of nothing, of such elements."""
    elements = {example}
    elements.clear()
    return elements


@for_all_types
def no_moves(game):
    """Return no cells, as a set of moves."""
    return none_of(game.get_legal_moves())


@for_all_types
def no_blanks(game):
    """Return no cells, as a set of blank cells."""
    return none_of(game.get_blank_spaces())


@by_type
def real_list(items):
    """Return the items as a list, a list as it is."""
    return (lambda items: items) if isinstance(items, types.List) else (lambda items: new_list(items))


@by_type
def real_set(items):
    """Return the items as a set, a set as it is."""
    return (lambda items: items) if isinstance(items, types.Set) else (lambda items: new_set(items))


@by_type
def fraction(value):
    """Return a whole number as a fraction, all else as it is."""
    return (lambda value: float(value)) if isinstance(value, types.Integer) else (lambda value: value)


@by_type
def as_many(items, found):
    """Return a list as the tuple it is in Python, if it was made of the elements of a tuple."""
    count = len(items) if isinstance(items, types.UniTuple) else 0
    if count == 2:
        return lambda items, found: (found[0], found[1])
    if count == 3:
        return lambda items, found: (found[0], found[1], found[2])
    if isinstance(items, types.Array):  # computed from a cell, as most are
        return lambda items, found: pair_of(found)
    return lambda items, found: found


@for_all_types
def new_set(items):
    """Return the items as a set of its own."""
    return set(new_list(items))


@for_all_types
def backwards(items):
    """Return the items in reverse order."""
    return new_list(items)[::-1]


@by_type
def joined(a, b):
    """Return the tuple of the elements of two, as a list where it is not known how many these are."""
    if isinstance(a, types.BaseTuple) and isinstance(b, types.BaseTuple):
        return lambda a, b: a + b
    return lambda a, b: new_list(a) + new_list(b)


@by_type
def pair_of(items):
    """Return a list of two numbers as a tuple, all else as it is; compiled code gives up on another length."""
    if not isinstance(items, types.List):
        return lambda items: items

    def pair_of(items):
        give_up(len(items) != 2)
        return items[0], items[1]

    return pair_of


@by_type
def grown(items, others):
    """Return the elements of two tuples as a list."""
    if isinstance(items, types.BaseTuple) and len(items) == 0:
        return lambda items, others: new_list(others)
    return lambda items, others: new_list(items) + new_list(others)


overload_method(CellsType, "copy")(always(lambda cells: cells))
overload_method(CellsType, "count")(always(lambda cells, cell: int(cell in cells)))


@overload_method(types.UniTuple, "count")
@always
def _count_in_tuple(items, wanted):
    matches = 0
    for item in items:
        if equal(item, wanted):
            matches += 1
    return matches


@overload_method(CellsType, "index")
@overload_method(types.UniTuple, "index")
@always
def _index(cells, cell):
    for position, other in enumerate(cells):
        if equal(other, cell):
            return position
    raise ValueError("not in list")


operation(operator.getitem, lambda a, b: isinstance(a, CellsType) and isinstance(b, types.SliceType))(
    lambda cells, wanted: new_list(cells)[wanted]
)


@overload(operator.getitem)
def _at_places(values, wanted):
    if not isinstance(values, types.Array):
        return None
    if isinstance(wanted, types.List) and isinstance(wanted.dtype, types.Integer | types.Boolean):
        return lambda values, wanted: values[np.array(wanted)]
    if isinstance(wanted, types.List) and _are_lists(wanted):

        def at_places(values, wanted):
            if len(wanted) == 0:  # the whole array
                return values.copy().ravel()
            return values[array(wanted[0]), array(wanted[1])]

        return at_places
    if _are_lists(wanted):
        return lambda values, wanted: values[array(wanted[0]), array(wanted[1])]
    return None


@by_type
def at_array(values, wanted):
    """Return values[wanted], where the index is an array, and may be a mask of rows and columns."""
    if isinstance(values, types.Array) and _is_mask(values, wanted):
        return lambda values, wanted: values.ravel()[np.flatnonzero(wanted)]
    return lambda values, wanted: values[wanted]


@operation(operator.getitem, lambda a, b: isinstance(a, _LISTED | types.BaseTuple) and isinstance(b, types.Boolean))
def _at_condition(values, wanted):
    return values[1 if wanted else 0]


@operation(operator.setitem, lambda a, b, _: isinstance(a, _LISTED) and isinstance(b, types.Boolean))
def _put_at_condition(values, wanted, given):
    values[1 if wanted else 0] = given


@overload(operator.setitem)
def _put_at_places(values, wanted, given):
    if not isinstance(values, types.Array) or not isinstance(given, types.Number | types.Boolean):
        return None
    if _are_lists(wanted):

        def put_at_places(values, wanted, given):
            if len(wanted) == 0:  # the whole array
                values[:] = given
                return
            for row, column in zip(wanted[0], wanted[1]):  # noqa: B905 -- numba's has no `strict`
                values[row, column] = given

        return put_at_places
    return None


@by_type
def put_at_array(values, wanted, given):
    """Do values[wanted] = given, where the index is an array, and may be a mask of rows and columns."""
    is_number = isinstance(given, types.Number | types.Boolean)
    if not isinstance(values, types.Array) or not _is_mask(values, wanted) or not is_number:

        def put_at_any(values, wanted, given):
            values[wanted] = given

        return put_at_any

    def put_under_mask(values, wanted, given):
        for place in np.ndindex(wanted.shape):
            if wanted[place]:
                values[place] = given

    return put_under_mask


def _are_lists(wanted):
    """Whether an index is the rows and the columns of places, a list or an array of each."""
    if isinstance(wanted, types.List):  # made of a tuple, whose length was not known
        return isinstance(wanted.dtype, types.List | types.Array)
    return isinstance(wanted, types.UniTuple) and len(wanted) == 2 and isinstance(wanted.dtype, types.List)


def _is_mask(values, wanted):
    """Whether an index is an array of conditions, one for each number of an array of rows."""
    return isinstance(wanted, types.Array) and wanted.ndim == values.ndim > 1 and wanted.dtype == types.boolean


@overload(operator.add)
def _add(a, b):
    if isinstance(a, CellsType) and isinstance(b, CellsType | types.List):
        return lambda a, b: new_list(a) + new_list(b)
    if isinstance(a, types.List) and isinstance(b, CellsType):
        return lambda a, b: a + new_list(b)
    return None


def _is_other(kind):
    return isinstance(kind, types.Set | types.List | types.BaseTuple)


@by_type
def intersection(a, b):
    """Return the elements of a set that are among the others."""
    if isinstance(a, CellsType) and isinstance(b, CellsType):
        return lambda a, b: a & b

    def intersection(a, b):
        common = none_of_set(a)
        for element in a:
            if contains(b, element):
                common = with_element(common, element)
        return common

    return intersection


@by_type
def difference(a, b):
    """Return the elements of a set that are not among the others."""
    if isinstance(a, CellsType) and isinstance(b, CellsType):
        return lambda a, b: a - b

    def difference(a, b):
        remaining = none_of_set(a)
        for element in a:
            if not contains(b, element):
                remaining = with_element(remaining, element)
        return remaining

    return difference


@by_type
def union(a, b):
    """Return the elements of both."""
    if isinstance(a, CellsType) and isinstance(b, CellsType):
        return lambda a, b: a | b

    def union(a, b):
        elements = new_set(a)
        for element in b:
            elements.add(element)
        return elements

    return union


@for_all_types
def issubset(a, b):
    """Return whether all elements of a are in b."""
    return len(difference(a, b)) == 0


@for_all_types
def issuperset(a, b):
    """Return whether all elements of b are in a."""
    return len(difference(as_set(b), a)) == 0


@for_all_types
def isdisjoint(a, b):
    """Return whether no element of a is in b."""
    return len(intersection(a, b)) == 0


@for_all_types
def symmetric_difference(a, b):
    """Return the elements that are in one of both only."""
    return union(difference(a, b), difference(as_set(b), a))


@for_all_types
def _is_smaller(a, b):
    return issubset(a, b) and not issubset(as_set(b), a)


@for_all_types
def _is_larger(a, b):
    return issuperset(a, b) and not issuperset(as_set(b), a)


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


@for_all_types
def empty_dict(key, value):
    """Return a dictionary of nothing, of such keys and values."""
    table = {key: value}
    table.pop(key)
    return table


@by_type
def kept(items):
    """Return a list as a dictionary can hold it."""
    return (lambda items: kept_list(items)) if isinstance(items, types.List) else (lambda items: items)


@by_type
def kept_list(items):
    """Return a list, a set or cells as a list that a dictionary can hold."""
    element = types.unliteral(items.dtype)

    def kept_list(items):
        elements = List.empty_list(element)
        for item in items:
            elements.append(item)
        return elements

    return kept_list


@for_all_types
def put_once(items, item):
    """Put an element into a kept list that stands for a set."""
    if item not in items:
        items.append(item)


@for_all_types
def put_each_once(items, others):
    """Put elements into a kept list that stands for a set."""
    for item in others:
        if item not in items:
            items.append(item)


@by_type
def set_of_kept(items):
    """Return the set that a kept list stands for."""
    if not isinstance(items, types.ListType):
        return lambda items: items
    return lambda items: set(items)


@by_type
def as_dict(items):
    """Return a dictionary of its own of another's entries, or of pairs."""
    if isinstance(items, types.DictType):
        return lambda items: items.copy()
    return lambda items: dict(items)


@by_type
def count_in(items, item):
    """Return how many of one of these items a counter takes: what a dictionary says, else one."""
    return (lambda items, item: items[item]) if isinstance(items, types.DictType) else (lambda items, item: 1)


@by_type
def counter_of(items):
    """Return Counter(items), of a dictionary of counts, or of items."""
    if isinstance(items, types.DictType):
        return lambda items: items.copy()

    def counter_of(items):
        counts: dict[Any, int] = {}
        for item in items:
            counts[item] = counts.get(item, 0) + 1
        return counts

    return counter_of


@for_all_types
def get_or(table, key, missing):
    """Return what a dictionary has for a key, or what is given for one it lacks."""
    return table.get(key, missing)


@for_all_types
def put_and_get(table, key, missing):
    """Return what a dictionary has for a key, having put in what is given for one it lacks."""
    if key not in table:
        table[key] = missing
    return table[key]
