"""Compare players' fixed-depth searches with a reference."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from isolation.checks.check_result import (
    LONGEST_CHECK,
    LONGEST_MOVE,
    CheckResult,
    describe_answer,
    explain,
    new_player,
)
from isolation.checks.speed import random_openings
from isolation.checks.state_search import NotComparable, StateSearch
from isolation.compiling.determinism import nondeterminism_reason
from isolation.editions.classic_board import Board
from isolation.editions.edition import THIRD, Edition
from isolation.rules.limits import Limit
from isolation.search import search
from isolation.search.interpreted import value_of_move
from isolation.usercode.output_capture import prevent_exit
from isolation.usercode.timeouts import cpu_timeout

COMPARED_AT = (4, 10, 16, 22, 28)
"""Numbers of plies after which searches are compared. Small ones show errors of searches that never see the end."""
DEPTHS = (1, 2, 3)
SEARCHES = ("minimax", "alphabeta")
STATE_SEARCHES = ("minimax", "alphabeta", "alpha_beta", "alphabeta_search", "alpha_beta_search")
"""Usual names of third-edition players' fixed-depth searches."""

Comparison = Callable[[Board, int], str]
"""Describes what is wrong with a search's answer at a position and depth; empty if it is as good as the reference's."""


def compare_searches(player: Any, factory: Callable[[], Any], edition: Edition) -> list[CheckResult]:
    """Compare a player's fixed-depth searches with the reference, from the opening to the end of the game.

    Each comparison has a new player. A search that cannot be compared fairly passes, with the reason.

    Args:
        player: a player, which tells what searches there are.
    """
    if not callable(getattr(player, "score", None)):
        return []
    names = STATE_SEARCHES if edition is THIRD else SEARCHES
    return [_compare(factory, name, edition) for name in names if callable(getattr(player, name, None))]


def _compare(factory: Callable[[], Any], method: str, edition: Edition) -> CheckResult:
    check = f"fixed-depth {method}"
    compared, started, manner = 0, time.process_time(), ""
    wrong_in = _comparison(factory, method)
    try:
        if edition is THIRD:
            states = StateSearch(factory, method, DEPTHS, next(_boards(edition)))
            wrong_in, manner = states.wrong, states.manner
        for board in _boards(edition):
            for depth in DEPTHS:
                if time.process_time() - started > LONGEST_CHECK:
                    seen = (
                        f"as good as the reference in {compared} comparisons (limited to {LONGEST_CHECK:g} s){manner}"
                    )
                    return CheckResult(check, True, seen)
                if wrong := wrong_in(board, depth):
                    return _told_of_chance(CheckResult(check, False, wrong), factory)
                compared += 1
    except NotComparable as reason:
        return CheckResult(check, not reason.is_note, str(reason), is_note=reason.is_note)
    except Exception as error:
        return CheckResult(check, False, explain(error))
    seen = f"as good as the reference at depths {DEPTHS[0]} to {DEPTHS[-1]}, in {compared} comparisons{manner}"
    return CheckResult(check, True, seen)


def _boards(edition: Edition) -> Iterator[Board]:
    size = edition.usual_size
    for plies in _compared_at(edition):
        for cells in random_openings(32, plies, size, plies):
            yield Board.from_moves(cells, size)


def _compared_at(edition: Edition) -> Sequence[int]:
    """Return the numbers of plies after which searches are compared: twice as many on the third edition's board."""
    return [2 * plies for plies in COMPARED_AT] if edition is THIRD else COMPARED_AT


def _comparison(factory: Callable[[], Any], method: str) -> Comparison:
    """Return the comparison of a search of (game, depth)."""

    def wrong_in(board: Board, depth: int) -> str:
        player = new_player(factory)
        player.time_left = lambda: math.inf
        board = board.copy()
        board.players = (player, "opponent")
        return _wrong_answer(player, method, board, depth)

    return wrong_in


def _wrong_answer(player: Any, method: str, board: Board, depth: int) -> str:
    """Describe what is wrong with the answer of a player's search; empty if it is correct."""
    where = f"at depth {depth} of {board!r}"
    try:
        with cpu_timeout(LONGEST_MOVE), prevent_exit():
            answer = getattr(player, method)(board.copy(), depth)
    except Exception as error:
        return f"{explain(error)} {where}"
    with cpu_timeout(LONGEST_MOVE), prevent_exit():
        is_value_and_move = isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], tuple)
        move = answer[1] if is_value_and_move else answer
        legal_moves = board.get_legal_moves()
        if not isinstance(move, tuple) or move not in legal_moves:
            return f"{describe_answer(move)} {where}, where {legal_moves} are legal"
        best = search(board, player.score, Limit(depth=depth), interpreted=True)
        worth = value_of_move(board, player.score, move[0] * board.width + move[1], depth)
    if worth == best.score:
        return ""
    better = divmod(best.move, board.width)
    return f"plays {move}, worth {worth:g}, {where}; {better} is worth {best.score:g}"


def _told_of_chance(finding: CheckResult, factory: Callable[[], Any]) -> CheckResult:
    """Turn a failure into a note if a nondeterministic score explains it."""
    why = nondeterminism_reason(new_player(factory).score)
    if not why:
        return finding
    return replace(finding, seen=f"{finding.seen}; but the score is not deterministic: {why}", is_note=True)
