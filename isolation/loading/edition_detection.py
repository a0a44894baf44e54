"""Detect the classic edition that a source file was written for, and what it adds to `Board`."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from ..usercode.parsing import parse
from ..usercode.user_exceptions import format_exception

_IN_ISOLATION = {"Action", "DebugState", "Isolation", "Status", "StopSearch", "fork_get_action"}
_OF_BOARDS = {
    "BLANK", "NOT_MOVED", "active_player", "inactive_player", "apply_move", "copy", "forecast_move", "get_blank_spaces",
    "get_legal_moves", "get_opponent", "get_player_location", "hash", "is_loser", "is_winner", "move_is_legal", "play",
    "print_board", "to_string", "utility", "_Board__get_moves", "__get_moves", "__get_moves__",
}  # fmt: skip
"""Methods of the editions' boards; all others were added by students."""
_OF_STATES = {"liberties", "locs"}
_IN_SAMPLE_PLAYERS = {"BasePlayer", "DataPlayer"}


def is_of_third_edition(source: str | bytes) -> bool:
    """Return whether a source was written for the third edition.

    This holds if it imports names that only this edition has, has or calls a `get_action`, reads `state.locs` or
    `state.liberties`, or has a function of (state, player_id) that does not use methods that only boards have.
    """
    try:
        tree = parse(source)
    except (SyntaxError, ValueError):  # reported when the file is loaded
        return False
    return any(map(_is_clue, ast.walk(tree)))


def sample_players_for(source: str | bytes) -> str:
    """Return the module that a source imports as ``sample_players``; the third edition has its own."""
    room = "isolation.editions.third" if is_of_third_edition(source) else "isolation"
    return f"knights_isolation.{room}.sample_players"


def _is_clue(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names}
        home = (node.module or "").partition(".")[0]
        return bool(names & {"isolation": _IN_ISOLATION, "sample_players": _IN_SAMPLE_PLAYERS}.get(home, set()))
    if isinstance(node, ast.FunctionDef):
        return node.name == "get_action" or _is_about_a_state(node)
    return isinstance(node, ast.Attribute) and (node.attr == "get_action" or _is_of_state(node, _OF_STATES))


def _is_about_a_state(function: ast.FunctionDef) -> bool:
    names = [arg.arg for arg in function.args.args]
    of_boards = _OF_BOARDS - {"utility"}  # states have it, too
    return names[:2] == ["state", "player_id"] and not any(_is_of_state(node, of_boards) for node in ast.walk(function))


def _is_of_state(node: ast.AST, names: set[str]) -> bool:
    """Return whether a node reads one of these attributes of a variable called `state`."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr in names
        and isinstance(node.value, ast.Name)
        and node.value.id == "state"
    )


def added_to_board(source: str | bytes) -> set[str]:
    """Return the methods of a class `Board` in a source that no edition's board has."""
    try:
        tree = parse(source)
    except (SyntaxError, ValueError):  # reported when the file is loaded
        return set()
    boards = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == "Board"]
    methods = {method.name for board in boards for method in board.body if isinstance(method, ast.FunctionDef)}
    return {name for name in methods - _OF_BOARDS if not (name.startswith("__") and name.endswith("__"))}


def namespace_of(module: str) -> str:
    """Return the namespace of a module made from a user's file or from one of its siblings: its first two names.

    >>> namespace_of("knights_isolation.user_1f.game_agent")
    'knights_isolation.user_1f'
    """
    return ".".join(module.split(".")[:2])


def added_method(module: str, name: str) -> Any:
    """Return a method of the `Board` beside a user's file that no edition's board has, or None if there is none.

    Args:
        module: name of a module made from the file, or from one of its siblings.
        name: name of the method.

    Raises:
        AttributeError: the method exists, but its file cannot be loaded.
    """
    space = namespace_of(module)
    if not module.startswith("knights_isolation.user_") or space not in sys.modules:
        return None
    folder = Path(sys.modules[space].__path__[0])
    board_file = find_extended_board(folder)
    if board_file is None or name not in added_to_board(board_file.read_bytes()):
        return None
    parts = [part for part in board_file.relative_to(folder).with_suffix("").parts if part != "__init__"]
    try:
        return vars(import_module(".".join([space, *parts])).Board).get(name)
    except Exception as error:
        raise AttributeError(
            f"the board method {name} is defined in {board_file}, which {format_exception(error)}"
        ) from error


def find_extended_board(folder: Path) -> Path | None:
    """Return the file in a folder, at one of the classic engines' paths, whose `Board` has added methods; or None."""
    candidates = (folder / "isolation" / "isolation.py", folder / "isolation" / "__init__.py", folder / "isolation.py")
    return next((file for file in candidates if file.is_file() and added_to_board(file.read_bytes())), None)
