"""``isolation.isolation`` as the classic editions define it, for old scripts and pickles.

The second edition defines its board and its time limit there; the third, its states, moves and sizes.
"""

from __future__ import annotations

from isolation.editions.classic_board import Board
from isolation.editions.edition import SECOND
from isolation.editions.third.state import ACTIONS as _ACTIONSET
from isolation.editions.third.state import BLANK_BOARD as _BLANK_BOARD
from isolation.editions.third.state import EAST as E
from isolation.editions.third.state import HEIGHT as _HEIGHT
from isolation.editions.third.state import NORTH as N
from isolation.editions.third.state import SIZE as _SIZE
from isolation.editions.third.state import SOUTH as S
from isolation.editions.third.state import WEST as W
from isolation.editions.third.state import WIDTH as _WIDTH
from isolation.editions.third.state import Action, DebugState, Isolation
from isolation.games.transcript import game_as_text

TIME_LIMIT_MILLIS = SECOND.usual_limit

__all__ = [
    "TIME_LIMIT_MILLIS",
    "_ACTIONSET",
    "_BLANK_BOARD",
    "_HEIGHT",
    "_SIZE",
    "_WIDTH",
    "Action",
    "Board",
    "DebugState",
    "E",
    "Isolation",
    "N",
    "S",
    "W",
    "game_as_text",
]
