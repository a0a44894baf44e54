"""Bitboards in compiled code: a set of cells as one integer of 64 or 128 bits, passed by value.

Bit `cell` stands for the cell with that row-major number. Everything here is an LLVM intrinsic, so that a set costs
what an integer costs, on boards of up to 128 cells.

Padded bitboards have spare columns, so that knight shifts need no masks. What a shift takes over the edge lies between
the rows, or beyond them, and is gone as soon as only blank cells are kept. Where a bitboard has no room for such
columns, on 8x8 for example, rows lie close together as they do everywhere else, and what would leave the board is
masked before it is shifted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from ..rules.geometry import cells_of, column_masks, full_mask, knight_masks, move_of
from .decorators import instructions, of_board, of_position


class BitboardType(types.Type):
    """The numba type of a set of cells held in an integer of `width` bits."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Bitboard{width}")


@register_model(BitboardType)
class _BitboardModel(models.PrimitiveModel):
    def __init__(self, manager: Any, bitboard: BitboardType) -> None:
        super().__init__(manager, bitboard, ir.IntType(bitboard.width))


def bitboard_for(cells: int) -> BitboardType:
    """The narrowest bitboard that holds `cells` cells, at most `MOST_COMPILED_CELLS`."""
    return BitboardType(64 if cells <= 64 else 128)


def widen(builder: ir.IRBuilder, cell: ir.Value, width: int) -> ir.Value:
    """An int64 cell number as an integer of `width` bits."""
    return builder.zext(cell, ir.IntType(width)) if width > 64 else cell


def narrow(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """A count or cell number of a bitboard's width as an int64."""
    return builder.trunc(value, ir.IntType(64)) if value.type.width > 64 else value


def single(builder: ir.IRBuilder, cell: ir.Value, width: int) -> ir.Value:
    """The set of one cell."""
    return builder.shl(ir.Constant(ir.IntType(width), 1), widen(builder, cell, width))


def count_bits(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """How many cells a set holds, as an int64."""
    return narrow(builder, builder.ctpop(bits))


def lowest_bit(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """The lowest cell of a set that is not empty, as an int64."""
    return narrow(builder, builder.cttz(bits, ir.Constant(ir.IntType(1), 1)))


def without_lowest_bit(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """A set that is not empty, less its lowest cell."""
    return builder.and_(bits, builder.sub(bits, ir.Constant(bits.type, 1)))


def constant_table(builder: Any, name: str, width: int, values: tuple[int, ...]) -> Any:
    """A constant array of the module under construction; one per name, so that equal loads are seen to be equal."""
    module = builder.module
    if name in module.globals:
        return module.globals[name]
    array = ir.ArrayType(ir.IntType(width), len(values))
    table = ir.GlobalVariable(module, array, name)
    table.initializer = ir.Constant(array, list(values))
    table.global_constant = True
    table.linkage = "linkonce_odr"
    return table


def look_up(builder: Any, table: Any, index: Any) -> Any:
    """Return an element of a constant array; the index must be valid."""
    return builder.load(builder.gep(table, [ir.Constant(ir.IntType(64), 0), index], inbounds=True))


def _of_bits(typed: Any, written: Any) -> Any:
    return instructions(typed, lambda context, builder, *given: written(builder, *given))


def _of_two(written: Any) -> Any:
    return _of_bits(lambda a, b: a(a, b), written)


def _of_cell(written: Any) -> Any:
    """A set changed by the set of one cell."""
    return _of_bits(
        lambda bits, cell: bits(bits, types.int64),
        lambda builder, bits, cell: written(builder, bits, single(builder, cell, bits.type.width)),
    )


def _is_any(builder: Any, sign: str, bits: Any) -> Any:
    return builder.icmp_unsigned(sign, bits, ir.Constant(bits.type, 0))


popcount = _of_bits(lambda bits: types.int64(bits), count_bits)
"""How many cells the set holds."""
lowest = _of_bits(lambda bits: types.int64(bits), lowest_bit)
"""The lowest cell of a set that is not empty."""
drop_lowest = _of_bits(lambda bits: bits(bits), without_lowest_bit)
"""The set less its lowest cell."""
is_empty = _of_bits(lambda bits: types.boolean(bits), lambda builder, bits: _is_any(builder, "==", bits))
"""Whether the set holds no cell."""
common = _of_two(lambda builder, a, b: builder.and_(a, b))
"""The cells in both sets."""
union = _of_two(lambda builder, a, b: builder.or_(a, b))
"""The cells in either set."""
difference = _of_two(lambda builder, a, b: builder.and_(a, builder.not_(b)))
"""The cells of the first set that are not in the second."""
exclusive = _of_two(lambda builder, a, b: builder.xor(a, b))
"""The cells in one of two sets, but not in both."""
contains = _of_bits(
    lambda bits, cell: types.boolean(bits, types.int64),
    lambda builder, bits, cell: _is_any(builder, "!=", builder.and_(bits, single(builder, cell, bits.type.width))),
)
"""Whether the set holds the cell."""
with_cell = _of_cell(lambda builder, bits, cell: builder.or_(bits, cell))
"""The set with one more cell."""
without_cell = _of_cell(lambda builder, bits, cell: builder.and_(bits, builder.not_(cell)))
"""The set with one cell less."""


def has_room(board: Any) -> bool:
    """Whether a bitboard of this board can be padded."""
    return board.rows * (board.columns + 2) <= board.bitboard.width


def pad(builder: Any, board: Any, mask: Any) -> Any:
    """A bitboard of this board, padded."""
    stride = _stride(board)
    if stride == board.columns:
        return mask
    whole, padded = mask.type, ir.Constant(mask.type, 0)
    for row in range(board.rows):
        kept = builder.and_(mask, ir.Constant(whole, full_mask(1, board.columns) << row * board.columns))
        padded = builder.or_(padded, builder.shl(kept, ir.Constant(whole, row * (stride - board.columns))))
    return padded


def less_padded(builder: Any, board: Any, mask: Any, cell: Any) -> Any:
    """A padded bitboard without a cell."""
    whole = (1 << board.bitboard.width) - 1
    others = tuple(whole ^ _placed(board, [cell]) for cell in range(board.rows * board.columns))
    return builder.and_(mask, _look_up(builder, board, "others", others, cell))


def reach(builder: Any, board: Any, mask: Any, stride: int) -> Any:
    """All cells a knight's move away from any of a bitboard whose rows begin `stride` bits apart, and cells off it."""
    whole, columns = mask.type, column_masks(board.rows, board.columns)
    # The moves to one side lie twice as far from those to the other, if nothing that matters is shifted out then.
    is_wide = stride > board.columns or board.rows * board.columns + 2 <= whole.width
    reached = ir.Constant(whole, 0)
    for across, rows in ((1, 2), (2, 1)):
        if across >= board.columns or rows >= board.rows:
            continue
        left = right = mask
        if stride == board.columns:
            left = builder.and_(mask, ir.Constant(whole, sum(columns[across:])))
            right = builder.and_(mask, ir.Constant(whole, sum(columns[:-across])))
        back, down = 0 if is_wide else across, rows * stride
        left = builder.lshr(left, ir.Constant(whole, back))
        both = builder.or_(left, builder.shl(right, ir.Constant(whole, 2 * across - back)))
        reached = builder.or_(reached, builder.shl(both, ir.Constant(whole, down - across + back)))
        reached = builder.or_(reached, builder.lshr(both, ir.Constant(whole, down + across - back)))
    return reached


def _padded_blank(position: Any, value: Any) -> Any:
    return value.padded if has_room(position) else value.blank


@of_position(lambda position: position.bitboard(position))
def padded_blank(context: Any, builder: Any, position: Any, value: Any) -> Any:
    """The blank cells of a position, padded."""
    return _padded_blank(position, value)


@of_position(lambda position, cell: position.bitboard(position, cell))
def padded_moves_from(context: Any, builder: Any, position: Any, value: Any, cell: Any) -> Any:
    """The blank cells a knight's move away from a cell, padded."""
    padded = tuple(_placed(position, cells_of(mask)) for mask in knight_masks(position.rows, position.columns))
    return builder.and_(_look_up(builder, position, "knight", padded, cell), _padded_blank(position, value))


@of_board(lambda board, mask: mask(board, mask))
def padded_neighbours(context: Any, builder: Any, board: Any, _: Any, mask: Any) -> Any:
    """All cells a knight's move away from any of a padded bitboard, and cells off the board; padded."""
    return reach(builder, board, mask, _stride(board))


@of_board(lambda board: board.bitboard(board))
def padded_light(context: Any, builder: Any, board: Any, _: Any) -> Any:
    """The cells of the colour that the first cell has, padded."""
    light = [cell for cell in range(board.rows * board.columns) if sum(move_of(cell, board.columns)) % 2 == 0]
    return ir.Constant(ir.IntType(board.bitboard.width), _placed(board, light))


def _stride(board: Any) -> int:
    """How many bits the rows of a padded bitboard begin apart."""
    columns: int = board.columns
    return columns + 2 if has_room(board) else columns


def _placed(board: Any, cells: Iterable[int]) -> int:
    moves = (move_of(cell, board.columns) for cell in cells)
    return sum(1 << row * _stride(board) + column for row, column in moves)


def _look_up(builder: Any, board: Any, what: str, values: tuple[int, ...], cell: Any) -> Any:
    name = f"isolation_padded_{what}_{board.rows}x{board.columns}"
    return look_up(builder, constant_table(builder, name, board.bitboard.width, values), cell)
