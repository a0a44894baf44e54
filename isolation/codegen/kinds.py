"""Joins: the kind of a variable where ways through the code meet."""

from __future__ import annotations

from functools import reduce

from . import library
from .values import (
    BOOL,
    FLOAT,
    INT,
    LEAST,
    MOST,
    POINTER,
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
    Static,
    Tuple,
    UnsupportedError,
    Value,
    is_number,
    with_parts,
)

_INTERVALS = ((0, 1), (0, 63), (-64, 127), (0, 1 << 20), (-(1 << 20), 1 << 20), (LEAST, MOST))
"""Ranges of integers that grow in a loop, so that they settle after a few rounds."""


def join(first: Value, second: Value, widens: bool = False) -> Value:
    """The least kind that holds the values of both; with `widens`, ranges grow in steps.

    Raises:
        UnsupportedError: there is none.
    """
    if first == second:
        return first
    for a, b in ((first, second), (second, first)):
        if joined := _joined(a, b, widens):
            return joined
    raise UnsupportedError(f"{name_of(first)} and {name_of(second)} meet in one variable")


def _joined(a: Value, b: Value, widens: bool) -> Value | None:
    """The join of two kinds that differ, if it is one of those that begin with `a`."""
    if isinstance(a, Static) and a.value is None:
        return b if isinstance(b, Optional) else Optional(BOOL, b)
    if isinstance(a, Optional):
        return Optional(BOOL, join(a.value, b.value if isinstance(b, Optional) else b, widens))
    if isinstance(a, Number):
        other = number_kind(b)
        return other and _joined_numbers(a, other, widens)
    if isinstance(a, Static | Choice) and isinstance(b, Static | Choice):
        return _joined_static(a, b, widens)
    if isinstance(a, Tuple):
        other = tuple_kind(b)
        if isinstance(other, Tuple) and len(other.items) == len(a.items) and other.named is a.named:
            return Tuple(_joined_all(a.items, other.items, widens), a.named)
    if isinstance(a, Cells) and isinstance(b, Cells) and "set" not in (a.order, b.order):
        return Cells(a.signal, "row")
    if isinstance(a, Held) and isinstance(b, Held):
        return Held(join(a.content, b.content, widens))
    return _joined_contents(a, b, widens)


def _joined_contents(a: Value, b: Value, widens: bool) -> Value | None:
    if isinstance(a, Items) and isinstance(b, Items) and len(a.items) == len(b.items):
        return Items(_joined_all(a.items, b.items, widens))
    if isinstance(a, Items | ListInMemory) and isinstance(b, Items | ListInMemory):
        return ListInMemory(POINTER, joined_elements([a, b]))
    if isinstance(a, Fields) and isinstance(b, Fields) and (a.owner, a.names) == (b.owner, b.names):
        return Fields(a.owner, a.names, _joined_all(a.items, b.items, widens))
    if isinstance(a, Entries) and isinstance(b, Entries) and a.keys == b.keys:
        return Entries(a.keys, _joined_all(a.items, b.items, widens))
    if isinstance(a, Entries) and (isinstance(b, Entries) or (isinstance(b, Fields) and b.owner is library.Table)):
        other = _table_kind(b) if isinstance(b, Entries) else b
        return join(_table_kind(a), other, widens)
    return None


def _table_kind(kind: Entries) -> Fields:
    return Fields(library.Table, ("names", "held"), (Held(Items(kind.keys)), Held(Items(kind.items))))


def joined_elements(contents: list[Value]) -> Value | None:
    """The kind of the elements of lists of these kinds, as memory holds it; None if all are empty."""
    kinds: list[Value] = []
    for content in contents:
        if isinstance(content, Items):
            kinds += content.items
        elif isinstance(content, ListInMemory) and content.element is not None:
            kinds.append(content.element)
    return in_memory(reduce(lambda a, b: join(a, b, True), kinds)) if kinds else None


def _joined_all(first: tuple[Value, ...], second: tuple[Value, ...], widens: bool) -> tuple[Value, ...]:
    return tuple(join(a, b, widens) for a, b in zip(first, second, strict=True))


def _joined_numbers(a: Number, b: Number, widens: bool) -> Number:
    if "float" in (a.name, b.name):
        if a.name != b.name and not (_is_exact(a) and _is_exact(b)):
            raise UnsupportedError("an int of any size and a float meet in one variable")
        return Number("float", FLOAT)
    if a.name == b.name == "bool":
        return a
    low, high = min(a.low, b.low), max(a.high, b.high)
    return Number("int", INT, *(_interval(low, high) if widens else (low, high)))


def _is_exact(kind: Number) -> bool:
    """Return whether every number of a kind is a float64."""
    return kind.name == "float" or (kind.low >= -(1 << 53) and kind.high <= 1 << 53)


def _interval(low: int, high: int) -> tuple[int, int]:
    return next((least, most) for least, most in _INTERVALS if least <= low and high <= most)


def number_kind(kind: Value) -> Number | None:
    """The kind of numbers that a kind is one of; None if it is another."""
    if isinstance(kind, Number):
        return kind
    values = [kind.value] if isinstance(kind, Static) else kind.values if isinstance(kind, Choice) else []
    if not values or not all(map(is_number, values)):
        return None
    return reduce(lambda a, b: _joined_numbers(a, b, False), map(_kind_of_number, values))


def _kind_of_number(value: bool | float) -> Number:
    if isinstance(value, float):
        return Number("float", FLOAT)
    if isinstance(value, bool):
        return Number("bool", BOOL, 0, 1)
    if not LEAST <= value <= MOST:
        raise UnsupportedError(f"{value} exceeds 64 bits")
    return Number("int", INT, value, value)


def _joined_static(a: Static | Choice, b: Static | Choice, widens: bool) -> Value | None:
    numbers = number_kind(a), number_kind(b)
    if numbers[0] and numbers[1]:
        return _joined_numbers(numbers[0], numbers[1], widens)
    tuples = tuple_kind(a), tuple_kind(b)
    if isinstance(tuples[0], Tuple) and isinstance(tuples[1], Tuple) and len(tuples[0].items) == len(tuples[1].items):
        return join(tuples[0], tuples[1], widens)
    options = [*(a.options if isinstance(a, Choice) else (a,))]
    options += [option for option in (b.options if isinstance(b, Choice) else (b,)) if option not in options]
    return Choice(INT, tuple(options))


def tuple_kind(kind: Value) -> Value:
    """The kind of a cell or of a static tuple as that of a tuple of its parts; any other as it is."""
    if isinstance(kind, Cell):
        return Tuple((Number("int", INT, 0, 127), Number("int", INT, 0, 127)))
    if isinstance(kind, Static) and isinstance(kind.value, tuple):
        named = type(kind.value) if type(kind.value) is not tuple else None
        return Tuple(tuple(map(Static, kind.value)), named)
    return kind


def in_memory(kind: Value) -> Value:
    """The kind of an element of this kind in memory: nothing about it is known but what memory holds."""
    if number := number_kind(kind):
        return number if number.name != "int" else Number("int", INT, *_interval(number.low, number.high))
    if isinstance(kind, Held):
        content = in_memory(kind.content)
        if not isinstance(content, ListInMemory):
            raise UnsupportedError(f"a list holds {name_of(kind.content)}")
        return Held(content)
    if isinstance(kind, Items | Entries | Static | Choice) and not isinstance(tuple_kind(kind), Tuple):
        if isinstance(kind, Items):
            return ListInMemory(POINTER, joined_elements([kind]))
        raise UnsupportedError(f"a list holds {name_of(kind)}")
    return with_parts(tuple_kind(kind) if isinstance(kind, Static) else kind, in_memory)


def has_same_layout(a: Value | None, b: Value | None) -> bool:
    """Return whether memory holds elements of two kinds alike."""
    if a is None or b is None:
        return True
    if isinstance(a, Number) and isinstance(b, Number):
        return a.name == b.name
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        return all(map(has_same_layout, a.items, b.items))
    if isinstance(a, Optional) and isinstance(b, Optional):
        return has_same_layout(a.value, b.value)
    if isinstance(a, Held) and isinstance(b, Held):
        return has_same_layout(a.content, b.content)
    if isinstance(a, ListInMemory) and isinstance(b, ListInMemory):
        return has_same_layout(a.element, b.element)
    return a == b


def name_of(kind: Value) -> str:
    """What a kind is called in messages."""
    if isinstance(kind, Number):
        return f"a {kind.name}" if kind.name != "int" else "an int"
    if isinstance(kind, Static):
        return repr(kind.value)[:40]
    return f"a {type(kind).__name__.lower()}"
