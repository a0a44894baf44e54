"""Solve every placement pair of a board: parallel, resumable, into one Parquet file.

The file has one row per pair, with the columns `SOLVED` of `experiments/record/schema.py`. Symmetric openings (an
*orbit*) are solved once.

`benchmarks/make_solved_tables.py` makes the tables that ship with the package of such results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.compiling.specialise import native_function
from knights_isolation.isolation.files.atomic_write import written_often
from knights_isolation.isolation.files.received import DamagedFileError
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import MOST_COMPILED_CELLS, Limit, Size, SizeLike, size_of
from knights_isolation.isolation.rules.geometry import canonical_opening
from knights_isolation.isolation.rules.solved_tables import is_covered, pair_is_won
from knights_isolation.isolation.search.solver import SearchBudget, is_mirrored

from ..play.parallel_map import parallel_map
from ..record.checked_parquet import read_parquet, write_parquet
from ..record.columns import table_of_rows
from ..record.schema import SOLVED, schema_of

Winners = NDArray[np.int8]
"""[cell of player 1, cell of player 2]: the winner, 1 or 2; 0 if unknown, and on the diagonal."""

SCHEMA = schema_of(SOLVED)

_SIZE = b"isolation.size"
_FIRST_ROUND = 5_000_000_000
"""Node limit after which a pair is searched move by move; on 8x8 all but two classes of openings need fewer nodes."""


class SolvedPair(NamedTuple):
    """Result of a placement pair and its symmetric equivalents: the winner (0: unknown) and the nodes searched."""

    opening: tuple[int, int]
    winner: int
    nodes: int


@dataclass(frozen=True)
class BoardSummary:
    """Summary of the results of all placement pairs of a board.

    Attributes:
        openings, unknown: number of pairs, and of unsolved pairs.
        first_wins: number of pairs that player 1, who moves first after both placements, wins.
        winner: the winner from the empty board, or None if that is unknown.
        refutations: for each first cell, the replies after which player 2 wins.
        rule_holds: number of solved pairs that follow the colour rule: player 1 wins if both stand on the same colour,
            otherwise player 2.
        exceptions: the pairs that do not follow it.
        unexplained: the exceptions that are not decided by one side mirroring the other.
    """

    size: Size
    winners: Winners
    openings: int
    unknown: int
    first_wins: int
    winner: int | None
    refutations: tuple[tuple[int, ...], ...]
    rule_holds: int
    exceptions: tuple[tuple[int, int], ...]
    unexplained: tuple[tuple[int, int], ...]


def solve_all(
    size: SizeLike,
    path: Path,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    limit: Limit | None = None,
    show: Callable[[int, int], None] = lambda solved, pairs: None,
) -> Winners:
    """Solve every placement pair that is missing in the file; the file is written every few seconds.

    Args:
        jobs, cluster: see `parallel_map`.
        limit: nodes or time for each pair; pairs left unknown are tried again by the next call.
        show: called with the number of finished pairs and of all pairs.

    Raises:
        ValueError: the board is too large, the limit is a depth, or the file belongs to something else.
    """
    size = size_of(size)
    if size.cells > MOST_COMPILED_CELLS:
        raise ValueError(f"{size} is too large: the solver supports boards of up to {MOST_COMPILED_CELLS} cells")
    if size.cells < 2:
        raise ValueError(f"a {size} board has only one cell and no placement pair: use a larger board")
    SearchBudget(limit)
    by_opening = {pair.opening: pair for pair in _read(path, size) if pair.winner} if path.exists() else {}
    orbits = {orbit[0]: orbit for orbit in placement_orbits(*size)}
    missing = [first for first in orbits if first not in by_opening]
    pairs = sum(map(len, orbits.values()))
    show(len(by_opening), pairs)
    if missing:  # compile here once, so that the workers find the code in the cache
        native_function("solve", None, *size)

    def write() -> None:
        if missing:
            rows = [pair._asdict() for pair in sorted(by_opening.values())]
            write_parquet(path, table_of_rows(rows, SCHEMA.with_metadata({_SIZE: str(size).encode()})))

    with written_often(write) as look:
        for solved in parallel_map(solve_pair, ((size, first, limit) for first in missing), jobs, cluster):
            by_opening |= {opening: solved._replace(opening=opening) for opening in orbits[solved.opening]}
            show(len(by_opening), pairs)
            look()
    return _matrix(by_opening.values(), size.cells)


def read_pairs(path: Path, size: Size) -> Winners:
    """Read the results in a file that `solve_all` has written; any other is a ValueError."""
    return _matrix(_read(path, size), size.cells)


def shipped_pairs(size: Size) -> Winners:
    """Return the results that ship with the package; raise ValueError if it has none for this size."""
    if not is_covered(*size):
        raise ValueError(f"no solved table for {size}; create one with isolation perfect solve --all --board {size}")
    winners = np.zeros((size.cells, size.cells), np.int8)
    for pair in permutations(range(size.cells), 2):
        winners[pair] = 1 if pair_is_won(*size, *pair) else 2
    return winners


def summarise(winners: Winners, size: Size) -> BoardSummary:
    """Summarise the results of all placement pairs."""
    row, column = np.divmod(np.arange(size.cells), size.columns)
    colour = (row + column) % 2
    expected = np.where(colour[:, None] == colour[None, :], 1, 2)
    pairs = ~np.eye(size.cells, dtype=bool)
    solved = (winners > 0) & pairs
    exceptions = tuple((int(first), int(second)) for first, second in np.argwhere(solved & (winners != expected)))
    return BoardSummary(
        size=size,
        winners=winners,
        openings=int(pairs.sum()),
        unknown=int((pairs & ~solved).sum()),
        first_wins=int((winners == 1).sum()),
        winner=_winner(winners, pairs),
        refutations=tuple(tuple(np.flatnonzero(replies == 2).tolist()) for replies in winners),
        rule_holds=int((solved & (winners == expected)).sum()),
        exceptions=exceptions,
        unexplained=tuple(pair for pair in exceptions if not _is_mirrored_soon(pair, size)),
    )


def _winner(winners: Winners, pairs: NDArray[np.bool_]) -> int | None:
    """Return the winner from the empty board: player 1 if one of its placements has no refutation. None if unknown."""
    if (((winners == 1) | ~pairs).all(axis=1)).any():
        return 1
    return 2 if (winners == 2).any(axis=1).all() else None


def _is_mirrored_soon(pair: tuple[int, int], size: Size) -> bool:
    """Return whether player 2 can mirror every move of player 1, or player 1 can move to where it mirrors player 2."""
    board = Board.from_moves(pair, size)
    return is_mirrored(board) or any(is_mirrored(board.successor(cell)) for cell in board.legal_cells())


def placement_orbits(rows: int, columns: int) -> list[list[tuple[int, int]]]:
    """Return all placement pairs grouped by symmetry, each group starting with its smallest pair."""
    orbits: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for pair in permutations(range(rows * columns), 2):
        orbits.setdefault(canonical_opening(pair, rows, columns), []).append(pair)
    return list(orbits.values())


def solve_pair(size: Size, opening: tuple[int, int], limit: Limit | None) -> SolvedPair:
    """Solve a pair by search, even if a table has it."""
    board = Board.from_moves(opening, size)
    if not board.legal_cells():
        return SolvedPair(opening, 2, 1)
    meter = SearchBudget(limit or Limit(nodes=_FIRST_ROUND))
    won, nodes = False if is_mirrored(board) else meter.search(board, None), 0
    if won is None and limit is None:
        won, nodes = _solve_in_rounds(board)
    return SolvedPair(opening, 0 if won is None else 1 if won else 2, meter.nodes + nodes)


def _solve_in_rounds(board: Board) -> tuple[bool, int]:
    """Return whether the side to move wins, and the nodes searched; all moves are searched with increasing budgets."""
    # Of two winning moves, the first one tried may take a thousand times as long to prove.
    unknown, budget, nodes = [board.successor(cell) for cell in board.legal_cells()], _FIRST_ROUND, 0
    while unknown:
        left = []
        for after in unknown:
            meter = SearchBudget(Limit(nodes=budget))
            lost = meter.search(after, None) if after.legal_cells() else False
            nodes += meter.nodes
            if lost is False:
                return True, nodes
            left += [after] if lost is None else []
        unknown, budget = left, 4 * budget
    return False, nodes


def _read(path: Path, size: Size) -> list[SolvedPair]:
    try:
        table = read_parquet(path, SCHEMA)
    except (OSError, DamagedFileError) as error:
        raise ValueError(f"{path}: cannot be read as solved openings: {error}") from None
    written_for = (table.schema.metadata or {}).get(_SIZE, b"").decode()
    if written_for != str(size):
        found = f"the openings of {written_for}" if written_for else "something else"
        raise ValueError(f"{path} contains {found}, not those of {size}")
    return [SolvedPair(tuple(row.pop("opening")), **row) for row in table.to_pylist()]


def _matrix(pairs: Iterable[SolvedPair], cells: int) -> Winners:
    winners = np.zeros((cells, cells), np.int8)
    for pair in pairs:
        winners[pair.opening] = pair.winner
    return winners
