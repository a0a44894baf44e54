"""Conversions: a value as one of the kind that it has where ways through the code meet."""

from __future__ import annotations

from dataclasses import replace

from . import tables
from .board import column_of, row_of
from .flow import Flow
from .iteration import items_of
from .kinds import join, name_of
from .memory import as_table
from .numbers import exact, look_up, number, to_float, widened
from .values import (
    INT,
    POINTER,
    WIDE,
    Cell,
    Cells,
    Choice,
    Entries,
    Fields,
    Frozen,
    Held,
    Items,
    Number,
    Optional,
    Pointer,
    Reference,
    Static,
    Text,
    Tuple,
    UnsupportedError,
    Value,
    blank_of,
    kind_of,
    truth,
    whole,
)


def convert(flow: Flow, value: Value, kind: Value) -> Value:
    """The value as one of a kind that holds it.

    Raises:
        UnsupportedError: the kind does not hold it.
    """
    if isinstance(kind, Held):
        return _held(flow, value, kind)
    if isinstance(kind, Pointer):
        return _pointer(flow, value, kind)
    if isinstance(kind, Frozen | Text) and type(value) is type(kind):
        return replace(kind, value=convert(flow, value.value, kind.value))
    if kind_of(value) == kind:
        return value
    if isinstance(kind, Cells) and isinstance(value, Cells) and value.order == kind.order:
        return replace(value, outside=truth(False))
    if isinstance(kind, Number):
        return _number(flow, value, kind)
    if isinstance(kind, Optional):
        return _optional(flow, value, kind)
    if isinstance(kind, Choice):
        return _choice(flow, value, kind)
    if isinstance(kind, Tuple):
        items = items_of_tuple(flow, value)
        if len(items) == len(kind.items):
            return Tuple(_all(flow, items, kind.items), kind.named)
    if isinstance(kind, Items | Entries | Fields) and type(value) is type(kind):
        items = _all(flow, value.items, kind.items)
        return replace(kind, items=items)
    if isinstance(kind, Fields) and isinstance(value, Entries) and kind.owner is tables.Table:
        return convert(flow, as_table(flow, value), kind)
    raise UnsupportedError(f"{name_of(kind_of(value))} becomes {name_of(kind)}")


def _all(flow: Flow, values: tuple[Value, ...], kinds: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(convert(flow, value, kind) for value, kind in zip(values, kinds, strict=True))


def items_of_tuple(flow: Flow, value: Value) -> tuple[Value, ...]:
    """The items of a tuple, of which a cell is one."""
    if isinstance(value, Choice):
        return tuple(items_of(flow, value) or ())
    if isinstance(value, Cell):
        return row_of(flow, value), column_of(flow, value)
    if isinstance(value, Static) and isinstance(value.value, tuple):
        return tuple(map(Static, value.value))
    return value.items if isinstance(value, Tuple) else ()


def _number(flow: Flow, value: Value, kind: Number) -> Value:
    if kind.name == "float":
        given = value if isinstance(value, Static | Choice) else exact(flow, number(flow, value))
        return Number("float", to_float(flow, given))
    given = number(flow, value)
    if kind.signal == WIDE:
        return Number("int", widened(flow, given).signal, kind.low, kind.high)
    if given.name == "bool" and kind.name == "int":
        return Number("int", flow.build.zext(given.signal, INT), kind.low, kind.high)
    if given.name != kind.name:
        raise UnsupportedError(f"a {given.name} becomes a {kind.name}")
    return Number(kind.name, given.signal, kind.low, kind.high)


def _optional(flow: Flow, value: Value, kind: Optional) -> Value:
    if isinstance(value, Static) and value.value is None:
        return Optional(truth(True), flow.settled(blank_of(kind.value)))
    if isinstance(value, Optional):
        return Optional(value.signal, convert(flow, value.value, kind.value))
    return Optional(truth(False), convert(flow, value, kind.value))


def _choice(flow: Flow, value: Value, kind: Choice) -> Value:
    if value in kind.options:
        return Choice(whole(kind.options.index(value)), kind.options)
    if not isinstance(value, Choice):
        raise UnsupportedError("a value becomes a choice")
    places = [kind.options.index(option) for option in value.options]
    if places == list(range(len(places))):
        return Choice(value.signal, kind.options)
    return Choice(look_up(flow, places, value.signal, INT), kind.options)


def _pointer(flow: Flow, value: Value, kind: Pointer) -> Value:
    """A reference to an object in memory, which an object that is not is put there for."""
    if isinstance(value, Cells) and value.order != "set":
        value = flow.new(value)
    if isinstance(value, Reference):
        join(Pointer(POINTER, flow.heap.site(value.number)), kind)
    pointer = flow.operations.point(flow, value) if isinstance(value, Reference) else value
    if not isinstance(pointer, Pointer):
        raise UnsupportedError(f"{name_of(kind_of(value))} becomes an object")
    join(kind_of(pointer), kind)
    return pointer


def _held(flow: Flow, value: Value, kind: Held) -> Value:
    """A reference to a new object with the content of another, to which nothing else refers."""
    if not isinstance(value, Reference):
        raise UnsupportedError(f"{name_of(kind_of(value))} becomes an object")
    return flow.new(convert(flow, flow.content(value), kind.content))
