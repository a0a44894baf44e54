"""Fail-hard alpha-beta below the root."""

from __future__ import annotations

from typing import Any

from numba import int64

from isolation.native.bits import drop_lowest, is_empty, lowest, popcount, without_cell
from isolation.native.kernels.desk import begin_line, count_node, end_line, extend_line, must_stop
from isolation.native.kernels.inner import inner
from isolation.native.kernels.leaves import horizon
from isolation.native.kernels.open_names import ORDERED, QUIESCENT
from isolation.native.layout import CHECKPOINT, NODES, STOPPED
from isolation.native.position import after, facing, location_of, moves_from

INFINITY = float("inf")
PRUNES = True


@inner
def best_mobility(position: Any, replies: Any) -> int:
    """The reply after which own moves minus the opponent's moves is largest, the lowest cell among equals."""
    best, most = lowest(replies), -99
    while not is_empty(replies):
        cell = lowest(replies)
        replies = drop_lowest(replies)
        child = after(position, cell)
        own = popcount(moves_from(child, cell))
        against = popcount(moves_from(child, location_of(child, child._turn)))
        if own - against > most:
            best, most = cell, own - against
    return best


@inner(inline="always")
def frontier(position: Any, replies: Any, ply: int, alpha: float, beta: float, desk: Any) -> float:
    """Alpha-beta one ply above the horizon: most nodes of a search are seen here, so it calls nothing recursive."""
    nodes, checkpoint, best = desk[NODES], desk[CHECKPOINT], int64(-1)
    while not is_empty(replies):
        if nodes >= checkpoint:
            desk[NODES] = nodes
            if must_stop(desk):
                return alpha
            checkpoint = desk[CHECKPOINT]
        nodes += 1
        cell = lowest(replies)
        replies = drop_lowest(replies)
        child = after(position, cell)
        over = is_empty(moves_from(child, location_of(child, child._turn)))
        value = INFINITY if over else -horizon(child, desk)
        if value > alpha:
            alpha, best = value, cell
            if alpha >= beta:
                alpha = beta
                break
    desk[NODES] = nodes
    if best >= 0:
        end_line(desk, ply, best)
    return alpha


@inner
def descend(position: Any, depth: int, ply: int, alpha: float, beta: float, desk: Any) -> float:
    """The value of a position to the side to move, within [alpha, beta], searched `depth` plies deep."""
    begin_line(desk, ply)
    replies = moves_from(position, location_of(position, position._turn))
    if is_empty(replies):
        return -INFINITY
    if depth == 0:
        return horizon(position, desk)
    if depth == 1 and not QUIESCENT:
        if position._turn == 0:
            return frontier(facing(position, 0), replies, ply, alpha, beta, desk)
        return frontier(facing(position, 1), replies, ply, alpha, beta, desk)
    while not is_empty(replies):
        if not count_node(desk):
            return alpha
        cell = best_mobility(position, replies) if ORDERED else lowest(replies)
        replies = without_cell(replies, cell)
        value = -descend(after(position, cell), depth - 1, ply + 1, -beta, -alpha, desk)
        if desk[STOPPED] != 0:
            return alpha
        if value > alpha:
            alpha = value
            extend_line(desk, ply, cell)
            if alpha >= beta:
                return beta
    return alpha
