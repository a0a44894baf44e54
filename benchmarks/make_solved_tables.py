"""Make the solved tables that ship with the package, checksums included; see `isolation/data/README.md`.

`python -m benchmarks.make_solved_tables` solves all boards of up to 49 cells, which takes two minutes; tables of larger
boards are kept. With `8x8 FILE` it adds a board that `isolation perfect solve --all` has solved. With `early` it solves
every position of the first plies on 7x7, which takes a quarter of an hour of processor time.
"""

from __future__ import annotations

import json
import lzma
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from knights_isolation.experiments.exact.board_solving import placement_orbits, read_pairs, solve_pair, summarise
from knights_isolation.experiments.play.parallel_map import parallel_map
from knights_isolation.isolation.files.received import read_shipped, write_shipped
from knights_isolation.isolation.games.batches import States, solve_moves
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import Size, parse_size
from knights_isolation.isolation.rules.geometry import cells_of
from knights_isolation.isolation.rules.solved_tables import FILE
from knights_isolation.isolation.search import solver
from knights_isolation.isolation.search.solver import first_index, index_of, openings, steps_between

MOST_CELLS = 49
"""Largest board of the default tables, in cells."""


def write_tables(path: Path = FILE, most_cells: int = MOST_CELLS) -> None:
    """Solve every board of up to `most_cells` cells and write the file that `isolation.rules.solved_tables` reads.

    Other boards that the file already has are kept.
    """
    tables = {}
    for rows in range(1, math.isqrt(most_cells) + 1):
        for columns in range(rows, most_cells // rows + 1):
            size = Size(rows, columns)
            pairs = [(orbit, solve_pair(size, orbit[0], None).winner) for orbit in placement_orbits(rows, columns)]
            tables[str(size)] = _table(
                rows * columns, (pair for orbit, winner in pairs if winner == 1 for pair in orbit)
            )
    _save_tables(path, _tables_in(path) | tables)


def add_table(size: Size, solved: Path, path: Path = FILE) -> None:
    """Add the results of `solve_all` in `solved` to the file that `isolation.rules.solved_tables` reads.

    Raises:
        ValueError: there is no such file, it belongs to something else, or pairs are missing.
    """
    rows, columns = size
    if rows > columns:
        raise ValueError(f"solved tables use landscape boards: use {Size(columns, rows)} instead of {size}")
    winners = read_pairs(solved, size)
    if missing := summarise(winners, size).unknown:
        raise ValueError(f"{solved}: {missing} of the {size} pairs are not solved yet")
    won = ((int(first), int(second)) for first, second in np.argwhere(winners == 1))
    _save_tables(path, _tables_in(path) | {str(size): _table(rows * columns, won)})


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
    return Board.from_moves(path, (rows, columns))


def write_early(path: Path = solver.EARLY_FILE) -> None:
    """Write the table of the first plies on 7x7."""
    table = solve_early(solver.ROWS, solver.COLUMNS, solver.LAST_PLY, jobs=0)
    write_shipped(path, lzma.compress(table, preset=9 | lzma.PRESET_EXTREME))


def main(arguments: Sequence[str]) -> None:
    """Regenerate the shipped tables, or add a board from a file of its results."""
    if len(arguments) not in (0, 2) and arguments != ["early"]:
        print("usage: python -m benchmarks.make_solved_tables [BOARD FILE | early]", file=sys.stderr)
        sys.exit(2)
    try:
        if arguments == ["early"]:
            write_early()
        elif arguments:
            add_table(parse_size(arguments[0]), Path(arguments[1]))
        else:
            write_tables()
    except ValueError as error:
        sys.exit(str(error))


def _table(cells: int, won: Iterable[tuple[int, int]]) -> str:
    """Return the pairs that player 1 wins as one hexadecimal number."""
    return f"{sum(1 << first * cells + second for first, second in won):x}"


def _tables_in(path: Path) -> dict[str, str]:
    return dict(json.loads(read_shipped(path))) if path.exists() else {}


def _save_tables(path: Path, tables: dict[str, str]) -> None:
    ordered = dict(sorted(tables.items(), key=lambda table: parse_size(table[0])))
    write_shipped(path, json.dumps(ordered, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
