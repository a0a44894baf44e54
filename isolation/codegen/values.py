"""Abstract values: what is known of a Python object while code is emitted for it.

A value holds *signals*, the LLVM values that carry it while the code runs, and other values. Its *kind* is the same
value with each signal replaced by its LLVM type; kinds are compared, joined, and made into values again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal

from llvmlite import ir

from ..usercode.compile_error import CompileError

LEAST, MOST = -(1 << 63), (1 << 63) - 1
INT, FLOAT, BOOL = ir.IntType(64), ir.DoubleType(), ir.IntType(1)
POINTER = INT.as_pointer()
WIDE = ir.IntType(128)
"""What holds ints that may exceed 64 bits, as bitboards do that people write."""
Signal = Any
"""An LLVM value, or in a kind its type."""


class UnsupportedError(CompileError):
    """The compiler cannot compile an expression; the reason says why."""


@dataclass(frozen=True, eq=False)
class Value:
    """What all abstract values share."""


@dataclass(frozen=True, eq=False)
class Static(Value):
    """A Python object that is known while compiling."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and _is_same(self.value, other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


def _is_same(a: Any, b: Any) -> bool:
    """Return whether nothing tells two objects apart: they are one, or plain data with the same text and types."""
    if type(a) is not type(b):
        return False
    are_known = is_plain(a) and is_plain(b)
    return a is b or ((are_known or isinstance(a, _GETTERS)) and repr(a) == repr(b))


_GETTERS = (operator.itemgetter, operator.attrgetter)


def is_plain(value: Any) -> bool:
    """Return whether an object is immutable data: a number, a text, None, or a tuple of such."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


@dataclass(frozen=True)
class Number(Value):
    """A number; whole ones are between `low` and `high`."""

    name: Literal["bool", "int", "float"]
    signal: Signal
    low: int = LEAST
    high: int = MOST


@dataclass(frozen=True)
class Player(Value):
    """One of the two players."""

    signal: Signal


@dataclass(frozen=True, eq=False)
class Slot:
    """Stands in a Python object for a parameter, whose values lie in an array.

    Attributes:
        low, high: of a whole one.
    """

    default: float
    index: int
    is_whole: bool
    low: int
    high: int

    def __float__(self) -> float:
        return float(self.default)


@dataclass(frozen=True)
class Choice(Value):
    """One of several objects or functions that are known, by its index."""

    signal: Signal
    options: tuple[Value, ...]
    known: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def values(self) -> list[Any]:
        """The objects themselves; functions that were defined while compiling as they are."""
        if "values" not in self.known:
            self.known["values"] = [one.value if isinstance(one, Static) else one for one in self.options]
        return self.known["values"]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Cell(Value):
    """The tuple (row, column) of a cell of the board, by its number."""

    signal: Signal


@dataclass(frozen=True)
class Tuple(Value):
    """A tuple of known length; of a named tuple, `named` is its class."""

    items: tuple[Value, ...]
    named: type | None = None


@dataclass(frozen=True)
class Cells(Value):
    """The list of the cells of a bitboard, in row-major or column-major order, or the set of them.

    Attributes:
        order: `any` if the order of a list is that of a set, and not known; `padded` if two bits more belong to a row,
            which is for `library.py` alone.
        most: how many cells there are at most.
        outside: of a set, whether it may hold what is no cell of the board, too; None if it cannot.
    """

    signal: Signal
    order: Literal["row", "column", "any", "set", "padded"]
    outside: Signal = None
    most: int = field(default=128, compare=False)


@dataclass(frozen=True)
class Game(Value):
    """A position with both players placed: its blank cells, where the players stand, and who is to move.

    `padded` are the blank cells with two bits more to a row, where a board has room for that.
    """

    blank: Signal
    cell_0: Signal
    cell_1: Signal
    turn: Signal
    padded: Signal = None


@dataclass(frozen=True)
class Optional(Value):
    """None, if `signal` holds, or a value."""

    signal: Signal
    value: Value


@dataclass(frozen=True)
class Reference(Value):
    """A mutable object; what it holds is in the state, under its number."""

    number: int


@dataclass(eq=False)
class Site:
    """What all objects have in common that are made at one place in the source, once they lie in memory.

    Places whose objects meet in one variable become one. What is known of them grows while code is emitted; code that
    was emitted for less is emitted again, for which all of a heuristic's sites have one `heap`.

    Attributes:
        kind: of a list's elements, or of another object's content; None while there is none.
        is_unordered: the keys of a dictionary came in the order of a set, which is not known.
        was_empty: code relies on there being no elements.
    """

    heap: Heap
    kind: Value | None = None
    is_list: bool = False
    was_empty: bool = False
    is_unordered: bool = False
    same_as: Site | None = None
    parts: dict[str, Site] = field(default_factory=dict)

    @property
    def root(self) -> Site:
        """The site that this one has become part of."""
        site = self
        while site.same_as is not None:
            site = site.same_as
        return site

    def part(self, name: str) -> Site:
        """The site of an object that each of this site's holds."""
        return self.root.parts.setdefault(name, Site(self.heap))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Site) and self.root is other.root

    def __hash__(self) -> int:
        return hash(Site)


_MOST_WORK = 50_000


@dataclass(eq=False)
class Heap:
    """What is remembered when the code of a heuristic is emitted again.

    Attributes:
        numbers: of objects and calls, by where they are made.
        sites: of objects, by their numbers.
        loops: the kinds of variables at the heads of loops.
        growths: how often a site has grown after code had been emitted for it.
        work: how many expressions code has been emitted for, each time they were.
        keeps_order: sets are not bitboards, as their order can be seen.
        leaves_board: a set of cells may be asked to hold what is no cell of the board.
        outlined: the syntax trees of functions that are not written in where they are called.
        signatures, results: of such functions, the kinds of their variables and of what they return.
        variants: of functions of the library, the kinds for each version.
        errors: the exceptions that such functions raise.
        in_memory: the numbers of lists that lie in memory from the start, as they change while they are iterated over.
    """

    numbers: dict[Hashable, int] = field(default_factory=dict)
    sites: dict[int, Site] = field(default_factory=dict)
    loops: dict[Hashable, dict[Hashable, Value | None]] = field(default_factory=dict)
    growths: int = 0
    work: int = 0
    keeps_order: bool = False
    leaves_board: bool = False
    outlined: set[Any] = field(default_factory=set)
    signatures: dict[Hashable, dict[Hashable, Value]] = field(default_factory=dict)
    variants: dict[Any, list[dict[Hashable, Value]]] = field(default_factory=dict)
    results: dict[Hashable, Value] = field(default_factory=dict)
    errors: list[type[BaseException]] = field(default_factory=list)
    in_memory: set[int] = field(default_factory=set)

    def spend(self, work: int) -> None:
        """Count work.

        Raises:
            UnsupportedError: it has become too much.
        """
        self.work += work
        if self.work > _MOST_WORK:
            raise UnsupportedError("it takes too long to compile: it is large when it is written out")

    def outline(self, *nodes: Any) -> None:
        """Have code emitted again in which functions are not written in where they are called."""
        self.growths += bool(set(nodes) - self.outlined)
        self.outlined.update(nodes)

    def number(self, key: Hashable) -> int:
        """The number of what is made at a place."""
        return self.numbers.setdefault(key, len(self.numbers))

    def site(self, number: int) -> Site:
        """The site of an object."""
        return self.sites.setdefault(number, Site(self)).root


@dataclass(frozen=True)
class Held(Value):
    """In a kind: a reference to an object that nothing else refers to, with such content."""

    content: Value
    site: Site


@dataclass(frozen=True)
class Pointer(Value):
    """A reference to an object in memory."""

    signal: Signal
    site: Site


@dataclass(frozen=True)
class Items(Value):
    """The content of a list of known length."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Entries(Value):
    """The content of a dictionary whose keys are known."""

    keys: tuple[Static, ...]
    items: tuple[Value, ...]


@dataclass(frozen=True)
class Fields(Value):
    """The content of an object of a user's class."""

    owner: type
    names: tuple[str, ...]
    items: tuple[Value, ...]


@dataclass(frozen=True)
class Frozen(Value):
    """A tuple whose length is not known: the list of its items, which nobody changes."""

    value: Value


@dataclass(frozen=True)
class Text(Value):
    """A text that is made while the code runs: the list of its characters, which nobody changes."""

    value: Value


@dataclass(frozen=True)
class ListInMemory(Value):
    """The content of a list in memory: length, capacity and address of its elements, at `signal`."""

    signal: Signal
    site: Site


@dataclass(frozen=True, eq=False)
class Closure(Value):
    """A function that was defined while compiling: its node, the frame around it and its defaults."""

    node: Any
    frame: Any
    defaults: tuple[Value, ...] = ()
    keyword_defaults: tuple[tuple[str, Value], ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Closure) or self.node is not other.node or self.frame.number != other.frame.number:
            return False
        return (self.defaults, self.keyword_defaults) == (other.defaults, other.keyword_defaults)

    def __hash__(self) -> int:
        return id(self.node)


@dataclass(frozen=True)
class Bound(Value):
    """A method of a value, by name."""

    owner: Value
    name: str


@dataclass(frozen=True, eq=False)
class Partial(Value):
    """A function with its first arguments, and some by name."""

    function: Value
    arguments: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, eq=False)
class Lazy(Value):
    """An iterable that is not made: `each(body, key)` emits `body(item)` for every item, in order.

    Python's iterators are empty once they have been iterated over; ranges are not.
    """

    each: Callable[[Callable[[Value], None], Any], None]
    is_range: bool = False


@dataclass(frozen=True, eq=False)
class Spread(Value):
    """An argument after a star: as many as an iterable has."""

    iterable: Value


_SIGNALS = {"signal", "blank", "cell_0", "cell_1", "turn", "padded", "outside"}
_SINGLE = {"value", "content"}


@cache
def _layout(owner: Any) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """The names of a class's signals and of its single values, and whether it has items."""
    names = [each.name for each in fields(owner)] if owner is not Static else []
    return (
        tuple(name for name in names if name in _SIGNALS),
        tuple(name for name in names if name in _SINGLE),
        "items" in names,
    )


def mapped(value: Value, function: Callable[[Signal], Signal]) -> Value:
    """The same value with other signals, in their order."""
    signals, singles, has_items = _layout(type(value))  # type: ignore[arg-type]
    changes: dict[str, Any] = {
        name: function(signal) for name in signals if (signal := getattr(value, name)) is not None
    }
    changes |= {name: mapped(getattr(value, name), function) for name in singles}
    if has_items:
        changes["items"] = tuple(mapped(item, function) for item in value.items)  # type: ignore[attr-defined]
    return _changed(value, changes) if changes else value


def _changed(value: Value, changes: dict[str, Any]) -> Value:
    """What `dataclasses.replace` gives, at a third of the time: it is done a hundred thousand times."""
    changed = object.__new__(type(value))
    changed.__dict__.update(value.__dict__)
    changed.__dict__.update(changes)
    return changed


def with_parts(value: Value, function: Callable[[Value], Value]) -> Value:
    """The same value with others in place of the values in it."""
    _, singles, has_items = _layout(type(value))  # type: ignore[arg-type]
    changes: dict[str, Any] = {name: function(getattr(value, name)) for name in singles}
    if has_items:
        changes["items"] = tuple(map(function, value.items))  # type: ignore[attr-defined]
    return _changed(value, changes) if changes else value


def parts_of(value: Value) -> Iterator[Value]:
    """Yield a value and all values in it, except what references refer to."""
    yield value
    _, singles, has_items = _layout(type(value))  # type: ignore[arg-type]
    inside = [getattr(value, name) for name in singles] + (list(value.items) if has_items else [])  # type: ignore[attr-defined]
    if isinstance(value, Bound):
        inside = [value.owner]
    elif isinstance(value, Partial):
        inside = [value.function, *value.arguments, *(item for _, item in value.keywords)]
    for part in inside:
        yield from parts_of(part)


def signals_of(value: Value) -> list[Signal]:
    """The signals of a value, those of the values in it included."""
    signals: list[Signal] = []

    def note(signal: Signal) -> Signal:
        signals.append(signal)
        return signal

    mapped(value, note)
    return signals


def kind_of(value: Value) -> Value:
    """The kind of a value."""
    return mapped(value, lambda signal: signal.type)


def of_kind(kind: Value, signals: Iterator[Signal]) -> Value:
    """The value of a kind with these signals."""
    return mapped(kind, lambda _: next(signals))


def blank_of(kind: Value) -> Value:
    """Some value of a kind, for where it does not matter which."""
    return mapped(kind, lambda kind: ir.Constant(kind, None if isinstance(kind, ir.PointerType) else 0))


def is_number(value: Any) -> bool:
    """Return whether a Python object is a bool, an int or a float."""
    return type(value) in (bool, int, float)


def whole(number: int) -> ir.Constant:
    """A 64-bit constant."""
    return ir.Constant(INT, number)


def truth(value: bool) -> ir.Constant:
    """A constant of one bit."""
    return ir.Constant(BOOL, int(value))


def real(number: float) -> ir.Constant:
    """A constant float64."""
    return ir.Constant(FLOAT, float(number))
