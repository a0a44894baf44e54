"""Perft: count move sequences."""

from __future__ import annotations

from typing import Any

from numba import int64

from knights_isolation.isolation.native.bitboards import drop_lowest, is_empty, lowest, popcount
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS
from knights_isolation.isolation.native.kernels.workspace import desk_at
from knights_isolation.isolation.native.position import after, location_of, make_position, moves_from


@inner
def count(position: Any, ply: int, depth: int, counts: Any) -> int:
    """Add the number of sequences of ply + 1 to `depth` moves below a position."""
    replies = moves_from(position, location_of(position, position._turn))
    counts[ply] += popcount(replies)
    if ply + 1 < depth:
        while not is_empty(replies):
            cell = lowest(replies)
            replies = drop_lowest(replies)
            count(after(position, cell), ply + 1, depth, counts)
    return 0


@inner
def entry(low: int, high: int, cell_0: int, cell_1: int, turn: int, depth: int, address: int) -> float:
    """Add to counts[d - 1], at `address`, the number of sequences of d moves, for d up to `depth`."""
    position = make_position(ROWS, COLUMNS, low, high, cell_0, cell_1, turn)
    count(position, int64(0), depth, desk_at(address))
    return 0.0
