"""Padded bitboards: spare columns make knight shifts need no masks.

What a shift takes over the edge lies between the rows, or beyond them, and is gone as soon as only blank cells are
kept. Where a bitboard has no room for such columns, on 8x8 for example, rows lie close together as they do everywhere
else, and what would leave the board is masked before it is shifted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llvmlite import ir

from ..rules.geometry import cells_of, column_masks, full_mask, knight_masks, move_of
from .bitboards import constant_table, look_up
from .decorators import of_board, of_position


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
