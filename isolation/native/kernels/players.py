"""Players as C calls them, the values of positions that searches ask for, and the players that do not search."""

from __future__ import annotations

from typing import Any

from knights_isolation.isolation.native import layout as on_desk
from knights_isolation.isolation.native.bitboards import drop_lowest, is_empty, lowest, popcount
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.extern_heuristic import rank, rank_apart, score
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, QUIESCENT, ROWS, think
from knights_isolation.isolation.native.kernels.workspace import (
    count_node,
    give_up,
    int64s_at,
    nanoseconds,
    next_random,
    open_desk,
    unlikely,
)
from knights_isolation.isolation.native.layout import (
    DEPTH,
    EXACT,
    FAILED,
    HORIZON,
    MOVE,
    NODES,
    NOT_A_NUMBER,
    PARAMETERS,
    WALL_CLOCK,
    WON,
)
from knights_isolation.isolation.native.position import after, location_of, make_position, moves_from

INFINITY = float("inf")
LARGEST = 1.7976931348623157e308


@inner
def finite(value: float, desk: Any) -> float:
    """A value of the heuristic's, kept finite.

    NaN is a failure of the heuristic, as an exception is; to raise one here would slow down the search.
    """
    if value > LARGEST:
        return LARGEST
    if value < -LARGEST:
        return -LARGEST
    if value != value:
        give_up(desk)
        return 0.0
    return value


@inner
def appraise(position: Any, desk: Any) -> float:
    """The heuristic's value of an unfinished position to player 0, kept finite so that infinity means proven."""
    return finite(float(score(position, 0, desk[PARAMETERS])), desk)


@inner
def known(rank: int, desk: Any) -> int:
    """A rank; in place of NaN, a failure of the heuristic as in `finite`, any."""
    if unlikely(rank == NOT_A_NUMBER):
        give_up(desk)
        return 0
    return rank


@inner
def ranked_apart(position: Any, desk: Any) -> int:
    """The rank of an unfinished position to player 0, where few nodes of a search are: its code is that of a call."""
    return known(rank_apart(position, desk[PARAMETERS]), desk)


@inner
def horizon(position: Any, desk: Any) -> int:
    """The rank of an unfinished position to the player to move: the heuristic's, after forced replies if asked for."""
    turn = position._turn
    if QUIESCENT:
        replies = moves_from(position, location_of(position, turn))
        while popcount(replies) == 1:
            if not count_node(desk):
                return 0
            position = after(position, lowest(replies))
            replies = moves_from(position, location_of(position, position._turn))
            if is_empty(replies):
                return -WON if position._turn == turn else WON
    desk[HORIZON] = 1
    value = known(rank(position, desk[PARAMETERS]), desk)
    return value if turn == 0 else -value


@inner
def move_at_random(position: Any, depth_limit: int, flags: int, desk: Any) -> float:
    """Any legal move, each as likely; what it is worth is not asked, so its score is NaN."""
    replies = moves_from(position, location_of(position, position._turn))
    for _ in range(next_random(desk) % popcount(replies)):
        replies = drop_lowest(replies)
    desk[MOVE] = lowest(replies)
    desk[NODES] = 1
    return float("nan")


@inner
def move_greedily(position: Any, depth_limit: int, flags: int, desk: Any) -> float:
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


@inner
def entry(
    low: int, high: int, own: int, other: int, depth: int, nodes: int, clock: int, budget: int, flags: int, seed: int,
    address: int, parameters: int,
) -> float:  # fmt: skip
    """Choose a move for the player on `own`; the answers lie on the desk at `address`, the score is returned.

    The heuristic's parameters lie at `parameters` (float64). An exception of it is left on the desk as FAILED.
    """
    desk = int64s_at(address)
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


@inner
def evaluate(
    low: int, high: int, cell_0: int, cell_1: int, turn: int, player: int, address: int, parameters: int,
) -> float:  # fmt: skip
    """The heuristic's value to a player under its parameters (float64); an exception is left on the desk as FAILED."""
    desk = int64s_at(address)
    desk[FAILED] = 1
    value = float(score(make_position(ROWS, COLUMNS, low, high, cell_0, cell_1, turn), player, parameters))
    desk[FAILED] = 0
    return value
