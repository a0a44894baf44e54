"""Plain minimax below the root: every line to the full depth."""

from __future__ import annotations

from typing import Any

from numba import int64

from knights_isolation.isolation.native.bitboards import drop_lowest, is_empty, lowest
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.search.leaves import horizon
from knights_isolation.isolation.native.kernels.workspace import begin_line, count_node, extend_line
from knights_isolation.isolation.native.layout import STOPPED, WON
from knights_isolation.isolation.native.position import after, location_of, moves_from

PRUNES = False


@inner
def descend(position: Any, depth: int, ply: int, desk: Any) -> int:
    """The value of a position to the side to move, searched `depth` plies deep."""
    begin_line(desk, ply)
    replies = moves_from(position, location_of(position, position._turn))
    if is_empty(replies):
        return -WON
    if depth == 0:
        return horizon(position, desk)
    best = -WON
    while not is_empty(replies):
        if not count_node(desk):
            return best
        cell = lowest(replies)
        replies = drop_lowest(replies)
        value = -descend(after(position, cell), depth - 1, ply + 1, desk)
        if desk[STOPPED] != 0:
            return best
        if value > best:
            best = value
            extend_line(desk, ply, cell)
    return best


@inner
def reply_value(position: Any, cell: int, depth: int, bound: int, desk: Any) -> int:
    """Return the value of moving to a cell at the root, searched `depth` plies deep; the bound is unused."""
    return -descend(after(position, cell), depth - 1, int64(1), desk)
