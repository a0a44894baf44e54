"""Lists of heuristics, those of the registry and those in a user's file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import heuristics
from isolation.compiler import CompileError, compile_heuristic
from isolation.loading import LoadError, load_module


@dataclass(frozen=True)
class Entry:
    """A heuristic's name, its meaning in one line, and whether it compiles or why not."""

    name: str
    meaning: str
    verdict: str


def registry_catalogue() -> list[Entry]:
    """All functions of the registry."""
    return [Entry(name, heuristics.meaning(name), verdict(heuristics.get(name))) for name in heuristics.names()]


def file_catalogue(path: str | Path) -> list[Entry]:
    """All functions of (game, player) in a user's file.

    Raises:
        LoadError: the file cannot be loaded.
    """
    return [Entry(name, first_line(function), verdict(function)) for name, function in heuristics_in(path).items()]


def heuristics_in(path: str | Path) -> dict[str, Callable[[Any, Any], float]]:
    """The functions a file itself defines that can be called with a game and a player, by name."""
    module = load_module(path)
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and _takes_game_and_player(value)
    }


def only_heuristic(path: str | Path) -> str:
    """The name of a file's heuristic: `score`, `custom_score`, or its only function of (game, player).

    Raises:
        LoadError: there is none, or there are several.
    """
    found = heuristics_in(path)
    for name in ("score", "custom_score"):
        if name in found:
            return name
    if len(found) == 1:
        return next(iter(found))
    many = f"several functions of (game, player); say which, as in {path}:{next(iter(found))}" if found else ""
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


def verdict(function: Callable[[Any, Any], float]) -> str:
    """Whether a heuristic compiles, or why not."""
    try:
        compile_heuristic(function)
    except CompileError as error:
        line = f" (line {error.line})" if error.line else ""
        return f"no: {error.reason}{line}"
    return "yes"


def first_line(function: object) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _takes_game_and_player(function: Callable[..., Any]) -> bool:
    names = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    return len(names) == 2 and names[0] in ("game", "board", "state", "g") and names[1] in ("player", "p", "me", "self")
