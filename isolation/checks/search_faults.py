"""Why a fixed-depth search plays a worse move than the reference: errors that explain the move that was played."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..editions.classic_board import Board

Score = Callable[[Any, Any], float]
_Leaf = Callable[["Board"], float]
"""The value of a position at the end of a line, for the side to move."""


def why_worse(score: Score, board: Board, depth: int, played: int, best: int) -> str:
    """Return the error that makes a search play `played` instead of `best`, as the end of a sentence; "" if unknown.

    Each known error is built into a search of its own. It is named if that search plays the same move.
    """
    me = board.active_player

    def by_score(leaf: Board) -> float:
        value = score(leaf, me)
        return value if leaf.active_player is me else -value

    def by_rules(leaf: Board) -> float:
        return by_score(leaf) if leaf.legal_cells() else -math.inf

    values = {cell: -_value(board.successor(cell), depth - 1, -math.inf, math.inf, by_score) for cell in (played, best)}
    if values[played] >= values[best] and (said := _misjudged_end(score, board, depth, (best, played))):
        return said
    roots = product((by_rules, by_score), (False, True))
    if any(_last_of_equals(board, depth, leaf, is_hard=is_hard) == played for leaf, is_hard in roots):
        return ": takes the last of equal scores, which after a cut is only a bound"
    return ""


def _value(board: Board, depth: int, alpha: float, beta: float, leaf: _Leaf) -> float:
    """Return the value of a position for the side to move, by fail-soft alpha-beta."""
    if depth == 0 or not board.legal_cells():
        return leaf(board)
    best = -math.inf
    for cell in board.legal_cells():
        best = max(best, -_value(board.successor(cell), depth - 1, -beta, -max(alpha, best), leaf))
        if best >= beta:
            break
    return best


def _last_of_equals(board: Board, depth: int, leaf: _Leaf, *, is_hard: bool) -> int:
    """Return the move of a root that compares by >=, above a search that fails hard or soft."""
    best, move = -math.inf, -1
    for cell in board.legal_cells():
        value = -_value(board.successor(cell), depth - 1, -math.inf, -best, leaf)
        value = max(value, best) if is_hard else value
        if value >= best:
            best, move = value, cell
    return move


def _misjudged_end(score: Score, board: Board, depth: int, cells: tuple[int, ...]) -> str:
    """Describe the first end of the game after one of these moves to which the score does not give its infinity."""
    me = board.active_player
    for cell in cells:
        for line, end in sorted(_ends(board.successor(cell), depth - 1, (cell,)), key=lambda found: len(found[0])):
            is_won, value = end.active_player is not me, score(end, me)
            if value != (math.inf if is_won else -math.inf):
                moves = ", ".join(str(divmod(each, board.width)) for each in line)
                what = f"{moves} {'wins' if is_won else 'loses'}{' at once' if len(line) == 1 else ''}"
                test = "is_winner" if is_won else "is_loser"
                return f": {what}; your score gives a finished game {value:g}: test `{test}`"
    return ""


def _ends(board: Board, depth: int, line: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Board]]:
    """Yield the finished games within `depth` plies, with the moves that lead there after those of `line`."""
    if not board.legal_cells():
        yield line, board
    elif depth:
        for cell in board.legal_cells():
            yield from _ends(board.successor(cell), depth - 1, (*line, cell))
