"""Heuristics and players by name: those of the registry and those in users' files, and what they say."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import heuristics
from isolation.board import Board
from isolation.compiling.compiler import CompileError, compile_heuristic
from isolation.faults import told
from isolation.loading import LoadError, is_heuristic, load_heuristic, load_module

Heuristic = Callable[[Any, Any], float]


@dataclass(frozen=True)
class Listing:
    """A heuristic's name, its meaning in one line, and whether it compiles or why not."""

    name: str
    meaning: str
    compiles: str


def registry_catalogue() -> list[Listing]:
    """All functions of the registry."""
    return [Listing(name, heuristics.meaning(name), compiles(heuristics.get(name))) for name in heuristics.names()]


def file_catalogue(path: str | Path) -> list[Listing]:
    """All that `FILE:NAME` can name as a heuristic in a user's file.

    Raises:
        LoadError: the file cannot be loaded.
    """
    return [Listing(name, first_line(function), compiles(function)) for name, function in heuristics_in(path).items()]


def heuristics_in(path: str | Path) -> dict[str, Heuristic]:
    """What `load_heuristic` accepts of a file, by name; helpers of two arguments are among it.

    Raises:
        LoadError: the file cannot be loaded.
    """
    return {name: value for name, value in vars(load_module(path)).items() if is_heuristic(value)}


def registered() -> dict[str, Heuristic]:
    """The functions of the registry by name."""
    return {name: heuristics.get(name) for name in heuristics.names()}


def own_heuristics(references: Sequence[str]) -> dict[str, Heuristic]:
    """The heuristics of ``FILE:FUNCTION`` or of bare files, called by the file's own name and the function's.

    Raises:
        LoadError: one of them cannot be loaded, or a bare file does not have just one.
    """
    found = {}
    for reference in references:
        path, name = heuristic_named(reference)
        found[f"{Path(path).name}:{name}"] = load_heuristic(path, name).value
    return found


def evaluate(functions: Mapping[str, Heuristic], board: Board) -> list[dict[str, Any]]:
    """A row a heuristic: its values of a position for both players; what it raises stands in a value's place."""
    return [_evaluation(name, function, board) for name, function in functions.items()]


def heuristic_named(reference: str) -> tuple[str, str]:
    """The file and the name in it of ``FILE:FUNCTION``; of a bare file, `only_heuristic`'s."""
    return _split(reference, only_heuristic)


def player_named(reference: str) -> tuple[str, str]:
    """The file and the name in it of ``FILE:CLASS``; of a bare file, `only_player`'s."""
    return _split(reference, only_player)


def only_heuristic(path: str | Path) -> str:
    """The name of a file's heuristic: `score`, `custom_score`, or its only function of (game, player).

    Where there are helpers of two arguments as well, the names of the parameters tell which it is.

    Raises:
        LoadError: there is none, or there are several.
    """
    found = heuristics_in(path)
    for name in ("score", "custom_score"):
        if name in found:
            return name
    likely = [name for name, value in found.items() if _names_game_and_player(value)] or list(found)
    if len(likely) == 1:
        return likely[0]
    many = f"several functions of (game, player); say which, as in {path}:{likely[0]}" if likely else ""
    raise LoadError(f"{path} has {many or 'no function of (game, player)'}")


def only_player(path: str | Path) -> str:
    """The name of a file's player class: its only class of its own with a `get_move`, else `CustomPlayer`.

    Raises:
        LoadError: there is none, or there are several.
    """
    module = load_module(path)
    found = [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__ and hasattr(value, "get_move")
    ]
    if len(found) == 1:
        return found[0]
    if "CustomPlayer" in found:
        return "CustomPlayer"
    many = f"several players ({', '.join(found)}); say which, as in {path}:{found[0]}" if found else ""
    raise LoadError(f"{path} has {many or 'no class with a method get_move'}")


def compiles(function: Heuristic) -> str:
    """Whether a heuristic compiles, or why not."""
    try:
        compile_heuristic(function)
    except CompileError as error:
        line = f" (line {error.line})" if error.line else ""
        return f"no: {error.reason}{line}"
    return "yes"


def first_line(function: object) -> str:
    """The first line of a docstring; that of a partial function is the function's."""
    while isinstance(function, partial):
        function = function.func
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _split(reference: str, find: Callable[[str], str]) -> tuple[str, str]:
    path, colon, name = reference.rpartition(":")
    return (path, name) if colon and name and path.endswith(".py") else (reference, find(reference))


def _evaluation(name: str, function: Heuristic, board: Board) -> dict[str, Any]:
    row: dict[str, Any] = {"heuristic": name}
    for player in board.players:
        try:
            row[f"player {player}"] = float(function(board.copy(), player))
        except Exception as error:
            row[f"player {player}"] = told(error)
    return row


def _names_game_and_player(function: Callable[..., Any]) -> bool:
    try:
        names = list(inspect.signature(function).parameters)
    except ValueError:  # a built-in that does not tell
        return False
    return len(names) >= 2 and names[0] in ("game", "board", "state", "g") and names[1] in ("player", "p", "me", "self")
