"""Knight's Isolation: rules, positions, search and players.

The public names are loaded on first use, so that ``from isolation import Board`` stays quick and imports no compiler.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isolation.board import Board
    from isolation.limits import Limit
    from isolation.match import play
    from isolation.outcome import Outcome
    from isolation.perft import perft
    from isolation.search import SearchResult, search
    from isolation.solver import solve
    from isolation.transcript import game_as_text

__all__ = ["Board", "Limit", "Outcome", "SearchResult", "game_as_text", "perft", "play", "search", "solve"]

_HOMES = {
    "Board": "isolation.board",
    "Limit": "isolation.limits",
    "Outcome": "isolation.outcome",
    "SearchResult": "isolation.search",
    "game_as_text": "isolation.transcript",
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


class _Package(ModuleType):
    """Keeps `isolation.search` and `isolation.perft` the functions when the modules that define them are imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, getattr(value, name) if isinstance(value, ModuleType) and name in _HOMES else value)


sys.modules[__name__].__class__ = _Package
