"""Heuristics and players of the file that is analysed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knights_isolation.isolation.loading.load_user_code import (
    LoadError,
    content_hash,
    data_hash,
    is_player,
    load_heuristic,
    load_module,
    load_player,
)
from knights_isolation.isolation.rules.edition import THIRD, is_of_third_edition
from knights_isolation.isolation.rules.game import USUAL_SIZE, Size
from knights_isolation.isolation.rules.parameters import unpartial
from knights_isolation.isolation.rules.third_edition import StateHeuristic

from ..plan import AgentLike, split_reference
from ..plan.user_files import likely_heuristics, other_definitions


@dataclass(frozen=True)
class FileContents:
    """Heuristics by name, and names of the player classes, of a file.

    `content_hash` is that of its source, of the local modules it imports, and of the data it read. `size` is the board
    to play on, by default that of its edition of the classic package. `skipped` are its other functions and classes,
    each with why it is neither; empty if one function was named.
    """

    path: str
    content_hash: str
    functions: dict[str, Callable[[Any, Any], float]]
    players: tuple[str, ...]
    size: Size
    skipped: dict[str, str]


def read_file(reference: str) -> FileContents:
    """Return the heuristics and players of ``FILE``, or the one heuristic of ``FILE:FUNCTION``.

    Helpers that happen to take two arguments are excluded. Imported functions are excluded unless the file defines none
    of its own.

    Raises:
        LoadError: the file cannot be loaded, has no such function, or nothing to analyse.
    """
    path, name = split_reference(reference)
    if name:
        functions = {name: load_heuristic(path, name).value}
        players: tuple[str, ...] = ()
        skipped: dict[str, str] = {}
    else:
        functions, players = _heuristics(path), _players(path)
        skipped = other_definitions(path, {*functions, *players})
    if not functions and not players:
        why = "".join(f"; {name} {reason}" for name, reason in skipped.items())
        raise LoadError(
            f"{path} has no heuristic, a function of (game, player), and no player, a class with get_move{why}"
        )
    module = load_module(path)
    is_third = is_of_third_edition(Path(str(module.__file__)).read_bytes())
    size = THIRD.usual_size if is_third else USUAL_SIZE
    return FileContents(path, content_hash(path) + data_hash(path), functions, players, size, skipped)


def agents_named(agent: AgentLike) -> list[AgentLike]:
    """Return the heuristics of FILE.py, or that of FILE.py:NAME, as agents; other agents as they are.

    Raises:
        LoadError: the file cannot be loaded.
    """
    reference, at, limit = agent.partition("@") if isinstance(agent, str) else ("", "", "")
    if not re.fullmatch(r"(?!\w+:)[^=]+\.py(:[\w.]+)?", reference):
        return [agent]
    path = reference.rpartition(":")[0] or reference
    try:
        functions = read_file(reference).functions
    except LoadError:
        if path == reference:
            raise
        return [agent]  # it may be a player
    return [f"ID:{path}:{name}{at}{limit}" for name in functions] or [agent]


def _heuristics(path: str) -> dict[str, Callable[[Any, Any], float]]:
    candidates = likely_heuristics(path)
    home = load_module(path).__name__
    own = {name: function for name, function in candidates.items() if _home_of(function) == home}
    return own or candidates


def _home_of(function: Any) -> str:
    function = unpartial(function)
    function = function.__wrapped__ if isinstance(function, StateHeuristic) else inspect.unwrap(function)
    return str(getattr(function, "__module__", "") or type(function).__module__)


def _players(path: str) -> tuple[str, ...]:
    """Return the names of the player classes that the file defines, without private ones and those that cannot play."""
    module = load_module(path)
    own = {name: value for name, value in vars(module).items() if name[:1] != "_" and inspect.isclass(value)}
    players = []
    for name, value in own.items():
        if value.__module__ == module.__name__ and is_player(value):
            with suppress(LoadError):
                load_player(path, name)
                players.append(name)
    return tuple(players)
