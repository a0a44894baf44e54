"""Knight's Isolation: rules, positions, search and players.

The public names are loaded on first use, so that ``from isolation import Board`` stays quick and imports no compiler.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from isolation.lazy_imports import LazyPackage

if TYPE_CHECKING:
    from isolation.editions.classic_board import Board
    from isolation.exact.perft import perft
    from isolation.exact.solver import solve
    from isolation.games.match import play
    from isolation.games.transcript import game_as_text
    from isolation.rules.limits import Limit
    from isolation.rules.outcome import Outcome
    from isolation.search import SearchResult, search

__version__: str

__all__ = ["Board", "Limit", "Outcome", "SearchResult", "game_as_text", "perft", "play", "search", "solve"]

_THIRD = "isolation.editions.third"
_HOMES = {
    "Board": "isolation.editions.classic_board",
    "Limit": "isolation.rules.limits",
    "Outcome": "isolation.rules.outcome",
    "SearchResult": "isolation.search",
    "game_as_text": "isolation.games.transcript",
    "perft": "isolation.exact.perft",
    "play": "isolation.games.match",
    "search": "isolation.search",
    "solve": "isolation.exact.solver",
    # What scripts of the third edition of the classic engine import; their `play` is ours.
    "Agent": f"{_THIRD}.game_loop",
    "DebugState": f"{_THIRD}.state",
    "ERR_INFO": f"{_THIRD}.game_loop",
    "Empty": f"{_THIRD}.game_loop",
    "Isolation": f"{_THIRD}.state",
    "Status": f"{_THIRD}.game_loop",
    "StopSearch": f"{_THIRD}.timed_turn",
    "TimedQueue": f"{_THIRD}.timed_turn",
    "fork_get_action": f"{_THIRD}.game_loop",
    "logger": f"{_THIRD}.game_loop",
}

sys.modules[__name__].__class__ = LazyPackage
