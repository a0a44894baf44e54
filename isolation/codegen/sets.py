"""Sets: bitboards of cells where their order cannot be seen, else `groups.Group`, which has the order of CPython's."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence
from hashlib import sha256
from typing import Any

from llvmlite import ir

from . import groups
from .board import bit_of, cell_count, cell_number, cells_of, no_cells
from .flow import Flow
from .iteration import each, loses_its_order
from .numbers import lifted, look_up, number, to_int
from .operations import as_value, binary, compare, contains, negation, truth_of
from .values import (
    INT,
    Bound,
    Cell,
    Cells,
    Choice,
    Number,
    Optional,
    Signal,
    Static,
    Tuple,
    UnsupportedError,
    Value,
    truth,
    whole,
)

Arguments = Sequence[Value]


def new_set(flow: Flow, site: Hashable) -> Value:
    """A reference to a new, empty set."""
    if flow.heap.keeps_order:
        return flow.operations.call(flow, Static(groups.Group), [], {}, (site, "set"))
    return flow.new(Cells(no_cells(flow), "set"))


def set_of(flow: Flow, iterables: Arguments, site: Hashable) -> Value:
    """A reference to a new set of the items of iterables."""
    if len(iterables) == 1 and not flow.heap.keeps_order:
        content = flow.content(iterables[0])
        known = content if isinstance(content, Cells) else None
        if known is not None:
            return flow.new(Cells(known.signal, "set", known.outside))
    made = new_set(flow, site)
    with flow.holding(made):
        for iterable in iterables:
            update(flow, made, iterable, site)
    return made


def update(flow: Flow, made: Value, iterable: Value, site: Hashable) -> None:
    """Add the items of an iterable to a set."""
    content, other = flow.content(made), flow.content(iterable)
    if not isinstance(content, Cells):
        flow.operations.call(flow, Bound(made, "update"), [iterable], {}, (site, "update"))
    elif isinstance(other, Cells):
        outside = content.outside if other.outside is None else either(flow, content.outside, other.outside)
        flow.change(made, Cells(flow.build.or_(content.signal, other.signal), "set", outside))
    else:
        flow.any_order = True
        each(flow, iterable, lambda item: add(flow, made, item, site), (flow.path, site, "update"))


def add(flow: Flow, made: Value, item: Value, site: Hashable) -> None:
    """Add an item to a set; one of cells becomes one of anything if the item is no cell."""
    content = flow.content(made)
    if isinstance(content, Cells) and may_be_cell(item):
        cell, is_inside = cell_number(flow, item)
        outside, bit = content.outside, bit_of(flow, cell)
        if not isinstance(is_inside, ir.Constant):
            outside = either(flow, outside, flow.build.not_(is_inside))
            bit = flow.build.select(is_inside, bit, no_cells(flow))
        elif not is_inside.constant:
            outside, bit = truth(True), no_cells(flow)
        flow.change(made, Cells(flow.build.or_(content.signal, bit), "set", outside))
        return
    if isinstance(content, Cells):
        if not isinstance(content.signal, ir.Constant) or content.outside is not None:
            flow.demand_order()
        become_group(flow, made, site)
    flow.operations.call(flow, Bound(made, "add"), [item], {}, (site, "add"))


def either(flow: Flow, outside: Signal, more: Signal) -> Signal:
    """Whether one of two sets may hold what is no cell."""
    return more if outside is None else flow.build.or_(outside, more)


def become_group(flow: Flow, made: Value, site: Hashable) -> None:
    """Let an empty set of cells be one of anything."""
    group = flow.operations.call(flow, Static(groups.Group), [], {}, (site, "group"))
    flow.change(made, flow.content(group))


def may_be_cell(value: Value) -> bool:
    """Whether a value is a pair of whole numbers."""
    if isinstance(value, Static):
        return (
            isinstance(value.value, tuple) and len(value.value) == 2 and all(type(item) is int for item in value.value)
        )
    if isinstance(value, Choice):
        return all(may_be_cell(option) for option in value.options)
    if isinstance(value, Tuple):
        return len(value.items) == 2 and all(_is_whole(item) for item in value.items)
    return isinstance(value, Cell)


def _is_whole(value: Value) -> bool:
    if isinstance(value, Static | Choice):
        return all(type(item) is int for item in (value.values if isinstance(value, Choice) else [value.value]))
    return isinstance(value, Number) and value.name == "int"


# --- methods

_OPERATORS: dict[str, type[ast.AST]] = {
    "union": ast.BitOr, "intersection": ast.BitAnd, "difference": ast.Sub, "symmetric_difference": ast.BitXor,
    "update": ast.BitOr, "intersection_update": ast.BitAnd, "difference_update": ast.Sub,
    "symmetric_difference_update": ast.BitXor,
}  # fmt: skip


def call_method_of_cells(
    flow: Flow, owner: Value, content: Cells, name: str, arguments: Arguments, site: Hashable
) -> Value:
    """What a method of a set of cells gives."""
    if name == "add":
        add(flow, owner, arguments[0], site)
    elif name in ("discard", "remove"):
        _discard(flow, owner, content, name, arguments[0])
    elif name == "update":
        for argument in arguments:
            update(flow, owner, argument, site)
    elif name == "clear":
        flow.change(owner, Cells(no_cells(flow), "set"))
    elif name == "pop":
        flow.demand_order()
    elif name == "copy":
        return flow.new(content)
    elif name in _OPERATORS:
        result = owner if name.endswith("update") else flow.new(content)
        for argument in arguments:
            changed = binary(flow, _OPERATORS[name], result, as_set(flow, argument, site), name.endswith("update"))
            result = changed
        return Static(None) if name.endswith("update") else result
    elif name in ("issubset", "issuperset"):
        operation = ast.LtE if name == "issubset" else ast.GtE
        return compare(flow, operation, owner, as_set(flow, arguments[0], site))
    elif name == "isdisjoint":
        both = binary(flow, ast.BitAnd, owner, as_set(flow, arguments[0], site))
        return as_value(negation(flow, truth_of(flow, both)))
    else:
        raise UnsupportedError(f"set.{name}")
    return Static(None)


def as_set(flow: Flow, value: Value, site: Hashable) -> Value:
    """The items of an iterable as a set of cells."""
    cells = cells_of(flow, value)
    if cells is None:
        made = flow.content(set_of(flow, [value], (site, "as set")))
        if not isinstance(made, Cells):
            flow.demand_order()
        cells = made
    return Cells(cells.signal, "set", cells.outside)


def _discard(flow: Flow, owner: Value, content: Cells, name: str, value: Value) -> None:
    found = truth_of(flow, contains(flow, content, value))
    if name == "remove":
        flow.fail_if(negation(flow, found), KeyError)
    if not may_be_cell(value):
        return
    cell, is_inside = cell_number(flow, value)
    gone = bit_of(flow, cell)
    if not isinstance(is_inside, ir.Constant):
        if content.outside is not None:
            flow.heap.leaves_board = True
            flow.give_up_if(flow.build.and_(content.outside, flow.build.not_(is_inside)))
        gone = flow.build.select(is_inside, gone, no_cells(flow))
    flow.change(owner, Cells(flow.build.and_(content.signal, flow.build.not_(gone)), "set", content.outside))


# --- hashes

_MULTIPLIERS = 11400714785074694791, 14029467366897019727
_START = 2870177450012600261
_LARGEST = (1 << 61) - 1


def hash_of(flow: Flow, value: Value) -> Value:
    """What `hash` gives for ints, texts and tuples of such; for texts some number, as Python's differs every time."""
    if isinstance(value, Static):
        return Static(_stable_hash(value.value))
    if isinstance(value, Cell):
        codes = [hash(divmod(cell, flow.columns)) for cell in range(cell_count(flow))]
        return Number("int", look_up(flow, codes, value.signal, INT))
    if isinstance(value, Tuple):
        return Number("int", _hash_of_tuple(flow, [hash_of(flow, item) for item in value.items]))
    if isinstance(value, Choice):
        known = lifted(flow, _stable_hash, value)
        if known is not None:
            return known
    if isinstance(value, Optional | Choice) or number(flow, value).name == "float":
        raise UnsupportedError("the hash of such a value")
    given = to_int(flow, value)
    if not -_LARGEST < given.low <= given.high < _LARGEST:
        flow.give_up_if(flow.build.icmp_signed(">=", given.signal, whole(_LARGEST)))
        flow.give_up_if(flow.build.icmp_signed("<=", given.signal, whole(-_LARGEST)))
    is_error = flow.build.icmp_signed("==", given.signal, whole(-1))
    return Number("int", flow.build.select(is_error, whole(-2), given.signal), min(given.low, -2), given.high)


def _stable_hash(value: Any) -> int:
    if isinstance(value, tuple) and any(isinstance(item, str) for item in value):
        return hash(tuple(map(_stable_hash, value)))
    if isinstance(value, str):
        return int(sha256(value.encode()).hexdigest()[:15], 16)
    if loses_its_order({value, 0}):
        raise UnsupportedError("the hash of such an object")
    return hash(value)


def _hash_of_tuple(flow: Flow, lanes: list[Value]) -> Signal:
    """The hash of a tuple by those of its items: CPython's variant of xxHash."""
    one, two = (whole(multiplier - (1 << 64)) for multiplier in _MULTIPLIERS)
    code: Signal = whole(_START)
    build = flow.build
    for lane in lanes:
        code = build.add(code, build.mul(to_int(flow, lane).signal, two))
        code = build.or_(build.shl(code, whole(31)), build.lshr(code, whole(33)))
        code = build.mul(code, one)
    code = build.add(code, whole(len(lanes) ^ _START ^ 3527539))
    return build.select(build.icmp_signed("==", code, whole(-1)), whole(1546275796), code)
