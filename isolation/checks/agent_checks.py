"""Checks of heuristics and classic players, for `test-agent` and `try`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from ..loading.load_user_code import load_player
from ..rules.classic_board import Board
from ..rules.edition import THIRD, Edition, edition_of, names_no_move, read_move, seat
from ..rules.parameters import base_function
from ..search import Heuristic
from ..search.agents import is_lost
from ..usercode.output_capture import prevent_exit
from ..usercode.timeouts import cpu_timeout
from ..usercode.user_exceptions import name_of, return_lines, safe_repr
from .answers import LONGEST_CHECK, LONGEST_MOVE, RESIGNED, CheckResult, explain, is_number, new_player, wrong_move
from .search_checks import compare_searches
from .search_cost import random_openings

PositionValues = tuple[Board, tuple[float, float]]
"""A position, and a heuristic's values of it for both players."""
SAMPLE = 300
FEWEST_SUSPECT, REVERSED = 10, -0.7
"""Unfinished positions needed to suspect a mistake, and the rank correlation with the lead in moves that suffices."""
MOVES_AT = (2, 10, 18, 24, 28)
"""Numbers of plies after which players are asked for moves; players of the third edition also place their knights."""
LONGEST_CALL = 2.0
"""Timeout of one evaluation, in seconds; see `cpu_timeout`."""


def check_values(heuristic: Heuristic, size: tuple[int, int] = (7, 7)) -> list[CheckResult]:
    """Check that a heuristic returns numbers, both in games with both players placed and before.

    A note follows if the numbers make one suspect a mistake; see `suspicion`.
    """
    from ..compiling.compile_heuristic import sample_positions

    values: list[PositionValues] = []
    early = [Board.from_moves(cells, size) for cells in ([], [0])]
    placed = _check_values("values", heuristic, list(sample_positions(size, SAMPLE)), values)
    before = _check_values("values before both players are placed", heuristic, early, [])
    if not before.ok:
        seen = f"{before.seen}; games that start after two plies never evaluate there"
        before = replace(before, seen=seen, is_note=True)
    why = suspicion(values) if placed.ok else ""
    return [placed, before, *([CheckResult("suspect", False, why, is_note=True)] if why else [])]


def suspicion(values: Sequence[PositionValues]) -> str:
    """Return what is suspect about a heuristic's values of positions; "" if nothing is.

    They are suspect if they are the same everywhere, or the larger the fewer moves the player has and the more the
    opponent, in rank correlation.
    """
    going_on = [(board, each) for board, each in values if board.legal_cells()]
    distinct = [set(side) for side in zip(*(each for _, each in going_on), strict=True)]
    if not distinct or len(going_on) < FEWEST_SUSPECT:
        return ""
    if all(len(side) == 1 for side in distinct):
        (first,), (second,) = distinct
        if first == second:
            return f"constant: returns {first:g} in all of {len(going_on)} unfinished positions"
        seen = f"returns {first:g} for player 1 and {second:g} for player 2 in all of {len(going_on)} positions"
        return f"takes no notice of the position: {seen}"
    import pandas as pd

    leads = [board.moves_mask(0).bit_count() - board.moves_mask(1).bit_count() for board, _ in going_on]
    ranks = pd.Series([*leads, *(-lead for lead in leads)]).rank()
    correlation = ranks.corr(pd.Series([each[side] for side in (0, 1) for _, each in going_on]).rank())
    if not correlation <= REVERSED:  # not a number if one of the two does not vary
        return ""
    return (
        "signs reversed? Its values are the higher the fewer moves the player has and the more the opponent "
        f"(rank correlation {correlation:.2f})".replace("-", "−")
    )


def _check_values(check: str, heuristic: Heuristic, boards: list[Board], values: list[PositionValues]) -> CheckResult:
    """Check that a heuristic returns numbers in positions, and add these to `values`."""
    started, asked = time.process_time(), 0
    failures: list[tuple[str, Board]] = []
    for board in boards:
        if time.process_time() - started > LONGEST_CHECK:
            break
        given = _values_at(heuristic, board)
        if isinstance(given, str):
            failures.append((given, board))
        else:
            values.append((board, given))
        asked += 1
    of = f"{asked} test positions"
    if asked < len(boards):
        of += f" (limited to {LONGEST_CHECK:g} s)"
    if not failures:
        return CheckResult(check, True, f"returned a number in all of {of}, for both players")
    why, board = failures[0]
    return CheckResult(check, False, f"{why}; it fails in {len(failures):,} of {of}", fen=board.fen)


def _values_at(heuristic: Heuristic, board: Board) -> tuple[float, float] | str:
    """Return a heuristic's values of a position for both players, or how it fails for the first that it fails for."""
    values: list[float] = []
    for player in board.players:
        try:
            with cpu_timeout(LONGEST_CALL), prevent_exit():
                value = heuristic(board.copy(), player)
                unfit = "" if is_number(value) else _unfit(value)
                values.append(0.0 if unfit else float(value))
        except Exception as error:
            return f"{explain(error)} at {board!r} for player {player}"
        if unfit:
            where = return_lines(base_function(heuristic))
            return f"{unfit}{f' ({where})' if where else ''} at {board!r} for player {player}"
    return values[0], values[1]


def _unfit(value: object) -> str:
    if value is None:
        return "returns None (missing return?) instead of a number"
    text = "NaN" if isinstance(value, float) else safe_repr(value)
    return f"returns {text if len(text) < 60 else f'a {name_of(value)}'} instead of a number"


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
        player = new_player(factory)
    except Exception as error:
        return [CheckResult("construction", False, f"making one {explain(error)}")]
    edition = edition_of(player)
    findings = [CheckResult("signature", True, f"{edition.asked_by.partition('(')[0]} of the {edition.name} edition")]
    findings += _check_moves(factory, edition)
    return findings + compare_searches(player, factory, edition)


class _Move(NamedTuple):
    """The CPU and wall time of a move in milliseconds, and its position."""

    cpu_ms: float
    wall_ms: float
    board: Board


def _check_moves(factory: Callable[[], Any], edition: Edition) -> list[CheckResult]:
    """Check moves from the opening to the end of the game, each of a new player, since it may remember its game."""
    made, limit, resigned = [], edition.usual_limit, []
    for board in _boards_to_move_on(edition):
        legal_moves = board.get_legal_moves()
        try:
            player = new_player(factory, board.active_index)
            started, wall_started = time.process_time(), time.perf_counter()

            def time_left(started: float = started) -> float:
                return limit - 1e3 * (time.process_time() - started)

            with cpu_timeout(LONGEST_MOVE), prevent_exit():
                move = edition.ask(player, seat(board, player), time_left)
                cell, asked = read_move(move), getattr(player, "get_move", None)
                wrong = "" if cell in legal_moves else wrong_move(move, asked)
        except Exception as error:
            return [CheckResult("moves", False, f"{explain(error)} at {board!r}")]
        made.append(_Move(1e3 * (time.process_time() - started), 1e3 * (time.perf_counter() - wall_started), board))
        if wrong and names_no_move(move) and is_lost(board):
            resigned.append(board)
        elif wrong:
            return [CheckResult("moves", False, f"{wrong} at {board!r}, where {legal_moves} are legal")]
    findings = [CheckResult("moves", True, f"legal on {len(made) - len(resigned)} positions")]
    if resigned:
        seen = f"names no move on {len(resigned)} positions {RESIGNED}; the first is {resigned[0]!r}"
        findings.append(CheckResult("resigning", False, seen, is_note=True))
    untimed = CheckResult("time", True, "not checked; the last action on the queue counts")
    return [*findings, untimed if edition is THIRD else _check_times(made, limit)]


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
