"""Root of minimax and alpha-beta: a fixed depth, or iterative deepening."""

from __future__ import annotations

from typing import Any

from numba import int64

from knights_isolation.isolation.native import layout as on_desk
from knights_isolation.isolation.native.bitboards import drop_lowest, is_empty, lowest, popcount
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels import workspace
from knights_isolation.isolation.native.kernels.placeholders import PRUNES, reply_value, worth_of
from knights_isolation.isolation.native.kernels.workspace import begin_line, count_node, extend_line
from knights_isolation.isolation.native.layout import RANDOM_TIES, STOP_ON_AGREEMENT, WON
from knights_isolation.isolation.native.position import location_of, moves_from

AGREEING = 3


@inner
def search_root(position: Any, depth: int, random_ties: bool, desk: Any) -> tuple[int, int]:
    """The best move and its rank at a fixed depth; the lowest cell among equals, or any of them, each as likely.

    To tell equals apart under random ties, a later move is searched with a bound just below the best value.
    """
    begin_line(desk, int64(0))  # not 0, for which numba would compile it anew
    replies = moves_from(position, location_of(position, position._turn))
    best_cell, best, equals = lowest(replies), -WON, 0
    if not count_node(desk):
        return best_cell, best
    while not is_empty(replies):
        if not count_node(desk):
            return best_cell, best
        cell = lowest(replies)
        replies = drop_lowest(replies)
        bound = max(-WON, best - 1) if random_ties else best
        value = reply_value(position, cell, depth, bound, desk)
        if desk[on_desk.STOPPED] != 0:
            return best_cell, best
        if value > best:
            best_cell, best, equals = cell, value, 1
            extend_line(desk, int64(0), cell)
        elif random_ties and value == best:
            equals += 1
            if workspace.next_random(desk) % equals == 0:
                best_cell = cell
                extend_line(desk, int64(0), cell)
        if PRUNES and best == WON and not random_ties:
            break
    return best_cell, best


@inner
def think(position: Any, depth_limit: int, flags: int, desk: Any) -> float:
    """Search until the limit; leaves move, depth and exactness on the desk and returns the score.

    `depth_limit` 0 deepens one ply at a time until nodes or time are used up, until the outcome is proven, or, if
    asked, until three iterations in a row agree on the move. A lost position keeps the move of the last iteration
    that did not yet see the loss.
    """
    random_ties = flags & RANDOM_TIES != 0
    desk[on_desk.MOVE] = lowest(moves_from(position, location_of(position, position._turn)))
    score, agreed = 0, 0
    deepest = depth_limit if depth_limit > 0 else popcount(position._blank)
    for depth in range(depth_limit if depth_limit > 0 else 1, deepest + 1):
        desk[on_desk.HORIZON] = 0
        cell, value = search_root(position, depth, random_ties, desk)
        if desk[on_desk.STOPPED] != 0:
            break
        agreed = agreed + 1 if cell == desk[on_desk.MOVE] else 1
        if value != -WON or desk[on_desk.DEPTH] == 0:
            desk[on_desk.MOVE] = cell
            workspace.keep_line(desk)
        desk[on_desk.DEPTH] = depth
        score = value
        if desk[on_desk.HORIZON] == 0 or abs(value) == WON:
            desk[on_desk.EXACT] = 1
            break
        if flags & STOP_ON_AGREEMENT != 0 and depth >= AGREEING and agreed >= AGREEING:
            break
    return worth_of(score)
