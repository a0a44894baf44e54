"""Runtime library that generated modules import.

Each function works on what a heuristic may hold: tuples, lists, arrays, and the sets of cells of a position, which
stay sets of cells as long as nothing else is asked of them.
"""

from __future__ import annotations

import builtins
import operator
from typing import Any

from numba import types
from numba.core.errors import TypingError
from numba.extending import overload, overload_method
from numba.np.numpy_support import as_dtype
from numba.typed import List
from numba.typed.typedobjectutils import _nonoptional

from isolation.boards.net import Net
from isolation.native import bitboards, floods  # noqa: F401 -- floods defines methods of positions
from isolation.native.decorators import inner
from isolation.native.position import CellsType, MaskType, PositionType, as_cells, turned
from isolation.native.runtime import optional_tuples  # noqa: F401 -- defines parts of tuples that may be None
from isolation.native.runtime.cell_sums import CellTerm, weighed, weighed_onto
from isolation.native.runtime.checked_arithmetic import (
    REFUSED,
    CheckedCompiler,
    CheckedWithNumpy,
    give_up,
    negative_of,
    plus,
    times,
)
from isolation.native.runtime.math_functions import (
    _abs,
    _int,
    _round,
    _round_of_either,
    _round_of_numpy,
    distance,
    mathematics,
    power,
    power_of_either_sign,
    squared,
    squared_difference,
    whole_power,
)
from isolation.native.runtime.nets import value_of_net
from isolation.native.runtime.numpy_functions import in_memory_order, numbers, sum_along
from isolation.native.runtime.numpy_products import fraction_dot
from isolation.native.runtime.third_state import as_state, count_open, is_open, state_of, with_closed
from isolation.native.runtime.wide_numbers import WIDE, as_fraction, narrowed, wide, wide_number

__all__ = [
    "_abs",
    "_int",
    "_round",
    "_round_of_either",
    "_round_of_numpy",
    "as_state",
    "builtins",
    "count_open",
    "distance",
    "is_open",
    "jit",
    "math",
    "net",
    "np",
    "power",
    "power_of_either_sign",
    "squared",
    "squared_difference",
    "state_of",
    "term",
    "value_of_net",
    "weighed",
    "weighed_onto",
    "whole_power",
    "wide",
    "wide_number",
    "with_closed",
]

math, np, net = mathematics, numbers, Net.of_text
# Without bounds checks an index out of range would read whatever lies there.
jit = inner(error_model="python", boundscheck=True, pipeline_class=CheckedCompiler)
jit_with_numpy = inner(error_model="python", boundscheck=True, pipeline_class=CheckedWithNumpy)


def term(function):
    """Return a function of the game and a cell as what `weighed` takes."""
    return CellTerm(jit(function))


# --- sets of cells, and lists ---------------------------------------------------------------------------------------


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


# --- dictionaries ---------------------------------------------------------------------------------------------------


def empty_dict(key, value):
    """Return a dictionary of nothing, of such keys and values."""


@overload(empty_dict)
def _empty_dict(key, value):
    def empty_dict(key, value):
        table = {key: value}
        table.pop(key)
        return table

    return empty_dict


def kept(items):
    """Return a list as a dictionary can hold it."""


@overload(kept)
def _kept(items):
    return (lambda items: kept_list(items)) if isinstance(items, types.List) else (lambda items: items)


def kept_list(items):
    """Return a list, a set or cells as a list that a dictionary can hold."""


@overload(kept_list)
def _kept_list(items):
    element = types.unliteral(items.dtype)

    def kept_list(items):
        elements = List.empty_list(element)
        for item in items:
            elements.append(item)
        return elements

    return kept_list


def put_once(items, item):
    """Put an element into a kept list that stands for a set."""


def put_each_once(items, others):
    """Put elements into a kept list that stands for a set."""


def set_of_kept(items):
    """Return the set that a kept list stands for."""


@overload(put_once)
def _put_once(items, item):
    def put_once(items, item):
        if item not in items:
            items.append(item)

    return put_once


@overload(put_each_once)
def _put_each_once(items, others):
    def put_each_once(items, others):
        for item in others:
            if item not in items:
                items.append(item)

    return put_each_once


@overload(set_of_kept)
def _set_of_kept(items):
    if not isinstance(items, types.ListType):
        return lambda items: items
    return lambda items: set(items)


def as_dict(items):
    """Return a dictionary of its own of another's entries, or of pairs."""


@overload(as_dict)
def _as_dict(items):
    if isinstance(items, types.DictType):
        return lambda items: items.copy()
    return lambda items: dict(items)


def count_in(items, item):
    """Return how many of one of these items a counter takes: what a dictionary says, else one."""


@overload(count_in)
def _count_in(items, item):
    return (lambda items, item: items[item]) if isinstance(items, types.DictType) else (lambda items, item: 1)


def counter_of(items):
    """Return Counter(items), of a dictionary of counts, or of items."""


@overload(counter_of)
def _counter_of(items):
    if isinstance(items, types.DictType):
        return lambda items: items.copy()

    def counter_of(items):
        counts: dict[Any, int] = {}
        for item in items:
            counts[item] = counts.get(item, 0) + 1
        return counts

    return counter_of


def get_or(table, key, missing):
    """Return what a dictionary has for a key, or what is given for one it lacks."""


def put_and_get(table, key, missing):
    """Return what a dictionary has for a key, having put in what is given for one it lacks."""


@overload(get_or)
def _get_or(table, key, missing):
    return lambda table, key, missing: table.get(key, missing)


@overload(put_and_get)
def _put_and_get(table, key, missing):
    def put_and_get(table, key, missing):
        if key not in table:
            table[key] = missing
        return table[key]

    return put_and_get


# --- what old code reads and sets of a game -------------------------------------------------------------------------


def facing(game, player):
    """Return the game with that player to move."""


def awaiting(game, player):
    """Return the game with the opponent of that player to move."""


def flat_state(game):
    """Return the second edition's `_board_state`: the cells column by column, who is to move, where both stand."""


def visited_rows(game):
    """Return the first edition's `__board_state__`, as far as it is known: 0 where a cell is open, else 3.

    Positions do not keep who visited a cell, 1 or 2: what tells them apart differs from Python, and is found out.
    """


@overload(facing)
def _facing(game, player):
    return lambda game, player: turned(game, player)


@overload(awaiting)
def _awaiting(game, player):
    return lambda game, player: turned(game, 1 - player)


@overload(flat_state)
def _flat_state(game):
    if not isinstance(game, PositionType):
        return None
    rows, columns = game.rows, game.columns

    def flat_state(game):
        state = [
            0 if bitboards.contains(game._blank, row * columns + column) else 1
            for column in range(columns)
            for row in range(rows)
        ]
        (row, column), (other_row, other_column) = game.get_player_location(0), game.get_player_location(1)
        return state + [game._turn, other_row + other_column * rows, row + column * rows]  # noqa: RUF005

    return flat_state


@overload(visited_rows)
def _visited_rows(game):
    if not isinstance(game, PositionType):
        return None
    rows, columns = game.rows, game.columns
    return lambda game: [
        [0 if bitboards.contains(game._blank, row * columns + column) else 3 for column in range(columns)]
        for row in range(rows)
    ]


# --- sets of cells together with other sets -------------------------------------------------------------------------


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


LONGEST_UNROLLED = 12
_EXACT = 2.0**53
"""Up to here sums of whole float64s are exact, in whatever order they are made."""

# --- looking for an element -----------------------------------------------------------------------------------------


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


# --- numbers --------------------------------------------------------------------------------------------------------


def array(values):
    """Return numpy.array(values)."""


def float_array(values):
    """Return numpy.array(values, dtype=float)."""


def whole_array(values):
    """Return numpy.array(values, dtype=int)."""


def numeric(values):
    """Return what NumPy functions take: tuples, lists and cells as arrays, all else as it is."""


@overload(array)
def _array(values):
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


@overload(float_array)
def _float_array(values):
    return lambda values: array(values).astype(np.float64)


@overload(whole_array)
def _whole_array(values):
    return lambda values: array(values).astype(np.int64)


@overload(numeric)
def _numeric(values):
    if isinstance(values, types.BaseTuple | types.List | MaskType):
        return lambda values: array(values)
    return lambda values: values


def clip(values, low, high):
    """Return numpy.clip(values, low, high)."""


def count_ones(value):
    """Return bin(value).count("1") of a whole number."""


@overload(clip)
def _clip(values, low, high):
    if isinstance(values, types.Number) and isinstance(low, types.Number) and isinstance(high, types.Number):
        return lambda values, low, high: low if values < low else (high if values > high else values)
    return lambda values, low, high: np.clip(values, low, high)


@overload(count_ones)
def _count_ones(value):
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


def unique_counts(values):
    """Return numpy.unique(values, return_counts=True)."""


def mean_along(values, axis):
    """Return numpy.mean(values, axis=axis)."""


@overload(unique_counts)
def _unique_counts(values):
    def unique_counts(values):
        ordered = np.sort(numeric(values).ravel())
        starts = [index for index in range(len(ordered)) if index == 0 or ordered[index] != ordered[index - 1]]
        unique = np.empty(len(starts), ordered.dtype)
        counts = np.empty(len(starts), np.int64)
        for index, start in enumerate(starts):
            end = starts[index + 1] if index + 1 < len(starts) else len(ordered)
            unique[index], counts[index] = ordered[start], end - start
        return unique, counts

    return unique_counts


def average(values, weights=None):
    """Return numpy.average(values, weights=weights)."""


def mean_of_whole(values):
    """Return statistics.mean of whole numbers; that of fractions is rounded from their exact sum."""


@overload(average)
def _average(values, weights=None):
    if weights is None or isinstance(weights, types.Omitted):
        return lambda values, weights=None: np.mean(values)

    def average(values, weights=None):
        whole = np.sum(weights)
        if whole == 0.0:
            raise ZeroDivisionError("weights sum to zero")
        return np.sum(np.multiply(values, weights)) / whole

    return average


@overload(mean_of_whole)
def _mean_of_whole(values):
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


def variance_of_whole(values, fewer):
    """Return numerator and denominator of the variance of whole numbers."""


def quotient(both):
    """Return a quotient of whole numbers."""


def root_of_quotient(both):
    """Return the square root of a quotient of whole numbers, rounded once, as `statistics.stdev` does."""


@overload(variance_of_whole)
def _variance_of_whole(values, fewer):
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


@overload(quotient)
def _quotient(both):
    return lambda both: both[0] / both[1]


@overload(root_of_quotient)
def _root_of_quotient(both):
    def root_of_quotient(both):
        above, below = float(both[0]), float(both[1])
        root = math.sqrt(above / below)
        if root == 0.0:
            return root
        # above - below * root * root, with every product as the exact sum of two fractions
        square, square_rest = exact_product(root, root)
        product, product_rest = exact_product(below, square)
        return root + (above - product - product_rest - below * square_rest) / (2.0 * below * root)

    return root_of_quotient


def exact_product(a, b):
    """Return the product of two fractions, and by how much it is rounded (Dekker)."""


@overload(exact_product)
def _exact_product(a, b):
    def exact_product(a, b):
        a_high, b_high = 134217729.0 * a, 134217729.0 * b
        a_high, b_high = a_high - (a_high - a), b_high - (b_high - b)
        a_low, b_low = a - a_high, b - b_high
        product = a * b
        return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low

    return exact_product


def max_along(values, axis):
    """Return numpy.max(values, axis=axis)."""


def min_along(values, axis):
    """Return numpy.min(values, axis=axis)."""


def _rows_along(values, axis):
    """Return an array with two axes such that its first one is the given one."""


@overload(_rows_along)
def _typed_rows_along(values, axis):
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


def prod_along(values, axis):
    """Return numpy.prod(values, axis=axis), of the last axis."""


def var_along(values, axis):
    """Return numpy.var(values, axis=axis)."""


def std_along(values, axis):
    """Return numpy.std(values, axis=axis)."""


@overload(prod_along)
def _prod_along(values, axis):
    if not isinstance(values.dtype, types.Integer):
        raise TypingError(f"{REFUSED}it multiplies fractions along an axis: write a loop")

    def prod_along(values, axis):
        moved = np.swapaxes(values, axis, 0)
        product = np.ones_like(moved[0])
        for row in moved:
            product *= row
        return product

    return prod_along


@overload(var_along)
def _var_along(values, axis):
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


@overload(std_along)
def _std_along(values, axis):
    return lambda values, axis: np.sqrt(var_along(values, axis))


@overload(mean_along)
def _mean_along(values, axis):
    return lambda values, axis: sum_along(values, axis) / values.shape[axis]


def alike(items):
    """Return a tuple of whole numbers and fractions as one of fractions; all else as it is."""


@overload(alike)
def _alike(items):
    if not isinstance(items, types.Tuple) or not all(isinstance(kind, types.Number) for kind in items.types):
        return lambda items: items
    return lambda items: _fractions(items)


def _fractions(items):
    """Return the numbers of a tuple as fractions."""


@overload(_fractions)
def _typed_fractions(items):
    if len(items) == 1:
        return lambda items: (float(items[0]),)
    return lambda items: (float(items[0]), *_fractions(items[1:]))


def number(value):
    """Return float(value); None and text are refused."""


@overload(number)
def _number(value):
    if isinstance(value, types.Optional):
        return lambda value: float(_nonoptional(value))
    if isinstance(value, types.Boolean):
        return lambda value: 1.0 if value else 0.0
    if value == WIDE:
        return lambda value: as_fraction(value)
    if isinstance(value, types.NoneType | types.UnicodeType | types.StringLiteral):
        return None
    return lambda value: float(value)


def text(value):
    """Return str(value), of a whole number, a truth value, a text, or a tuple of whole numbers."""


def whole(value):
    """Return a whole number itself; all else is refused."""


@overload(text)
def _text(value):
    if isinstance(value, types.Boolean | types.BooleanLiteral):
        return lambda value: "True" if value else "False"
    if isinstance(value, types.UnicodeType | types.StringLiteral):
        return lambda value: value
    if isinstance(value, types.Integer):
        return lambda value: str(value)
    if isinstance(value, types.UniTuple) and isinstance(value.dtype, types.Integer) and len(value) > 1:
        return lambda value: "(" + ", ".join([str(part) for part in value]) + ")"
    raise TypingError(f"{REFUSED}it makes a text of what is no whole number and no cell: use numbers or tuples")


@overload(whole)
def _whole(value):
    if isinstance(value, types.Integer):
        return lambda value: value
    raise TypingError(f"{REFUSED}it makes a text of what is no whole number: use numbers or tuples")


def padded(value, fill, align, sign, width):
    """Return what format makes of a whole number or text; without `align` numbers stand right and texts left."""


def _digits(value):
    """Return a text itself, or the digits of a whole number."""


def _is_negative(value):
    """Whether a value is a number below zero."""


@overload(_digits)
def _typed_digits(value):
    if isinstance(value, types.UnicodeType | types.StringLiteral):
        return lambda value: value
    if isinstance(value, types.Boolean | types.BooleanLiteral):
        return lambda value: "1" if value else "0"
    return lambda value: str(value)[1:] if value < 0 else str(value)


@overload(_is_negative)
def _typed_is_negative(value):
    is_number = isinstance(value, types.Integer)
    return (lambda value: value < 0) if is_number else (lambda value: False)


@overload(padded)
def _padded(value, fill, align, sign, width):
    is_text = isinstance(value, types.UnicodeType | types.StringLiteral)
    if not is_text and not isinstance(value, types.Integer | types.Boolean | types.BooleanLiteral):
        raise TypingError(f"{REFUSED}it formats what is no whole number and no text: write int(x), or round(x, 2)")

    def padded(value, fill, align, sign, width):
        digits = _digits(value)
        before = "-" if _is_negative(value) else sign
        missing = width - len(before) - len(digits)
        if align == "<" or (is_text and align == ""):
            return before + digits + fill * missing
        if align == "^":
            return fill * (missing // 2) + before + digits + fill * (missing - missing // 2)
        if align == "=":
            return before + fill * missing + digits
        return fill * missing + before + digits

    return padded


def is_whole(value):
    """Return float(value).is_integer()."""


@overload(is_whole)
def _is_whole(value):
    if isinstance(value, types.Number):
        return lambda value: math.isfinite(value) and value == np.floor(value)
    return None


@overload(operator.not_)
def _is_empty_set(items):
    return (lambda items: len(items) == 0) if isinstance(items, types.Set) else None


def truth(value):
    """Return bool(value), also of what may be None."""


@overload(truth)
def _truth(value):
    if isinstance(value, types.NoneType):
        return lambda value: False
    if isinstance(value, types.Optional):
        return lambda value: value is not None and bool(_nonoptional(value))
    return lambda value: bool(value)


def present(is_there, value):
    """Return a value that is there; Python computes on without one."""


def is_true_of(is_there, value):
    """Return whether there is a value and it is true."""


def larger(a, b):
    """Return max(a, b), of cells too."""


def smaller(a, b):
    """Return min(a, b), of cells too."""


@overload(larger)
def _larger(a, b):
    if isinstance(a, types.BaseTuple):
        return lambda a, b: b if b > a else a
    return lambda a, b: max(a, b)


@overload(smaller)
def _smaller(a, b):
    if isinstance(a, types.BaseTuple):
        return lambda a, b: b if b < a else a
    return lambda a, b: min(a, b)


def none_of_kind(example):
    """Return None, as a value that may also be one of the kind of the example."""


@overload(none_of_kind)
def _none_of_kind(example):
    def none_of_kind(example):
        return None if len("") == 0 else example

    return none_of_kind


def first_of(items):
    """Return the first of the items."""


@overload(present)
def _present(is_there, value):
    def present(is_there, value):
        give_up(not is_there)
        return value

    return present


@overload(is_true_of)
def _is_true_of(is_there, value):
    if isinstance(value, types.BaseTuple):
        has_parts = len(value) > 0
        return lambda is_there, value: is_there and has_parts
    return lambda is_there, value: is_there and bool(value)


@overload(first_of)
def _first_of(items):
    def first_of(items):
        for item in items:
            return item
        raise ValueError("nothing is first")

    return first_of


# --- distances ------------------------------------------------------------------------------------------------------


def norm(values):
    """Return the Euclidean norm of a tuple, list or array of numbers."""


def norm_of_order(values, order):
    """Return numpy.linalg.norm(values, order), of an array with one axis."""


def euclidean(a, b):
    """Return the Euclidean distance of two tuples, lists or arrays."""


def sqeuclidean(a, b):
    """Return the squared Euclidean distance."""


def cityblock(a, b):
    """Return the sum of the distances along each axis."""


def chebyshev(a, b):
    """Return the largest of the distances along each axis."""


@overload(norm)
def _norm(values):
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


@overload(norm_of_order)
def _norm_of_order(values, order):
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


def _apart(a, b):
    """Return abs(a - b)."""


@overload(_apart)
def _typed_apart(a, b):
    if isinstance(a, types.Integer) and isinstance(b, types.Integer):
        return lambda a, b: _abs(plus(a, negative_of(b)))
    return lambda a, b: abs(a - b)


def _check_lengths(a, b):
    """Raise an exception for two vectors of different length."""


@overload(_check_lengths)
def _typed_check_lengths(a, b):
    def check_lengths(a, b):
        if len(a) != len(b):
            raise ValueError("vectors of different length")

    return check_lengths


@overload(sqeuclidean)
def _sqeuclidean(a, b):
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


@overload(euclidean)
def _euclidean(a, b):
    if _are_wholes(a) and _are_wholes(b):
        return lambda a, b: math.sqrt(sqeuclidean(a, b))
    raise TypingError(f"{REFUSED}it calls SciPy's euclidean with fractions, whose last digit differs: use math.dist")


@overload(cityblock)
def _cityblock(a, b):
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


@overload(chebyshev)
def _chebyshev(a, b):
    def chebyshev(a, b):
        _check_lengths(a, b)
        longest = _apart(a[0], b[0])
        for index in range(1, len(a)):
            apart = _apart(a[index], b[index])
            if apart > longest:
                longest = apart
        return longest

    return chebyshev


# --- sums as Python 3.12 makes them ---------------------------------------------------------------------------------


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
