"""Functions of Python and its library: from each to how a call of it is compiled."""

from __future__ import annotations

import ast
import functools
import itertools
import math
import operator
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from . import library
from .board import cells_of, no_cells
from .flow import Flow
from .iteration import Body, each, each_of_range, items_of, length
from .kinds import number_kind
from .methods import as_set, call_method
from .numbers import (
    absolute,
    call_math,
    integral,
    is_not_finite,
    lifted,
    number,
    to_float,
    to_int,
)
from .operations import as_value, attribute, binary, element, extend, is_list, truth_of
from .values import (
    Cell,
    Cells,
    Entries,
    Fields,
    Items,
    Lazy,
    ListInMemory,
    Number,
    Partial,
    Static,
    Tuple,
    UnsupportedError,
    Value,
    is_number,
    real,
)

Arguments = Sequence[Value]
Keywords = dict[str, Value]
Compiled = Callable[[Flow, Arguments, Keywords, Hashable], Value]
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


def _in_library(flow: Flow, function: Callable[..., Any], arguments: Arguments, site: Hashable) -> Value:
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
        known = lifted(flow, round, *arguments)
        if known is None:
            raise UnsupportedError("round to digits")
        return known
    return _cut(flow, arguments[0], "llvm.roundeven.f64", round)


@compiles(bool)
def _bool(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return as_value(truth_of(flow, arguments[0]))


@compiles(pow, operator.pow)
def _pow(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return binary(flow, ast.Pow, *arguments)


@compiles(divmod)
def _divmod(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return Tuple((binary(flow, ast.FloorDiv, *arguments), binary(flow, ast.Mod, *arguments)))


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
}  # fmt: skip


def _of_c(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable, function: Any) -> Value:
    name, below = _OF_C[function]
    known = lifted(flow, function, *arguments)
    if known is not None:
        return known
    if len(arguments) != 1:
        raise UnsupportedError(f"math.{name} with a base")
    given = to_float(flow, arguments[0])
    if below is not None:
        flow.fail_if(flow.build.fcmp_ordered("<=", given, real(below)), ValueError)
    result = call_math(flow, name, given)
    bad = flow.build.and_(is_not_finite(flow, result), flow.build.not_(is_not_finite(flow, given)))
    flow.fail_if(bad, OverflowError)
    if name in ("sin", "cos"):
        flow.fail_if(is_not_finite(flow, given), ValueError)
    return Number("float", result)


for _function in _OF_C:
    _OF_PYTHON[_function] = functools.partial(_of_c, function=_function)


@compiles(math.isinf, math.isnan)
def _is_special(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    raise UnsupportedError("math.isinf and math.isnan")


for _function, _operation in (
    (operator.add, ast.Add), (operator.sub, ast.Sub), (operator.mul, ast.Mult), (operator.truediv, ast.Div),
    (operator.and_, ast.BitAnd), (operator.or_, ast.BitOr),
):  # fmt: skip
    _OF_PYTHON[_function] = functools.partial(
        lambda flow, arguments, keywords, site, operation: binary(flow, operation, *arguments), operation=_operation
    )


# --- folds


@compiles(sum)
def _sum(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", Static(0))
    total = ("hidden", (site, "sum"))
    flow.here()[total] = start

    def add(item: Value) -> None:
        so_far = flow.here().get(total)
        if so_far is None:
            raise UnsupportedError("a sum of different things")
        flow.here()[total] = binary(flow, ast.Add, so_far, item)

    each_in_any_order(flow, arguments[0], add, (site, "sum"))
    if flow.is_dead:
        return Static(None)
    result = flow.here().pop(total, None)
    if result is None:
        raise UnsupportedError("a sum of different things")
    if sys.version_info >= (3, 12) and isinstance(result, Number) and result.name == "float":
        raise UnsupportedError("a sum of floats, which Python compensates")
    return result


def each_in_any_order(flow: Flow, value: Value, body: Body, key: Hashable) -> None:
    """Emit a body whose order cannot be seen, so that sets may be iterated over; with floats it can."""
    content = flow.content(value)
    if isinstance(content, Cells) and content.order == "set":
        raise UnsupportedError("the order of a set")
    each(flow, value, body, key)


@compiles(any)
def _any(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return _in_library(flow, library.any_of, arguments, site)


@compiles(all)
def _all(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return _in_library(flow, library.all_of, arguments, site)


def _extreme(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable, is_least: bool) -> Value:
    items = arguments[0] if len(arguments) == 1 else Tuple(tuple(arguments))
    key = keywords.get("key", Static(None))
    known = items_of(flow, items) if not isinstance(flow.content(items), Cells | ListInMemory) else None
    if known is not None and isinstance(key, Static) and key.value is None and "default" not in keywords:
        chosen = _extreme_of_ints(flow, known, is_least)
        if chosen is not None:
            return chosen
    if "default" in keywords:
        function: Any = library.least_or if is_least else library.greatest_or
        return _in_library(flow, function, [items, key, keywords["default"]], site)
    return _in_library(flow, library.least if is_least else library.greatest, [items, key], site)


def _extreme_of_ints(flow: Flow, items: list[Value], is_least: bool) -> Value | None:
    """The least or greatest of some ints, of which it does not matter which of equal ones it is."""
    kinds = [number_kind(item) for item in items]
    if not items or any(kind is None or kind.name == "float" for kind in kinds):
        return None
    choose = min if is_least else max
    known = lifted(flow, lambda *options: choose(options), *items)
    if known is not None:
        return known
    if any(kind is not None and kind.name == "bool" for kind in kinds):
        return None
    best = to_int(flow, items[0])
    for item in items[1:]:
        other = to_int(flow, item)
        is_better = flow.build.icmp_signed("<" if is_least else ">", other.signal, best.signal)
        signal = flow.build.select(is_better, other.signal, best.signal)
        best = Number("int", signal, choose(best.low, other.low), choose(best.high, other.high))
    return best


_OF_PYTHON[min] = functools.partial(_extreme, is_least=True)
_OF_PYTHON[max] = functools.partial(_extreme, is_least=False)


@compiles(functools.reduce)
def _reduce(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if len(arguments) < 3:
        raise UnsupportedError("reduce without a start")
    return _in_library(flow, library.folded, arguments, site)


# --- containers


@compiles(list, deque)
def _list(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if keywords:
        raise UnsupportedError("a deque of a largest length")
    made = flow.new(Items(()))
    if arguments:
        content = flow.content(arguments[0])
        if isinstance(content, Cells) and content.order != "set":
            return content
        with flow.holding(made):
            extend(flow, made, arguments[0], (flow.path, site, "list"))
    return made


@compiles(tuple)
def _tuple(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    items = items_of(flow, arguments[0]) if arguments else []
    if items is None:
        raise UnsupportedError("a tuple whose length is not known")
    return Tuple(tuple(items))


@compiles(set, frozenset)
def _set(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if not arguments:
        return flow.new(Cells(no_cells(flow), "set"))
    if cells_of(flow, arguments[0]) is not None:
        return flow.new(as_set(flow, arguments[0]))
    made = flow.new(Cells(no_cells(flow), "set"))
    each(flow, arguments[0], lambda item: _ignored(call_method(flow, made, "add", [item], {}, site)), (site, "set"))
    return made


def _ignored(value: Value) -> None:
    del value


@compiles(dict)
def _dict(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if arguments:
        raise UnsupportedError("a dictionary made of an iterable")
    return flow.new(Entries(tuple(map(Static, keywords)), tuple(keywords.values())))


@compiles(Counter)
def _counter(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    made = flow.operations.call(flow, Static(library.Counted), [], {}, (site, "counter"))
    if arguments:
        call_method(flow, made, "update", arguments, {}, (site, "count"))
    return made


@compiles(defaultdict)
def _defaultdict(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return flow.operations.call(flow, Static(library.Defaulted), arguments, keywords, (site, "defaultdict"))


@compiles(sorted)
def _sorted(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    items = [arguments[0], keywords.get("key", Static(None)), keywords.get("reverse", Static(False))]
    return _in_library(flow, library.in_order, items, site)


# --- iterables


@compiles(range)
def _range(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    start, stop, step = (Static(0), *arguments, Static(1)) if len(arguments) == 1 else (*arguments, Static(1))[:3]
    return Lazy(lambda body, key: each_of_range(flow, start, stop, step, body, (key, "range")), True)


@compiles(enumerate)
def _enumerate(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", Static(0))
    items = items_of(flow, arguments[0]) if not isinstance(flow.content(arguments[0]), Cells | ListInMemory) else None
    if items is not None:
        numbers = [binary(flow, ast.Add, start, Static(place)) for place in range(len(items))]
        return Tuple(tuple(Tuple(pair) for pair in zip(numbers, items, strict=True)))

    def numbered(body: Body, key: Hashable) -> None:
        place = ("hidden", (key, "number"))
        flow.here()[place] = start

        def one(item: Value) -> None:
            now = flow.here()[place]
            flow.here()[place] = binary(flow, ast.Add, now, Static(1))
            body(Tuple((now, item)))

        each(flow, arguments[0], one, (key, "enumerate"))

    return Lazy(numbered)


@compiles(map)
def _map(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    function, *iterables = arguments
    if len(iterables) != 1:
        raise UnsupportedError("map over several iterables")

    def mapped(body: Body, key: Hashable) -> None:
        def one(item: Value) -> None:
            result = flow.operations.call(flow, function, [item], {}, (site, "map"))
            if not flow.is_dead:
                body(result)

        each(flow, iterables[0], one, (key, "map"))

    return Lazy(mapped)


@compiles(filter)
def _filter(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    function, iterable = arguments
    is_plain = isinstance(function, Static) and function.value is None

    def filtered(body: Body, key: Hashable) -> None:
        def one(item: Value) -> None:
            found = item if is_plain else flow.operations.call(flow, function, [item], {}, (site, "filter"))
            if flow.is_dead:
                return
            yes, no = flow.ways(truth_of(flow, found))
            left = flow.collect()
            left.extend(no)
            flow.merge(yes)
            if not flow.is_dead:
                body(item)
            flow.merge_pending(left)

        each(flow, iterable, one, (key, "filter"))

    return Lazy(filtered)


@compiles(zip)
def _zip(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    columns = [
        items_of(flow, argument) if not isinstance(flow.content(argument), Cells | ListInMemory | Lazy) else None
        for argument in arguments
    ]
    if any(column is None for column in columns):
        raise UnsupportedError("zip of what has no known length")
    return Tuple(tuple(Tuple(items) for items in zip(*columns, strict=False)))  # type: ignore[arg-type]


@compiles(reversed)
def _reversed(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    items = items_of(flow, arguments[0]) if not isinstance(flow.content(arguments[0]), Cells | ListInMemory) else None
    if items is not None:
        return Tuple(tuple(reversed(items)))
    return _in_library(flow, library.backwards, arguments, site)


@compiles(itertools.chain)
def _chain(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    def chained(body: Body, key: Hashable) -> None:
        for place, argument in enumerate(arguments):
            each(flow, argument, body, (key, place))

    return Lazy(chained)


@compiles(itertools.chain.from_iterable)
def _chain_from(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    def chained(body: Body, key: Hashable) -> None:
        each(flow, arguments[0], lambda items: each(flow, items, body, (key, "inner")), (key, "outer"))

    return Lazy(chained)


@compiles(itertools.product)
def _product(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if keywords:
        raise UnsupportedError("product with repeat")

    def crossed(body: Body, key: Hashable) -> None:
        def down(place: int, before: tuple[Value, ...]) -> None:
            if place == len(arguments):
                body(Tuple(before))
            else:
                each(flow, arguments[place], lambda item: down(place + 1, (*before, item)), (key, place))

        down(0, ())

    return Lazy(crossed)


@compiles(next)
def _next(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if not isinstance(flow.content(arguments[0]), Lazy):
        raise UnsupportedError("next of an iterator that is kept")
    return _in_library(flow, library.first_of if len(arguments) == 1 else library.first_of_or, arguments, site)


@compiles(iter)
def _iter(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return Lazy(lambda body, key: each(flow, arguments[0], body, (key, "iter")))


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
    if not isinstance(classes, Static):
        raise UnsupportedError("isinstance of a class that is not known")
    if isinstance(value, Static):
        return Static(isinstance(value.value, classes.value))
    own = _class_of(value)
    if own is None:
        raise UnsupportedError("isinstance of such a value")
    return Static(issubclass(own, classes.value))


def _class_of(value: Value) -> type | None:
    if isinstance(value, Number):
        return {"int": int, "float": float, "bool": bool}[value.name]
    if isinstance(value, Tuple):
        return value.named or tuple
    if isinstance(value, Fields):
        return value.owner
    if isinstance(value, Cells) and value.order == "set":
        return set
    if is_list(value):
        return list
    return {Cell: tuple, Entries: dict}.get(type(value))


@compiles(getattr)
def _getattr(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    name = arguments[1]
    if len(arguments) > 2 or not isinstance(name, Static):
        raise UnsupportedError("getattr with a default")
    return attribute(flow, arguments[0], name.value)
