"""C entry point of a compiled player."""

from __future__ import annotations

from knights_isolation.isolation.native import layout as on_desk
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS, think
from knights_isolation.isolation.native.kernels.workspace import desk_at, nanoseconds, open_desk
from knights_isolation.isolation.native.layout import WALL_CLOCK
from knights_isolation.isolation.native.position import make_position


@inner
def entry(
    low: int, high: int, own: int, other: int, depth: int, nodes: int, clock: int, budget: int, flags: int, seed: int,
    address: int, parameters: int,
) -> float:  # fmt: skip
    """Choose a move for the player on `own`; the answers lie on the desk at `address`, the score is returned.

    The heuristic's parameters lie at `parameters` (float64). An exception of it is left on the desk as FAILED.
    """
    desk = desk_at(address)
    start = nanoseconds(WALL_CLOCK)
    desk[on_desk.FAILED] = 1
    desk[on_desk.DEPTH] = 0
    desk[on_desk.EXACT] = 0
    desk[on_desk.BEST_LENGTH] = 0
    desk[on_desk.RANDOM] = seed
    desk[on_desk.PARAMETERS] = parameters
    open_desk(desk, nodes, clock, budget)
    score = think(make_position(ROWS, COLUMNS, low, high, own, other, 0), depth, flags, desk)
    desk[on_desk.FAILED] = desk[on_desk.GIVEN_UP]
    desk[on_desk.NANOSECONDS] = nanoseconds(WALL_CLOCK) - start
    return score
