# ruff: noqa: F401 -- names that old scripts and pickles look for here
"""``isolation.isolation`` as the classic editions define it, for old scripts and pickles.

The second edition defines its board and its time limit there; the third, its states, moves and sizes.
"""

from __future__ import annotations

from .rules import third_edition as _state
from .rules.classic_board import Board, game_as_text
from .rules.edition import SECOND
from .rules.third_edition import EAST, NORTH, SOUTH, WEST, Action, DebugState, Isolation

TIME_LIMIT_MILLIS = SECOND.usual_limit
N, S, W, E = NORTH, SOUTH, WEST, EAST
_ACTIONSET, _BLANK_BOARD = _state.ACTIONS, _state.BLANK_BOARD
_HEIGHT, _SIZE, _WIDTH = _state.HEIGHT, _state.SIZE, _state.WIDTH
