"""Methods of lists, sets of cells, dictionaries, texts and tuples."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from llvmlite import ir

from . import library
from .board import bit_of, call_of_game, cell_number, cells_of, no_cells
from .flow import Flow
from .memory import drop_first, element_at, length_of, set_length
from .numbers import lifted
from .operations import (
    add_to_list,
    as_value,
    binary,
    compare,
    contains,
    entry,
    extend,
    is_list,
    negation,
    run_python,
    set_element_of,
    truth_of,
    valid_index,
)
from .values import (
    Cell,
    Cells,
    Choice,
    Entries,
    Fields,
    Game,
    Items,
    ListInMemory,
    Optional,
    Static,
    Tuple,
    UnsupportedError,
    Value,
    whole,
)

Arguments = Sequence[Value]
_MUTATING = {
    "append", "add", "update", "extend", "pop", "remove", "setdefault", "clear", "insert", "discard", "popitem",
    "popleft", "appendleft", "sort", "reverse", "__setitem__",
}  # fmt: skip


def call_method(
    flow: Flow, owner: Value, name: str, arguments: Arguments, keywords: dict[str, Value], site: Hashable
) -> Value:
    """What `owner.name(...)` gives."""
    if isinstance(owner, Game):
        if name in ("territory", "distances"):
            function = getattr(library, name)
            return flow.operations.call(flow, Static(function), [owner, *arguments], keywords, name)
        return call_of_game(flow, owner, name, list(arguments), keywords)
    if isinstance(owner, Optional):
        flow.fail_if(owner.signal, AttributeError)
        return call_method(flow, owner.value, name, arguments, keywords, site)
    content = flow.content(owner)
    if isinstance(content, Static | Choice):
        return _of_object(flow, content, name, arguments, keywords, site)
    if isinstance(content, Fields):
        return _of_user_object(flow, owner, content, name, arguments, keywords, site)
    if isinstance(content, Tuple) and content.named is not None and name == "_replace":
        fields = content.named._fields  # type: ignore[attr-defined]
        items = tuple(keywords.get(field, item) for field, item in zip(fields, content.items, strict=True))
        return Tuple(items, content.named)
    if isinstance(content, Cells) and content.order == "set":
        return _of_set(flow, owner, content, name, arguments)
    if is_list(content):
        return _of_list(flow, owner, content, name, arguments, keywords, site)
    if isinstance(content, Entries):
        return _of_dictionary(flow, owner, content, name, arguments)
    if isinstance(content, Tuple | Cell) and name in _SEARCHES:
        return flow.operations.call(flow, Static(_SEARCHES[name]), [owner, *arguments], {}, site)
    raise UnsupportedError(f"a method {name} of such a value")


_SEARCHES: dict[str, Callable[..., Any]] = {"index": library.place_of, "count": library.occurrences}


def _of_object(
    flow: Flow, owner: Static | Choice, name: str, arguments: Arguments, keywords: dict[str, Value], site: Hashable
) -> Value:
    if isinstance(owner, Static):
        if name in _MUTATING and isinstance(owner.value, list | dict | set):
            raise UnsupportedError("a container outside the function is changed")
        if all(isinstance(value, Static) for value in (*arguments, *keywords.values())):
            given = [argument.value for argument in arguments]  # type: ignore[attr-defined]
            named = {key: value.value for key, value in keywords.items()}  # type: ignore[attr-defined]
            return run_python(flow, lambda: getattr(owner.value, name)(*given, **named))
        if isinstance(owner.value, dict) and name in ("get", "items", "keys", "values"):
            content = Entries(tuple(map(Static, owner.value)), tuple(map(Static, owner.value.values())))
            return _of_dictionary(flow, owner, content, name, arguments)
        if isinstance(owner.value, list | tuple) and name in _SEARCHES:
            return flow.operations.call(flow, Static(_SEARCHES[name]), [owner, *arguments], {}, site)
    known = None
    if not keywords:
        known = lifted(flow, lambda option, *given: getattr(option, name)(*given), owner, *arguments)
    if known is None:
        raise UnsupportedError(f"a method {name} of such an object")
    return known


def _of_user_object(
    flow: Flow,
    owner: Value,
    content: Fields,
    name: str,
    arguments: Arguments,
    keywords: dict[str, Value],
    site: Hashable,
) -> Value:
    if name in content.names:
        return flow.operations.call(flow, content.items[content.names.index(name)], arguments, keywords, site)
    found = next((base.__dict__[name] for base in content.owner.__mro__ if name in base.__dict__), None)
    if isinstance(found, staticmethod):
        return flow.operations.call(flow, Static(found.__func__), arguments, keywords, site)
    if found is None or isinstance(found, classmethod):
        raise UnsupportedError(f"a method {name} of an object")
    return flow.operations.call(flow, Static(found), [owner, *arguments], keywords, site)


# --- lists


def _of_list(
    flow: Flow,
    owner: Value,
    content: Value,
    name: str,
    arguments: Arguments,
    keywords: dict[str, Value],
    site: Hashable,
) -> Value:
    if name in _SEARCHES:
        return flow.operations.call(flow, Static(_SEARCHES[name]), [owner, *arguments], {}, site)
    if isinstance(content, Cells):
        if name in _SET_OPERATORS and len(arguments) == 1:
            return binary(flow, _SET_OPERATORS[name], content, arguments[0])
        if name == "copy":
            return content
        raise UnsupportedError(f"a list of moves is changed by {name}")
    if name == "append":
        add_to_list(flow, owner, arguments[0])
    elif name == "extend":
        extend(flow, owner, arguments[0], site)
    elif name in ("pop", "popleft"):
        return _pop(flow, owner, content, arguments[0] if arguments else Static(-1 if name == "pop" else 0))
    elif name == "clear":
        flow.change(owner, Items(()))
    elif name == "copy":
        copy = flow.new(Items(()))
        extend(flow, copy, owner, (site, "copy"))
        return copy
    elif name in ("sort", "reverse"):
        _rearrange(flow, owner, name, keywords, site)
    elif name in ("appendleft", "insert") and isinstance(content, Items):
        place = arguments[0] if name == "insert" else Static(0)
        if not isinstance(place, Static):
            raise UnsupportedError("insert at a place that is not known")
        items = list(content.items)
        items.insert(place.value, arguments[-1])
        flow.change(owner, Items(tuple(items)))
    else:
        raise UnsupportedError(f"list.{name}")
    return Static(None)


def _rearrange(flow: Flow, owner: Value, name: str, keywords: dict[str, Value], site: Hashable) -> None:
    if name == "reverse":
        made = flow.operations.call(flow, Static(library.backwards), [owner], {}, site)
    else:
        given = [owner, keywords.get("key", Static(None)), keywords.get("reverse", Static(False))]
        made = flow.operations.call(flow, Static(library.in_order), given, {}, site)
    flow.change(owner, flow.content(made))


def _pop(flow: Flow, owner: Value, content: Value, index: Value) -> Value:
    if isinstance(content, Items) and isinstance(index, Static):
        items = list(content.items)
        if not -len(items) <= index.value < len(items):
            flow.fail(IndexError)
            return Static(None)
        item = items.pop(index.value)
        flow.change(owner, Items(tuple(items)))
        return item
    if not isinstance(content, ListInMemory) or not isinstance(index, Static) or index.value not in (-1, 0):
        raise UnsupportedError("pop in the middle of a list")
    count = length_of(flow, content)
    item = element_at(flow, content, valid_index(flow, index, count))
    if index.value == 0:
        drop_first(flow, content)
    else:
        set_length(flow, content, flow.build.sub(count.signal, whole(1)))
    return item


# --- sets of cells

_SET_OPERATORS: dict[str, type[ast.AST]] = {
    "union": ast.BitOr, "intersection": ast.BitAnd, "difference": ast.Sub, "symmetric_difference": ast.BitXor,
    "update": ast.BitOr, "intersection_update": ast.BitAnd, "difference_update": ast.Sub,
}  # fmt: skip


def _of_set(flow: Flow, owner: Value, content: Cells, name: str, arguments: Arguments) -> Value:
    if name in ("add", "discard", "remove"):
        return _change_set(flow, owner, content, name, arguments[0])
    if name in _SET_OPERATORS:
        result = owner
        for argument in arguments:
            other = as_set(flow, argument)
            result = binary(flow, _SET_OPERATORS[name], result, other, is_in_place="update" in name)
        return Static(None) if "update" in name else result
    if name in ("issubset", "issuperset"):
        return compare(flow, ast.LtE if name == "issubset" else ast.GtE, owner, as_set(flow, arguments[0]))
    if name == "isdisjoint":
        both = binary(flow, ast.BitAnd, owner, as_set(flow, arguments[0]))
        return as_value(negation(flow, truth_of(flow, both)))
    if name == "copy":
        return flow.new(content)
    if name == "clear":
        flow.change(owner, Cells(no_cells(flow), "set"))
        return Static(None)
    raise UnsupportedError(f"set.{name}")


def as_set(flow: Flow, value: Value) -> Value:
    """A value as a set of cells."""
    cells = cells_of(flow, value)
    if cells is None:
        raise UnsupportedError("a set of what is no cells")
    return Cells(cells.signal, "set")


def _change_set(flow: Flow, owner: Value, content: Cells, name: str, value: Value) -> Value:
    cell, is_inside = cell_number(flow, value)
    if name == "remove":
        found = truth_of(flow, contains(flow, content, value))
        flow.fail_if(negation(flow, found), KeyError)
    if not isinstance(is_inside, ir.Constant):
        flow.give_up_if(flow.build.not_(is_inside))
    bit = bit_of(flow, cell)
    build = flow.build
    mask = build.or_(content.signal, bit) if name == "add" else build.and_(content.signal, build.not_(bit))
    flow.change(owner, Cells(mask, "set"))
    return Static(None)


# --- dictionaries


def _of_dictionary(flow: Flow, owner: Value, content: Entries, name: str, arguments: Arguments) -> Value:
    if name == "get":
        return entry(flow, content, arguments[0], arguments[1] if len(arguments) > 1 else Static(None))
    if name == "keys":
        return Tuple(content.keys)
    if name == "values":
        return Tuple(content.items)
    if name == "items":
        return Tuple(tuple(Tuple(pair) for pair in zip(content.keys, content.items, strict=True)))
    if name == "copy":
        return flow.new(content)
    if name == "setdefault" and isinstance(arguments[0], Static):
        if arguments[0] not in content.keys:
            set_element_of(flow, owner, arguments[0], arguments[1] if len(arguments) > 1 else Static(None))
        return entry(flow, flow.content(owner), arguments[0], None)  # type: ignore[arg-type]
    raise UnsupportedError(f"dict.{name}")
