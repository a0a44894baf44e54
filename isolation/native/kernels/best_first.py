"""Best-first minimax search (Korf & Chickering, Best-first minimax search, Artificial Intelligence 84, 1996).

A tree grows where the best moves of both sides lead: the position at the end of that line is replaced by all that can
follow it, whose worth is then handed up. So a line goes on until something beside it looks better, and what is refuted
costs nothing more. A result that is proven stays, and is not looked into again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knights_isolation.isolation.native import layout as on_desk
from knights_isolation.isolation.native import tree_policy
from knights_isolation.isolation.native.bitboards import drop_lowest, is_empty, lowest
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.players import INFINITY, appraise
from knights_isolation.isolation.native.kernels.workspace import count_node, float64s_at, int32s_at, uint8s_at
from knights_isolation.isolation.native.layout import MAX_PLY, MOST_NODES
from knights_isolation.isolation.native.position import after, location_of, moves_from

MOST_REPLIES = 8

is_more_promising = inner(tree_policy.is_more_promising)
is_safer = inner(tree_policy.is_safer)


@inner
def worth_of(position: Any, desk: Any) -> float:
    """Return the value of a position for the side that has just moved."""
    if is_empty(moves_from(position, location_of(position, position._turn))):
        return INFINITY
    value = appraise(position, desk)
    return value if position._turn == 1 else -value


@inner
def comes_first(node: int, other: int, worths: Any, visits: Any) -> bool:
    """Whether one of two siblings is looked into before the other; the first of equals is."""
    if is_more_promising(worths[node], visits[node], worths[other], visits[other]):
        return True
    return node < other and not is_more_promising(worths[other], visits[other], worths[node], visits[node])


@inner
def most_promising(first: int, count: int, worths: Any, visits: Any) -> tuple[int, int]:
    """The one of `count` nodes to look into, and the next best, 0 if there is none."""
    best, rival = first, 0
    for node in range(first + 1, first + count):
        if is_more_promising(worths[node], visits[node], worths[best], visits[best]):
            best, rival = node, best
        elif rival == 0 or is_more_promising(worths[node], visits[node], worths[rival], visits[rival]):
            rival = node
    return best, rival


@inner
def safest(first: int, count: int, worths: Any, visits: Any) -> int:
    """The one of `count` nodes to play, the first among equals."""
    best = first
    for node in range(first + 1, first + count):
        if is_safer(worths[node], visits[node], worths[best], visits[best]):
            best = node
    return best


@inner
def append_replies(position: Any, used: int, cells: Any, worths: Any, visits: Any, children: Any, desk: Any) -> int:
    """Write all that can follow a position behind the `used` nodes; how many that are, 0 if the limit forbids them."""
    replies = moves_from(position, location_of(position, position._turn))
    node = used
    while not is_empty(replies):
        if not count_node(desk):
            return 0
        cells[node] = lowest(replies)
        worths[node] = worth_of(after(position, cells[node]), desk)
        visits[node] = children[node] = 0
        replies = drop_lowest(replies)
        node += 1
    return node - used


@inner
def write_line(cells: Any, worths: Any, visits: Any, first_child: Any, children: Any, desk: Any) -> int:
    """Write the line of the safest moves to the desk; returns the first one's node, 0 if there is none."""
    chosen, node, ply = 0, 0, 0
    while children[node] > 0:
        node = safest(first_child[node], children[node], worths, visits)
        if ply == 0:
            chosen, desk[on_desk.MOVE] = node, cells[node]
        desk[on_desk.BEST_LINE + ply] = cells[node]
        ply += 1
    desk[on_desk.BEST_LENGTH] = ply
    return chosen


@inner
def hand_up(path: Any, rivals: Any, ply: int, worths: Any, visits: Any) -> int:
    """Back up the value of the node at a path's end; return up to which ply the path is still best.

    Beside the path nothing has changed, so the best of a node's replies is that of the path or its rival.
    """
    kept = ply
    for i in range(ply, 0, -1):
        best, rival, parent = path[i], rivals[i], path[i - 1]
        if rival > 0 and comes_first(rival, best, worths, visits):
            best, kept = rival, i - 1
        visits[parent] += 1
        worths[parent] = -worths[best]
    return kept


@inner
def is_over(worths: Any, desk: Any) -> bool:
    """Whether the result is proven, or the limit or what memory may hold is used up."""
    return abs(worths[0]) == INFINITY or desk[on_desk.STOPPED] != 0 or desk[on_desk.NODES] >= MOST_NODES


@inner
def grow(
    position: Any, cells: Any, worths: Any, visits: Any, first_child: Any, children: Any, path: Any, rivals: Any,
    desk: Any,
) -> None:  # fmt: skip
    """Follow the best line and go on at its end until the search is over.

    Columns are addresses here: arrays would be counted in and out at every use, which costs more than all the rest.
    """
    worths[0], visits[0], children[0] = 0.0, 0, 0
    used, kept = 1, 0
    while not is_over(worths, desk):
        here, node, ply = position, 0, kept
        for i in range(1, kept + 1):
            node = path[i]
            here = after(here, cells[node])
        while children[node] > 0:
            node, rival = most_promising(first_child[node], children[node], worths, visits)
            ply += 1
            here, path[ply], rivals[ply] = after(here, cells[node]), node, rival
        count = append_replies(here, used, cells, worths, visits, children, desk)
        if desk[on_desk.STOPPED] != 0:
            break
        first_child[node], children[node] = used, count
        desk[on_desk.DEPTH] = max(desk[on_desk.DEPTH], ply + 1)
        visits[node] += 1
        worths[node] = -worths[most_promising(used, count, worths, visits)[0]]
        used += count
        kept = hand_up(path, rivals, ply, worths, visits)


@inner
def think(position: Any, depth_limit: int, flags: int, desk: Any) -> float:
    """Follow the best line and go on at its end until the limit or a proof of the result; play the safest move.

    There is room for all nodes from the start, since the system gives memory only where something is written. A tree
    that moved when it outgrew its room would take a tenth of a long search in one go, and be late.
    """
    room = min(desk[on_desk.NODE_LIMIT], MOST_NODES) + MOST_REPLIES
    cells, worths, visits = np.empty(room, np.uint8), np.empty(room), np.empty(room, np.int32)
    first_child, children = np.empty(room, np.int32), np.empty(room, np.uint8)
    path, rivals = np.zeros(MAX_PLY, np.int32), np.zeros(MAX_PLY, np.int32)
    desk[on_desk.MOVE] = lowest(moves_from(position, location_of(position, position._turn)))
    count_node(desk)
    grow(
        position, uint8s_at(cells.ctypes.data), float64s_at(worths.ctypes.data), int32s_at(visits.ctypes.data),
        int32s_at(first_child.ctypes.data), uint8s_at(children.ctypes.data), int32s_at(path.ctypes.data),
        int32s_at(rivals.ctypes.data), desk,
    )  # fmt: skip
    if abs(worths[0]) == INFINITY:
        desk[on_desk.EXACT] = 1
    path[0], rivals[0] = 0, 0  # an array is given back after its last use: addresses do not count
    chosen = write_line(cells, worths, visits, first_child, children, desk)
    return worths[chosen] if chosen > 0 else 0.0
