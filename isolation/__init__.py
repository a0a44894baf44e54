"""Knight's Isolation: rules, positions, search and players.

The public names are loaded on first use, so that ``from isolation import Board`` stays quick and imports no compiler.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from isolation.lazy import LazyPackage

if TYPE_CHECKING:
    from isolation.board import Board
    from isolation.limits import Limit
    from isolation.match import play
    from isolation.outcome import Outcome
    from isolation.perft import perft
    from isolation.search import SearchResult, search
    from isolation.solver import solve
    from isolation.transcript import game_as_text

__version__: str

__all__ = ["Board", "Limit", "Outcome", "SearchResult", "game_as_text", "perft", "play", "search", "solve"]

_THIRD = "isolation.editions.third"
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
    # What scripts of the third edition of the classic engine import; their `play` is ours.
    "Agent": f"{_THIRD}.playing",
    "DebugState": f"{_THIRD}.state",
    "ERR_INFO": f"{_THIRD}.playing",
    "Empty": f"{_THIRD}.playing",
    "Isolation": f"{_THIRD}.state",
    "Status": f"{_THIRD}.playing",
    "StopSearch": f"{_THIRD}.turns",
    "TimedQueue": f"{_THIRD}.turns",
    "fork_get_action": f"{_THIRD}.playing",
    "logger": f"{_THIRD}.playing",
}

sys.modules[__name__].__class__ = LazyPackage
