# Without `as`: names that scripts of the third edition of the classic engine import; `play` is the same function.
from queue import Empty

from knights_isolation.isolation.checks.search_cost import measure_costs as measure_costs
from knights_isolation.isolation.games.match import play as play
from knights_isolation.isolation.rules.board import Outcome as Outcome
from knights_isolation.isolation.rules.classic_board import Board as Board
from knights_isolation.isolation.rules.classic_board import game_as_text as game_as_text
from knights_isolation.isolation.rules.drawing import DARK as DARK
from knights_isolation.isolation.rules.drawing import Annotations as Annotations
from knights_isolation.isolation.rules.drawing import Theme as Theme
from knights_isolation.isolation.rules.drawing import to_svg as to_svg
from knights_isolation.isolation.rules.game import Limit as Limit
from knights_isolation.isolation.rules.net import Net as Net
from knights_isolation.isolation.rules.third_edition import (
    ERR_INFO,
    Agent,
    DebugState,
    Isolation,
    Status,
    StopSearch,
    TimedQueue,
    fork_get_action,
    logger,
)
from knights_isolation.isolation.search import SearchResult as SearchResult
from knights_isolation.isolation.search import search as search
from knights_isolation.isolation.search.solver import perft as perft
from knights_isolation.isolation.search.solver import solve as solve

__version__: str
