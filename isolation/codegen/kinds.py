"""Joins: the kind of a variable where ways through the code meet."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import reduce

from . import groups, tables
from .values import (
    BOOL,
    FLOAT,
    INT,
    LEAST,
    MOST,
    POINTER,
    WIDE,
    Cell,
    Cells,
    Choice,
    Closure,
    Entries,
    Fields,
    Frozen,
    Held,
    Items,
    Number,
    Optional,
    Pointer,
    Site,
    Static,
    Text,
    Tuple,
    UnsupportedError,
    Value,
    is_number,
    with_parts,
)

_INTERVALS = (
    (0, 1), (0, 255), (-(1 << 20), 1 << 20), (0, MOST), (LEAST, MOST), (0, (1 << 127) - 1),
    (1 - (1 << 127), (1 << 127) - 1),
)  # fmt: skip
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
        if isinstance(b, Static) and b.value is None:
            return a
        return Optional(BOOL, join(a.value, b.value if isinstance(b, Optional) else b, widens))
    if isinstance(a, Number):
        other = number_kind(b)
        return other and _joined_numbers(a, other, widens)
    if isinstance(a, _KNOWN) and isinstance(b, _KNOWN):
        return _joined_static(a, b, widens)  # type: ignore[arg-type]
    if isinstance(one := tuple_kind(a), Tuple):
        other = tuple_kind(b)  # type: ignore[assignment]
        if isinstance(other, Tuple) and len(other.items) == len(one.items) and other.named is one.named:
            return Tuple(_joined_all(one.items, other.items, widens), one.named)
    if isinstance(a, Frozen | Text) and type(a) is type(b):
        return replace(a, value=join(a.value, b.value, widens))
    if isinstance(a, Pointer | Held) and isinstance(b, Held) and _is_empty_of(b, a):
        return join(a if isinstance(a, Pointer) else _pointer_to(a), a)
    if isinstance(a, Held) and isinstance(b, Held) and _is_empty_of(a, b):
        return _pointer_to(b)
    if isinstance(a, Cells) and a.order != "set" and isinstance(b, Held | Pointer):
        pointer = b if isinstance(b, Pointer) else _pointer_to(b)
        if pointer.site.root.is_list:
            grow(pointer.site, Cell(INT))
            return pointer
    if isinstance(a, Held) and isinstance(b, Held):
        content = _joined_contents(a.content, b.content, widens)
        return Held(content, a.site) if content is not None else join(_pointer_to(a), _pointer_to(b))
    if isinstance(a, Pointer) and isinstance(b, Pointer | Held):
        _unite(a.site, (b if isinstance(b, Pointer) else _pointer_to(b)).site)
        return a
    return _joined_contents(a, b, widens)


_MOST_OPTIONS = 256
_KNOWN = (Static, Choice, Closure)


def _is_empty_of(held: Held, other: Held | Pointer) -> bool:
    """Whether a set of cells meets one of anything, which it can only be an empty one of."""
    content = other.content if isinstance(other, Held) else other.site.root.kind
    is_group = isinstance(content, Fields) and content.owner is groups.Group
    return is_group and isinstance(held.content, Cells) and held.content.order == "set"


def _joined_contents(a: Value, b: Value, widens: bool) -> Value | None:
    """The join of what two objects hold that are not in memory; None if it takes memory to hold either."""
    with suppress(UnsupportedError):
        if isinstance(a, Items) and isinstance(b, Items) and len(a.items) == len(b.items):
            return Items(_joined_all(a.items, b.items, widens))
        if isinstance(a, Fields) and isinstance(b, Fields) and (a.owner, a.names) == (b.owner, b.names):
            return Fields(a.owner, a.names, _joined_all(a.items, b.items, widens))
        if isinstance(a, Entries) and isinstance(b, Entries) and a.keys == b.keys:
            return Entries(a.keys, _joined_all(a.items, b.items, widens))
    if isinstance(a, Cells) and isinstance(b, Cells) and a.order == b.order:
        return Cells(a.signal, a.order, a.outside or b.outside)
    return None


# --- objects in memory


def _pointer_to(held: Held) -> Pointer:
    """The kind of a reference to an object once that lies in memory."""
    site, content = held.site.root, held.content
    if isinstance(content, Items):
        site.is_list = True
        for item in content.items:
            grow(site, item)
    elif isinstance(content, Cells) and content.order != "set":
        site.is_list = True
        grow(site, Cell(INT))
    else:
        grow(site, _table_kind(content, site) if isinstance(content, Entries) else content)
    return Pointer(POINTER, site)


def _table_kind(content: Entries, site: Site) -> Fields:
    lists = (Items(content.keys), Items(content.items), Items(()))
    held = [Held(items, site.part(name)) for name, items in zip(tables.Table.PARTS, lists, strict=True)]
    return Fields(tables.Table, tables.Table.PARTS, tuple(held))


def grow(site: Site, kind: Value) -> Value:
    """Let a site's lists hold elements of a kind, or its objects such content; what they hold then."""
    site = site.root
    known = site.kind
    grown = in_memory(kind if known is None else join(known, kind, True))
    site = site.root
    if grown != site.kind:
        site.heap.growths += known is not None or site.was_empty
        site.kind = grown
    return grown


def _unite(a: Site, b: Site) -> None:
    """Let two sites be one."""
    a, b = a.root, b.root
    if a is b:
        return
    if a.is_list != b.is_list and a.kind is not None and b.kind is not None:
        raise UnsupportedError("a list and another object meet in one variable")
    b.same_as = a
    a.is_list, a.was_empty = a.is_list or b.is_list, a.was_empty or b.was_empty
    a.is_unordered |= b.is_unordered
    for name, part in b.parts.items():
        _unite(a.part(name), part)
    if b.kind is not None:
        a.heap.growths += a.kind is not None and a.kind != b.kind
        grow(a, b.kind)
    elif a.kind is not None and b.was_empty:
        a.heap.growths += 1


def _joined_all(first: tuple[Value, ...], second: tuple[Value, ...], widens: bool) -> tuple[Value, ...]:
    return tuple(join(a, b, widens) for a, b in zip(first, second, strict=True))


def _joined_numbers(a: Number, b: Number, widens: bool) -> Number:
    if "float" in (a.name, b.name):
        return Number("float", FLOAT)
    if a.name == b.name == "bool":
        return a
    low, high = min(a.low, b.low), max(a.high, b.high)
    return of_range(*(_interval(low, high) if widens else (low, high)))


def of_range(low: int, high: int) -> Number:
    """The kind of ints between bounds."""
    return Number("int", INT if low >= LEAST and high <= MOST else WIDE, low, high)


def _interval(low: int, high: int) -> tuple[int, int]:
    return next((least, most) for least, most in _INTERVALS if least <= low and high <= most)


def number_kind(kind: Value) -> Number | None:
    """The kind of numbers that a kind is one of; None if it is another."""
    if isinstance(kind, Number):
        return kind
    if isinstance(kind, Choice):
        if "number" not in kind.known:
            kind.known["number"] = _number_kind_of(kind)
        return kind.known["number"]  # type: ignore[no-any-return]
    return _number_kind_of(kind)


def _number_kind_of(kind: Value) -> Number | None:
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
        if value.bit_length() > 126:
            raise UnsupportedError(f"{value} exceeds 126 bits")
        return Number("int", WIDE, value, value)
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
    if len(options) > _MOST_OPTIONS:
        raise UnsupportedError("a variable that holds one of many objects")
    return Choice(INT, tuple(options))


def tuple_kind(kind: Value) -> Value:
    """The kind of a cell or of a static tuple as that of a tuple of its parts; any other as it is."""
    if isinstance(kind, Cell):
        return Tuple((Number("int", INT, 0, 127), Number("int", INT, 0, 127)))
    if isinstance(kind, Choice) and all(isinstance(option, tuple) for option in kind.values):
        options = [tuple_kind(option) for option in kind.options]
        if len({len(option.items) for option in options}) == 1:  # type: ignore[attr-defined]
            return reduce(join, options)
    if isinstance(kind, Static) and isinstance(kind.value, tuple):
        named = type(kind.value) if type(kind.value) is not tuple else None
        return Tuple(tuple(map(Static, kind.value)), named)
    return kind


def in_memory(kind: Value) -> Value:
    """The kind of an element of this kind in memory: nothing about it is known but what memory holds."""
    if number := number_kind(kind):
        return number if number.name != "int" else of_range(*_interval(number.low, number.high))
    if isinstance(kind, Held):
        return _pointer_to(kind)
    if isinstance(kind, Static):
        kind = tuple_kind(kind)
    return with_parts(kind, in_memory)


def name_of(kind: Value) -> str:
    """What a kind is called in messages."""
    if isinstance(kind, Number):
        return f"a {kind.name}" if kind.name != "int" else "an int"
    if isinstance(kind, Static):
        return repr(kind.value)[:40]
    return f"a {type(kind).__name__.lower()}"
