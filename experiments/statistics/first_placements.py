"""Results by first placement, symmetric cells merged; visits by cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from experiments.inference.argument_checks import Ints
from experiments.inference.cluster_intervals import Interval, rate_interval
from experiments.statistics.effort import total
from experiments.statistics.grouped_counts import GroupedCounts, count_groups, merge_counts
from experiments.statistics.run_results import RunResults, fold_counted
from isolation.rules.geometry import canonical_opening

FEWEST = 5
"""Minimum number of openings for a cell to be shown."""

T = TypeVar("T")
R = TypeVar("R")

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
    runs = over_first_placements(findings, size, partial(_counted, canonical), partial(merge_counts, nothing=_NOTHING))
    counted = merge_counts(runs, _NOTHING)
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


def _counted(canonical: Ints, part: FirstPlacements) -> GroupedCounts:
    """Count games and the player's wins by player (0 or 1), first cell up to symmetry, and orbit of the opening."""
    by_player = []
    for player, cells in enumerate(part.cells):
        there = cells >= 0
        own = canonical[cells[there]]
        won = (part.winner[there] == player + 1).astype(np.int64)
        keys = [np.full(own.size, player), own, part.orbit[there]]
        by_player.append(count_groups(keys, [np.ones(own.size, np.int64), won]))
    return merge_counts(by_player, _NOTHING)


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


@dataclass(frozen=True, eq=False)
class FirstPlacements:
    """A part of a run's log: by game its id in the run, both players' first cells (−1: none), orbit, and winner.

    `run` is an index in `RunResults.sources`.
    """

    run: int
    game_ids: Ints
    cells: tuple[Ints, Ints]
    orbit: Ints
    winner: npt.NDArray[np.int8]


def over_first_placements(
    findings: RunResults, size: tuple[int, int], look: Callable[[FirstPlacements], T], fold: Callable[[Iterator[T]], R]
) -> list[R]:
    """Fold, for each run, what `look` returns for some thousand games at a time on a board of this size."""
    columns = ["game_id", "rows", "columns", "moves", "winner", "orbit"]

    def seen(run: int, table: pa.Table) -> T:
        return look(_first_placements(run, table, size))

    runs = enumerate(findings.sources)
    return [fold_counted(source, columns, partial(seen, number), fold) for number, source in runs]


def _first_placements(run: int, table: pa.Table, size: tuple[int, int]) -> FirstPlacements:
    table = _of_size(table, size)
    plies = pc.list_value_length(table["moves"]).to_numpy().astype(np.int64)
    cells = np.append(pc.list_flatten(table["moves"]).to_numpy().astype(np.int64), [-1, -1])
    starts = plies.cumsum() - plies
    first, other = (np.where(plies > index, cells[starts + index], -1) for index in (0, 1))
    ids, orbit, winner = (table[name].to_numpy() for name in ("game_id", "orbit", "winner"))
    return FirstPlacements(run, ids, (first, other), orbit, winner)


def _of_size(table: pa.Table, size: tuple[int, int]) -> pa.Table:
    return table.filter(pc.and_(pc.equal(table["rows"], size[0]), pc.equal(table["columns"], size[1])))
