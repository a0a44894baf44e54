"""Results by first placement, symmetric cells merged; visits by cell; grouped counts that can be merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from knights_isolation.isolation.rules.geometry import canonical_opening

from ..inference.argument_checks import Ints
from ..inference.intervals import Interval, rate_interval
from ..record.checked_parquet import to_numpy
from .agent_results import total
from .run_results import RunResults, fold_counted


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """Columns of equal length: `keys`, by which rows are distinct and sorted lexicographically, and their `counts`."""

    keys: tuple[npt.NDArray[Any], ...]
    counts: tuple[Ints, ...]


def count_groups(keys: Sequence[npt.NDArray[Any]], counts: Sequence[Ints]) -> GroupedCounts:
    """Sum the rows of equal keys."""
    order = np.lexsort(keys[::-1])
    ordered = [key[order] for key in keys]
    is_new = np.zeros(order.size, bool)
    is_new[:1] = True
    for key in ordered:
        is_new[1:] |= key[1:] != key[:-1]
    starts = np.flatnonzero(is_new)
    sums = (np.add.reduceat(count[order], starts) if starts.size else count for count in counts)
    return GroupedCounts(tuple(key[starts] for key in ordered), tuple(sums))


def merge_counts(parts: Iterable[GroupedCounts], nothing: GroupedCounts) -> GroupedCounts:
    """Merge the rows of all parts; `nothing` is a part without rows.

    Parts of similar size are merged first, so that a row is sorted only a few times however many parts there are.
    """
    waiting = [nothing]
    for part in parts:
        waiting.append(part)
        while len(waiting) > 1 and waiting[-2].counts[0].size <= 2 * waiting[-1].counts[0].size:
            waiting[-2:] = [_joined(waiting[-2:])]
    return _joined(waiting)


def _joined(parts: Sequence[GroupedCounts]) -> GroupedCounts:
    if len(parts) == 1:
        return parts[0]
    keys = [np.concatenate(columns) for columns in zip(*(part.keys for part in parts), strict=True)]
    return count_groups(
        keys, [np.concatenate(columns) for columns in zip(*(part.counts for part in parts), strict=True)]
    )


FEWEST = 5
"""Minimum number of openings for a cell to be shown."""

_NOTHING = GroupedCounts((np.zeros(0, np.int64),) * 3, (np.zeros(0, np.int64),) * 2)


@dataclass(frozen=True)
class Placement:
    """Result of a first placement by the player who places first or second: share of games won, over openings."""

    cell: int
    placed_first: bool
    cells: tuple[int, ...]
    games: int
    openings: int
    rate: Interval


def commonest_size(findings: RunResults) -> tuple[int, int] | None:
    """Return rows and columns of the board most games were played on; None without games."""
    if not findings.played:
        return None
    rows, columns = divmod(int(findings.games["size"].mode().iloc[0]), 1000)
    return rows, columns


def placements(findings: RunResults) -> tuple[Placement, ...]:
    """Return results of every first cell up to symmetry, for both players; clustered by the orbit of the opening."""
    size = commonest_size(findings)
    if size is None:
        return ()
    canonical = np.array([canonical_opening([cell], *size)[0] for cell in range(size[0] * size[1])])
    winner, orbit = (to_numpy(findings.table[name]) for name in ("winner", "orbit"))
    by_player = []
    for number, cells in enumerate(first_cells(findings, size)):
        there = cells >= 0
        own, won = canonical[cells[there]], (winner[there] == number + 1).astype(np.int64)
        by_player.append(count_groups([np.full(own.size, number), own, orbit[there]], [np.ones_like(won), won]))
    counted = merge_counts(by_player, _NOTHING)
    player, own, _ = counted.keys
    games, wins = counted.counts
    rows = []
    # each row is an orbit of openings: the rows of a cell are its clusters
    for first, end in pairwise(np.flatnonzero(np.diff(2 * own + player, prepend=-1, append=-1)).tolist()):
        rate = rate_interval(wins[first:end], games[first:end])
        cell = int(own[first])
        alike = tuple(int(index) for index in np.flatnonzero(canonical == cell))
        rows.append(Placement(cell, not player[first], alike, int(games[first:end].sum()), end - first, rate))
    return tuple(rows)


def visits(findings: RunResults) -> npt.NDArray[np.float64] | None:
    """Return, for each cell, the share of games in which it was visited; None without games."""
    size = commonest_size(findings)
    if size is None:
        return None
    cells = size[0] * size[1]

    def counted(table: pa.Table) -> Ints:
        table = _of_size(table, size)
        visited = pc.list_flatten(table["moves"]).to_numpy().astype(np.int64)
        return np.append(np.bincount(visited, minlength=cells)[:cells], len(table))

    columns = ["rows", "columns", "moves"]
    *counts, games = total(fold_counted(source, columns, counted, total) for source in findings.sources)
    return np.array(counts, np.float64) / float(games)


def first_cells(findings: RunResults, size: tuple[int, int]) -> npt.NDArray[np.int16]:
    """Return both players' first cells, [player, game], in each game of the table; −1 without, and on other boards."""
    cells = np.full((2, findings.played), -1, np.int16)
    runs, ids = (to_numpy(findings.table[name]) for name in ("run", "own_id"))
    for number, source in enumerate(findings.sources):
        own = np.flatnonzero(runs == number)
        order = own[np.argsort(ids[own])]

        def enter(parts: Iterable[tuple[Ints, npt.NDArray[np.int16]]], order: Ints = order) -> None:
            for game_ids, firsts in parts:
                near = np.searchsorted(ids[order], game_ids)
                is_known = np.append(ids[order], -1)[near] == game_ids  # the table lacks duplicates
                cells[:, order[near[is_known]]] = firsts[:, is_known]

        fold_counted(source, ["game_id", "rows", "columns", "moves"], lambda table: _first_cells(table, size), enter)
    return cells


def _first_cells(table: pa.Table, size: tuple[int, int]) -> tuple[Ints, npt.NDArray[np.int16]]:
    table = _of_size(table, size)
    plies = pc.list_value_length(table["moves"]).to_numpy().astype(np.int64)
    moves = np.append(pc.list_flatten(table["moves"]).to_numpy().astype(np.int16), [-1, -1])
    starts = plies.cumsum() - plies
    cells = np.array([np.where(plies > index, moves[starts + index], -1) for index in (0, 1)], np.int16)
    return table["game_id"].to_numpy(), cells


def _of_size(table: pa.Table, size: tuple[int, int]) -> pa.Table:
    return table.filter(pc.and_(pc.equal(table["rows"], size[0]), pc.equal(table["columns"], size[1])))
