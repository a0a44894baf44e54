"""Steps of two floods in one, in compiled code, on padded boards: where they begin, and what comes next.

The sets are those of a board with two more columns, where there is room for them; see `padding`.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils
from numba.extending import intrinsic, overload

from isolation.native import bitboards
from isolation.native.padded_bitboards import (
    closed_up,
    has_room,
    padded_blank,
    padded_light,
    padded_moves_from,
    padded_neighbours,
)
from isolation.native.position import CellsType, PositionType, as_cells, location_of


def padded_blanks(game):
    """Return the blank cells."""


def padded_moves(game, player):
    """Return the cells that a player can move to."""


def blanks_like(game, cells):
    """Return the blank cells of the colour that these have, which must share one; if there are none, the dark ones."""


def next_to(game, cells, among):
    """Return the cells of the second set that are a knight's move away from any of the first."""


def close_up(game, cells):
    """Return a set as one of the board itself."""


@intrinsic
def _padded(typingctx: Any, game: Any, mask: Any) -> Any:
    """A padded bitboard as a set."""
    cells = CellsType(game.rows, game.columns + 2 * has_room(game), True)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = cgutils.create_struct_proxy(cells)(context, builder)
        value.mask = args[1]
        return value._getvalue()

    return cells(game, mask), codegen


@intrinsic
def _chosen(typingctx: Any, is_first: Any, first: Any, second: Any) -> Any:
    """One of two bitboards, without a jump."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(*args)

    return first(is_first, first, second), codegen


@overload(padded_blanks)
def _padded_blanks(game):
    return (lambda game: _padded(game, padded_blank(game))) if isinstance(game, PositionType) else None


@overload(padded_moves)
def _padded_moves(game, player):
    if not isinstance(game, PositionType):
        return None
    return lambda game, player: _padded(game, padded_moves_from(game, location_of(game, player)))


@overload(blanks_like)
def _blanks_like(game, cells):
    def blanks_like(game, cells):
        blank, light = padded_blank(game), padded_light(game)
        is_dark = bitboards.is_empty(bitboards.common(cells._mask, light))
        return _padded(game, _chosen(is_dark, bitboards.difference(blank, light), bitboards.common(blank, light)))

    return blanks_like


@overload(next_to)
def _next_to(game, cells, among):
    return lambda game, cells, among: _padded(game, bitboards.common(padded_neighbours(game, cells._mask), among._mask))


@overload(close_up)
def _close_up(game, cells):
    return lambda game, cells: as_cells(game, closed_up(game, cells._mask), True)
