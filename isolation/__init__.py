"""Knight's Isolation: rules, positions, search and players.

The public names are loaded on first use, so that ``from isolation import Board`` stays quick and imports no compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isolation.board import Board, Outcome
    from isolation.classic import game_as_text
    from isolation.limits import Limit
    from isolation.match import play
    from isolation.perft import perft
    from isolation.search import SearchResult, search
    from isolation.solver import solve

__all__ = ["Board", "Limit", "Outcome", "SearchResult", "game_as_text", "perft", "play", "search", "solve"]

_HOMES = {
    "Board": "isolation.board",
    "Limit": "isolation.limits",
    "Outcome": "isolation.board",
    "SearchResult": "isolation.search",
    "game_as_text": "isolation.classic",
    "perft": "isolation.perft",
    "play": "isolation.match",
    "search": "isolation.search",
    "solve": "isolation.solver",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'isolation' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
