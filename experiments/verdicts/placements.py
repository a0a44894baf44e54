"""Where games begin and go: first placements, cells alike by symmetry as one and openings counted; and visits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from experiments.inference.clusters import Interval, rate_interval
from experiments.log import read_table
from experiments.verdicts.effort import list_chunks
from experiments.verdicts.findings import Findings
from isolation.geometry import canonical_opening

FEWEST = 5
"""Openings below which nothing is shown of a cell."""


@dataclass(frozen=True)
class Placement:
    """A first placement of the player who places first or second: the share of games it won, over openings."""

    cell: int
    placed_first: bool
    cells: tuple[int, ...]
    games: int
    openings: int
    rate: Interval


def commonest_size(findings: Findings) -> tuple[int, int] | None:
    """Rows and columns of the board most games were played on; None without games."""
    if not len(findings.games):
        return None
    rows, columns = divmod(int(findings.games["size"].mode().iloc[0]), 1000)
    return rows, columns


def placements(findings: Findings) -> tuple[Placement, ...]:
    """Every first cell up to symmetry, for both players; its games are clustered by the orbit of their opening."""
    size = commonest_size(findings)
    if size is None:
        return ()
    canonical = np.array([canonical_opening([cell], *size)[0] for cell in range(size[0] * size[1])])
    parts = list(first_placements(findings, size))
    orbit, winner = (np.concatenate([getattr(part, name) for part in parts]) for name in ("orbit", "winner"))
    found = []
    for player in (0, 1):
        cells = np.concatenate([part.cells[player] for part in parts])
        own = np.where(cells >= 0, canonical[cells], -1)
        for cell in np.unique(own[own >= 0]):
            chosen = own == cell
            _, unit = np.unique(orbit[chosen], return_inverse=True)
            games = np.bincount(unit)
            rate = rate_interval(np.bincount(unit, winner[chosen] == player + 1), games)
            alike = tuple(int(one) for one in np.flatnonzero(canonical == cell))
            found.append(Placement(int(cell), player == 0, alike, int(games.sum()), int(games.size), rate))
    return tuple(found)


def visits(findings: Findings) -> npt.NDArray[np.float64] | None:
    """For each cell, the share of games in which somebody stood on it; None without games."""
    size = commonest_size(findings)
    if size is None:
        return None
    found, games = np.zeros(size[0] * size[1]), 0
    for source in findings.sources:
        table = read_table(source.info.path, ["rows", "columns", "moves"])
        table = table.filter(pc.and_(pc.equal(table["rows"], size[0]), pc.equal(table["columns"], size[1])))
        games += len(table)
        for _, cells in list_chunks(table, "moves"):
            found += np.bincount(cells.astype(np.int64), minlength=found.size)[: found.size]
    return found / games


@dataclass(frozen=True, eq=False)
class FirstPlacements:
    """A part of a run's log: by game its id in the run, both players' first cells (−1: none), orbit, and winner."""

    run: int
    game_ids: npt.NDArray[np.int64]
    cells: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
    orbit: npt.NDArray[np.int64]
    winner: npt.NDArray[np.int8]


def first_placements(findings: Findings, size: tuple[int, int]) -> Iterator[FirstPlacements]:
    """Where the games on a board of this size began, by part of the log; `run` is a place in `Findings.sources`."""
    for number, source in enumerate(findings.sources):
        table = read_table(source.info.path, ["game_id", "rows", "columns", "moves", "winner", "orbit"])
        table = table.filter(pc.and_(pc.equal(table["rows"], size[0]), pc.equal(table["columns"], size[1])))
        winner, orbit = table["winner"].to_numpy(), table["orbit"].to_numpy().astype(np.int64)
        game_ids = table["game_id"].to_numpy().astype(np.int64)
        first = 0
        for offsets, cells in list_chunks(table, "moves"):
            lengths = np.diff(offsets)
            values = np.append(cells.astype(np.int64), [-1, -1])
            one, other = (np.where(lengths > place, values[offsets[:-1] + place], -1) for place in (0, 1))
            chosen = slice(first, first + lengths.size)
            yield FirstPlacements(number, game_ids[chosen], (one, other), orbit[chosen], winner[chosen])
            first += lengths.size
