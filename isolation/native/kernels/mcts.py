"""Monte-Carlo tree search with the UCT rule (Kocsis & Szepesvári 2006).

Without a heuristic, a new leaf is judged by one random playout. With one, by the heuristic's value v, brought into
(0, 1) as 1/2 + v / 2(|v| + m), m the mean |v| seen so far in this search, so that no heuristic needs a scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isolation.native import uct
from isolation.native.bits import drop_lowest, is_empty, lowest, popcount
from isolation.native.kernels.columns import grown
from isolation.native.kernels.desk import count_node, next_random
from isolation.native.kernels.inner import inner
from isolation.native.kernels.leaves import appraise
from isolation.native.kernels.open_names import HAS_SCORE
from isolation.native.layout import BEST_LENGTH, BEST_LINE, DEPTH, MAX_PLY, MOVE
from isolation.native.position import after, location_of, moves_from
from isolation.native.uct import EXPLORATION

natural_log = inner(uct.natural_log)


@inner
def playout(position: Any, desk: Any) -> float:
    """1.0 if player 0 wins a game continued at random, else 0.0."""
    while True:
        replies = moves_from(position, location_of(position, position._turn))
        if is_empty(replies):
            return 0.0 if position._turn == 0 else 1.0
        for _ in range(next_random(desk) % popcount(replies)):
            replies = drop_lowest(replies)
        position = after(position, lowest(replies))


@inner
def choose(cells: Any, visits: Any, first_child: Any, children: Any, desk: Any) -> int:
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
    capacity = 1024
    cells, visits = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
    wins = np.zeros(capacity, np.float64)
    first_child, children = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
    used, judged, total_size = 1, 0, 0.0
    path = np.zeros(MAX_PLY, np.int64)
    desk[MOVE] = lowest(moves_from(position, location_of(position, position._turn)))
    while count_node(desk):
        here, node, ply = position, 0, 0
        path[0] = 0
        while visits[node] > 0:
            replies = moves_from(here, location_of(here, here._turn))
            if is_empty(replies):
                break
            if children[node] == 0:
                if used + 8 > capacity:
                    cells, visits, wins = grown(cells), grown(visits), grown(wins)
                    first_child, children = grown(first_child), grown(children)
                    capacity *= 2
                first_child[node], children[node] = used, popcount(replies)
                while not is_empty(replies):
                    cells[used] = lowest(replies)
                    replies = drop_lowest(replies)
                    used += 1
            log_visits = natural_log(visits[node])
            chosen, best = first_child[node], -1.0
            for child in range(first_child[node], first_child[node] + children[node]):
                if visits[child] == 0:
                    chosen = child
                    break
                bonus = EXPLORATION * np.sqrt(2.0 * log_visits / visits[child])
                bound = wins[child] / visits[child] + bonus
                if bound > best:
                    chosen, best = child, bound
            here = after(here, cells[chosen])
            node, ply = chosen, ply + 1
            path[ply] = node
        if is_empty(moves_from(here, location_of(here, here._turn))):
            share = 0.0 if here._turn == 0 else 1.0
        elif HAS_SCORE:
            value = appraise(here, desk)
            judged += 1
            total_size += abs(value)
            size = abs(value) + total_size / judged
            share = 0.5 + 0.5 * value / size if size > 0.0 else 0.5
        else:
            share = playout(here, desk)
        desk[DEPTH] = max(desk[DEPTH], ply)
        for i in range(ply + 1):
            visits[path[i]] += 1
            wins[path[i]] += share if i % 2 == 1 else 1.0 - share
    chosen = choose(cells, visits, first_child, children, desk)
    return wins[chosen] / visits[chosen] if chosen > 0 else 0.5
