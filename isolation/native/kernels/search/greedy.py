"""The greedy one-ply player."""

from __future__ import annotations

from typing import Any

from knights_isolation.isolation.native.bitboards import drop_lowest, is_empty, lowest, popcount
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.search.leaves import appraise
from knights_isolation.isolation.native.layout import DEPTH, EXACT, MOVE, NODES
from knights_isolation.isolation.native.position import after, location_of, moves_from

INFINITY = float("inf")


@inner
def think(position: Any, depth_limit: int, flags: int, desk: Any) -> float:
    """The move after which the heuristic is best for the mover, the highest cell among equals."""
    replies = moves_from(position, location_of(position, position._turn))
    desk[NODES] = 1 + popcount(replies)
    desk[MOVE] = -1
    desk[DEPTH] = 1
    best = -INFINITY
    while not is_empty(replies):
        cell = lowest(replies)
        replies = drop_lowest(replies)
        child = after(position, cell)
        over = is_empty(moves_from(child, location_of(child, child._turn)))
        value = INFINITY if over else appraise(child, desk)
        if value >= best or desk[MOVE] < 0:
            best = value
            desk[MOVE] = cell
    if best == INFINITY:
        desk[EXACT] = 1
    return best
