"""Sums over cells by lookup table, in compiled code.

`term(game, cell)`, plain Python, is asked for every cell of the board when such a sum is compiled. Whole numbers, and
halves and the like, are summed by counting the cells of a few masks, a mask for each bit of the numbers. Others are
looked up in a table, eight of them whatever happens, since a knight has eight moves and a loop whose end cannot be
foretold costs a processor more; they are added in the order of the moves, so that the sum is the same to the last bit.

What raises an exception, or asks the game for more than its size and how many cells are blank, is computed cell after
cell, by a loop, as it was written.
"""

from __future__ import annotations

import builtins
import hashlib
import math
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

from .. import bitboards
from ..bitboards import constant_table, look_up
from ..decorators import by_type, opaque
from ..position import CellsType, PositionType
from .checked_arithmetic import plus

MOVES_OF_A_KNIGHT = 8
MOST_MASKS = 6
_LARGEST = 1 << 31
# What generated modules call, in plain Python. What is missing here makes a sum be computed by a loop.
_SUPPORT = SimpleNamespace(
    builtins=builtins,
    math=math,
    np=np,
    number=float,
    contains=operator.contains,
    equal=operator.eq,
    power=operator.pow,
    power_of_either_sign=operator.pow,
    squared=lambda value: value**2,
    squared_difference=lambda a, b: (a - b) ** 2,
    whole_power=operator.pow,
    _abs=abs,
    _int=int,
    _round=round,
)


class CellTerm:
    """A cell's term of a sum: a function of the game and the cell, known to compiled code."""

    def __init__(self, compiled: Dispatcher) -> None:
        self.compiled = compiled


class _TermType(types.Opaque):  # type: ignore[misc]
    """The numba type of one term. There is nothing to it but which term it is."""

    def __init__(self, compiled: Dispatcher) -> None:
        self.compiled = compiled
        super().__init__(f"Term({compiled.py_func.__module__}.{compiled.py_func.__name__})")


opaque(_TermType, CellTerm, lambda term: _TermType(term.compiled))


@dataclass(frozen=True)
class Table:
    """Terms of all cells, row-major: one row, or one for each possible number of blank cells, from none on."""

    rows: tuple[tuple[float, ...], ...]
    is_whole: bool


class _Size:
    """A game that tells nothing but its size and how many cells are blank, and whether the latter was asked."""

    def __init__(self, rows: int, columns: int, blanks: int) -> None:
        self.height, self.width = rows, columns
        self._blanks = blanks
        self.was_asked = False

    @property
    def move_count(self) -> int:
        self.was_asked = True
        return self.height * self.width - self._blanks

    def get_blank_spaces(self) -> _Counted:
        self.was_asked = True
        return _Counted(self._blanks)


@dataclass(frozen=True)
class _Counted:
    """Cells of which nothing but their number is told."""

    count: int

    def __len__(self) -> int:
        return self.count


def _in_plain_python(compiled: Any) -> Callable[[Any, Any], Any]:
    """A function of a generated module as it would be without numba, and what it calls likewise."""
    plain: dict[str, Any] = {**compiled.py_func.__globals__, "_isolation": _SUPPORT}
    for name, value in compiled.py_func.__globals__.items():
        if isinstance(value, Dispatcher):
            plain[name] = FunctionType(value.py_func.__code__, plain, name)
    return FunctionType(compiled.py_func.__code__, plain)


@lru_cache(maxsize=64)
def _table(compiled: Any, rows: int, columns: int) -> Table | None:
    """Return a term's table over all cells; None where Python cannot compute it or a number is too large."""
    term = _in_plain_python(compiled)
    cells = rows * columns

    def row(blanks: int) -> tuple[tuple[float, ...], bool]:
        size = _Size(rows, columns, blanks)
        return tuple(_number(term(size, divmod(cell, columns))) for cell in range(cells)), size.was_asked

    try:
        values, was_asked = row(cells - 2)
        # At least two cells are taken, and where none is blank nobody has a move.
        found = [(0,) * cells, *(row(blanks)[0] for blanks in range(1, cells - 1))] if was_asked else [values]
    except Exception:  # it comes again, or does not, when the sum is computed cell after cell
        return None
    if all(isinstance(value, int) for values in found for value in values):
        return Table(tuple(found), True)
    return Table(tuple(tuple(map(float, values)) for values in found), False)


def _number(value: Any) -> float:
    """Return a cell's term as a number of moderate size."""
    if not isinstance(value, int | float) or not abs(value) < _LARGEST:
        raise ValueError(f"{value!r} is not a number for a table")
    return int(value) if isinstance(value, int) else float(value)


def _table_of(items: Any, game: Any, term: Any) -> Table | None:
    """The table for a sum over the items, where there can be one."""
    if not isinstance(items, CellsType):
        return None
    table = _table(term.compiled, items.rows, items.columns)
    if table is None or (len(table.rows) > 1 and not isinstance(game, PositionType)):
        return None
    return table if table.is_whole or not items.by_column else None


# --- by masks -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Masks:
    """Numbers as (least + the sum of 2 ** bit where a cell is in the mask of that bit) / parts."""

    masks: tuple[int, ...]
    least: int
    parts: int


def masks_of(table: Table | None) -> Masks | None:
    """The masks of a table, if few are enough."""
    if table is None or len(table.rows) > 1:
        return None
    values = table.rows[0]
    parts = next(
        (parts for parts in (1, 2, 4, 8, 16) if all(float(value * parts).is_integer() for value in values)), None
    )
    if parts is None:
        return None
    whole = [int(value * parts) for value in values]
    least = min(whole)
    bits_needed = (max(whole) - least).bit_length()
    masks = [
        sum(1 << cell for cell, value in enumerate(whole) if (value - least) >> bit & 1) for bit in range(bits_needed)
    ]
    return Masks(tuple(masks), least, parts) if bits_needed <= MOST_MASKS else None


def _counting(masks: Masks) -> Any:
    """A function of compiled code: the sum over a bitboard, times the parts, as int64."""

    @intrinsic
    def count(typingctx: Any, mask: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            whole, wide = ir.IntType(64), args[0].type
            total = ir.Constant(whole, 0)
            if masks.least:
                total = builder.mul(bitboards.count_bits(builder, args[0]), ir.Constant(whole, masks.least))
            for bit, mask in enumerate(masks.masks):
                counted = bitboards.count_bits(builder, builder.and_(args[0], ir.Constant(wide, mask)))
                total = builder.add(total, builder.shl(counted, ir.Constant(whole, bit)))
            return total

        return types.int64(mask), codegen

    return count


# --- by a table ---------------------------------------------------------------------------------------------------


def _adding(table: Table, times: int) -> Any:
    """A function of compiled code: add to a total what the lowest cells of a bitboard add, so many of them.

    It returns the total and the bitboard without them; an empty bitboard adds nothing. `row` is how many cells are
    blank, where the table has such rows, else 0.
    """
    kind = types.int64 if table.is_whole else types.float64

    @intrinsic
    def add_lowest(typingctx: Any, total: Any, mask: Any, row: Any) -> Any:
        result = types.Tuple((kind, mask))

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            total, mask, row = args
            width = mask.type.width + 1
            start = builder.mul(row, ir.Constant(row.type, width))
            for _ in range(times):
                cell = bitboards.narrow(builder, builder.cttz(mask, ir.Constant(ir.IntType(1), 0)))
                value = look_up(builder, _laid_out(builder, table, width), builder.add(start, cell))
                if table.is_whole:
                    total = builder.add(total, value)
                else:
                    total = builder.fadd(total, builder.bitcast(value, ir.DoubleType()))
                mask = bitboards.without_lowest_bit(builder, mask)
            return context.make_tuple(builder, result, (total, mask))

        return result(kind, mask, types.int64), codegen

    return add_lowest


def _laid_out(builder: Any, table: Table, width: int) -> Any:
    """A table as an array of 64-bit numbers or the bits of such; every row is filled up with zeros to a width."""
    code = "q" if table.is_whole else "d"
    words = [
        int.from_bytes(struct.pack(f"<{code}", value), "little")
        for row in table.rows
        for value in (*row, *(0,) * (width - len(row)))
    ]
    name = hashlib.sha256(str(words).encode()).hexdigest()[:16]
    return constant_table(builder, f"isolation_weights_{name}", 64, tuple(words))


# --- the sums -----------------------------------------------------------------------------------------------------


@by_type
def weighed(items, game, term):
    """Return the sum of what the items add."""
    table = _table_of(items, game, term)
    masks = masks_of(table)
    if table is None or masks is None:
        return lambda items, game, term: weighed_onto(0, items, game, term)
    count, share = _counting(masks), 1 / masks.parts
    if table.is_whole:
        return lambda items, game, term: count(items._mask)
    return lambda items, game, term: count(items._mask) * share


@by_type
def weighed_onto(total, items, game, term):
    """Return a total to which what the items add has been added, one after another."""
    table = _table_of(items, game, term)
    if table is None:
        worth = term.compiled

        def by_loop(total, items, game, term):
            for item in items:
                total = plus(total, worth(game, item))
            return total

        return by_loop
    masks = masks_of(table)
    if masks is not None and table.is_whole and isinstance(total, types.Integer):
        count = _counting(masks)
        return lambda total, items, game, term: total + count(items._mask)
    is_whole = table.is_whole and isinstance(total, types.Integer)
    start = int if is_whole else float
    wanted = table if is_whole else Table(tuple(tuple(map(float, row)) for row in table.rows), False)
    add_moves, add_another = _adding(wanted, MOVES_OF_A_KNIGHT), _adding(wanted, 1)
    by_blanks = len(table.rows) > 1

    def by_table(total, items, game, term):
        row = bitboards.popcount(game._blank) if by_blanks else 0
        sum_, remaining = add_moves(start(total), items._mask, row)
        while not bitboards.is_empty(remaining):
            sum_, remaining = add_another(sum_, remaining, row)
        return sum_

    return by_table
