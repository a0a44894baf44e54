"""Methods of lists, sets of cells, dictionaries, texts and tuples."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Sequence
from types import FunctionType, MethodType
from typing import Any

from . import library
from .board import call_of_game
from .flow import Flow
from .iteration import each
from .kinds import join
from .memory import as_table, drop_first, element_at, length_of, set_length
from .numbers import absolute, call_math, is_wide, lifted, tabulated, to_int
from .operations import (
    add_to_list,
    binary,
    by_cell,
    entry,
    extend,
    in_memory_list,
    is_list,
    run_python,
    set_element_of,
    valid_index,
)
from .sets import call_method_of_cells, set_of
from .values import (
    INT,
    POINTER,
    Bound,
    Cell,
    Cells,
    Choice,
    Entries,
    Fields,
    Game,
    Items,
    Lazy,
    ListInMemory,
    Number,
    Optional,
    Pointer,
    Reference,
    Static,
    Text,
    Tuple,
    UnsupportedError,
    Value,
    kind_of,
    truth,
    whole,
)

Arguments = Sequence[Value]
CHANGES = {
    "appendleft", "extendleft", "difference_update", "intersection_update",
    "append", "add", "update", "extend", "pop", "remove", "setdefault", "clear", "insert", "discard", "popitem",
    "popleft", "sort", "reverse", "__setitem__",
}  # fmt: skip


def call_method(
    flow: Flow, owner: Value, name: str, arguments: Arguments, keywords: dict[str, Value], site: Hashable
) -> Value:
    """What `owner.name(...)` gives."""
    if flow.is_dead:
        return Static(None)
    if isinstance(owner, Game):
        if name in ("territory", "distances"):
            function = getattr(library, name)
            return flow.operations.call(flow, Static(function), [owner, *arguments], keywords, name)
        return call_of_game(flow, owner, name, list(arguments), keywords)
    if isinstance(owner, Text):
        return _of_text(flow, owner, name, arguments, site)
    if name == "join" and owner == Static("") and not isinstance(arguments[0], Static):
        return _joined(flow, owner, arguments[0], site)  # type: ignore[arg-type]
    if isinstance(owner, Optional):
        flow.fail_if(owner.signal, AttributeError)
        return call_method(flow, owner.value, name, arguments, keywords, site)
    content = flow.content(owner)
    if isinstance(content, Static | Choice):
        return _of_object(flow, content, name, arguments, keywords, site)
    if isinstance(content, Number):
        return _of_number(flow, content, name)
    if isinstance(content, Fields):
        return _of_user_object(flow, owner, content, name, arguments, keywords, site)
    if isinstance(content, Tuple) and content.named is not None and name == "_replace":
        fields = content.named._fields  # type: ignore[attr-defined]
        items = tuple(keywords.get(field, item) for field, item in zip(fields, content.items, strict=True))
        return Tuple(items, content.named)
    if isinstance(content, Cells) and content.order == "set":
        return call_method_of_cells(flow, owner, content, name, arguments, site)
    if is_list(content):
        return _of_list(flow, owner, content, name, arguments, keywords, site)
    if isinstance(content, Entries):
        return _of_dictionary(flow, owner, content, name, arguments, keywords, site)
    if isinstance(content, Tuple) and isinstance(method := getattr(content.named, name, None), FunctionType):
        return flow.operations.call(flow, Static(method), [owner, *arguments], keywords, site)
    if isinstance(content, Tuple | Cell) and name in _SEARCHES:
        return flow.operations.call(flow, Static(_SEARCHES[name]), [owner, *arguments], {}, site)
    if name in ("union", "intersection", "difference") and isinstance(owner, Tuple | Lazy):
        return flow.operations.call(flow, Bound(set_of(flow, [owner], site), name), arguments, {}, site)
    raise UnsupportedError(f"a method {name} of such a value")


def _joined(flow: Flow, owner: Static, parts: Value, site: Hashable) -> Value:
    """The text of an iterable of texts."""
    made = flow.new(Items(()))
    with flow.holding(made):
        each(flow, parts, lambda part: extend(flow, made, part, (site, "part")), (flow.path, site, "join"))
    return Text(made)


def _of_text(flow: Flow, owner: Text, name: str, arguments: Arguments, site: Hashable) -> Value:
    is_character = len(arguments) == 1 and isinstance(one := arguments[0], Static) and len(str(one.value)) == 1
    if name in ("count", "index") and is_character:
        return flow.operations.call(flow, Static(_SEARCHES[name]), [owner.value, *arguments], {}, site)
    raise UnsupportedError(f"a method {name} of a text that is made while the code runs")


def _of_number(flow: Flow, content: Number, name: str) -> Value:
    if name == "bit_count":
        if content.low >= 0 and is_wide(content):
            return Number("int", flow.build.trunc(flow.build.ctpop(content.signal), INT), 0, 127)
        size = to_int(flow, absolute(flow, content))
        return Number("int", flow.build.ctpop(size.signal), 0, 64)
    if name == "bit_length":
        size = to_int(flow, absolute(flow, content))
        return Number("int", flow.build.sub(whole(64), flow.build.ctlz(size.signal, truth(False))), 0, 64)
    if name == "is_integer" and content.name == "float":
        down = call_math(flow, "llvm.floor.f64", content.signal)
        return Number("bool", flow.build.fcmp_ordered("==", down, content.signal), 0, 1)
    raise UnsupportedError(f"a method {name} of a number")


_OPERATORS: dict[str, type[ast.AST]] = {"union": ast.BitOr, "intersection": ast.BitAnd, "difference": ast.Sub}
"""Methods that lists of cells have, too."""
_SEARCHES: dict[str, Callable[..., Any]] = {"index": library.place_of, "count": library.occurrences}


SET_METHODS = {
    "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint",
}  # fmt: skip


def _are_known(values: Arguments) -> bool:
    return all(isinstance(value, Static) for value in values)


def _of_object(
    flow: Flow, owner: Static | Choice, name: str, arguments: Arguments, keywords: dict[str, Value], site: Hashable
) -> Value:
    if isinstance(owner, Static):
        found = getattr(owner.value, name, None)
        if isinstance(found, MethodType) and isinstance(found.__func__, FunctionType):
            return flow.operations.call(flow, Static(found), arguments, keywords, site)
        if isinstance(found, FunctionType):
            return flow.operations.call(flow, Static(found), arguments, keywords, site)
        if isinstance(owner.value, set | frozenset) and name in SET_METHODS and not _are_known(arguments):
            made = set_of(flow, [owner], (site, "known"))
            return flow.operations.call(flow, Bound(made, name), arguments, keywords, site)
        if name in CHANGES and isinstance(owner.value, list | dict | set):
            raise UnsupportedError("a container outside the function is changed")
        if all(isinstance(value, Static) for value in (*arguments, *keywords.values())):
            given = [argument.value for argument in arguments]  # type: ignore[attr-defined]
            named = {key: value.value for key, value in keywords.items()}  # type: ignore[attr-defined]
            return run_python(flow, lambda: getattr(owner.value, name)(*given, **named))
        if isinstance(owner.value, dict) and name == "get":
            default = arguments[1] if len(arguments) > 1 else Static(None)
            found = by_cell(flow, owner.value, arguments[0], default)
            if found is not None:
                return found
        if isinstance(owner.value, dict) and name in ("get", "items", "keys", "values"):
            content = Entries(tuple(map(Static, owner.value)), tuple(map(Static, owner.value.values())))
            return _of_dictionary(flow, owner, content, name, arguments, keywords, site)
        if isinstance(owner.value, list | tuple) and name in _SEARCHES:
            return flow.operations.call(flow, Static(_SEARCHES[name]), [owner, *arguments], {}, site)
    known = None
    if not keywords:
        known = lifted(flow, lambda option, *given: getattr(option, name)(*given), owner, *arguments)
    if known is None and all(
        isinstance(option, str) for option in getattr(owner, "values", [getattr(owner, "value", 0)])
    ):
        names = list(keywords)
        known = tabulated(
            flow,
            lambda option, *given: getattr(option, name)(
                *given[: len(arguments)], **dict(zip(names, given[len(arguments) :], strict=True))
            ),
            owner,
            *arguments,
            *keywords.values(),
        )
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
    if isinstance(found, classmethod):
        return flow.operations.call(flow, Static(found.__func__), [Static(content.owner), *arguments], keywords, site)
    if found is None:
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
        if name in _OPERATORS and len(arguments) == 1:
            return binary(flow, _OPERATORS[name], content, arguments[0])
        if name == "copy":
            return content
        if not isinstance(owner, Reference):
            raise UnsupportedError(f"a list of moves is changed by {name}")
        if name != "clear":
            owner = in_memory_list(flow, owner)
            content = flow.content(owner)
    if name == "append":
        add_to_list(flow, owner, arguments[0])
    elif name == "extend":
        extend(flow, owner, arguments[0], site)
    elif name in ("pop", "popleft"):
        return _pop(flow, owner, content, arguments[0] if arguments else Static(-1 if name == "pop" else 0), site)
    elif name == "clear":
        flow.change(owner, Items(()))
    elif name == "copy":
        return flow.operations.call(flow, Static(list), [owner], {}, (site, "copy"))
    elif name in ("sort", "reverse"):
        _rearrange(flow, owner, name, keywords, site)
    elif name in ("appendleft", "insert"):
        place = arguments[0] if name == "insert" else Static(0)
        if isinstance(content, Items) and isinstance(place, Static):
            items = list(content.items)
            items.insert(place.value, arguments[-1])
            flow.change(owner, Items(tuple(items)))
        else:
            flow.operations.call(flow, Static(library.inserted), [owner, place, arguments[-1]], {}, site)
    elif name == "remove":
        flow.operations.call(flow, Static(library.remove_from), [owner, arguments[0]], {}, site)
    elif name == "extendleft":
        extend(flow, owner, flow.operations.call(flow, Static(library.backwards), arguments, {}, site), site)
    else:
        raise UnsupportedError(f"list.{name}")
    return Static(None)


def _rearrange(flow: Flow, owner: Value, name: str, keywords: dict[str, Value], site: Hashable) -> None:
    if name == "reverse":
        made = flow.operations.call(flow, Static(library.backwards), [owner], {}, site)
    else:
        given = [owner, keywords.get("key", Static(None)), keywords.get("reverse", Static(False))]
        made = flow.operations.call(flow, Static(library.in_order), given, {}, site)
    become(flow, owner, made)


def become(flow: Flow, owner: Value, made: Value) -> None:
    """Let a list hold what a new one does."""
    content = flow.content(made)
    if isinstance(content, ListInMemory) and isinstance(owner, Reference):
        owner = flow.operations.point(flow, owner)
        join(kind_of(owner), Pointer(POINTER, content.site))
    flow.change(owner, content)


def _pop(flow: Flow, owner: Value, content: Value, index: Value, site: Hashable) -> Value:
    if isinstance(content, Items) and isinstance(index, Static):
        items = list(content.items)
        if not -len(items) <= index.value < len(items):
            flow.fail(IndexError)
            return Static(None)
        item = items.pop(index.value)
        flow.change(owner, Items(tuple(items)))
        return item
    if not isinstance(content, ListInMemory):
        owner = in_memory_list(flow, owner)
        content = flow.content(owner)
        assert isinstance(content, ListInMemory)
    if not isinstance(index, Static) or index.value not in (-1, 0):
        return flow.operations.call(flow, Static(library.removed), [owner, index], {}, site)
    count = length_of(flow, content)
    item = element_at(flow, content, valid_index(flow, index, count))
    if index.value == 0:
        drop_first(flow, content)
    else:
        set_length(flow, content, flow.build.sub(count.signal, whole(1)))
    return item


# --- dictionaries


def _of_dictionary(
    flow: Flow,
    owner: Value,
    content: Entries,
    name: str,
    arguments: Arguments,
    keywords: dict[str, Value],
    site: Hashable,
) -> Value:
    if name == "get" and not keywords:
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
    if name == "update" and arguments and isinstance(other := flow.content(arguments[0]), Entries):
        entries = dict(zip(content.keys, content.items, strict=True)) | dict(zip(other.keys, other.items, strict=True))
        flow.change(owner, Entries(tuple(entries), tuple(entries.values())))
        return Static(None)
    if name == "pop" and isinstance(arguments[0], Static) and arguments[0] in content.keys:
        entries = dict(zip(content.keys, content.items, strict=True))
        item = entries.pop(arguments[0])
        flow.change(owner, Entries(tuple(entries), tuple(entries.values())))
        return item
    if not isinstance(owner, Reference):
        raise UnsupportedError(f"dict.{name}")
    flow.change(owner, as_table(flow, content))
    return call_method(flow, owner, name, arguments, keywords, site)
