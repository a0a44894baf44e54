"""Board sizes, cells, knight moves and symmetries, in plain ints.

A *cell* is a row-major int ``row * columns + column``. A *move* is the classic ``(row, column)`` tuple. A *mask* is an
int that represents a set of cells: bit ``cell`` is set for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import index

Move = tuple[int, int]

KNIGHT_STEPS: tuple[Move, ...] = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))
"""(row, column) steps of a knight, in the classic order, which visits targets in ascending row-major order."""

MOST_COMPILED_CELLS = 128
"""Largest board supported by compiled code, which represents a set of cells as an integer of at most 128 bits."""

MOST_CELLS = 32_767
"""Largest board: logs store cells in 16 bits."""
_TOO_LARGE = f"too large: a board has at most {MOST_CELLS:,} cells"
_MOST_DIGITS = 9
_LONGEST_SHOWN = 60


def parse_size(text: str) -> tuple[int, int]:
    """Parse a size written ROWSxCOLUMNS.

    >>> parse_size("9x11")
    (9, 11)

    Raises:
        ValueError: the text does not have that form, or a side is below 1.
    """
    match = re.fullmatch(r"\s*([+-]?\d+)\s*[xX×]\s*([+-]?\d+)\s*", text, re.ASCII) if isinstance(text, str) else None
    if match is None:
        shown = repr(text)
        shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
        raise ValueError(f"a board size must be ROWSxCOLUMNS, such as 7x7, not {shown}")
    if max(map(len, match.groups())) > _MOST_DIGITS:
        raise ValueError(_TOO_LARGE)
    return check_size(int(match[1]), int(match[2]))


def format_size(rows: int, columns: int) -> str:
    """Format a size as ROWSxCOLUMNS, which `parse_size` can read."""
    return f"{rows}x{columns}"


def check_size(rows: int, columns: int) -> tuple[int, int]:
    """Check a size and return its sides as plain ints.

    Raises:
        ValueError: a side is not an integer or is below 1, or there are more than `MOST_CELLS` cells.
    """
    if any(isinstance(side, bool) or not hasattr(side, "__index__") for side in (rows, columns)):
        raise ValueError(f"rows and columns must be whole numbers, not {rows!r} and {columns!r}")
    if rows < 1 or columns < 1:
        raise ValueError(f"a board must have at least 1 row and 1 column, not {rows} x {columns}")
    if rows * columns > MOST_CELLS:
        raise ValueError(_TOO_LARGE)
    return index(rows), index(columns)


def cell_of(move: Move, columns: int) -> int:
    """Return the row-major cell of a (row, column) move."""
    return move[0] * columns + move[1]


def move_of(cell: int, columns: int) -> Move:
    """Return the (row, column) move of a row-major cell."""
    return divmod(cell, columns)


def full_mask(rows: int, columns: int) -> int:
    """Return the mask of all cells of the board."""
    return (1 << rows * columns) - 1


def cells_of(mask: int) -> Iterator[int]:
    """Yield the cells of a mask in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def knight_mask(cell: int, rows: int, columns: int) -> int:
    """Return the mask of the cells a knight's move away from `cell`."""
    row, column = move_of(cell, columns)
    return sum(
        1 << (row + down) * columns + column + right
        for down, right in KNIGHT_STEPS
        if 0 <= row + down < rows and 0 <= column + right < columns
    )


@lru_cache(maxsize=64)
def knight_masks(rows: int, columns: int) -> tuple[int, ...]:
    """Return, for each cell, the mask of the cells a knight's move away."""
    return tuple(knight_mask(cell, rows, columns) for cell in range(rows * columns))


@lru_cache(maxsize=64)
def column_masks(rows: int, columns: int) -> tuple[int, ...]:
    """Return, for each column, the mask of its cells."""
    first = sum(1 << row * columns for row in range(rows))
    return tuple(first << column for column in range(columns))


@lru_cache(maxsize=64)
def symmetries(rows: int, columns: int) -> tuple[tuple[int, ...], ...]:
    """Return the symmetries of the board, identity first: 8 of a square, 4 of a rectangle.

    Each is a permutation: `symmetry[cell]` is the image of `cell`. On boards with a side of 1 some of the permutations
    are equal; all are listed.
    """
    bottom, right = rows - 1, columns - 1
    images: list[Callable[[int, int], Move]] = [
        lambda row, column: (row, column),
        lambda row, column: (row, right - column),
        lambda row, column: (bottom - row, column),
        lambda row, column: (bottom - row, right - column),
    ]
    if rows == columns:
        images += [
            lambda row, column: (column, row),
            lambda row, column: (column, bottom - row),
            lambda row, column: (right - column, row),
            lambda row, column: (right - column, bottom - row),
        ]
    moves = [move_of(cell, columns) for cell in range(rows * columns)]
    return tuple(tuple(cell_of(image(*move), columns) for move in moves) for image in images)


def canonical_opening(cells: Sequence[int], rows: int, columns: int) -> tuple[int, ...]:
    """Return the lexicographically smallest image of a sequence of cells under the board's symmetries.

    Two openings are the same up to symmetry exactly when their canonical forms are equal.

    >>> canonical_opening([48, 6], 7, 7)
    (0, 6)
    """
    return min(tuple(symmetry[cell] for cell in cells) for symmetry in symmetries(rows, columns))
