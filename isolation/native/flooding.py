"""Steps of two floods in one, in compiled code: cells of one colour, and what lies a knight's move away."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.extending import intrinsic, overload

from isolation.native import bits
from isolation.native.position import CellsType, PositionType, as_cells, neighbours


def colour_of(game, cells):
    """Return the cells of the board of the colour that these have, which must share one; the dark ones for no cells."""


def next_to(game, cells, among):
    """Return the cells of the second set that are a knight's move away from any of the first."""


@intrinsic
def _same_colour(typingctx: Any, board: Any, mask: Any) -> Any:
    """The cells of the board that have the colour of those of a bitboard, which share one."""
    sums = [row + column for row in range(board.rows) for column in range(board.columns)]
    light, dark = (sum(1 << cell for cell, place in enumerate(sums) if place % 2 == colour) for colour in (0, 1))

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = args[1].type
        lit = builder.and_(args[1], ir.Constant(whole, light))
        is_light = builder.icmp_unsigned("!=", lit, ir.Constant(whole, 0))
        return builder.select(is_light, ir.Constant(whole, light), ir.Constant(whole, dark))

    return mask(board, mask), codegen


@overload(colour_of)
def _colour_of(game, cells):
    if not isinstance(game, PositionType) or not isinstance(cells, CellsType):
        return None
    return lambda game, cells: as_cells(game, _same_colour(game, cells._mask), False)


@overload(next_to)
def _next_to(game, cells, among):
    if not isinstance(game, PositionType) or not isinstance(cells, CellsType) or not isinstance(among, CellsType):
        return None
    return lambda game, cells, among: as_cells(game, bits.common(neighbours(game, cells._mask), among._mask), False)
