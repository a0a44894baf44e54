"""Monte-Carlo tree search with the UCT rule (Kocsis & Szepesvári 2006).

Without a heuristic, a new leaf is judged by one random playout. With one, by the heuristic's value v, brought into
(0, 1) as 1/2 + v / 2(|v| + m), m the mean |v| seen so far in this search, so that no heuristic needs a scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knights_isolation.isolation.native import tree_policy
from knights_isolation.isolation.native.bitboards import drop_lowest, is_empty, lowest, popcount
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels import workspace
from knights_isolation.isolation.native.kernels.placeholders import HAS_SCORE
from knights_isolation.isolation.native.kernels.players import appraise
from knights_isolation.isolation.native.kernels.workspace import count_node, float64s_at, grown, int64s_at, uint8s_at
from knights_isolation.isolation.native.layout import BEST_LENGTH, BEST_LINE, DEPTH, MAX_PLY, MOVE, STOPPED
from knights_isolation.isolation.native.position import after, location_of, moves_from
from knights_isolation.isolation.native.tree_policy import EXPLORATION

ROOM = 1024
TO_MOVE_A_NODE = 30  # nanoseconds, with those that the system takes to find the memory
MOST_REPLIES = 8

natural_log = inner(tree_policy.natural_log)


@inner
def playout(position: Any, desk: Any) -> float:
    """1.0 if player 0 wins a game continued at random, else 0.0."""
    while True:
        replies = moves_from(position, location_of(position, position._turn))
        if is_empty(replies):
            return 0.0 if position._turn == 0 else 1.0
        for _ in range(workspace.next_random(desk) % popcount(replies)):
            replies = drop_lowest(replies)
        position = after(position, lowest(replies))


@inner
def worth_of(position: Any, sizes: Any, desk: Any) -> float:
    """The share of a win that a position is worth to player 0, proven or judged.

    `sizes` holds how many values the search has seen and the sum of their sizes.
    """
    if is_empty(moves_from(position, location_of(position, position._turn))):
        return 0.0 if position._turn == 0 else 1.0
    if not HAS_SCORE:
        return playout(position, desk)
    value = appraise(position, desk)
    sizes[0] += 1.0
    sizes[1] += abs(value)
    size = abs(value) + sizes[1] / sizes[0]
    return 0.5 + 0.5 * value / size if size > 0.0 else 0.5


@inner
def append_replies(replies: Any, used: int, cells: Any, visits: Any, wins: Any, children: Any) -> int:
    """Write moves behind the `used` nodes; how many nodes there are then."""
    while not is_empty(replies):
        cells[used], visits[used], wins[used], children[used] = lowest(replies), 0, 0.0, 0
        replies = drop_lowest(replies)
        used += 1
    return used


@inner
def select(first: int, count: int, log_visits: float, visits: Any, wins: Any) -> int:
    """The one of `count` nodes to look into: the first not visited yet, otherwise that of the highest bound."""
    chosen, best = first, -1.0
    for child in range(first, first + count):
        if visits[child] == 0:
            return child
        bonus = EXPLORATION * np.sqrt(2.0 * log_visits / visits[child])
        bound = wins[child] / visits[child] + bonus
        if bound > best:
            chosen, best = child, bound
    return chosen


@inner
def simulate(
    position: Any, used: int, room: int, cells: Any, visits: Any, wins: Any, first_child: Any, children: Any,
    path: Any, sizes: Any, desk: Any,
) -> int:  # fmt: skip
    """Simulate until the limit or until the room is used up; the nodes used then.

    Columns are addresses here: arrays would be counted in and out at every use, which costs more than all the rest.
    """
    while used + MOST_REPLIES <= room and count_node(desk):
        here, node, ply = position, 0, 0
        while visits[node] > 0:
            replies = moves_from(here, location_of(here, here._turn))
            if is_empty(replies):
                break
            if children[node] == 0:
                first_child[node], children[node] = used, popcount(replies)
                used = append_replies(replies, used, cells, visits, wins, children)
            node = select(first_child[node], children[node], natural_log(visits[node]), visits, wins)
            here = after(here, cells[node])
            ply += 1
            path[ply] = node
        share = worth_of(here, sizes, desk)
        desk[DEPTH] = max(desk[DEPTH], ply)
        for i in range(ply + 1):
            visits[path[i]] += 1
            wins[path[i]] += share if i % 2 == 1 else 1.0 - share
    return used


@inner
def write_line(cells: Any, visits: Any, first_child: Any, children: Any, desk: Any) -> int:
    """Write the line of the most visited moves to the desk; returns the first one's node, 0 if there is none."""
    chosen, node, ply = 0, 0, 0
    while children[node] > 0:
        best = first_child[node]
        for child in range(best, best + children[node]):
            if visits[child] > visits[best]:
                best = child
        if visits[best] == 0:
            break
        if ply == 0:
            chosen, desk[MOVE] = best, cells[best]
        desk[BEST_LINE + ply] = cells[best]
        node, ply = best, ply + 1
    desk[BEST_LENGTH] = ply
    return chosen


@inner
def think(position: Any, depth_limit: int, flags: int, desk: Any) -> float:
    """Simulate until the limit and play the move simulated most often, the lowest cell among equals."""
    cells, visits, wins = np.zeros(ROOM, np.uint8), np.zeros(ROOM, np.int64), np.zeros(ROOM)
    first_child, children = np.zeros(ROOM, np.int64), np.zeros(ROOM, np.uint8)
    path, sizes = np.zeros(MAX_PLY, np.int64), np.zeros(2)
    desk[MOVE] = lowest(moves_from(position, location_of(position, position._turn)))
    used = 1
    while desk[STOPPED] == 0 and workspace.has_time_for(desk, TO_MOVE_A_NODE * used):
        if used > 1:
            cells, visits, wins = grown(cells), grown(visits), grown(wins)
            first_child, children = grown(first_child), grown(children)
        used = simulate(
            position, used, len(cells), uint8s_at(cells.ctypes.data), int64s_at(visits.ctypes.data),
            float64s_at(wins.ctypes.data), int64s_at(first_child.ctypes.data), uint8s_at(children.ctypes.data),
            int64s_at(path.ctypes.data), float64s_at(sizes.ctypes.data), desk,
        )  # fmt: skip
    path[0], sizes[0] = 0, 0.0  # an array is given back after its last use: addresses do not count
    chosen = write_line(cells, visits, first_child, children, desk)
    return wins[chosen] / visits[chosen] if chosen > 0 else 0.5
