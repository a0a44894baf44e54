"""Plain minimax below the root: every line to the full depth."""

from __future__ import annotations

from typing import Any

from isolation.native.bits import drop_lowest, is_empty, lowest
from isolation.native.kernels.desk import begin_line, count_node, extend_line
from isolation.native.kernels.inner import inner
from isolation.native.kernels.leaves import horizon
from isolation.native.layout import STOPPED
from isolation.native.position import after, location_of, moves_from

INFINITY = float("inf")
PRUNES = False


@inner
def descend(position: Any, depth: int, ply: int, alpha: float, beta: float, desk: Any) -> float:
    """The value of a position to the side to move, searched `depth` plies deep; the window is not used."""
    begin_line(desk, ply)
    replies = moves_from(position, location_of(position, position._turn))
    if is_empty(replies):
        return -INFINITY
    if depth == 0:
        return horizon(position, desk)
    best = -INFINITY
    while not is_empty(replies):
        if not count_node(desk):
            return best
        cell = lowest(replies)
        replies = drop_lowest(replies)
        value = -descend(after(position, cell), depth - 1, ply + 1, alpha, beta, desk)
        if desk[STOPPED] != 0:
            return best
        if value > best:
            best = value
            extend_line(desk, ply, cell)
    return best
