# Without `as`: names that scripts of the third edition of the classic engine import; `play` is the same function.
from queue import Empty

from isolation.boards.drawing import DARK as DARK
from isolation.boards.drawing import Annotations as Annotations
from isolation.boards.drawing import Theme as Theme
from isolation.boards.net import Net as Net
from isolation.boards.render import to_svg as to_svg
from isolation.checks.search_cost import measure_costs as measure_costs
from isolation.editions.classic_board import Board as Board
from isolation.editions.third.game_loop import ERR_INFO, Agent, Status, fork_get_action, logger
from isolation.editions.third.state import DebugState, Isolation
from isolation.editions.third.timed_turn import StopSearch, TimedQueue
from isolation.exact.perft import perft as perft
from isolation.exact.solver import solve as solve
from isolation.games.match import play as play
from isolation.games.transcript import game_as_text as game_as_text
from isolation.rules.limits import Limit as Limit
from isolation.rules.outcome import Outcome as Outcome
from isolation.search import SearchResult as SearchResult
from isolation.search import search as search

__version__: str
