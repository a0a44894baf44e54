"""Monte-Carlo tree search in plain Python: the reference for the compiled search, and the fallback without it.

It uses the same random numbers and the same order of arithmetic as the compiled search.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isolation.native.tree_policy import EXPLORATION, natural_log
from isolation.rules.limits import Limit
from isolation.rules.seeds import random_bits
from isolation.search.interpreted import Budget, Heuristic, OutOfBudget, appraise
from isolation.search.result import SearchResult

if TYPE_CHECKING:
    from isolation.editions.classic_board import Board

Valuer = Callable[["Board"], float]


@dataclass
class _Node:
    """A node of the tree: the move that led to it, and the `wins` of the player who made that move."""

    cell: int
    visits: int = 0
    wins: float = 0.0
    children: list[_Node] = field(default_factory=list)


def search_mcts(board: Board, heuristic: Heuristic | None, limit: Limit, seed: int = 0) -> SearchResult:
    """Simulate until the limit is reached, and play the most visited move, the lowest cell among equals."""
    budget = Budget(limit)
    root, deepest = _Node(-1), 0
    value_leaf = _value_by_playout(board, seed) if heuristic is None else _value_by_heuristic(board, heuristic)
    try:
        while True:
            budget.count_node()
            deepest = max(deepest, _simulate(root, board, value_leaf))
    except OutOfBudget:
        pass
    line = []
    node = root
    while node.children:
        node = max(node.children, key=lambda child: child.visits)
        if node.visits == 0:
            break
        line.append(node)
    seconds = time.perf_counter() - budget.started
    if not line:
        move = board.legal_cells()[0]
        return SearchResult(move, 0.5, deepest, budget.nodes, seconds, (move,), False)
    score = line[0].wins / line[0].visits
    pv = tuple(node.cell for node in line)
    return SearchResult(pv[0], score, deepest, budget.nodes, seconds, pv, False)


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
        node.wins += share if ply % 2 == 1 else 1.0 - share
    return len(path) - 1


def _select(node: _Node) -> _Node:
    """Return the first unvisited child, else the one with the largest upper confidence bound."""
    log_visits = natural_log(node.visits)
    chosen, best = node.children[0], -1.0
    for child in node.children:
        if child.visits == 0:
            return child
        bound = child.wins / child.visits + EXPLORATION * math.sqrt(2.0 * log_visits / child.visits)
        if bound > best:
            chosen, best = child, bound
    return chosen


def _value_by_playout(root: Board, seed: int) -> Valuer:
    draw, player = random_bits(seed), root.active_index

    def value_of(board: Board) -> float:
        while cells := board.legal_cells():
            board = board.successor(cells[draw() % len(cells)])
        return 0.0 if board.active_index == player else 1.0

    return value_of


def _value_by_heuristic(root: Board, heuristic: Heuristic) -> Valuer:
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
