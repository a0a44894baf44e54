"""Minimax and alpha-beta: below the root, at the root, and for many positions in one call.

Alpha-beta is fail-hard. Three plies above the horizon are one piece of code: calls cost more there than what they do,
and where whose turn it is is known, LLVM makes the heuristic's code simpler. Positions are seen from the side to move;
`side` says which player that is.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from knights_isolation.isolation.native import layout as on_desk
from knights_isolation.isolation.native.bitboards import drop_lowest, is_empty, lowest, popcount, without_cell
from knights_isolation.isolation.native.decorators import inlined, inner, written_in
from knights_isolation.isolation.native.extern_heuristic import worth_of
from knights_isolation.isolation.native.kernels import workspace
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ORDERED, PRUNES, QUIESCENT, ROWS
from knights_isolation.isolation.native.kernels.players import horizon, ranked_apart
from knights_isolation.isolation.native.kernels.recursion import again
from knights_isolation.isolation.native.kernels.workspace import begin_line, count_node, end_line, extend_line
from knights_isolation.isolation.native.layout import (
    CHECKPOINT,
    HORIZON,
    MAX_PLY,
    NODES,
    RANDOM_TIES,
    STOP_ON_AGREEMENT,
    STOPPED,
    WON,
)
from knights_isolation.isolation.native.position import (
    after,
    as_seen,
    handed_over,
    location_of,
    make_position,
    moves_from,
)

ROOT = 0
AGREEING = 3


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
def descend_fully(position: Any, depth: int, ply: int, desk: Any) -> int:
    """Minimax: the value of a position to the side to move, searched `depth` plies deep."""
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
        value = -descend_fully(after(position, cell), depth - 1, ply + 1, desk)
        if desk[STOPPED] != 0:
            return best
        if value > best:
            best = value
            extend_line(desk, ply, cell)
    return best


@inner
def reply_value(position: Any, cell: int, depth: int, bound: int, desk: Any) -> int:
    """Return the value of moving to a cell at the root, searched `depth` plies deep, if it is above a bound.

    Minimax has no use for the bound.
    """
    if not PRUNES:
        return -descend_fully(after(position, cell), depth - 1, int64(1), desk)
    return -descend(handed_over(position, cell), depth - 1, int64(ROOT), -WON, -bound, desk)


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


@inner
def search_many(
    low: int, high: int, own: int, other: int, count: int, depth: int, nodes: int, address: int, parameters: int,
    scores: int, lengths: int, lines: int,
) -> float:  # fmt: skip
    """Search from every position, in each of which the side to move has a move and the other has just moved.

    The heuristic is asked for the side that has just moved, as in a search that began before that move. All arguments
    but `count`, the number of positions, and `depth`, 0 for a limit of nodes, are addresses. Given are the blank cells
    in two words (uint64), the cells of the side to move and of the other, the most nodes (int64), a desk, and the
    heuristic's parameters (float64). To be filled are the score to the side to move (float64), the plies of the line
    (int64; 0 if nothing was finished), and its cells (int16[count, MAX_PLY]). A failure ends the call as FAILED.
    """
    low_, high_ = workspace.uint64s_at(int64(low)), workspace.uint64s_at(int64(high))
    own_, other_, nodes_ = workspace.int64s_at(own), workspace.int64s_at(other), workspace.int64s_at(nodes)
    scores_, lengths_, lines_ = workspace.float64s_at(scores), workspace.int64s_at(lengths), workspace.int16s_at(lines)
    desk = workspace.int64s_at(address)
    desk[on_desk.PARAMETERS] = parameters
    for i in range(count):
        desk[on_desk.FAILED] = 1
        workspace.open_desk(desk, nodes_[i], int64(-1), int64(0))
        position = make_position(ROWS, COLUMNS, low_[i], high_[i], own_[i], other_[i], 0)
        scores_[i], lengths_[i] = 0.0, 0
        deepest = depth if depth > 0 else popcount(position._blank)
        for plies in range(depth if depth > 0 else 1, deepest + 1):
            desk[on_desk.HORIZON] = 0
            value = descend(position, plies, int64(0), -WON, WON, desk)
            if desk[on_desk.STOPPED] != 0 or desk[on_desk.GIVEN_UP] != 0:
                break
            scores_[i], lengths_[i] = worth_of(value), desk[on_desk.LENGTH + 1]
            for ply in range(lengths_[i]):
                lines_[i * MAX_PLY + ply] = desk[on_desk.LINE + MAX_PLY + ply]
            if desk[on_desk.HORIZON] == 0 or abs(value) == WON:
                break
        desk[on_desk.FAILED] = desk[on_desk.GIVEN_UP]
        if desk[on_desk.FAILED] != 0:
            break
    return 0.0
