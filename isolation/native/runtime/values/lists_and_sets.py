"""Lists, and sets of cells: made, copied, joined, and read by indices."""

from __future__ import annotations

import operator

from numba import types
from numba.extending import overload, overload_method

from knights_isolation.isolation.native import bitboards
from knights_isolation.isolation.native.position import CellsType, as_cells
from knights_isolation.isolation.native.runtime.checked_arithmetic import give_up
from knights_isolation.isolation.native.runtime.numpy_functions import numbers as np
from knights_isolation.isolation.native.runtime.values.arrays import array
from knights_isolation.isolation.native.runtime.values.equality import equal


def none_of(items):
    """Return an empty collection for some of the items, in their order."""


def none_of_set(items):
    """Return an empty collection for some of the items, without repeats."""


def with_element(elements, element):
    """Return a collection with one more element."""


def as_list(items):
    """Return the items as a list that nobody changes."""


def copied(items):
    """Return copy.copy(items)."""


def copied_deeply(items):
    """Return copy.deepcopy(items)."""


def own_list(items):
    """Return the items as a list; those of a tuple, such as a cell, as one that may be changed."""


def as_set(items):
    """Return the items as a set that nobody changes."""


def new_list(items):
    """Return the items as a list of its own."""


@overload(none_of)
def _none_of(items):
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


@overload(none_of_set)
def _none_of_set(items):
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


@overload(with_element)
def _with_element(elements, element):
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


@overload(as_list)
def _as_list(items):
    if isinstance(items, CellsType | types.BaseTuple):
        return lambda items: items
    return lambda items: list(items)


@overload(copied)
def _copied(items):
    if isinstance(items, types.List | CellsType):
        return lambda items: new_list(items)
    return (lambda items: set(items)) if isinstance(items, types.Set) else (lambda items: items)


@overload(copied_deeply)
def _copied_deeply(items):
    if isinstance(items, types.List) and isinstance(items.dtype, types.List):
        return lambda items: [copied(row) for row in items]
    return lambda items: copied(items)


@overload(own_list)
def _own_list(items):
    return (lambda items: new_list(items)) if isinstance(items, types.UniTuple) else (lambda items: as_list(items))


@overload(as_set)
def _as_set(items):
    if isinstance(items, CellsType):  # in one order, as Python's sets have none
        return lambda items: as_cells(items, items._mask, False)
    return lambda items: set(items)


@overload(new_list)
def _new_list(items):
    return lambda items: [item for item in items]  # noqa: C416


def empty_list(example):
    """Return a list of nothing, of such elements."""


def empty_set(example):
    """Return a set of nothing, of such elements."""


def no_moves(game):
    """Return no cells, as a set of moves."""


def no_blanks(game):
    """Return no cells, as a set of blank cells."""


@overload(empty_list)
def _empty_list(example):
    def empty_list(example):
        elements = [example]
        elements.clear()
        return elements

    return empty_list


@overload(empty_set)
def _empty_set(example):
    def empty_set(example):
        elements = {example}
        elements.clear()
        return elements

    return empty_set


@overload(no_moves)
def _no_moves(game):
    return lambda game: none_of(game.get_legal_moves())


@overload(no_blanks)
def _no_blanks(game):
    return lambda game: none_of(game.get_blank_spaces())


def new_set(items):
    """Return the items as a set of its own."""


def real_list(items):
    """Return the items as a list, a list as it is."""


def real_set(items):
    """Return the items as a set, a set as it is."""


@overload(real_list)
def _real_list(items):
    return (lambda items: items) if isinstance(items, types.List) else (lambda items: new_list(items))


@overload(real_set)
def _real_set(items):
    return (lambda items: items) if isinstance(items, types.Set) else (lambda items: new_set(items))


def fraction(value):
    """Return a whole number as a fraction, all else as it is."""


@overload(fraction)
def _fraction(value):
    return (lambda value: float(value)) if isinstance(value, types.Integer) else (lambda value: value)


def as_many(items, found):
    """Return a list as the tuple it is in Python, if it was made of the elements of a tuple."""


@overload(as_many)
def _as_many(items, found):
    count = len(items) if isinstance(items, types.UniTuple) else 0
    if count == 2:
        return lambda items, found: (found[0], found[1])
    if count == 3:
        return lambda items, found: (found[0], found[1], found[2])
    if isinstance(items, types.Array):  # computed from a cell, as most are
        return lambda items, found: pair_of(found)
    return lambda items, found: found


def backwards(items):
    """Return the items in reverse order."""


@overload(new_set)
def _new_set(items):
    return lambda items: set(new_list(items))


@overload(backwards)
def _backwards(items):
    return lambda items: new_list(items)[::-1]


def joined(a, b):
    """Return the tuple of the elements of two, as a list where it is not known how many these are."""


@overload(joined)
def _joined(a, b):
    if isinstance(a, types.BaseTuple) and isinstance(b, types.BaseTuple):
        return lambda a, b: a + b
    return lambda a, b: new_list(a) + new_list(b)


def pair_of(items):
    """Return a list of two numbers as a tuple, all else as it is; compiled code gives up on another length."""


@overload(pair_of)
def _pair_of(items):
    if not isinstance(items, types.List):
        return lambda items: items

    def pair_of(items):
        give_up(len(items) != 2)
        return items[0], items[1]

    return pair_of


def grown(items, others):
    """Return the elements of two tuples as a list."""


@overload(grown)
def _grown(items, others):
    if isinstance(items, types.BaseTuple) and len(items) == 0:
        return lambda items, others: new_list(others)
    return lambda items, others: new_list(items) + new_list(others)


@overload_method(CellsType, "copy")
def _copy(cells):
    return lambda cells: cells


@overload_method(CellsType, "count")
def _count(cells, cell):
    return lambda cells, cell: int(cell in cells)


@overload_method(types.UniTuple, "count")
def _count_in_tuple(items, wanted):
    def count(items, wanted):
        matches = 0
        for item in items:
            if equal(item, wanted):
                matches += 1
        return matches

    return count


@overload_method(CellsType, "index")
@overload_method(types.UniTuple, "index")
def _index(cells, cell):
    def index(cells, cell):
        for position, other in enumerate(cells):
            if equal(other, cell):
                return position
        raise ValueError("not in list")

    return index


@overload(operator.getitem)
def _slice(cells, wanted):
    if isinstance(cells, CellsType) and isinstance(wanted, types.SliceType):
        return lambda cells, wanted: new_list(cells)[wanted]
    return None


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


def at_array(values, wanted):
    """Return values[wanted], where the index is an array, and may be a mask of rows and columns."""


@overload(at_array)
def _at_array(values, wanted):
    if isinstance(values, types.Array) and _is_mask(values, wanted):
        return lambda values, wanted: values.ravel()[np.flatnonzero(wanted)]
    return lambda values, wanted: values[wanted]


@overload(operator.getitem)
def _at_condition(values, wanted):
    if isinstance(values, types.List | types.BaseTuple | types.ListType) and isinstance(wanted, types.Boolean):
        return lambda values, wanted: values[1 if wanted else 0]
    return None


@overload(operator.setitem)
def _put_at_condition(values, wanted, given):
    if not isinstance(values, types.List | types.ListType) or not isinstance(wanted, types.Boolean):
        return None

    def put_at_condition(values, wanted, given):
        values[1 if wanted else 0] = given

    return put_at_condition


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


def put_at_array(values, wanted, given):
    """Do values[wanted] = given, where the index is an array, and may be a mask of rows and columns."""


@overload(put_at_array)
def _put_at_array(values, wanted, given):
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
