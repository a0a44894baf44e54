"""Compare players' fixed-depth searches with a reference, and find the errors that explain a worse move."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from ..compiling.determinism import nondeterminism_reason
from ..editions.classic_board import Board
from ..editions.edition import THIRD, Edition, names_no_move, read_move
from ..players.agents import is_lost
from ..rules.limits import Limit
from ..search import search
from ..search.interpreted import value_of_move
from ..usercode.output_capture import prevent_exit
from ..usercode.timeouts import cpu_timeout
from .check_result import LONGEST_CHECK, LONGEST_MOVE, RESIGNED, CheckResult, explain, new_player, wrong_move
from .search_cost import random_openings
from .state_search import NotComparable, StateSearch

if TYPE_CHECKING:
    from ..editions.classic_board import Board


COMPARED_AT = (4, 10, 16, 22, 28)
"""Numbers of plies after which searches are compared. Small ones show errors of searches that never see the end."""
DEPTHS = (1, 2, 3)
SEARCHES = ("minimax", "alphabeta")
STATE_SEARCHES = ("minimax", "alphabeta", "alpha_beta", "alphabeta_search", "alpha_beta_search")
"""Usual names of third-edition players' fixed-depth searches."""


def compare_searches(player: Any, factory: Callable[[], Any], edition: Edition) -> list[CheckResult]:
    """Compare a player's fixed-depth searches with the reference, from the opening to the end of the game.

    Each comparison has a new player; `player` tells what searches there are. A search that cannot be compared fairly
    passes, with the reason.
    """
    if not callable(getattr(player, "score", None)):
        return []
    names = STATE_SEARCHES if edition is THIRD else SEARCHES
    return [_compare(factory, name, edition) for name in names if callable(getattr(player, name, None))]


def _compare(factory: Callable[[], Any], method: str, edition: Edition) -> CheckResult:
    check = f"fixed-depth {method}"
    compared, started, manner, ended = 0, time.process_time(), "", f"at depths {DEPTHS[0]} to {DEPTHS[-1]}, "
    searches: MoveSearch | StateSearch = MoveSearch(factory, method)
    try:
        if edition is THIRD:
            searches = StateSearch(factory, method, DEPTHS, next(_boards(edition)))
            manner = searches.manner
        for board, depth in product(_boards(edition), DEPTHS):
            if time.process_time() - started > LONGEST_CHECK:
                manner, ended = f" (limited to {LONGEST_CHECK:g} s){manner}", ""
                break
            if wrong := searches.wrong(board, depth):
                return _told_of_chance(CheckResult(check, False, wrong), factory)
            compared += 1
    except NotComparable as reason:
        return CheckResult(check, not reason.is_note, str(reason), is_note=reason.is_note)
    except Exception as error:
        return CheckResult(check, False, explain(error))
    if searches.resigned:
        manner += f"; {searches.resigned} times it names no move {RESIGNED}"
    return CheckResult(check, True, f"as good as the reference {ended}in {compared} comparisons{manner}")


def _boards(edition: Edition) -> Iterator[Board]:
    size = edition.usual_size
    for plies in [2 * plies for plies in COMPARED_AT] if edition is THIRD else COMPARED_AT:
        for cells in random_openings(32, plies, size, plies):
            yield Board.from_moves(cells, size)


class MoveSearch:
    """A player's search of (game, depth).

    Attributes:
        resigned: how often it named no move where every move loses.
    """

    def __init__(self, factory: Callable[[], Any], method: str) -> None:
        self._factory, self._method, self.resigned = factory, method, 0

    def wrong(self, board: Board, depth: int) -> str:
        """Describe what is wrong with the answer at a position and depth; empty if it is as good as the reference's."""
        player = new_player(self._factory)
        player.time_left = lambda: math.inf
        board = board.copy()
        board.players = (player, "opponent")
        where = f"at depth {depth} of {board!r}"
        method = getattr(player, self._method)
        try:
            with cpu_timeout(LONGEST_MOVE), prevent_exit():
                answer = _move_in(method(board.copy(), depth))
                move = read_move(answer)
                illegal = "" if move in board.get_legal_moves() else wrong_move(answer, method)
        except Exception as error:
            return f"{explain(error)} {where}"
        with cpu_timeout(LONGEST_MOVE), prevent_exit():
            best = search(board, player.score, Limit(depth=depth), interpreted=True)
            if illegal and names_no_move(answer) and (best.score == -math.inf or is_lost(board)):
                self.resigned += 1
                return ""
            if illegal or move is None:
                return f"{illegal} {where}, where {board.get_legal_moves()} are legal"
            cell = move[0] * board.width + move[1]
            worth = value_of_move(board, player.score, cell, depth)
        if worth == best.score:
            return ""
        better = divmod(best.move, board.width)
        seen = f"plays {move}, worth {worth:g}, {where}; {better} is worth {best.score:g}"
        with suppress(Exception), cpu_timeout(LONGEST_MOVE), prevent_exit():
            seen += why_worse(player.score, board, depth, cell, best.move)
        return seen


def _move_in(answer: Any) -> Any:
    """Return the move of an answer: a move, or a pair of a value and a move."""
    if issubclass(type(answer), tuple) and tuple.__len__(answer) == 2:
        second = tuple.__getitem__(answer, 1)
        return second if second is None or issubclass(type(second), tuple) else answer
    return answer


def _told_of_chance(finding: CheckResult, factory: Callable[[], Any]) -> CheckResult:
    """Turn a failure into a note if a nondeterministic score explains it."""
    why = nondeterminism_reason(new_player(factory).score)
    if not why:
        return finding
    return replace(finding, seen=f"{finding.seen}; but the score is not deterministic: {why}", is_note=True)


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
