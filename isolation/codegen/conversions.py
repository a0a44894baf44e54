"""Conversions: a value as one of the kind that it has where ways through the code meet."""

from __future__ import annotations

from collections.abc import Hashable

from . import library
from .board import column_of, row_of
from .flow import Flow, State
from .kinds import has_same_layout, name_of
from .memory import in_memory_list
from .numbers import look_up, number, to_float
from .values import (
    INT,
    Cell,
    Cells,
    Choice,
    Entries,
    Fields,
    Held,
    Items,
    ListInMemory,
    Number,
    Optional,
    Reference,
    Static,
    Tuple,
    UnsupportedError,
    Value,
    blank_of,
    kind_of,
    parts_of,
    truth,
    whole,
)


def convert(flow: Flow, value: Value, kind: Value, where: Hashable) -> Value:
    """The value as one of a kind that holds it; `where` is the location that holds it, if one does.

    Raises:
        UnsupportedError: the kind does not hold it.
    """
    if isinstance(kind, Held):
        return _held(flow, value, kind, where)
    if kind_of(value) == kind:
        return value
    if isinstance(kind, Number):
        return _number(flow, value, kind)
    if isinstance(kind, Optional):
        return _optional(flow, value, kind, where)
    if isinstance(kind, Choice):
        return _choice(flow, value, kind)
    if isinstance(kind, Tuple):
        items = items_of_tuple(flow, value)
        if len(items) == len(kind.items):
            return Tuple(_all(flow, items, kind.items, where), kind.named)
    if isinstance(kind, Cells) and isinstance(value, Cells):
        return Cells(value.signal, kind.order)
    if isinstance(kind, ListInMemory):
        return _list(flow, value, kind)
    if isinstance(kind, Items | Entries | Fields) and type(value) is type(kind):
        items = _all(flow, value.items, kind.items, where)  # type: ignore[attr-defined]
        if isinstance(kind, Items):
            return Items(items)
        return Entries(kind.keys, items) if isinstance(kind, Entries) else Fields(kind.owner, kind.names, items)
    if isinstance(kind, Fields) and isinstance(value, Entries) and kind.owner is library.Table:
        return convert(flow, as_table(flow, value), kind, where)
    raise UnsupportedError(f"{name_of(kind_of(value))} becomes {name_of(kind)}")


def as_table(flow: Flow, content: Entries) -> Fields:
    """The content of a dictionary whose keys are known as that of one whose keys are not."""
    return Fields(library.Table, ("names", "held"), (flow.new(Items(content.keys)), flow.new(Items(content.items))))


def _all(flow: Flow, values: tuple[Value, ...], kinds: tuple[Value, ...], where: Hashable) -> tuple[Value, ...]:
    return tuple(convert(flow, value, kind, where) for value, kind in zip(values, kinds, strict=True))


def items_of_tuple(flow: Flow, value: Value) -> tuple[Value, ...]:
    """The items of a tuple, of which a cell is one."""
    if isinstance(value, Cell):
        return row_of(flow, value), column_of(flow, value)
    if isinstance(value, Static) and isinstance(value.value, tuple):
        return tuple(map(Static, value.value))
    return value.items if isinstance(value, Tuple) else ()


def _number(flow: Flow, value: Value, kind: Number) -> Value:
    if kind.name == "float":
        return Number("float", to_float(flow, value))
    given = number(flow, value)
    if given.name == "bool" and kind.name == "int":
        return Number("int", flow.build.zext(given.signal, INT), kind.low, kind.high)
    if given.name != kind.name:
        raise UnsupportedError(f"a {given.name} becomes a {kind.name}")
    return Number(kind.name, given.signal, kind.low, kind.high)


def _optional(flow: Flow, value: Value, kind: Optional, where: Hashable) -> Value:
    if isinstance(value, Static) and value.value is None:
        return Optional(truth(True), flow.settled(blank_of(kind.value)))
    if isinstance(value, Optional):
        return Optional(value.signal, convert(flow, value.value, kind.value, where))
    return Optional(truth(False), convert(flow, value, kind.value, where))


def _choice(flow: Flow, value: Value, kind: Choice) -> Value:
    if isinstance(value, Static):
        return Choice(whole(kind.options.index(value)), kind.options)
    if not isinstance(value, Choice):
        raise UnsupportedError("a value becomes a choice")
    places = [kind.options.index(option) for option in value.options]
    if places == list(range(len(places))):
        return Choice(value.signal, kind.options)
    return Choice(look_up(flow, places, value.signal, INT), kind.options)


def _list(flow: Flow, value: Value, kind: ListInMemory) -> Value:
    if isinstance(value, Items):
        return ListInMemory(in_memory_list(flow, value, kind.element).signal, kind.element)
    if isinstance(value, ListInMemory):
        if not has_same_layout(value.element, kind.element):
            flow.doubts.append((flow.build.block, "a list holds elements of several kinds"))
        return ListInMemory(value.signal, kind.element)
    raise UnsupportedError(f"{name_of(kind_of(value))} becomes a list")


def _held(flow: Flow, value: Value, kind: Held, where: Hashable) -> Value:
    """A reference to an object of its own, with the content of another.

    Where other variables refer to that as well, neither may be changed any more, unless both name one place in memory.
    """
    if not isinstance(value, Reference):
        raise UnsupportedError(f"{name_of(kind_of(value))} becomes an object")
    content = convert(flow, flow.content(value), kind.content, None)
    if isinstance(content, ListInMemory):
        flow.here()["object", value.number] = content
    copy = flow.new(content)
    if not isinstance(content, ListInMemory) and _is_named_elsewhere(flow.here(), value.number, where):
        flow.here()["shared", value.number] = flow.here()["shared", copy.number] = Static(True)
    elif ("shared", value.number) in flow.here():
        flow.here()["shared", copy.number] = Static(True)
    return copy


def _is_named_elsewhere(state: State, number: int, where: Hashable) -> bool:
    return any(
        isinstance(part, Reference) and part.number == number
        for location, value in state.items()
        if location != where
        for part in parts_of(value)
    )
