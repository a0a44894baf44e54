"""Solve every position of the first plies of a board, for the table that ships with the package.

`python -m experiments.exact.early_solving` writes it anew, which takes a quarter of an hour of processor time.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence

import numpy as np

from experiments.play.parallel_map import parallel_map
from isolation.editions.classic_board import Board
from isolation.exact.early_table import (
    COLUMNS,
    FILE,
    LAST_PLY,
    ROWS,
    first_index,
    index_of,
    openings,
    steps_between,
)
from isolation.files.shipped_data import write_shipped
from isolation.games.batch_moves import States
from isolation.games.batch_solver import solve_moves
from isolation.rules.geometry import cells_of, format_size


def solve_early(rows: int, columns: int, last_ply: int, jobs: int = 1) -> bytes:
    """Return the table of a board up to the positions of `last_ply`, at least 2.

    Only these are searched; a move of an earlier one wins if none of the position after it does.

    Args:
        jobs: processes; 0: one per core.
    """
    chosen: dict[int, tuple[int, int]] = {}
    for pair, opening in openings(rows, columns).items():
        chosen.setdefault(opening.number, pair)
    table = np.zeros(first_index(last_ply + 1, len(chosen)), np.uint8)
    for found in parallel_map(
        _solve_opening, ((pair, rows, columns, last_ply) for pair in chosen.values()), jobs, None
    ):
        indices, masks = found
        table[indices] = masks
    return table.tobytes()


def _solve_opening(pair: tuple[int, int], rows: int, columns: int, last_ply: int) -> tuple[list[int], list[int]]:
    """Return the places in the table and the winning steps of all positions that follow from an opening."""
    paths: dict[int, list[tuple[int, ...]]] = {2: [pair]}
    for ply in range(3, last_ply + 1):
        paths[ply] = [(*path, cell) for path in paths[ply - 1] for cell in _board(path, rows, columns).legal_cells()]
    wins = dict(zip(paths[last_ply], _winning_moves(paths[last_ply], rows, columns), strict=True))
    for ply in range(last_ply - 1, 1, -1):
        for path in paths[ply]:
            legal = _board(path, rows, columns).legal_cells()
            wins[path] = [cell for cell in legal if not wins[(*path, cell)]]
    places = openings(rows, columns)
    image, steps = places[pair].image, steps_between(rows, columns)
    masks = [sum(1 << steps[image[path[-2]], image[cell]] for cell in cells) for path, cells in wins.items()]
    return [index_of(path, rows, columns) for path in wins], masks


def _winning_moves(paths: Sequence[tuple[int, ...]], rows: int, columns: int) -> Iterator[list[int]]:
    """Yield the winning moves of positions, found by search."""
    if not paths:
        return
    solved = solve_moves(States.of([_board(path, rows, columns) for path in paths]))
    for low, high in solved.winning.tolist():
        yield list(cells_of(low | high << 64))


def _board(path: Sequence[int], rows: int, columns: int) -> Board:
    return Board.from_moves(path, format_size(rows, columns))


def main() -> None:
    """Write the shipped table."""
    write_shipped(FILE, lzma.compress(solve_early(ROWS, COLUMNS, LAST_PLY, jobs=0), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
