"""Opening explorer: continuations from a position in the games of a run, symmetric positions merged."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.rules.geometry import cells_of, full_mask, parse_size

from ..plan.openings import Ids, orbit_ids, orbit_ids_by_ply
from ..record.log import map_parts
from ..record.log_validation import check_log

PLIES = 24
"""Number of plies of each game that are indexed; hardly any later position occurs twice."""
_BATCH = 20_000


@dataclass(frozen=True)
class PlayedGames:
    """Games of a run on boards of one size.

    Attributes:
        ids: one row per game: `orbit_ids` of its first `PLIES` + 1 positions, 0 after its end.
        drawn: number of plies in each game's random opening.
        winners: 1 or 2.
    """

    size: str
    ids: Ids
    drawn: NDArray[np.int16]
    winners: NDArray[np.int8]


@dataclass(frozen=True)
class Reply:
    """Moves that are equivalent by symmetry, the number of games that continued with them, and the mover's wins."""

    cells: tuple[int, ...]
    games: int
    won: int


@dataclass(frozen=True)
class Continuations:
    """Continuations of a run's games from a position.

    Attributes:
        games: number of games that reached the position and continued.
        drawn: whether the moves were part of random openings because no player chose any here.
        replies: all legal moves, the most often played first.
    """

    games: int
    drawn: bool
    replies: tuple[Reply, ...]


def read_played(run: str | Path, size: str) -> PlayedGames:
    """Read the games of a run on boards of a size.

    Raises:
        ValueError: there is no run there, it contains games that do not belong to it, or a file of it is damaged.
    """
    check_log(run)
    rows, columns = parse_size(size)
    parts = [PlayedGames(size, np.empty((0, PLIES + 1), np.uint64), np.empty(0, np.int16), np.empty(0, np.int8))]

    def known(_: Path, table: pa.Table) -> list[PlayedGames]:
        on_size = table.filter(pc.and_(pc.equal(table["rows"], rows), pc.equal(table["columns"], columns)))
        return [_known(on_size.slice(first, _BATCH), size) for first in range(0, len(on_size), _BATCH)]

    parts += chain.from_iterable(map_parts(run, ("rows", "columns", "opening", "moves", "winner"), known))
    ids, drawn, winners = zip(*((part.ids, part.drawn, part.winners) for part in parts), strict=True)
    return PlayedGames(size, np.concatenate(ids), np.concatenate(drawn), np.concatenate(winners))


def explore(played: PlayedGames, board: Board) -> Continuations:
    """Count how games continued from a position: by the players' choices or, if there were none, by random openings."""
    ply = min(board.move_count, PLIES - 1)
    went_on = (played.ids[:, ply] == _id_of(board)) & (played.ids[:, ply + 1] != 0)
    chosen = went_on & (played.drawn <= ply)
    drawn = bool(went_on.any()) and not chosen.any()
    counted = went_on if drawn else chosen
    after, has_won = played.ids[counted, ply + 1], played.winners[counted] == board.active_index + 1
    replies = [
        Reply(cells, int((after == reply).sum()), int(has_won[after == reply].sum()))
        for reply, cells in _replies(board).items()
    ]
    ordered = sorted(replies, key=lambda reply: (-reply.games, -reply.won, reply.cells))
    return Continuations(int(counted.sum()), drawn, tuple(ordered))


def _known(table: pa.Table, size: str) -> PlayedGames:
    moves = table["moves"].combine_chunks()
    lengths = pc.list_value_length(moves).to_numpy()
    cells = np.full((len(table), PLIES), -1, np.int16)
    for ply in range(PLIES):
        has = lengths > ply
        cells[has, ply] = pc.list_element(moves.filter(pa.array(has)), ply).to_numpy()
    drawn = pc.list_value_length(table["opening"]).to_numpy().astype(np.int16)
    return PlayedGames(size, orbit_ids_by_ply(cells, size), drawn, table["winner"].to_numpy().astype(np.int8))


def _id_of(board: Board) -> int:
    return int(orbit_ids(np.array([_way_to(board)], np.int16).reshape(1, -1), board.size)[0])


def _replies(board: Board) -> dict[int, tuple[int, ...]]:
    cells = board.legal_cells()
    if not cells:
        return {}
    ids = orbit_ids(np.array([_way_to(board.successor(cell)) for cell in cells], np.int16), board.size).tolist()
    return {
        reply: tuple(cell for cell, other in zip(cells, ids, strict=True) if other == reply)
        for reply in dict.fromkeys(ids)
    }


def _way_to(board: Board) -> list[int]:
    """Return an order of visits that leads to the position: only the last two matter, where the knights stand."""
    locations = [board.locations[board.active_index], board.locations[1 - board.active_index]]
    stand = [cell for cell in locations if cell is not None]
    visited = cells_of(full_mask(board.height, board.width) & ~board.blank)
    return [*(cell for cell in visited if cell not in stand), *stand]
