"""Convert a `Board` to a state of the third edition and back.

A board of 9 rows and 11 columns corresponds cell by cell. A smaller board is converted to a 9x11 board whose outer
cells were visited before the game began. Boards with more rows or columns, such as 11x9, are not supported.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ...rules.geometry import Move, format_size
from .state import HEIGHT, STRIDE, WIDTH, Isolation

if TYPE_CHECKING:
    from ...boards.board import Board


def unsupported_size_reason(rows: int, columns: int) -> str:
    """Return why a state cannot hold a board of this size, or "" if it can."""
    if rows <= HEIGHT and columns <= WIDTH:
        return ""
    size = format_size(rows, columns)
    return f"players of the third edition support boards of up to {format_size(HEIGHT, WIDTH)}, not {size}"


def state_of(board: Board) -> Isolation:
    """Convert a position to a state.

    Raises:
        ValueError: the board is too large.
    """
    rows, columns = board.height, board.width
    cells, images = _cells(rows, columns), _images(columns)
    row_mask = (1 << columns) - 1
    blank = 0
    for row in range(rows):
        blank |= images[board.blank >> row * columns & row_mask] << cells[(row + 1) * columns - 1]
    first, second = (None if cell is None else cells[cell] for cell in board.locations)
    # The number of plies determines the side to move, even if old code has set it.
    plies = board.move_count + (board.move_count % 2 ^ board.active_index)
    return Isolation(blank, plies, (first, second))


def from_state_cell(cell: int, rows: int, columns: int) -> Move:
    """Convert a state's cell to (row, column) on a board of this size; the result may be off the board."""
    x, y = cell % STRIDE, cell // STRIDE
    return rows - 1 - (y - (HEIGHT - rows) // 2), columns - 1 - (x - (WIDTH - columns) // 2)


def to_state_cell(row: int, column: int, rows: int, columns: int) -> int:
    """Convert (row, column) on a board of this size to a state's cell.

    >>> to_state_cell(0, 0, 9, 11), to_state_cell(8, 10, 9, 11), to_state_cell(3, 3, 7, 7)
    (114, 0, 57)
    """
    x, y = columns - 1 - column + (WIDTH - columns) // 2, rows - 1 - row + (HEIGHT - rows) // 2
    return y * STRIDE + x


@lru_cache(maxsize=64)
def _cells(rows: int, columns: int) -> tuple[int, ...]:
    if why := unsupported_size_reason(rows, columns):
        raise ValueError(why)
    return tuple(to_state_cell(row, column, rows, columns) for row in range(rows) for column in range(columns))


@lru_cache(maxsize=16)
def _images(columns: int) -> tuple[int, ...]:
    """Return the mirror image of each set of cells of a row."""
    return tuple(
        sum(1 << columns - 1 - column for column in range(columns) if row >> column & 1) for row in range(1 << columns)
    )
