"""Calls: arguments to parameters, functions written in where they are called, objects of users' classes."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import operator
from abc import ABC
from collections.abc import Callable, Hashable, Sequence
from types import FunctionType, MethodType
from typing import Any

from ..usercode.function_source import changed_globals, definition, file_tree, is_users
from . import groups, library, standard, tables
from . import iterables as iterables
from .flow import Flow
from .frames import Frame, Function, has_functions, is_generator
from .functions import compiled_call, is_pure
from .iteration import length, loses_its_order
from .kinds import tuple_kind
from .methods import call_method
from .numbers import static, to_int
from .operations import run_python
from .outlined import call_outlined
from .values import (
    INT,
    Bound,
    Cell,
    Cells,
    Choice,
    Closure,
    Entries,
    Fields,
    Items,
    Lazy,
    ListInMemory,
    Optional,
    Partial,
    Reference,
    Spread,
    Static,
    Tuple,
    UnsupportedError,
    Value,
    parts_of,
    whole,
)

_DEEPEST = 60
_MOST_AT_ONCE = 3
"""How often a function may stand in itself."""


# --- calls


def call(flow: Flow, function: Value, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable) -> Value:
    """What a call gives; `site` is where it stands, and tells it from other calls in the same function."""
    if flow.is_dead:
        return Static(None)
    if any(isinstance(argument, Spread) for argument in arguments):
        return _call_with_spread(flow, function, arguments, keywords, site)
    if isinstance(function, Closure):
        bound = _bound(
            flow, function.node.args, arguments, keywords, function.defaults, dict(function.keyword_defaults)
        )
        return _written_in(flow, function.node, function.frame, bound, site)
    if isinstance(function, Partial):
        given = dict(function.keywords) | keywords
        return call(flow, function.function, [*function.arguments, *arguments], given, site)
    if isinstance(function, Bound):
        return call_method(flow, function.owner, function.name, arguments, keywords, site)
    if isinstance(function, Choice):
        return _call_choice(flow, function, arguments, keywords, site)
    if isinstance(function, Optional):
        flow.fail_if(function.signal, TypeError)
        return call(flow, function.value, arguments, keywords, site)
    if isinstance(flow.content(function), Fields):
        return call_method(flow, function, "__call__", arguments, keywords, site)
    if isinstance(function, Static):
        return _call_object(flow, function.value, arguments, keywords, site)
    raise UnsupportedError("a call of what is no function")


_OF_ITERABLE = {min: min, max: max, itertools.chain: itertools.chain.from_iterable}
"""Functions of any number of arguments, and those of an iterable of them."""


def _call_with_spread(
    flow: Flow, function: Value, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable
) -> Value:
    """What a call gives one of whose arguments is an iterable after a star."""
    spread = arguments[-1]
    name = function.name if isinstance(function, Bound) else ""
    if not isinstance(spread, Spread) or any(isinstance(argument, Spread) for argument in arguments[:-1]):
        raise UnsupportedError("* of what has no known length")
    if name in ("union", "update", "difference", "difference_update", "intersection"):
        others = call(flow, Static(itertools.chain.from_iterable), [spread.iterable], {}, site)
        if name != "intersection":
            return call(flow, function, [*arguments[:-1], others], keywords, site)
    if isinstance(flow.content(spread.iterable), Lazy):
        spread = Spread(call(flow, Static(list), [spread.iterable], {}, (site, "spread")))
    known = _OF_ITERABLE.get(function.value) if isinstance(function, Static) else None
    if known is not None and len(arguments) == 1:
        if function.value in (min, max):  # type: ignore[attr-defined]
            flow.give_up_if(flow.build.icmp_unsigned("<", to_int(flow, length(flow, spread.iterable)).signal, whole(2)))
        return call(flow, Static(known), [spread.iterable], keywords, site)
    if isinstance(function, Static) and function.value is zip and len(arguments) == 1:
        return _transposed(flow, spread.iterable, site)
    raise UnsupportedError("* of what has no known length")


def _transposed(flow: Flow, rows: Value, site: Hashable) -> Value:
    """The columns of a list of tuples that is not empty, as lists."""
    content = flow.content(rows)
    kind = content.site.root.kind if isinstance(content, ListInMemory) else Cell(INT)
    kind = tuple_kind(kind) if kind is not None else None
    if not isinstance(kind, Tuple) or not isinstance(content, ListInMemory | Cells):
        raise UnsupportedError("* of what has no known length")
    flow.give_up_if(flow.build.icmp_unsigned("==", to_int(flow, length(flow, rows)).signal, whole(0)))
    getters = [Static(operator.itemgetter(place)) for place in range(len(kind.items))]
    columns = [call(flow, Static(map), [getter, rows], {}, (site, "column")) for getter in getters]
    return Tuple(tuple(call(flow, Static(list), [column], {}, (site, place)) for place, column in enumerate(columns)))


def _call_object(
    flow: Flow, function: Any, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable
) -> Value:
    if isinstance(function, functools.partial):
        given = {name: static(flow, value) for name, value in function.keywords.items()} | keywords
        return call(
            flow, Static(function.func), [*(static(flow, value) for value in function.args), *arguments], given, site
        )
    if is_pure(function) and all(isinstance(value, Static) for value in (*arguments, *keywords.values())):
        values = [argument.value for argument in arguments]  # type: ignore[attr-defined]
        if any(map(loses_its_order, values)) and function not in _OF_ANY_ORDER:
            raise UnsupportedError("a set whose order changes with every start of Python", is_unrepeatable=True)
        named = {name: value.value for name, value in keywords.items()}  # type: ignore[attr-defined]
        result = run_python(flow, lambda: _kept(function(*values, **named)))
        is_list = isinstance(result, Static) and isinstance(result.value, list)
        return flow.new(Items(tuple(map(Static, result.value)))) if is_list else result  # type: ignore[attr-defined]
    compiled = compiled_call(flow, function, arguments, keywords, site)
    if compiled is not None:
        return compiled
    if isinstance(function, functools._lru_cache_wrapper):
        return _call_object(flow, function.__wrapped__, arguments, keywords, site)
    if isinstance(function, MethodType):
        return _call_object(flow, function.__func__, [Static(function.__self__), *arguments], keywords, site)
    if isinstance(function, FunctionType):
        return _call_function(flow, function, arguments, keywords, site)
    if isinstance(function, type):
        return _construct(flow, function, arguments, keywords, site)
    special = getattr(type(function), "__call__", None)  # noqa: B004
    if isinstance(special, FunctionType):
        return _call_function(flow, special, [Static(function), *arguments], keywords, site)
    raise UnsupportedError(f"a call of {getattr(function, '__name__', type(function).__name__)}")


_OF_ANY_ORDER = (len, any, all, frozenset, bool, isinstance, type)


def _kept(result: Any) -> Any:
    """An iterator's items, which can be looked at more than once."""
    return tuple(result) if hasattr(result, "__next__") else result


def _call_function(
    flow: Flow, function: FunctionType, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable
) -> Value:
    function = inspect.unwrap(function)
    cells: dict[str, Value] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            cells[name] = Static(cell.cell_contents)
        except ValueError:
            continue
    node, changes = _source_of(function)
    defaults = tuple(map(Static, function.__defaults__ or ()))
    by_keyword = {name: Static(value) for name, value in (function.__kwdefaults__ or {}).items()}
    bound = _bound(flow, node.args, arguments, keywords, defaults, by_keyword)
    around = Frame(node, function.__globals__, cells, changes, None, -1, None, [])
    return _written_in(flow, node, around, bound, site)


@functools.lru_cache(maxsize=1024)
def _source_of(function: FunctionType) -> tuple[Function, dict[str, int]]:
    """The syntax tree of a function, and which variables of its module functions change."""
    return definition(function), changed_globals(file_tree(function))


def _bound(
    flow: Flow,
    parameters: ast.arguments,
    arguments: Sequence[Value],
    keywords: dict[str, Value],
    defaults: Sequence[Value],
    keyword_defaults: dict[str, Any],
) -> dict[str, Value]:
    """The values of a function's parameters in a call.

    Raises:
        UnsupportedError: the call does not fit.
    """
    names = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    by_keyword = [parameter.arg for parameter in parameters.kwonlyargs]
    bound = dict(zip(names, arguments, strict=False))
    rest = tuple(arguments[len(names) :])
    if parameters.vararg:
        bound[parameters.vararg.arg] = Tuple(rest)
    elif rest:
        raise UnsupportedError("a call with too many arguments")
    others = {name: value for name, value in keywords.items() if name not in (*names, *by_keyword)}
    bound |= {name: value for name, value in keywords.items() if name not in others}
    if parameters.kwarg:
        bound[parameters.kwarg.arg] = flow.new(Entries(tuple(map(Static, others)), tuple(others.values())))
    elif others:
        raise UnsupportedError("a call with an unknown keyword")
    for name, default in zip(names[len(names) - len(defaults) :], defaults, strict=True):
        bound.setdefault(name, default)
    for name, default in keyword_defaults.items():
        bound.setdefault(name, default)
    if missing := [name for name in (*names, *by_keyword) if name not in bound]:
        raise UnsupportedError(f"a call without its argument {missing[0]}")
    return bound


def kept(flow: Flow, value: Value) -> Value:
    """A value that gets a name: an iterator is made, as it is empty when it is used again."""
    if isinstance(value, Lazy) and not value.is_range:
        node = flow.node
        items = call(flow, Static(list), [value], {}, (id(node), "kept"))
        flow.node = node
        return call(flow, Static(tables.Iterator), [items], {}, (id(node), "iterator"))
    if any(isinstance(part, Lazy) and not part.is_range for part in parts_of(value)):
        raise UnsupportedError("an iterator that is kept")
    return value


def _written_in(
    flow: Flow,
    node: Function,
    around: Frame,
    bound: dict[str, Value],
    site: Hashable,
) -> Value:
    """Emit a function's code where it is called; what it returns."""
    frames: list[Frame] = flow.frames
    is_ours = any(around.space is vars(module) for module in (library, standard, tables, groups))
    if not is_ours:
        bound = {name: kept(flow, value) for name, value in bound.items()}
        if flow.is_dead:
            return Static(None)
    if not is_generator(node) and _is_outlined(flow, node, bound, is_ours):
        return call_outlined(flow, node, around, bound, is_ours)
    if len(frames) > _DEEPEST or sum(frame.node is node for frame in frames) > _MOST_AT_ONCE:
        if is_generator(node):
            raise UnsupportedError("a generator that calls itself")
        flow.heap.outline(node)
        raise UnsupportedError("recursion whose depth is not known")
    flow.written_in[node] += not is_generator(node) and not is_ours
    path = (frames[-1].site if frames else None, site, id(node))
    parent = around if around.number >= 0 else None
    cells = {} if parent else around.cells
    number = flow.heap.number((path, tuple(flow.unrolled)))
    frame = Frame(node, around.space, cells, around.changes, parent, number, hash(path), flow.collect())
    for name, value in bound.items():
        flow.here()["local", frame.number, name] = value
    if is_generator(node):
        return Lazy(lambda body, key: _yielded(flow, frame, dict(bound), body))
    frames.append(frame)
    flow.operations.run_body(flow, frame)
    flow.merge_pending(frame.returns)
    frames.pop()
    if flow.is_dead:
        return Static(None)
    result = flow.here().pop(("result", frame.number), None)
    if result is None:
        raise UnsupportedError("a function returns values of different kinds")
    if not _is_kept(flow, frame):
        for key in [key for key in flow.here() if isinstance(key, tuple) and key[:2] == ("local", frame.number)]:
            del flow.here()[key]
    return result


_OUTLINED = {
    "slot", "free_slot", "resize", "merge", "insert", "add", "discard", "place", "append", "remove", "__setitem__",
    "heappush", "heappop", "heapify", "sift_down", "sift_up", "in_order", "exact_sum", "removed", "inserted",
    "are_equal", "comes_first",
}  # fmt: skip
"""Functions of the library that are not written in where they are called."""


def _is_outlined(flow: Flow, node: Function, bound: dict[str, Value], is_ours: bool) -> bool:
    """Whether a function is not written in where it is called."""
    is_meant = getattr(node, "name", "") in _OUTLINED if is_ours else node in flow.heap.outlined
    if not is_meant:
        return False
    kinds = Lazy | Closure | Partial | Bound if is_ours else Lazy
    return not any(isinstance(part, kinds) for value in bound.values() for part in parts_of(value))


def _yielded(flow: Flow, frame: Frame, bound: dict[str, Value], body: Callable[[Value], None]) -> None:
    """Emit a generator's code, and a body for each value that it yields."""
    flow.any_order, flow.additive = False, set()
    frame.returns, frame.yields = flow.collect(), body
    for name, value in bound.items():
        flow.here()["local", frame.number, name] = value
    flow.frames.append(frame)
    flow.operations.run_body(flow, frame)
    flow.merge_pending(frame.returns)
    flow.frames.pop()
    if not flow.is_dead:
        flow.here().pop(("result", frame.number), None)


def _is_kept(flow: Flow, frame: Frame) -> bool:
    """Whether a function that was defined in a frame may still be called."""
    parts = (part for value in flow.here().values() for part in parts_of(value))
    return has_functions(frame.node) or any(isinstance(part, Closure) and part.frame is frame for part in parts)


def _call_choice(
    flow: Flow, function: Choice, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable
) -> Value:
    """What a call of one of several functions gives."""
    result = ("hidden", (flow.path, site, "choice"))
    ends = flow.collect()
    for place, option in enumerate(function.options):
        is_last = place == len(function.options) - 1
        yes, no = flow.ways(Static(True) if is_last else flow.build.icmp_signed("==", function.signal, whole(place)))
        flow.merge(yes)
        flow.here()[result] = call(flow, option, arguments, keywords, (site, place))
        if not flow.is_dead:
            ends.append(flow.edge())
        flow.merge(no)
    flow.merge_pending(ends)
    return flow.here().pop(result) if not flow.is_dead else Static(None)


# --- objects


def _construct(
    flow: Flow, owner: type, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable
) -> Value:
    """A new object of a user's class."""
    if issubclass(owner, tuple) and hasattr(owner, "_fields"):
        fields = {name: Static(value) for name, value in owner._field_defaults.items()}  # type: ignore[attr-defined]
        fields |= dict(zip(owner._fields, arguments, strict=False)) | keywords
        if set(fields) == set(owner._fields):
            return Tuple(tuple(fields[name] for name in owner._fields), owner)
    is_ours = issubclass(owner, tables.Table)
    is_plain = all(is_users(base) or base in (object, ABC) for base in owner.__mro__)
    if not is_ours and not is_plain and owner.__mro__[1:] != (object,):
        raise UnsupportedError(f"an object of the class {owner.__name__}")
    made = flow.new(Fields(owner, (), ()))
    if dataclasses.is_dataclass(owner):
        return _construct_dataclass(flow, owner, made, arguments, keywords, site)
    if isinstance(owner.__init__, FunctionType):  # type: ignore[misc]
        call(flow, Static(owner.__init__), [made, *arguments], keywords, (site, "init"))  # type: ignore[misc]
    return made


def _construct_dataclass(
    flow: Flow,
    owner: type,
    made: Reference,
    arguments: Sequence[Value],
    keywords: dict[str, Value],
    site: Hashable,
) -> Value:
    fields: dict[str, Value] = {}
    names = [item.name for item in dataclasses.fields(owner) if item.init]
    given = dict(zip(names, arguments, strict=False)) | keywords
    for item in dataclasses.fields(owner):
        if item.name in given:
            fields[item.name] = given[item.name]
        elif item.default is not dataclasses.MISSING:
            fields[item.name] = Static(item.default)
        elif item.default_factory is not dataclasses.MISSING:
            fields[item.name] = call(flow, Static(item.default_factory), [], {}, (site, item.name))
        else:
            raise UnsupportedError(f"an object of {owner.__name__} without its field {item.name}")
    flow.change(made, Fields(owner, tuple(fields), tuple(fields.values())))
    if hasattr(owner, "__post_init__"):
        call_method(flow, made, "__post_init__", [], {}, (site, "post"))
    return made
