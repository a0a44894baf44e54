"""Fail-hard alpha-beta below the root.

Three plies above the horizon are one piece of code: calls cost more there than what they do, and where whose turn it is
is known, LLVM makes the heuristic's code simpler. Positions are seen from the side to move; `side` says which player
that is.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from knights_isolation.isolation.native.bitboards import drop_lowest, is_empty, lowest, popcount, without_cell
from knights_isolation.isolation.native.decorators import inlined, inner, written_in
from knights_isolation.isolation.native.kernels import workspace
from knights_isolation.isolation.native.kernels.placeholders import ORDERED, QUIESCENT
from knights_isolation.isolation.native.kernels.search.leaves import horizon, ranked_apart
from knights_isolation.isolation.native.kernels.search.recursion import again
from knights_isolation.isolation.native.kernels.workspace import begin_line, count_node, end_line, extend_line
from knights_isolation.isolation.native.layout import CHECKPOINT, HORIZON, NODES, WON
from knights_isolation.isolation.native.position import as_seen, handed_over, location_of, moves_from

PRUNES = True
ROOT = 0


@inner
def best_mobility(position: Any, replies: Any) -> int:
    """The reply after which own moves minus the opponent's moves is largest, the lowest cell among equals."""
    best, most = lowest(replies), -99
    while not is_empty(replies):
        cell = lowest(replies)
        replies = drop_lowest(replies)
        child = handed_over(position, cell)
        own = popcount(moves_from(child, cell))
        against = popcount(moves_from(child, location_of(child, 0)))
        if own - against > most:
            best, most = cell, own - against
    return best


@inner
def worth(position: Any, side: int, desk: Any) -> int:
    """`horizon` of a position in which player `side` is to move, where few nodes of a search are."""
    seen = as_seen(position, side)
    if QUIESCENT:
        return horizon(seen, desk)
    desk[HORIZON] = 1
    value = ranked_apart(seen, desk)
    return value if side == 0 else -value


@inner
def watched_frontier(position: Any, replies: Any, ply: int, side: int, alpha: int, beta: int, desk: Any) -> int:
    """`frontier`, asking before each node whether the search must stop."""
    best = int64(-1)
    while not is_empty(replies):
        if not count_node(desk):
            return alpha
        cell = lowest(replies)
        replies = drop_lowest(replies)
        child = handed_over(position, cell)
        value = WON if is_empty(moves_from(child, location_of(child, 0))) else -worth(child, side, desk)
        if value > alpha:
            alpha, best = value, cell
            if alpha >= beta:
                alpha = beta
                break
    if best >= 0:
        end_line(desk, ply, best)
    return alpha


@inlined
def frontier(position: Any, replies: Any, ply: int, side: int, alpha: int, beta: int, desk: Any) -> int:
    """Alpha-beta one ply above the horizon, where most nodes of a search are; `side` moves at the horizon."""
    ahead = desk[NODES] + popcount(replies)
    if workspace.unlikely(ahead > desk[CHECKPOINT]):
        return watched_frontier(position, replies, ply, side, alpha, beta, desk)
    best = int64(-1)
    while not is_empty(replies):
        cell = lowest(replies)
        replies = drop_lowest(replies)
        child = handed_over(position, cell)
        over = is_empty(moves_from(child, location_of(child, 0)))
        value = WON if over else -horizon(as_seen(child, side), desk)
        # Without a branch, which would be mispredicted.
        better = value > alpha
        best = cell if better else best
        alpha = value if better else alpha
        if value >= beta:
            desk[NODES] = ahead - popcount(replies)
            return beta
    desk[NODES] = ahead
    # Even if no reply is better than alpha: nobody reads the line then, and to ask would be one branch more.
    end_line(desk, ply, best)
    return alpha


def one_ply(deeper: Any, extend: Any, kind: Any, orders: bool = ORDERED) -> Any:
    """Alpha-beta over the replies to a position: `deeper` says what each is worth to who moves next.

    After a cut-off no line is kept but that of a win, which ends here: all replies to it lose, and none is the best.
    """

    @kind
    def search(position: Any, replies: Any, ply: int, given: int, alpha: int, beta: int, desk: Any) -> int:
        while not is_empty(replies):
            if not count_node(desk):
                return alpha
            cell = best_mobility(position, replies) if orders else lowest(replies)
            replies = without_cell(replies, cell) if orders else drop_lowest(replies)
            value = -deeper(handed_over(position, cell), ply + 1, given, -beta, -alpha, desk)
            if value > alpha:
                if value >= beta:
                    if beta == WON:
                        end_line(desk, ply, cell)
                    return beta
                alpha = value
                extend(desk, ply, cell)
        return alpha

    return search


def a_ply_above(search: Any, plies: int) -> Any:
    """Alpha-beta a ply above another one of these, which searches so many; it is given who moves at the horizon."""

    @inlined
    def deeper(position: Any, ply: int, side: int, alpha: int, beta: int, desk: Any) -> int:
        replies = moves_from(position, location_of(position, 0))
        return -WON if is_empty(replies) else search(position, replies, ply, side, alpha, beta, desk)

    return one_ply(deeper, workspace.extending(plies), inlined)


@written_in
def by_recursion(position: Any, ply: int, depth: int, alpha: int, beta: int, desk: Any) -> int:
    """`descend`, called by itself."""
    return again(position, depth, ply, alpha, beta, desk)


three_plies = a_ply_above(a_ply_above(frontier, 1), 2)
any_plies = one_ply(by_recursion, extend_line, written_in)
last_ply = one_ply(by_recursion, extend_line, written_in, orders=False)


@inner
def descend(position: Any, depth: int, ply: int, alpha: int, beta: int, desk: Any) -> int:
    """The value of a position to the side to move, within [alpha, beta], searched `depth` plies deep.

    The side to move is player 0 at even plies.
    """
    if ply == ROOT:
        # So that all this is compiled once, and not a second time for the root.
        return again(position, depth, ply + 1, alpha, beta, desk)
    begin_line(desk, ply)
    replies = moves_from(position, location_of(position, 0))
    if is_empty(replies):
        return -WON
    if depth == 0:
        return worth(position, ply & 1, desk)
    if not QUIESCENT:
        if depth == 3:
            # int64, since numba compiles a function anew for each literal; LLVM sees a constant either way.
            if ply & 1 == 1:
                return three_plies(position, replies, ply, int64(0), alpha, beta, desk)
            return three_plies(position, replies, ply, int64(1), alpha, beta, desk)
        if depth == 1:
            return watched_frontier(position, replies, ply, (ply + 1) & 1, alpha, beta, desk)
    elif ORDERED and depth == 1:
        return last_ply(position, replies, ply, 0, alpha, beta, desk)
    return any_plies(position, replies, ply, depth - 1, alpha, beta, desk)


@inner
def reply_value(position: Any, cell: int, depth: int, bound: int, desk: Any) -> int:
    """Return the value of moving to a cell at the root, searched `depth` plies deep, if it is above a bound."""
    return -descend(handed_over(position, cell), depth - 1, int64(ROOT), -WON, -bound, desk)
