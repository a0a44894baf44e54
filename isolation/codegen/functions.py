"""Functions of Python and its library: from each to how a call of it is compiled."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Generator, Hashable, Sequence
from typing import Any

from ..rules.classic_board import Board
from . import groups, library, tables
from .board import cell_count, cell_number, on_board, padded_blank, padded_light, padded_moves, padded_near
from .flow import Flow
from .iteration import each, items_of, length
from .kinds import number_kind
from .memory import zeros
from .methods import call_method
from .numbers import (
    absolute,
    as_bit,
    call_math,
    integral,
    is_not_finite,
    length_of_vector,
    lifted,
    look_up,
    negative,
    number,
    round_to,
    tabulated,
    to_float,
    to_int,
)
from .operations import (
    as_value,
    attribute,
    binary,
    compare,
    element,
    extend,
    has_attribute,
    is_list,
    selected,
    set_element_of,
    truth_of,
)
from .sets import hash_of, may_be_cell, set_of
from .values import (
    FLOAT,
    Cell,
    Cells,
    Entries,
    Fields,
    Frozen,
    Game,
    Items,
    Lazy,
    ListInMemory,
    Number,
    Partial,
    Player,
    Static,
    Tuple,
    UnsupportedError,
    Value,
    is_number,
    real,
    whole,
)

Arguments = Sequence[Value]
Keywords = dict[str, Value]
Compiled = Callable[[Flow, Arguments, Keywords, Hashable], Value]
_function: Any
_operation: Any
_OF_PYTHON: dict[Any, Compiled] = {}
"""How the calls of functions are compiled."""
_PURE: set[Any] = {
    abs, min, max, len, round, pow, divmod, bool, int, float, str, sum, sorted, tuple, any, all, repr, chr, ord, hash,
    isinstance, issubclass, range, zip, enumerate, reversed, frozenset, operator.add, operator.sub, operator.mul,
    operator.itemgetter, operator.attrgetter, operator.neg, type,
    *(function for name, function in vars(math).items() if callable(function)),
}  # fmt: skip
"""Functions that may be called while compiling, with what is known."""


def compiles(*functions: Any) -> Callable[[Compiled], Compiled]:
    """Say of which functions a function compiles the calls."""

    def note(compiled: Compiled) -> Compiled:
        _OF_PYTHON.update(dict.fromkeys(functions, compiled))
        return compiled

    return note


def is_pure(function: Any) -> bool:
    """Return whether a function of the library gives the same for the same arguments, and changes nothing."""
    try:
        return function in _PURE
    except TypeError:
        return False


def compiled_call(flow: Flow, function: Any, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value | None:
    """What a call of a function of Python's library gives; None if the function is no such one."""
    try:
        compiled = _OF_PYTHON.get(function)
    except TypeError:
        return None
    if isinstance(function, operator.itemgetter):
        places = function.__reduce__()[1]
        found = [element(flow, arguments[0], Static(place)) for place in places]
        return found[0] if len(found) == 1 else Tuple(tuple(found))
    return compiled(flow, arguments, keywords, site) if compiled else None


_CONSUMERS = (sum, min, max, set, frozenset, sorted, len)


def is_consumer(function: Any) -> bool:
    """Return whether a function takes the items of a list once, in order, and keeps no list."""
    return any(function is consumer for consumer in _CONSUMERS)


def known_items(flow: Flow, value: Value) -> list[Value] | None:
    """The items of a container of known length that is made; None of what is made item by item."""
    content = flow.content(value)
    is_made = not isinstance(content, Cells | ListInMemory | Lazy | Fields)
    return items_of(flow, value) if is_made else None


def in_library(flow: Flow, function: Callable[..., Any], arguments: Arguments, site: Hashable) -> Value:
    """What a function that is written in plain Python gives."""
    return flow.operations.call(flow, Static(function), arguments, {}, site)


# --- numbers


@compiles(len)
def _len(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    content = flow.content(arguments[0])
    if isinstance(content, Fields):
        return call_method(flow, arguments[0], "__len__", [], {}, site)
    return length(flow, arguments[0])


@compiles(abs, math.fabs)
def _abs(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return absolute(flow, arguments[0])


@compiles(float)
def _float(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if not arguments:
        return Static(0.0)
    (given,) = arguments
    if isinstance(given, Static) and not is_number(given.value) and hasattr(given.value, "__float__"):
        return call_method(flow, given, "__float__", [], {}, site)
    known = lifted(flow, float, given)
    return known if known is not None else Number("float", to_float(flow, given))


@compiles(int)
def _int(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return _cut(flow, arguments[0], "llvm.trunc.f64", int)


def _cut(flow: Flow, value: Value, name: str, function: Callable[..., Any]) -> Value:
    known = lifted(flow, function, value)
    if known is not None:
        return known
    given = number(flow, value)
    return integral(flow, call_math(flow, name, given.signal)) if given.name == "float" else to_int(flow, given)


for _function, _name in ((math.floor, "llvm.floor.f64"), (math.ceil, "llvm.ceil.f64"), (math.trunc, "llvm.trunc.f64")):
    _OF_PYTHON[_function] = functools.partial(
        lambda flow, arguments, keywords, site, function, name: _cut(flow, arguments[0], name, function),
        function=_function,
        name=_name,
    )


@compiles(round)
def _round(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if len(arguments) > 1 or keywords:
        digits = keywords.get("ndigits", arguments[-1])
        known = lifted(flow, round, arguments[0], digits)
        return known if known is not None else round_to(flow, arguments[0], digits)
    return _cut(flow, arguments[0], "llvm.roundeven.f64", round)


@compiles(str, repr)
def _str(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return text_of(flow, str, *arguments)


def text_of(flow: Flow, function: Callable[..., Any], *values: Value) -> Value:
    """A text made of values of which each has few options."""
    known = tabulated(flow, function, *values)
    if known is None:
        raise UnsupportedError("the text of a number")
    return known


@compiles(bin)
def _bin(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return text_of(flow, bin, *arguments)


@compiles(bool)
def _bool(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return as_value(truth_of(flow, arguments[0]))


@compiles(operator.neg)
def _neg(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return negative(flow, arguments[0])


@compiles(pow, operator.pow, math.pow)
def _pow(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if len(arguments) != 2:
        raise UnsupportedError("a power of three numbers")
    return binary(flow, ast.Pow, arguments[0], arguments[1])


@compiles(divmod)
def _divmod(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    left, right = arguments
    return Tuple((binary(flow, ast.FloorDiv, left, right), binary(flow, ast.Mod, left, right)))


@compiles(math.sqrt)
def _sqrt(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    known = lifted(flow, math.sqrt, arguments[0])
    if known is not None:
        return known
    given = to_float(flow, arguments[0])
    flow.fail_if(flow.build.fcmp_ordered("<", given, real(0)), ValueError)
    return Number("float", call_math(flow, "llvm.sqrt.f64", given))


_OF_C = {
    math.exp: ("exp", None), math.log: ("log", 0.0), math.log2: ("log2", 0.0), math.log10: ("log10", 0.0),
    math.tanh: ("tanh", None), math.atan: ("atan", None), math.sin: ("sin", None), math.cos: ("cos", None),
    math.log1p: ("log1p", -1.0), math.expm1: ("expm1", None), math.sinh: ("sinh", None), math.cosh: ("cosh", None),
    math.tan: ("tan", None), math.cbrt: ("cbrt", None), math.erf: ("erf", None),
}  # fmt: skip


def _of_c(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable, function: Any) -> Value:
    name, below = _OF_C[function]
    known = lifted(flow, function, *arguments)
    if known is not None:
        return known
    if len(arguments) != 1:
        top, base = (_of_c(flow, [argument], {}, site, math.log) for argument in arguments)
        return binary(flow, ast.Div, top, base)
    given = to_float(flow, arguments[0])
    if below is not None:
        flow.fail_if(flow.build.fcmp_ordered("<=", given, real(below)), ValueError)
    result = call_math(flow, name, given)
    bad = flow.build.and_(is_not_finite(flow, result), flow.build.not_(is_not_finite(flow, given)))
    flow.fail_if(bad, OverflowError)
    if name in ("sin", "cos", "tan"):
        flow.fail_if(is_not_finite(flow, given), ValueError)
    return Number("float", result)


for _function in _OF_C:
    _OF_PYTHON[_function] = functools.partial(_of_c, function=_function)


@compiles(math.isfinite, library.is_finite)
def _is_finite(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return as_value(flow.build.not_(is_not_finite(flow, to_float(flow, arguments[0]))))


@compiles(math.isnan)
def _is_nan(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    given = to_float(flow, arguments[0])
    return as_value(flow.build.fcmp_unordered("uno", given, given))


@compiles(math.isinf)
def _is_infinite(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    size = call_math(flow, "llvm.fabs.f64", to_float(flow, arguments[0]))
    return as_value(flow.build.fcmp_ordered("==", size, real(math.inf)))


@compiles(math.copysign)
def _copysign(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    known = lifted(flow, math.copysign, *arguments)
    signals = [to_float(flow, argument) for argument in arguments]
    return known if known is not None else Number("float", call_math(flow, "llvm.copysign.f64", *signals))


@compiles(math.atan2)
def _atan2(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    known = lifted(flow, math.atan2, *arguments)
    signals = [to_float(flow, argument) for argument in arguments]
    return known if known is not None else Number("float", call_math(flow, "atan2", *signals))


@compiles(math.hypot, math.dist)
def _distance(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    """By a table: CPython's hypot rounds otherwise than that of the C library."""
    known = lifted(flow, math.hypot, *arguments)
    if known is not None:
        return known
    pairs = [items_of(flow, argument) for argument in arguments] if len(arguments) == 2 else [None]
    if all(pair is not None and len(pair) == 2 for pair in pairs):
        sides = [binary(flow, ast.Sub, *column) for column in zip(*pairs, strict=True)]
        sides[1:] = sides[1:]
    else:
        sides = list(arguments)
    numbers_ = [number(flow, side) for side in sides]
    size = max(flow.rows, flow.columns) + 1
    if len(sides) != 2 or not all(one.name == "int" and -size < one.low and one.high < size for one in numbers_):
        return Number("float", length_of_vector(flow, [to_float(flow, side) for side in sides]))
    one, other = (absolute(flow, to_int(flow, side)) for side in sides)
    table = [math.hypot(x, y) for x in range(size) for y in range(size)]
    place = binary(flow, ast.Add, binary(flow, ast.Mult, to_int(flow, one), Static(size)), to_int(flow, other))
    return Number("float", look_up(flow, table, to_int(flow, place).signal, FLOAT))


for _function, _operation in (
    (operator.lt, ast.Lt), (operator.le, ast.LtE), (operator.gt, ast.Gt), (operator.ge, ast.GtE), (operator.eq, ast.Eq),
    (operator.ne, ast.NotEq),
):  # fmt: skip
    _OF_PYTHON[_function] = functools.partial(
        lambda flow, arguments, keywords, site, operation: compare(flow, operation, *arguments), operation=_operation
    )
for _function, _operation in (
    (operator.add, ast.Add), (operator.sub, ast.Sub), (operator.mul, ast.Mult), (operator.truediv, ast.Div),
    (operator.and_, ast.BitAnd), (operator.or_, ast.BitOr), (operator.xor, ast.BitXor), (operator.mod, ast.Mod),
    (operator.floordiv, ast.FloorDiv),
):  # fmt: skip
    _OF_PYTHON[_function] = functools.partial(
        lambda flow, arguments, keywords, site, operation: binary(flow, operation, *arguments), operation=_operation
    )


# --- containers


@compiles(list, deque)
def _list(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if keywords:
        raise UnsupportedError("a deque of a largest length")
    made = flow.new(Items(()))
    if arguments:
        content = flow.content(arguments[0])
        if isinstance(content, Cells):
            return flow.new(Cells(on_board(flow, content).signal, "any" if content.order == "set" else content.order))
        with flow.holding(made):
            extend(flow, made, arguments[0], (flow.path, site, "list"))
    return made


@compiles(tuple)
def _tuple(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    items = known_items(flow, arguments[0]) if arguments else []
    if items is None:
        made = _list(flow, arguments, keywords, site)
        content = flow.content(made) if not flow.is_dead else Items(())
        return Tuple(content.items) if isinstance(content, Items) else Frozen(made)
    return Tuple(tuple(items))


@compiles(set, frozenset)
def _set(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return set_of(flow, arguments, site)


@compiles(dict, OrderedDict)
def _dict(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    made = flow.new(Entries(tuple(map(Static, keywords)), tuple(keywords.values())))
    if arguments:
        with flow.holding(made):
            key = (flow.path, site, "dict")
            each(flow, pairs_of(flow, arguments[0], site), lambda pair: _put(flow, made, pair), key)
    return made


def _put(flow: Flow, made: Value, pair: Value) -> None:
    items = items_of(flow, pair)
    if items is None or len(items) != 2:
        raise UnsupportedError("a dictionary of what is no pairs")
    set_element_of(flow, made, *items)


def pairs_of(flow: Flow, value: Value, site: Hashable) -> Value:
    """The pairs of a dictionary, or an iterable itself."""
    content = flow.content(value)
    is_dictionary = isinstance(content, Entries) or isinstance(getattr(content, "value", None), dict)
    if is_dictionary or (isinstance(content, Fields) and issubclass(content.owner, tables.Table)):
        return call_method(flow, value, "items", [], {}, (site, "items"))
    return value


@compiles(library.pairs_of)
def _pairs_of(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return pairs_of(flow, arguments[0], site)


@compiles(dict.fromkeys)
def _fromkeys(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    made = _dict(flow, [], {}, site)
    return in_library(flow, tables.filled_table, [made, *arguments, Static(None)][:3], site)


@compiles(library.number_of_cell)
def _number_of_cell(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if not may_be_cell(arguments[0]):
        return Static(None)
    cell, is_inside = cell_number(flow, arguments[0])
    return Number("int", flow.build.select(is_inside, cell, whole(-1)), -1, cell_count(flow) - 1)


for _function, _of_board in (
    (library.padded_blank, padded_blank), (library.padded_light, padded_light), (library.padded_moves, padded_moves),
    (library.padded_near, padded_near),
):  # fmt: skip
    _OF_PYTHON[_function] = functools.partial(
        lambda flow, arguments, keywords, site, emit: emit(flow, *arguments), emit=_of_board
    )


@compiles(library.cell_count)
def _cell_count(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return Static(cell_count(flow))


@compiles(library.zeros)
def _zeros(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return zeros(flow, to_int(flow, arguments[0]))


@compiles(library.hash_of, hash)
def _hash_of(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return hash_of(flow, arguments[0])


@compiles(library.in_order_of)
def _in_order_of(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    content = flow.content(arguments[0])
    is_unordered = isinstance(content, ListInMemory) and content.site.root.is_unordered
    if is_unordered and not flow.heap.keeps_order:
        flow.demand_order()
    return Static(None)


@compiles(library.give_up)
def _give_up(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    flow.give_up_if(Static(True))
    return Static(None)


@compiles(bytearray)
def _bytearray(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if len(arguments) != 1 or number_kind(arguments[0]) is None:
        raise UnsupportedError("a bytearray of something else than a count")
    return zeros(flow, to_int(flow, arguments[0]))


@compiles(Counter)
def _counter(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    made = flow.operations.call(flow, Static(tables.Counted), [], {}, (site, "counter"))
    if arguments:
        call_method(flow, made, "update", arguments, {}, (site, "count"))
    return made


@compiles(defaultdict)
def _defaultdict(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return flow.operations.call(flow, Static(tables.Defaulted), arguments, keywords, (site, "defaultdict"))


_MOST_SORTED = 5
"""How many values are sorted by comparing neighbours."""


def _sorted_by_swaps(flow: Flow, items: list[Value], key: Value, is_backwards: bool, site: Hashable) -> Value:
    has_key = not (isinstance(key, Static) and key.value is None)
    worths = [flow.operations.call(flow, key, [item], {}, (site, "key")) for item in items] if has_key else items
    pairs = [Tuple(pair) for pair in zip(worths, items, strict=True)]
    for end in range(len(pairs) - 1, 0, -1):
        for place in range(end):
            first, second = pairs[place], pairs[place + 1]
            order = [first.items[0], second.items[0]] if is_backwards else [second.items[0], first.items[0]]
            is_wrong = as_bit(truth_of(flow, compare(flow, ast.Lt, *order)))
            if flow.is_dead:
                return Static(None)
            swapped = [selected(flow, [is_wrong], [second, first]), selected(flow, [is_wrong], [first, second])]
            pairs[place : place + 2] = swapped  # type: ignore[assignment]
    return flow.new(Items(tuple(pair.items[1] for pair in pairs)))


@compiles(sorted)
def _sorted(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    key, is_backwards = keywords.get("key", Static(None)), keywords.get("reverse", Static(False))
    known = known_items(flow, arguments[0])
    if known is not None and len(known) <= _MOST_SORTED and isinstance(is_backwards, Static):
        return _sorted_by_swaps(flow, known, key, is_backwards.value, site)
    content = flow.content(arguments[0])
    if isinstance(content, Cells) and isinstance(key, Static) and key.value is None:
        content = Cells(on_board(flow, content).signal, "row")
        return content if is_backwards == Static(False) else in_library(flow, library.backwards, [content], site)
    return in_library(flow, library.in_order, [arguments[0], key, is_backwards], site)


# --- objects


@compiles(functools.partial)
def _partial(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return Partial(arguments[0], tuple(arguments[1:]), tuple(keywords.items()))


@compiles(print)
def _print(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    raise UnsupportedError("it prints")


@compiles(isinstance)
def _isinstance(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    value, classes = flow.content(arguments[0]), arguments[1]
    if isinstance(arguments[0], Frozen):
        value = Tuple(())
    if not isinstance(classes, Static):
        raise UnsupportedError("isinstance of a class that is not known")
    if isinstance(value, Static):
        return Static(isinstance(value.value, classes.value))
    if classes.value in (groups.Group, tables.Keys):
        return Static(isinstance(value, Fields) and value.owner is classes.value)
    if isinstance(value, Lazy | Game | Player):
        return Static(issubclass(Generator if isinstance(value, Lazy) else Board, classes.value))
    own = _class_of(value)
    if own is None:
        raise UnsupportedError("isinstance of such a value")
    return Static(issubclass(own, classes.value))


_STANDS_FOR = {
    tables.Keys: type({}.keys()),
    tables.Table: dict, tables.Counted: Counter, tables.Defaulted: defaultdict, groups.Group: set,
}  # fmt: skip


def _class_of(value: Value) -> type | None:
    if isinstance(value, Number):
        return {"int": int, "float": float, "bool": bool}[value.name]
    if isinstance(value, Tuple):
        return value.named or tuple
    if isinstance(value, Fields):
        return _STANDS_FOR.get(value.owner, value.owner)  # type: ignore[return-value]
    if isinstance(value, Cells) and value.order == "set":
        return set
    if is_list(value):
        return list
    return {Cell: tuple, Entries: dict}.get(type(value))


@compiles(getattr)
def _getattr(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    name = arguments[1]
    if not isinstance(name, Static):
        raise UnsupportedError("getattr of a name that is not known")
    if len(arguments) > 2 and not has_attribute(flow, arguments[0], name.value):
        return arguments[2]
    return attribute(flow, arguments[0], name.value)


@compiles(hasattr)
def _hasattr(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    name = arguments[1]
    if not isinstance(name, Static):
        raise UnsupportedError("hasattr of a name that is not known")
    return Static(has_attribute(flow, arguments[0], name.value))
