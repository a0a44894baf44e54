"""Compare players' fixed-depth searches with a reference."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

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
from .search_faults import why_worse
from .speed import random_openings
from .state_search import NotComparable, StateSearch

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
