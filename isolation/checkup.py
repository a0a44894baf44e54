"""Checks of a user's code: what may be wrong with a heuristic or a classic player, in plain words."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from isolation.board import Board
from isolation.contained import WantsToEnd, unending
from isolation.editions.players import call_get_move, edition_of, seat
from isolation.faults import name_of, shown, told
from isolation.geometry import format_size
from isolation.limits import Limit
from isolation.patience import TookTooLong, at_most
from isolation.search import search
from isolation.search.interpreted import value_of_move
from isolation.speed import random_openings

Heuristic = Callable[[Any, Any], float]
SAMPLE = 300
TIME_LIMIT_MS = 150.0
LONGEST_CALL = 2.0
LONGEST_CHECK = 3.0
LONGEST_MOVE = 5.0


@dataclass(frozen=True)
class Finding:
    """One thing that was checked: what, whether it is well, and what was seen.

    One that is a note and not well should be known, and keeps nobody from playing.
    """

    check: str
    ok: bool
    seen: str
    is_note: bool = False


def check_values(heuristic: Heuristic, size: tuple[int, int] = (7, 7)) -> list[Finding]:
    """Whether a heuristic raises, or returns something that is not a number, before and after both placements."""
    from isolation.compiling.compiler import sample_positions

    return [
        _check_values("values", heuristic, list(sample_positions(size, SAMPLE))),
        _noted(_check_values("values before both players are placed", heuristic, _early_positions(size))),
    ]


def _noted(finding: Finding) -> Finding:
    """Something only games from the empty board come to, as people play them; tournaments place both players first."""
    if finding.ok:
        return finding
    return replace(finding, seen=f"{finding.seen}; games from two plies on never ask there", is_note=True)


def _early_positions(size: tuple[int, int]) -> list[Board]:
    return [Board(1, 2, width=size[1], height=size[0]), Board.from_moves([0], format_size(*size))]


def _check_values(check: str, heuristic: Heuristic, boards: list[Board]) -> Finding:
    started = time.perf_counter()
    for asked, board in enumerate(boards):
        if time.perf_counter() - started > LONGEST_CHECK:
            seen = f"numbers on the {asked} positions that {LONGEST_CHECK:g} s were enough for, for both players"
            return Finding(check, True, seen)
        for player in board.players:
            try:
                with at_most(LONGEST_CALL), unending():
                    value = heuristic(board.copy(), player)
            except Exception as error:
                return Finding(check, False, f"{_explain(error)} at {board!r} for player {player}")
            if not _is_number(value):
                return Finding(check, False, f"{_unfit(value)} at {board!r} for player {player}")
    return Finding(check, True, f"numbers on all of {len(boards)} positions, for both players")


def _unfit(value: object) -> str:
    """What is wrong with a value that is no number."""
    if value is None:
        return "returns None, as where a function ends without a return, instead of a number"
    if isinstance(value, float):
        return "returns nan, which is not a number,"
    text = shown(value)
    return f"returns {text if len(text) < 60 else f'a {name_of(value)}'} instead of a number"


def _is_number(value: object) -> bool:
    try:
        return not math.isnan(value)  # type: ignore[arg-type]
    except TypeError:
        return False


def interpreted_cost(heuristic: Heuristic, size: tuple[int, int] = (7, 7)) -> float:
    """Microseconds a call costs in Python; NaN if it always raises."""
    from isolation.compiling.compiler import sample_positions

    calls, started = 0, time.perf_counter()
    for board in sample_positions(size, 100):
        try:
            heuristic(board, board.active_player)
        except Exception:
            continue
        calls += 1
        if time.perf_counter() - started > LONGEST_CHECK / 3:
            break
    return 1e6 * (time.perf_counter() - started) / calls if calls else math.nan


def check_player(factory: Callable[[], Any]) -> list[Finding]:
    """Whether a classic player has the signature, moves legally and in time, and searches as the reference does."""
    try:
        with at_most(LONGEST_MOVE), unending():
            player = factory()
    except Exception as error:
        return [Finding("construction", False, f"making one without arguments {_explain(error)}")]
    findings = [Finding("signature", True, f"get_move of the {edition_of(player).name} edition")]
    findings.append(_check_moves(player))
    findings += _check_search(factory)
    return findings


def _check_moves(player: Any) -> Finding:
    slowest = 0.0
    for opening in random_openings(4, 2) + random_openings(4, 10, seed=2) + random_openings(4, 24, seed=3):
        board = Board.from_moves(opening)
        legal_moves = board.get_legal_moves()
        started = time.perf_counter()

        def time_left(started: float = started) -> float:
            return TIME_LIMIT_MS - 1e3 * (time.perf_counter() - started)

        try:
            with at_most(LONGEST_MOVE), unending():
                move = call_get_move(player, seat(board, player), time_left)
        except Exception as error:
            return Finding("moves", False, f"{_explain(error)} at {board!r}")
        slowest = max(slowest, 1e3 * (time.perf_counter() - started))
        if not isinstance(move, tuple) or move not in legal_moves:
            return Finding("moves", False, f"plays {shown(move)} at {board!r}, where {legal_moves} are legal")
        if slowest > TIME_LIMIT_MS:
            return Finding("moves", False, f"took {slowest:.0f} ms of {TIME_LIMIT_MS:.0f} ms at {board!r}")
    return Finding("moves", True, f"legal and in time on 12 positions; slowest {slowest:.0f} of {TIME_LIMIT_MS:.0f} ms")


def _check_search(factory: Callable[[], Any]) -> list[Finding]:
    """Compare the player's `minimax` and `alphabeta`, if it has them, with the reference at depths 1 to 3."""
    findings = []
    for method in ("minimax", "alphabeta"):
        player = factory()
        if callable(getattr(player, method, None)) and callable(getattr(player, "score", None)):
            findings.append(_compare_search(player, method))
    return findings


def _compare_search(player: Any, method: str) -> Finding:
    check = f"fixed-depth {method}"
    player.time_left = lambda: math.inf
    for opening in random_openings(3, 4, seed=5) + random_openings(3, 20, seed=6):
        for depth in (1, 2, 3):
            board = Board.from_moves(opening, players=(player, "opponent"))
            try:
                with at_most(LONGEST_MOVE), unending():
                    answer = getattr(player, method)(board.copy(), depth)
            except Exception as error:
                return Finding(check, False, f"{_explain(error)} at depth {depth} of {board!r}")
            move = answer[1] if isinstance(answer[1], tuple) else answer
            best = search(board, player.score, Limit(depth=depth), "minimax", interpreted=True)
            if move not in board.get_legal_moves():
                return Finding(check, False, f"plays {move} at depth {depth} of {board!r}, which is not legal")
            worth = value_of_move(board, player.score, move[0] * board.width + move[1], depth)
            if worth != best.score:
                better = divmod(best.move, board.width)
                return Finding(
                    check, False,
                    f"plays {move}, worth {worth:g}, at depth {depth} of {board!r}; {better} is worth {best.score:g}",
                )  # fmt: skip
    return Finding(check, True, "as good as the reference at depths 1 to 3 on 6 positions")


def _explain(error: BaseException) -> str:
    """What a call did that ended in an exception."""
    return str(error) if isinstance(error, TookTooLong | WantsToEnd) else f"raises {told(error)}"
