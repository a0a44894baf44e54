"""Knight's Isolation: rules, positions, search and players.

The public names are loaded on first use, so that ``from isolation import Board`` stays quick and imports no compiler.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from knights_isolation_packages import LazyPackage

if TYPE_CHECKING:
    from isolation.boards.drawing import DARK, Annotations, Theme
    from isolation.boards.net import Net
    from isolation.boards.render import to_svg
    from isolation.checks.search_cost import measure_costs
    from isolation.editions.classic_board import Board
    from isolation.exact.perft import perft
    from isolation.exact.solver import solve
    from isolation.games.match import play
    from isolation.games.transcript import game_as_text
    from isolation.rules.limits import Limit
    from isolation.rules.outcome import Outcome
    from isolation.search import SearchResult, search

__version__: str

__all__ = [
    "DARK",
    "Annotations",
    "Board",
    "Limit",
    "Net",
    "Outcome",
    "SearchResult",
    "Theme",
    "game_as_text",
    "measure_costs",
    "perft",
    "play",
    "search",
    "solve",
    "to_svg",
]

_THIRD = "isolation.editions.third"
_HOMES = {
    "Annotations": "isolation.boards.drawing",
    "Board": "isolation.editions.classic_board",
    "DARK": "isolation.boards.drawing",
    "Limit": "isolation.rules.limits",
    "Net": "isolation.boards.net",
    "Outcome": "isolation.rules.outcome",
    "SearchResult": "isolation.search",
    "Theme": "isolation.boards.drawing",
    "game_as_text": "isolation.games.transcript",
    "measure_costs": "isolation.checks.search_cost",
    "perft": "isolation.exact.perft",
    "play": "isolation.games.match",
    "search": "isolation.search",
    "solve": "isolation.exact.solver",
    "to_svg": "isolation.boards.render",
    # Names that scripts of the third edition of the classic engine import; `play` is the same function.
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
