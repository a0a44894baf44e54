"""Best-first search in plain Python: the reference for the compiled search, and the fallback without it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isolation.native.layout import MOST_NODES
from isolation.native.tree_policy import is_more_promising, is_safer
from isolation.rules.limits import Limit
from isolation.search.interpreted import Budget, Heuristic, OutOfBudget, appraise
from isolation.search.result import SearchResult

if TYPE_CHECKING:
    from isolation.editions.classic_board import Board

Preferred = Callable[[float, int, float, int], bool]


@dataclass
class _Node:
    """A node of the tree: the move that led to it, and its value for the player who made that move."""

    cell: int
    worth: float = 0.0
    visits: int = 0
    children: list[_Node] = field(default_factory=list)


def search_best_first(board: Board, heuristic: Heuristic, limit: Limit) -> SearchResult:
    """Expand the end of the best line until the limit is reached or the result is proven; play the safest move."""
    budget = Budget(limit)
    root, deepest = _Node(-1), 0
    value_leaf = _value_by_heuristic(board, heuristic)
    try:
        budget.count_node()
        while not math.isinf(root.worth) and budget.nodes < MOST_NODES:
            deepest = max(deepest, _grow(root, board, value_leaf, budget))
    except OutOfBudget:
        pass
    line = []
    node = root
    while node.children:
        node = _first_of(node.children, is_safer)
        line.append(node)
    seconds = time.perf_counter() - budget.started
    if not line:
        move = board.legal_cells()[0]
        return SearchResult(move, 0.0, deepest, budget.nodes, seconds, (move,), False)
    pv = tuple(node.cell for node in line)
    return SearchResult(pv[0], line[0].worth + 0.0, deepest, budget.nodes, seconds, pv, math.isinf(root.worth))


def _grow(root: _Node, board: Board, value_leaf: Callable[[Board], float], budget: Budget) -> int:
    """Expand the end of the best line and update the values along it; return the ply of the new nodes."""
    path = [root]
    while path[-1].children:
        path.append(_first_of(path[-1].children, is_more_promising))
        board = board.successor(path[-1].cell)
    children = []
    for cell in board.legal_cells():
        budget.count_node()
        children.append(_Node(cell, value_leaf(board.successor(cell))))
    path[-1].children = children
    for node in reversed(path):
        node.visits += 1
        node.worth = -_first_of(node.children, is_more_promising).worth
    return len(path)


def _first_of(nodes: list[_Node], is_preferred: Preferred) -> _Node:
    """Return the preferred node, the first among equals."""
    best = nodes[0]
    for node in nodes[1:]:
        if is_preferred(node.worth, node.visits, best.worth, best.visits):
            best = node
    return best


def _value_by_heuristic(root: Board, heuristic: Heuristic) -> Callable[[Board], float]:
    player = root.active_player

    def value_of(board: Board) -> float:
        """Return a position's value for the player who has just moved."""
        if not board.moves_mask(board.active_index):
            return math.inf
        value = appraise(heuristic, board, player)
        return -value if board.active_player == player else value

    return value_of
