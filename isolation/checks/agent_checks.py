"""Checks of heuristics and classic players, for `test-agent` and `try`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from isolation.checks.speed import random_openings
from isolation.compiling.determinism import nondeterminism_reason
from isolation.editions.classic_board import Board
from isolation.editions.edition import THIRD, TOO_LATE, Edition, edition_of, make_player, seat
from isolation.editions.third.conversion import state_of
from isolation.editions.third.sample_players import minimax_value
from isolation.loading.load_user_code import load_player
from isolation.rules.geometry import format_size
from isolation.rules.limits import Limit
from isolation.rules.parameters import base_function
from isolation.search import search
from isolation.search.interpreted import value_of_move
from isolation.usercode.output_capture import WantsToEnd, prevent_exit
from isolation.usercode.timeouts import UserCodeTimeout, wall_timeout
from isolation.usercode.user_exceptions import format_exception, name_of, origin, return_lines, safe_repr

Heuristic = Callable[[Any, Any], float]
SAMPLE = 300
MOVES_AT = (2, 10, 18, 24, 28)
"""Numbers of plies after which players are asked for moves; players of the third edition also place their knights."""
COMPARED_AT = (4, 10, 16, 22, 28)
"""Numbers of plies after which searches are compared. Small ones show errors of searches that never see the end."""
DEPTHS = (1, 2, 3)
SEARCHES = ("minimax", "alphabeta")
STATE_SEARCHES = ("minimax", "alphabeta", "alpha_beta", "alphabeta_search", "alpha_beta_search")
"""Usual names of third-edition players' fixed-depth searches."""
LONGEST_CALL = 2.0
LONGEST_CHECK = 3.0
LONGEST_MOVE = 5.0


@dataclass(frozen=True)
class CheckResult:
    """Result of a check: its name, whether it passed, what was observed, and the first failing position.

    A note that is not `ok` is reported, but does not count as a failure.
    """

    check: str
    ok: bool
    seen: str
    is_note: bool = False
    fen: str = ""


def check_values(heuristic: Heuristic, size: tuple[int, int] = (7, 7)) -> list[CheckResult]:
    """Check that a heuristic returns numbers, both in games with both players placed and before."""
    from isolation.compiling.compile_heuristic import sample_positions

    return [
        _check_values("values", heuristic, list(sample_positions(size, SAMPLE))),
        _noted(_check_values("values before both players are placed", heuristic, _early_positions(size))),
    ]


def _noted(finding: CheckResult) -> CheckResult:
    """Turn a failure before both placements into a note, since tournament games start after both players are placed."""
    if finding.ok:
        return finding
    return replace(finding, seen=f"{finding.seen}; games that start after two plies never evaluate there", is_note=True)


def _early_positions(size: tuple[int, int]) -> list[Board]:
    return [Board(1, 2, width=size[1], height=size[0]), Board.from_moves([0], format_size(*size))]


def _check_values(check: str, heuristic: Heuristic, boards: list[Board]) -> CheckResult:
    started, asked = time.perf_counter(), 0
    failures: list[tuple[str, Board]] = []
    for board in boards:
        if time.perf_counter() - started > LONGEST_CHECK:
            break
        if why := _failing_for_any(heuristic, board):
            failures.append((why, board))
        asked += 1
    of = f"{asked} test positions"
    if asked < len(boards):
        of += f" (limited to {LONGEST_CHECK:g} s)"
    if not failures:
        return CheckResult(check, True, f"returned a number in all of {of}, for both players")
    why, board = failures[0]
    return CheckResult(check, False, f"{why}; it fails in {len(failures):,} of {of}", fen=board.fen)


def _failing_for_any(heuristic: Heuristic, board: Board) -> str:
    """Describe how a heuristic fails at a position for the first player it fails for; empty if it returns numbers."""
    for player in board.players:
        if why := _failing(heuristic, board, player):
            return f"{why} at {board!r} for player {player}"
    return ""


def _failing(heuristic: Heuristic, board: Board, player: Any) -> str:
    """Describe how a heuristic fails at a position for a player; empty if it returns a number."""
    try:
        with wall_timeout(LONGEST_CALL), prevent_exit():
            value = heuristic(board.copy(), player)
    except Exception as error:
        return _explain(error)
    if _is_number(value):
        return ""
    where = return_lines(base_function(heuristic))
    return f"{_unfit(value)} ({where})" if where else _unfit(value)


def _unfit(value: object) -> str:
    """Describe what is wrong with a value that is not a number."""
    if value is None:
        return "returns None (missing return?) instead of a number"
    if isinstance(value, float):
        return "returns NaN instead of a number"
    text = safe_repr(value)
    return f"returns {text if len(text) < 60 else f'a {name_of(value)}'} instead of a number"


def _is_number(value: object) -> bool:
    try:
        return not math.isnan(value)  # type: ignore[arg-type]
    except TypeError:
        return False


def checks_of_file(path: str, name: str) -> Callable[[], list[dict[str, Any]]]:
    """Load a player from a file and return a function that checks it; its results are plain data, for other processes.

    Raises:
        LoadError: the file cannot be loaded, or has no such player.
    """
    player = load_player(path, name).value
    return lambda: [asdict(finding) for finding in check_player(player)]


def check_player(factory: Callable[[], Any]) -> list[CheckResult]:
    """Check a classic player's signature, the legality and time of its moves, and its fixed-depth searches.

    Time is CPU time, so a busy machine does not matter. A single slow move among many is a note, because the first
    run of code often takes longer.
    """
    try:
        player = _made(factory)
    except Exception as error:
        return [CheckResult("construction", False, f"making one {_explain(error)}")]
    edition = edition_of(player)
    findings = [CheckResult("signature", True, f"{edition.asked_by.partition('(')[0]} of the {edition.name} edition")]
    findings += _check_moves(player, factory, edition)
    if callable(getattr(player, "score", None)):
        names = STATE_SEARCHES if edition is THIRD else SEARCHES
        findings += [_compare_search(factory, name, edition) for name in names if callable(getattr(player, name, None))]
    return findings


def _made(factory: Callable[[], Any], seat: int = 0) -> Any:
    with wall_timeout(LONGEST_MOVE), prevent_exit():
        return make_player(factory, seat)


@dataclass(frozen=True)
class _Move:
    """The CPU and wall time of a move in milliseconds, and its position."""

    cpu_ms: float
    wall_ms: float
    board: Board


def _check_moves(player: Any, factory: Callable[[], Any], edition: Edition) -> list[CheckResult]:
    """Check moves from the opening to the end of the game.

    Third-edition players are created anew for each move, since they remember their side and their context.
    """
    made, limit = [], edition.usual_limit
    for board in _boards_to_move_on(edition):
        legal_moves = board.get_legal_moves()
        started, wall_started = time.process_time(), time.perf_counter()

        def time_left(started: float = started) -> float:
            return limit - 1e3 * (time.process_time() - started)

        try:
            player = _made(factory, board.active_index) if edition is THIRD else player
            with wall_timeout(LONGEST_MOVE), prevent_exit():
                move = edition.ask(player, seat(board, player), time_left)
        except Exception as error:
            return [CheckResult("moves", False, f"{_explain(error)} at {board!r}")]
        made.append(_Move(1e3 * (time.process_time() - started), 1e3 * (time.perf_counter() - wall_started), board))
        if not isinstance(move, tuple) or move not in legal_moves:
            return [
                CheckResult("moves", False, f"{_describe_answer(move)} at {board!r}, where {legal_moves} are legal")
            ]
    moves = CheckResult("moves", True, f"legal on {len(made)} positions")
    return [moves, _UNTIMED if edition is THIRD else _check_times(made, limit)]


_UNTIMED = CheckResult("time", True, "not checked; the last action on the queue counts")


def _boards_to_move_on(edition: Edition) -> list[Board]:
    plies = (0, 1, *MOVES_AT, *(2 * plies for plies in MOVES_AT[1:])) if edition is THIRD else MOVES_AT
    each, size = 2 if edition is THIRD else 4, edition.usual_size
    openings = (cells for count in plies for cells in random_openings(each, count, size, seed=count))
    return [Board.from_moves(cells, size) for cells in openings]


def _check_times(made: list[_Move], limit: float) -> CheckResult:
    """Check that moves were in time, in CPU time. A single late move among many is a note."""
    slowest = max(made, key=lambda move: move.cpu_ms)
    late = sum(move.cpu_ms > limit for move in made)
    seen = f"the slowest of {len(made)} moves took {slowest.cpu_ms:.0f} ms of CPU time (limit {limit:.0f} ms)"
    waiting = sum(move.wall_ms > limit for move in made)
    if not late and 2 * waiting > len(made):
        seen += f"; {waiting} exceeded the limit in wall time, which matters only for limits in ms"
    if late:
        seen += f", at {slowest.board!r}"
        seen += f"; {late} exceeded it" if late > 1 else "; no other exceeded it"
    return CheckResult("time", not late, seen, is_note=late == 1)


def _describe_answer(answer: object) -> str:
    """Describe an answer that is not a legal move."""
    if answer is None:
        return "returns None (is the method still to be written?)"
    if answer is TOO_LATE:
        return f"puts no action on its queue within {THIRD.usual_limit:g} ms of CPU time"
    return f"plays {safe_repr(answer)}" + (", as if it had no move," if answer == (-1, -1) else "")


def _compare_search(factory: Callable[[], Any], method: str, edition: Edition) -> CheckResult:
    """Compare a player's fixed-depth search with the reference, from the opening to the end of the game."""
    check = f"fixed-depth {method}"
    compared, started, size = 0, time.process_time(), edition.usual_size
    wrong_in = _wrong_action if edition is THIRD else _wrong_answer
    try:
        player = _made(factory)
        player.time_left = lambda: math.inf
        for opening in (cells for plies in _compared_at(edition) for cells in random_openings(32, plies, size, plies)):
            board = Board.from_moves(opening, size, players=(player, "opponent"))
            for depth in DEPTHS:
                if time.process_time() - started > LONGEST_CHECK:
                    seen = f"as good as the reference in {compared} comparisons (limited to {LONGEST_CHECK:g} s)"
                    return CheckResult(check, True, seen)
                if wrong := wrong_in(player, method, board, depth):
                    return _told_of_chance(CheckResult(check, False, wrong), player)
                compared += 1
    except _NotComparable as answered:
        return CheckResult(check, True, str(answered))
    except Exception as error:
        return CheckResult(check, False, _explain(error))
    seen = f"as good as the reference at depths {DEPTHS[0]} to {DEPTHS[-1]}, in {compared} comparisons"
    return CheckResult(check, True, seen)


def _compared_at(edition: Edition) -> Sequence[int]:
    """Return the numbers of plies after which searches are compared: twice as many on the third edition's board."""
    return [2 * plies for plies in COMPARED_AT] if edition is THIRD else COMPARED_AT


class _NotComparable(Exception):
    """The search's answer has no reference to compare it with."""


def _wrong_answer(player: Any, method: str, board: Board, depth: int) -> str:
    """Describe what is wrong with the answer of a player's search; empty if it is correct."""
    where = f"at depth {depth} of {board!r}"
    try:
        with wall_timeout(LONGEST_MOVE), prevent_exit():
            answer = getattr(player, method)(board.copy(), depth)
    except Exception as error:
        return f"{_explain(error)} {where}"
    with wall_timeout(LONGEST_MOVE), prevent_exit():
        is_value_and_move = isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], tuple)
        move = answer[1] if is_value_and_move else answer
        legal_moves = board.get_legal_moves()
        if not isinstance(move, tuple) or move not in legal_moves:
            return f"{_describe_answer(move)} {where}, where {legal_moves} are legal"
        best = search(board, player.score, Limit(depth=depth), interpreted=True)
        worth = value_of_move(board, player.score, move[0] * board.width + move[1], depth)
    if worth == best.score:
        return ""
    better = divmod(best.move, board.width)
    return f"plays {move}, worth {worth:g}, {where}; {better} is worth {best.score:g}"


def _wrong_action(player: Any, method: str, board: Board, depth: int) -> str:
    """Describe what is wrong with the answer of a third-edition search of (state, depth); empty if it is correct.

    Raises:
        _NotComparable: the search returns values.
    """
    state = state_of(board)
    where = f"at depth {depth} of {state!r}"
    if state.terminal_test():
        return ""
    try:
        with wall_timeout(LONGEST_MOVE), prevent_exit():
            answer = getattr(player, method)(state, depth)
    except Exception as error:
        return f"{_explain(error)} {where}"
    if isinstance(answer, float):
        raise _NotComparable(f"not compared: it returns {answer:g}, a value and not an action")
    actions = state.actions()
    if answer not in actions:
        return f"{_describe_answer(answer)} {where}, where {[int(action) for action in actions]} are the actions"
    with wall_timeout(LONGEST_MOVE), prevent_exit():
        worth = {action: minimax_value(player, state.result(action), depth - 1) for action in actions}
    best = max(actions, key=worth.__getitem__)
    if worth[answer] == worth[best]:
        return ""
    return f"plays {int(answer)}, worth {worth[answer]:g}, {where}; {int(best)} is worth {worth[best]:g}"


def _told_of_chance(finding: CheckResult, player: Any) -> CheckResult:
    """Turn a failure into a note if a nondeterministic score explains it."""
    why = nondeterminism_reason(player.score)
    if not why:
        return finding
    return replace(finding, seen=f"{finding.seen}; but the score is not deterministic: {why}", is_note=True)


def _explain(error: BaseException) -> str:
    """Describe the exception that ended a call."""
    if isinstance(error, NotImplementedError):
        return "raises NotImplementedError (still to be written)"
    if isinstance(error, UserCodeTimeout | WantsToEnd):
        return str(error)
    where = origin(error)
    return f"raises {format_exception(error)} ({where})" if where else f"raises {format_exception(error)}"
