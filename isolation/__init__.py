"""Knight's Isolation: rules, positions, search and players.

The public names are loaded on first use, so that ``from isolation import Board`` stays quick and imports no compiler.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from isolation.lazy import LazyPackage

if TYPE_CHECKING:
    from isolation.board import Board, Outcome
    from isolation.classic import game_as_text
    from isolation.limits import Limit
    from isolation.match import play
    from isolation.perft import perft
    from isolation.search import SearchResult, search
    from isolation.solver import solve

__version__: str

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

sys.modules[__name__].__class__ = LazyPackage
