"""Minimax, alpha-beta, iterative deepening, MCTS and best-first search in plain Python, on any `Board`.

This is the reference that the compiled search matches, move for move and node for node, by the same random numbers and
the same order of arithmetic. It is used for heuristics that do not compile, boards too large for compiled code, and
moves before both players are placed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from ..native.layout import MOST_NODES
from ..native.tree_policy import EXPLORATION, is_more_promising, is_safer, natural_log
from ..rules.classic_board import Board
from ..rules.game import Limit
from ..rules.parameters import base_function
from ..rules.seeds import random_bits
from ..usercode.timeouts import call_timeout
from ..usercode.user_exceptions import name_of, return_lines, safe_repr
from . import Budget, Heuristic, Method, OutOfBudget, SearchOptions, SearchResult

Line = tuple[int, ...]
LARGEST = 1.7976931348623157e308
AGREEING = 3
LONGEST_EVALUATION = 90.0
"""Seconds that a heuristic may take for one position: longer than a game waits for a move under nodes or depth."""
_LONGEST_VALUE = 60
"""Most characters shown of a value that is not a number."""


class NotANumber(ArithmeticError):
    """A heuristic returned NaN, which cannot be compared, or a value that is not a number."""


@dataclass
class _Search:
    heuristic: Heuristic
    player: Any
    method: Method
    options: SearchOptions
    budget: Budget
    reached_horizon: bool = False


def appraise(heuristic: Heuristic, board: Board, player: Any) -> float:
    """Return the heuristic's value of an unfinished position, clipped to finite numbers so that infinity means proven.

    Raises:
        NotANumber: the value is NaN or not a number.
    """
    returned = heuristic(board, player)
    value = returned if type(returned) is float else _as_number(returned)
    if value > LARGEST:
        return LARGEST
    if value < -LARGEST:
        return -LARGEST
    if math.isnan(value):
        where = return_lines(base_function(heuristic))
        raise NotANumber(f"the heuristic returned {_called(returned)}{f' ({where})' if where else ''}")
    return value


def _worth(board: Board, heuristic: Heuristic, player: Any) -> float:
    """Return the value of a position for a player; infinite if the game is over."""
    if board.moves_mask(board.active_index):
        return appraise(heuristic, board, player)
    return -math.inf if board.active_player == player else math.inf


@contextmanager
def endless_evaluations_end() -> Iterator[None]:
    """Interrupt a heuristic that does not return from one position, in the context.

    Raises:
        UserCodeTimeout: it took longer than `LONGEST_EVALUATION`; names the heuristic and the position.
    """
    with call_timeout(appraise.__code__, LONGEST_EVALUATION, _described):
        yield


def _described(appraising: dict[str, Any]) -> str:
    heuristic, board, player = (appraising[name] for name in ("heuristic", "board", "player"))
    called = getattr(heuristic, "__name__", "the heuristic")
    return f"{called} at {board!r} for player {board.players.index(player) + 1}"


def _as_number(value: object) -> float:
    """Convert a value to float; return NaN if it is not a number, such as None or text, which `float` would parse."""
    if isinstance(value, str | bytes | bytearray):
        return math.nan
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def _called(value: object) -> str:
    text = "NaN" if isinstance(value, float) else safe_repr(value)
    return text if len(text) < _LONGEST_VALUE else f"a value of type {name_of(value)}"


@endless_evaluations_end()
def search_in_python(
    board: Board, heuristic: Heuristic | None, limit: Limit, method: Method, options: SearchOptions, seed: int = 0
) -> SearchResult:
    """Search by any method; see `isolation.search.search`."""
    if method == "mcts":
        return _search_mcts(board, heuristic, limit, seed)
    assert heuristic is not None
    if method == "bestfirst":
        return _search_best_first(board, heuristic, limit)
    budget = Budget(limit)
    search = _Search(heuristic, board.active_player, method, options, budget)
    draw = random_bits(seed)
    move, score, depth, exact, agreed = board.legal_cells()[0], 0.0, 0, False, 0
    line: Line = (move,)
    for horizon in [limit.depth] if limit.depth else range(1, board.blank.bit_count() + 1):
        search.reached_horizon = False
        try:
            value, new_line = _search_root(search, board, horizon, draw)
        except OutOfBudget:
            break
        agreed = agreed + 1 if new_line[0] == move else 1
        if value != -math.inf or depth == 0:
            move, line = new_line[0], new_line
        depth, score = horizon, value
        if not search.reached_horizon or math.isinf(value):
            exact = True
            break
        if options.stop_on_agreement and horizon >= AGREEING and agreed >= AGREEING:
            break
    return SearchResult(move, score + 0.0, depth, budget.nodes, budget.seconds, line, exact)


def value_of_move(board: Board, heuristic: Heuristic, cell: int, depth: int) -> float:
    """Return the minimax value of a move for the player to move, to a depth that includes the move."""
    search = _Search(heuristic, board.active_player, "minimax", SearchOptions(), Budget(Limit(depth=depth)))
    return -_descend(search, board.successor(cell), depth - 1, -math.inf, math.inf)[0]


def _search_root(search: _Search, board: Board, depth: int, draw: Callable[[], int]) -> tuple[float, Line]:
    random_ties = search.options.random_ties
    cells = board.legal_cells()
    best, equals = -math.inf, 0
    line: Line = (cells[0],)
    search.budget.count_node()
    for cell in cells:
        search.budget.count_node()
        bound = math.nextafter(best, -math.inf) if random_ties else best
        value, below = _descend(search, board.successor(cell), depth - 1, -math.inf, -bound)
        value = -value
        if value > best:
            best, line, equals = value, (cell, *below), 1
        elif random_ties and value == best:
            equals += 1
            if draw() % equals == 0:
                line = (cell, *below)
        if best == math.inf and search.method == "alphabeta" and not random_ties:
            break
    return best, line


def _descend(search: _Search, board: Board, depth: int, alpha: float, beta: float) -> tuple[float, Line]:
    """Return the value of a position for the side to move, fail-hard within [alpha, beta], and the best line."""
    cells = board.legal_cells()
    if not cells:
        return -math.inf, ()
    if depth == 0:
        return _horizon(search, board), ()
    if search.method == "minimax":
        alpha, beta = -math.inf, math.inf
    elif search.options.order_moves and depth > 1:
        cells = by_mobility(board)
    line: Line = ()
    for cell in cells:
        search.budget.count_node()
        value, below = _descend(search, board.successor(cell), depth - 1, -beta, -alpha)
        if -value > alpha:
            alpha, line = -value, (cell, *below)
            if alpha >= beta and search.method == "alphabeta":
                return beta, line
    return alpha, line


def by_mobility(board: Board) -> tuple[int, ...]:
    """Return the legal cells, sorted by the own minus opponent mobility they lead to, largest first, then ascending."""
    knight, other = board._grid.knight, board.moves_mask(1 - board.active_index)

    def disadvantage(cell: int) -> int:
        blank = board.blank & ~(1 << cell)
        return (other & blank).bit_count() - (knight[cell] & blank).bit_count()

    return tuple(sorted(board.legal_cells(), key=disadvantage))


def _horizon(search: _Search, board: Board) -> float:
    mover = board.active_player
    if search.options.quiescence:
        while len(cells := board.legal_cells()) == 1:
            search.budget.count_node()
            board = board.successor(cells[0])
            if not board.moves_mask(board.active_index):
                return -math.inf if board.active_player == mover else math.inf
    search.reached_horizon = True
    value = appraise(search.heuristic, board, search.player)
    return value if mover == search.player else -value


@endless_evaluations_end()
def greedy_interpreted(board: Board, heuristic: Heuristic) -> SearchResult:
    """Choose the best move one ply ahead, the highest cell among equals, as the classic greedy player does.

    A move that ends the game counts as +inf.
    """
    started = time.perf_counter()
    player = board.active_player
    best, move = -math.inf, -1
    for cell in board.legal_cells():
        value = _worth(board.successor(cell), heuristic, player)
        if value >= best or move < 0:
            best, move = value, cell
    nodes = 1 + len(board.legal_cells())
    return SearchResult(move, best + 0.0, 1, nodes, time.perf_counter() - started, (move,), best == math.inf)


def random_interpreted(board: Board, seed: int) -> SearchResult:
    """Choose a random legal move; its score is NaN, since it is not evaluated."""
    cells = board.legal_cells()
    move = cells[random_bits(seed)() % len(cells)]
    return SearchResult(move, math.nan, 0, 1, 0.0, (move,), False)


Valuer = Callable[[Board], float]
Preferred = Callable[[float, int, float, int], bool]


@dataclass
class _Node:
    """A node: the move that led to it, and its value for the player who made that move; for MCTS, the wins."""

    cell: int
    value: float = 0.0
    visits: int = 0
    children: list[_Node] = field(default_factory=list)


def _search_mcts(board: Board, heuristic: Heuristic | None, limit: Limit, seed: int = 0) -> SearchResult:
    """Simulate until the limit is reached, and play the most visited move, the lowest cell among equals."""
    budget = Budget(limit)
    root, deepest = _Node(-1), 0
    value_leaf = _value_by_playout(board, seed) if heuristic is None else _share_by_heuristic(board, heuristic)
    with suppress(OutOfBudget):
        while True:
            budget.count_node()
            deepest = max(deepest, _simulate(root, board, value_leaf))
    line = _line_from(root, _is_more_visited)[1:]
    score = line[0].value / line[0].visits if line else 0.5
    return _result(board, line, score, deepest, budget, is_proven=False)


def _search_best_first(board: Board, heuristic: Heuristic, limit: Limit) -> SearchResult:
    """Expand the end of the best line until the limit is reached or the result is proven; play the safest move."""
    budget = Budget(limit)
    root, deepest = _Node(-1), 0
    value_leaf = _value_by_heuristic(board, heuristic)
    with suppress(OutOfBudget):
        budget.count_node()
        while not math.isinf(root.value) and budget.nodes < MOST_NODES:
            deepest = max(deepest, _grow(root, board, value_leaf, budget))
    line = _line_from(root, is_safer)[1:]
    score = line[0].value + 0.0 if line else 0.0
    return _result(board, line, score, deepest, budget, is_proven=bool(line) and math.isinf(root.value))


def _result(
    board: Board, line: list[_Node], score: float, deepest: int, budget: Budget, *, is_proven: bool
) -> SearchResult:
    """Return the result of a search with its line, or with the first legal move if that is empty."""
    pv = tuple(node.cell for node in line) or board.legal_cells()[:1]
    return SearchResult(pv[0], score, deepest, budget.nodes, budget.seconds, pv, is_proven)


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
    path = _line_from(root, is_more_promising)
    for node in path[1:]:
        board = board.successor(node.cell)
    children = []
    for cell in board.legal_cells():
        budget.count_node()
        children.append(_Node(cell, value_leaf(board.successor(cell))))
    path[-1].children = children
    for node in reversed(path):
        node.visits += 1
        node.value = -_first_of(node.children, is_more_promising).value
    return len(path)


def _line_from(root: _Node, is_preferred: Preferred) -> list[_Node]:
    """Return a node and the preferred reply to it, and to that, to a leaf."""
    line = [root]
    while line[-1].children:
        line.append(_first_of(line[-1].children, is_preferred))
    return line


def _is_more_visited(value: float, visits: int, other_value: float, other_visits: int) -> bool:
    return visits > other_visits


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
        value = _worth(board, heuristic, player)
        return -value if board.active_player == player else value

    return value_of


def _share_by_heuristic(root: Board, heuristic: Heuristic) -> Valuer:
    """Return the function that values a position for the player at the root, from 0 to 1."""
    player: Any = root.active_player
    valued, total_size = 0, 0.0

    def value_of(board: Board) -> float:
        nonlocal valued, total_size
        value = _worth(board, heuristic, player)
        if math.isinf(value):
            return 1.0 if value > 0 else 0.0
        valued += 1
        total_size += abs(value)
        size = abs(value) + total_size / valued
        return 0.5 + 0.5 * value / size if size > 0.0 else 0.5

    return value_of
