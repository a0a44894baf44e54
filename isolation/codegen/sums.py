"""Sums over cells without a loop: by counting the cells of a few masks, or with eight rounds whatever happens."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from typing import Any

from llvmlite import ir

from .board import count_cells, is_empty, lowest, without_lowest
from .flow import Flow, State
from .numbers import arithmetic, number
from .values import (
    Cell,
    Cells,
    Number,
    Signal,
    Static,
    UnsupportedError,
    Value,
    is_number,
    real,
    whole,
)

_MOST_MASKS = 6
_MOST_INSTRUCTIONS = 40
"""How long a round may be that is written out eight times."""
_COSTS = {"fdiv": 20, "frem": 40, "call": 20, "sdiv": 20, "srem": 20, "udiv": 20, "urem": 20}
"""What instructions cost that cost more than one."""
_SCALE = 1 << 10
"""Fractions whose denominator divides this are summed exactly, in any order."""
_LARGEST = 1 << 30


def add_up(flow: Flow, cells: Cells, body: Callable[[Value], None], places: set[Hashable]) -> bool:
    """Emit what a body does for all cells that does nothing but add to variables; False if it does more.

    Where all that it adds is known for each cell, in whole numbers or halves and the like, cells are counted. Where
    a round is short and there are at most eight, as a knight has moves, eight rounds are written out, in which cells
    that are not there add nothing: a loop whose end cannot be foretold costs a processor more.
    """
    tables = _tables(flow, body, places)
    if tables is not None:
        for place, table in tables.items():
            flow.here()[place] = _with_sum(flow, flow.here()[place], cells.signal, table)
        return True
    return cells.most <= 8 and cells.order != "column" and _in_eight_rounds(flow, cells, body, places)


def _tables(flow: Flow, body: Callable[[Value], None], places: set[Hashable]) -> dict[Hashable, list[Any]] | None:
    """What a body adds to each variable for every cell, if it is known."""
    start = flow.here()
    if not all(_can_start(start[place]) for place in places):
        return None
    tables: dict[Hashable, list[Any]] = {place: [] for place in places}
    for cell in range(flow.rows * flow.columns):
        zeros: State = {place: Static(0.0 if _is_float(start[place]) else 0) for place in places}
        after = _tried(flow, start | zeros, lambda cell=cell: body(Static(divmod(cell, flow.columns))), 0)  # type: ignore[misc]
        if after is None or not _changes_only(start | zeros, after, places):
            return None
        for place in places:
            added = after[place]
            if not isinstance(added, Static) or not is_number(added.value) or not _is_countable(added.value):
                return None
            tables[place].append(added.value)
    return tables if all(_masks(table) is not None for table in tables.values()) else None


def _can_start(value: Value) -> bool:
    """Whether the numbers that a table has can be added to a value in any order."""
    if isinstance(value, Static):
        return is_number(value.value) and _is_countable(value.value)
    return isinstance(value, Number) and value.name == "int"


def _is_float(value: Value) -> bool:
    return isinstance(value, Static) and isinstance(value.value, float)


def _is_countable(value: Any) -> bool:
    return abs(value) < _LARGEST and float(value * _SCALE).is_integer()


def _changes_only(before: State, after: State, places: set[Hashable]) -> bool:
    return all(after.get(key) is value for key, value in before.items() if key not in places)


def _tried(flow: Flow, state: State, emit: Callable[[], None], most: int) -> State | None:
    """The state after code that has at most so many instructions and no branch; what was emitted is taken back."""
    start, block, growths, writes = flow.state, flow.build.block, flow.heap.growths, flow.writes
    blocks, instructions = len(flow.function.blocks), len(block.instructions)
    flow.state = dict(state)
    after: State | None = None
    try:
        emit()
        is_straight = flow.build.block is block and len(flow.function.blocks) == blocks and not block.is_terminated
        is_short = sum(_COSTS.get(one.opname, 1) for one in block.instructions[instructions:]) <= most
        is_pure = (growths, writes) == (flow.heap.growths, flow.writes)
        after = flow.state if is_straight and is_short and is_pure else None
    except UnsupportedError:
        pass
    flow.take_back(blocks, block, instructions)
    flow.at(block)
    flow.state, flow.writes = start, writes
    return after


def _masks(table: list[Any]) -> tuple[list[int], int, int] | None:
    """The bits of what a table holds above its least, that least, and by how much both are scaled."""
    scale = 1 if all(float(value).is_integer() for value in table) else _SCALE
    values = [int(value * scale) for value in table]
    least = min(values)
    rest = [value - least for value in values]
    while scale > 1 and all(value % 2 == 0 for value in (*rest, least)):
        rest, least, scale = [value // 2 for value in rest], least // 2, scale // 2
    bits = max(rest).bit_length()
    masks = [sum(1 << cell for cell, value in enumerate(rest) if value >> bit & 1) for bit in range(bits)]
    return (masks, least, scale) if bits <= _MOST_MASKS else None


def _with_sum(flow: Flow, start: Value, mask: Signal, table: list[Any]) -> Value:
    """A number, and the sum of a table over the cells of a bitboard."""
    known = _masks(table)
    assert known is not None
    masks, least, scale = known
    count, build = count_cells(flow, mask), flow.build
    total = build.mul(count.signal, whole(least))
    for bit, members in enumerate(masks):
        here = count_cells(flow, build.and_(mask, ir.Constant(flow.mask, members))).signal
        total = build.add(total, build.shl(here, whole(bit)))
    cells = flow.rows * flow.columns
    most = max(least + (1 << len(masks)), 0) * cells
    added: Value = Number("int", total, min(0, least * cells), most)
    if any(isinstance(value, float) for value in table):
        scaled = build.sitofp(total, ir.DoubleType())
        added = Number("float", build.fmul(scaled, real(1 / scale)) if scale > 1 else scaled)
    if isinstance(start, Static) and start.value == 0 and not _is_float(start):
        return added
    return arithmetic(flow, ast.Add, start, added)


def _in_eight_rounds(flow: Flow, cells: Cells, body: Callable[[Value], None], places: set[Hashable]) -> bool:
    start = flow.here()
    sizes = {place: number_of(flow, start[place]) for place in places}
    if any(one is None or one.name == "bool" or not _is_exact(one) for one in sizes.values()):
        return False
    probe = Cell(flow.build.add(whole(0), whole(0)))
    after = _tried(flow, start, lambda: body(probe), _MOST_INSTRUCTIONS)
    if after is None or not _changes_only(start, after, places):
        return False
    if not all(isinstance(value := after[place], Number) and value.name == "float" for place in places):
        return False
    mask = cells.signal
    for place in places:
        start[place] = Number("float", _as_float(flow, start[place]))
    for _ in range(8):
        is_over, before = is_empty(flow, mask), {place: start[place] for place in places}
        last = ir.Constant(flow.mask, 1 << flow.rows * flow.columns - 1)
        body(Cell(lowest(flow, flow.build.or_(mask, last))))
        for place, old in before.items():
            new = flow.here()[place]
            assert isinstance(new, Number)
            assert isinstance(old, Number)
            flow.here()[place] = Number("float", flow.build.select(is_over, old.signal, new.signal))
        mask = without_lowest(flow, mask)
    return True


def _is_exact(one: Number) -> bool:
    return one.name == "float" or (abs(one.low) < 1 << 53 and abs(one.high) < 1 << 53)


def number_of(flow: Flow, value: Value) -> Number | None:
    """A value as a number; None if it is none."""
    try:
        return number(flow, value)
    except UnsupportedError:
        return None


def _as_float(flow: Flow, value: Value) -> Signal:
    given = number(flow, value)
    return given.signal if given.name == "float" else flow.build.sitofp(given.signal, ir.DoubleType())
