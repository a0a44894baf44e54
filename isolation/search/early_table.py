"""The shipped table of the first plies on 7x7: which moves win.

To search such a position takes up to a tenth of a second, to read it some ten microseconds. An opening, both
placements, is one of 315 up to symmetry, and each move after it one of eight steps of a knight. So `data/early_7x7.xz`,
unpacked, has a byte for each opening, then for each opening and one step, and so on up to `LAST_PLY`; its bit `step` is
set if that move wins. `benchmarks/make_solved_tables.py` writes it.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..files.received import read_shipped
from ..rules.geometry import KNIGHT_STEPS, canonical_opening, cells_of, full_mask, knight_masks, move_of, symmetries

if TYPE_CHECKING:
    from ..rules.classic_board import Board


EARLY_FILE = Path(__file__).parents[1] / "data" / "early_7x7.xz"


ROWS = COLUMNS = 7


LAST_PLY = 6
"""Plies of the last positions whose moves the early table has."""


STEPS = len(KNIGHT_STEPS)


class Opening(NamedTuple):
    """An opening's number among those that differ under symmetry, and the symmetry that leads to the first of them."""

    number: int
    image: tuple[int, ...]


def early_moves(board: Board) -> tuple[int, ...] | None:
    """Return the moves that win, ascending; None if the table does not have the position.

    >>> from knights_isolation.isolation import Board
    >>> early_moves(Board.from_moves([24, 14, 9, 1]))
    (0, 4, 18, 22)
    """
    path = _path_to(board, LAST_PLY)
    if path is None:
        return None
    image = openings(ROWS, COLUMNS)[path[0], path[1]].image
    wins, own = _early_table()[index_of(path, ROWS, COLUMNS)], image[path[-2]]
    steps = steps_between(ROWS, COLUMNS)
    return tuple(cell for cell in board.legal_cells() if wins >> steps[own, image[cell]] & 1)


def early_value(board: Board) -> bool | None:
    """Return whether the side to move wins; None if it does not follow from the table."""
    path = _path_to(board, LAST_PLY + 1)
    if path is None:
        return None
    if len(path) <= LAST_PLY:
        return _early_table()[index_of(path, ROWS, COLUMNS)] != 0
    image = openings(ROWS, COLUMNS)[path[0], path[1]].image
    step = steps_between(ROWS, COLUMNS)[image[path[-3]], image[path[-1]]]
    return not _early_table()[index_of(path[:-1], ROWS, COLUMNS)] >> step & 1


def index_of(path: Sequence[int], rows: int, columns: int) -> int:
    """Return the place in a table of the position that moves lead to, from both placements on."""
    known = openings(rows, columns)
    opening, steps = known[path[0], path[1]], steps_between(rows, columns)
    index = opening.number
    for before, cell in zip(path, path[2:], strict=False):
        index = index * STEPS + steps[opening.image[before], opening.image[cell]]
    return index + first_index(len(path), len({each.number for each in known.values()}))


def first_index(ply: int, openings: int) -> int:
    """Return where in a table the positions of a ply begin."""
    return sum(openings * STEPS**later for later in range(ply - 2))


@lru_cache(maxsize=4)
def openings(rows: int, columns: int) -> dict[tuple[int, int], Opening]:
    """Return every opening's place in a table."""
    numbers: dict[tuple[int, ...], int] = {}
    places = {}
    for pair in permutations(range(rows * columns), 2):
        canonical = canonical_opening(pair, rows, columns)
        image = next(image for image in symmetries(rows, columns) if tuple(image[cell] for cell in pair) == canonical)
        places[pair] = Opening(numbers.setdefault(canonical, len(numbers)), image)
    return places


@lru_cache(maxsize=4)
def steps_between(rows: int, columns: int) -> dict[tuple[int, int], int]:
    """Return the number of the step that leads from a cell to another, by both."""
    moves = [move_of(cell, columns) for cell in range(rows * columns)]
    return {
        (cell, target): KNIGHT_STEPS.index((moves[target][0] - moves[cell][0], moves[target][1] - moves[cell][1]))
        for cell, mask in enumerate(knight_masks(rows, columns))
        for target in cells_of(mask)
    }


def _path_to(board: Board, last: int) -> list[int] | None:
    """Return moves that lead to a position of at most `last` plies; None if there are none, or more."""
    if (board.height, board.width) != (ROWS, COLUMNS):
        return None
    visited = full_mask(ROWS, COLUMNS) & ~board.blank
    plies, (first, second) = visited.bit_count(), board.locations
    if not 2 <= plies <= last or plies % 2 != board.active_index or first is None or second is None:
        return None
    for own in _trails(first, (plies + 1) // 2, visited & ~(1 << second)):
        left = visited & ~sum(1 << cell for cell in own)
        for other in _trails(second, plies // 2, left):
            path = [0] * plies
            path[::2], path[1::2] = own, other
            return path
    return None


def _trails(cell: int, length: int, cells: int) -> Iterator[list[int]]:
    """Yield the ways of a knight over so many of some cells, each once, that end on a cell."""
    if not cells >> cell & 1:
        return
    if length == 1:
        yield [cell]
        return
    left = cells & ~(1 << cell)
    for before in cells_of(knight_masks(ROWS, COLUMNS)[cell] & left):
        for trail in _trails(before, length - 1, left):
            yield [*trail, cell]


@cache
def _early_table() -> bytes:
    return lzma.decompress(read_shipped(EARLY_FILE))
