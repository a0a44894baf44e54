"""MCTS and best-first search in plain Python: the reference for the compiled searches, and the fallback without them.

They use the same random numbers and the same order of arithmetic as the compiled searches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..native.layout import MOST_NODES
from ..native.tree_policy import EXPLORATION, is_more_promising, is_safer, natural_log
from ..rules.limits import Limit
from ..rules.seeds import random_bits
from .interpreted import Budget, Heuristic, OutOfBudget, appraise
from .result import SearchResult

if TYPE_CHECKING:
    from ..editions.classic_board import Board

Valuer = Callable[["Board"], float]
Preferred = Callable[[float, int, float, int], bool]


@dataclass
class _Node:
    """A node: the move that led to it, and its value for the player who made that move; for MCTS, the wins."""

    cell: int
    value: float = 0.0
    visits: int = 0
    children: list[_Node] = field(default_factory=list)


def search_mcts(board: Board, heuristic: Heuristic | None, limit: Limit, seed: int = 0) -> SearchResult:
    """Simulate until the limit is reached, and play the most visited move, the lowest cell among equals."""
    budget = Budget(limit)
    root, deepest = _Node(-1), 0
    value_leaf = _value_by_playout(board, seed) if heuristic is None else _share_by_heuristic(board, heuristic)
    with suppress(OutOfBudget):
        while True:
            budget.count_node()
            deepest = max(deepest, _simulate(root, board, value_leaf))
    line, node = [], root
    while node.children:
        node = max(node.children, key=lambda child: child.visits)
        if node.visits == 0:
            break
        line.append(node)
    score = line[0].value / line[0].visits if line else 0.5
    return _result(board, line, score, deepest, budget, is_proven=False)


def search_best_first(board: Board, heuristic: Heuristic, limit: Limit) -> SearchResult:
    """Expand the end of the best line until the limit is reached or the result is proven; play the safest move."""
    budget = Budget(limit)
    root, deepest = _Node(-1), 0
    value_leaf = _value_by_heuristic(board, heuristic)
    with suppress(OutOfBudget):
        budget.count_node()
        while not math.isinf(root.value) and budget.nodes < MOST_NODES:
            deepest = max(deepest, _grow(root, board, value_leaf, budget))
    line, node = [], root
    while node.children:
        node = _first_of(node.children, is_safer)
        line.append(node)
    score = line[0].value + 0.0 if line else 0.0
    return _result(board, line, score, deepest, budget, is_proven=bool(line) and math.isinf(root.value))


def _result(
    board: Board, line: list[_Node], score: float, deepest: int, budget: Budget, *, is_proven: bool
) -> SearchResult:
    """Return the result of a search with its line, or with the first legal move if that is empty."""
    seconds = time.perf_counter() - budget.started
    pv = tuple(node.cell for node in line) or board.legal_cells()[:1]
    return SearchResult(pv[0], score, deepest, budget.nodes, seconds, pv, is_proven)


def _simulate(root: _Node, board: Board, value_leaf: Valuer) -> int:
    """Descend to a new leaf, evaluate it, and update every node on the path; return the leaf's ply."""
    path = [root]
    while path[-1].visits > 0:
        node = path[-1]
        if not node.children:
            node.children = [_Node(cell) for cell in board.legal_cells()]
        if not node.children:
            break
        child = _select(node)
        board = board.successor(child.cell)
        path.append(child)
    share = value_leaf(board)
    for ply, node in enumerate(path):
        node.visits += 1
        node.value += share if ply % 2 == 1 else 1.0 - share
    return len(path) - 1


def _select(node: _Node) -> _Node:
    """Return the first unvisited child, else the one with the largest upper confidence bound."""
    log_visits = natural_log(node.visits)
    chosen, best = node.children[0], -1.0
    for child in node.children:
        if child.visits == 0:
            return child
        bound = child.value / child.visits + EXPLORATION * math.sqrt(2.0 * log_visits / child.visits)
        if bound > best:
            chosen, best = child, bound
    return chosen


def _grow(root: _Node, board: Board, value_leaf: Valuer, budget: Budget) -> int:
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
        node.value = -_first_of(node.children, is_more_promising).value
    return len(path)


def _first_of(nodes: list[_Node], is_preferred: Preferred) -> _Node:
    """Return the preferred node, the first among equals."""
    best = nodes[0]
    for node in nodes[1:]:
        if is_preferred(node.value, node.visits, best.value, best.visits):
            best = node
    return best


def _value_by_playout(root: Board, seed: int) -> Valuer:
    draw, player = random_bits(seed), root.active_index

    def value_of(board: Board) -> float:
        while cells := board.legal_cells():
            board = board.successor(cells[draw() % len(cells)])
        return 0.0 if board.active_index == player else 1.0

    return value_of


def _value_by_heuristic(root: Board, heuristic: Heuristic) -> Valuer:
    """Return the function that values a position for the player who has just moved."""
    player = root.active_player

    def value_of(board: Board) -> float:
        if not board.moves_mask(board.active_index):
            return math.inf
        value = appraise(heuristic, board, player)
        return -value if board.active_player == player else value

    return value_of


def _share_by_heuristic(root: Board, heuristic: Heuristic) -> Valuer:
    """Return the function that values a position for the player at the root, from 0 to 1."""
    player: Any = root.active_player
    valued, total_size = 0, 0.0

    def value_of(board: Board) -> float:
        nonlocal valued, total_size
        if not board.moves_mask(board.active_index):
            return 0.0 if board.active_player == player else 1.0
        value = appraise(heuristic, board, player)
        valued += 1
        total_size += abs(value)
        size = abs(value) + total_size / valued
        return 0.5 + 0.5 * value / size if size > 0.0 else 0.5

    return value_of
