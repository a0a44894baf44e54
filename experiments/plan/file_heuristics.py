"""Heuristics and players of user files: list them, say whether they compile, and evaluate positions with them.

All functions that load a file raise LoadError if it cannot be loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from knights_isolation import heuristics
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.loading.load_user_code import load_heuristic
from knights_isolation.isolation.players.agents import forfeit_from
from knights_isolation.isolation.usercode.output_capture import WantsToEnd, prevent_exit
from knights_isolation.isolation.usercode.timeouts import UserCodeTimeout, run_with_watchdog, wall_timeout

from ..roster import split_reference
from ..roster.default_names import evaluation_methods, heuristics_in, names_game_and_player, only_heuristic
from .catalogue import CatalogueEntry, Heuristic, entry_of, first_line

LONGEST_CALL = 10.0
"""Time limit in seconds for a heuristic's value of one position."""


def file_catalogue(
    path: str | Path, show: Callable[[int, int], None] = lambda done, total: None
) -> list[CatalogueEntry]:
    """List everything that `FILE:NAME` can name as a heuristic in a user's file, without unrelated helpers.

    Of third-edition players all methods are listed that return a number for a state.

    `show` is called with the number listed so far, starting at 0: each function is compiled, which may take seconds.
    """
    functions = likely_heuristics(path) | evaluation_methods(path)
    entries: list[CatalogueEntry] = []
    show(0, len(functions))
    for name, function in functions.items():
        entries.append(entry_of(name, first_line(function), function, compiles(function)))
        show(len(entries), len(functions))
    return entries


def likely_heuristics(path: str | Path) -> dict[str, Heuristic]:
    """Return the functions of a file that are heuristics according to their parameter names or return values."""
    return {
        name: function
        for name, function in heuristics_in(path).items()
        if names_game_and_player(function) or _returns_numbers(function)
    }


def _returns_numbers(function: Heuristic) -> bool:
    for moves in ([24, 14], [24, 14, 9, 29, 22, 16]):
        board = Board.from_moves(moves)
        try:
            with wall_timeout(LONGEST_CALL):
                _value(function, board, board.active_player)
            return True
        except Exception:
            continue
    return False


def user_heuristics(references: Sequence[str]) -> dict[str, Heuristic]:
    """Return the heuristics of ``FILE:FUNCTION`` or of files, by names made of the file's and the function's name.

    Raises:
        LoadError: one of them cannot be loaded, or a file without a function name does not have exactly one.
    """
    heuristics = {}
    for reference in references:
        path, name = named_in_file(reference)
        heuristics[f"{Path(path).name}:{name}"] = load_heuristic(path, name).value
    return heuristics


def evaluate(functions: Mapping[str, Heuristic], board: Board) -> list[dict[str, Any]]:
    """Return one row per heuristic: its values of a position for both players, or the exception in a value's place."""
    return [_evaluation(name, function, board) for name, function in functions.items()]


def failures(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a clause for each row of `evaluate` with a failure: the name, and the first value that is no number."""
    sentences = []
    for row in rows:
        name, *values = row.values()
        sentences += [f"{name}: {value}" for value in values if isinstance(value, str) or value != value][:1]
    return sentences


def named_in_file(reference: str, find: Callable[[str], str] = only_heuristic) -> tuple[str, str]:
    """Split ``FILE:NAME`` into file and name; for a file alone, `find` supplies the name: its only heuristic's."""
    reference = reference.removeprefix("ID:")
    if reference in heuristics.names() and not Path(reference).exists():
        raise ValueError(f"{reference} is built in: name a function in your own file, such as mine.py:score")
    path, name = split_reference(reference)
    return path, name or find(path)


def compiles(function: Heuristic) -> str:
    """Return whether a heuristic compiles, and if not why, or where compiled code differs from Python."""
    try:
        compile_heuristic(function)
    except CompileError as error:
        line = f" (line {error.line})" if error.line else ""
        return f"{'differs' if error.is_difference else 'no'}: {error.reason}{line}"
    return "yes"


def _evaluation(name: str, function: Heuristic, board: Board) -> dict[str, Any]:
    row: dict[str, Any] = {"heuristic": name}
    for player in board.players:
        try:
            value = partial(_value, function, board, player)
            row[f"player {player}"] = run_with_watchdog(value, lambda: "asked", LONGEST_CALL)
        except (UserCodeTimeout, WantsToEnd) as error:
            row[f"player {player}"] = str(error)
        except Exception as error:
            row[f"player {player}"] = forfeit_from(error).detail
    return row


def _value(function: Heuristic, board: Board, player: Any) -> float:
    with prevent_exit():
        return float(function(board.copy(), player)) + 0.0  # turns −0.0 into 0.0
