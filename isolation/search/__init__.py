"""Search: minimax, alpha-beta, iterative deepening, best-first and MCTS, compiled where possible."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..native.layout import CPU_CLOCK, NO_LIMIT, WALL_CLOCK
from ..rules.classic_board import Board
from ..rules.game import MOST_COMPILED_CELLS, Limit

Heuristic = Callable[[Any, Any], float]

Method = Literal["minimax", "alphabeta", "bestfirst", "mcts"]
METHODS: tuple[Method, ...] = ("minimax", "alphabeta", "bestfirst", "mcts")
TREES: dict[Method, str] = {"bestfirst": "best-first search", "mcts": "MCTS"}
"""Methods that grow a tree instead of searching to a depth, with their names in messages."""


@dataclass(frozen=True)
class SearchOptions:
    """Variations of minimax and alpha-beta, all off by default.

    Attributes:
        order_moves: two or more plies above the horizon, try the replies with the largest own minus opponent mobility
            first (alpha-beta only). By default moves are tried in ascending cell order.
        quiescence: at the horizon, follow forced replies (a side to move with a single move) to a position with a
            choice before evaluating it.
        stop_on_agreement: stop deepening when the last three iterations agree on the move.
        random_ties: choose uniformly among root moves of equal value.
    """

    order_moves: bool = False
    quiescence: bool = False
    stop_on_agreement: bool = False
    random_ties: bool = False


@dataclass(frozen=True)
class SearchResult:
    """Result of a search.

    Attributes:
        move: the chosen cell.
        score: its value for the player to move; ±inf means proven, and zero is always positive. For MCTS, the share of
            simulations won.
        depth: plies of the last finished iteration, or of a tree's deepest line; 0 if no iteration was finished.
        nodes: positions visited, including the root, leaves and unfinished iterations; for MCTS, simulations.
        seconds: wall time used.
        pv: the principal variation in cells, which begins with the move.
        exact: whether the score is the result under perfect play.
    """

    move: int
    score: float
    depth: int
    nodes: int
    seconds: float
    pv: tuple[int, ...]
    exact: bool


def is_well_formed(result: SearchResult) -> bool:
    """Return whether a result from an untrusted source has the right types and fits into a log."""
    counts = zip((result.move, result.depth, result.nodes), _MOST, strict=True)
    return (
        all(type(count) is int and 0 <= count < most for count, most in counts)
        and type(result.score) is float
        and type(result.seconds) in (int, float)
        and abs(result.seconds) < _LONGEST
        and isinstance(result.pv, tuple | list)
        and all(type(cell) is int for cell in result.pv)
        and type(result.exact) is bool
    )


_MOST = (1 << 15, 1 << 15, 1 << 62)
"""Upper bounds of move, depth and nodes in the columns of a log."""
_LONGEST = 1e9


def limits_of(limit: Limit | None) -> tuple[int, int, int]:
    """Return the nodes that a limit allows, its clock, and its nanoseconds, as numbers for compiled code."""
    nodes = NO_LIMIT if limit is None or limit.nodes is None else limit.nodes
    milliseconds = None if limit is None else limit.ms or limit.cpu_ms
    if limit is None or milliseconds is None:
        return nodes, -1, 0
    return nodes, CPU_CLOCK if limit.cpu_ms else WALL_CLOCK, int(milliseconds * 1e6)


class OutOfBudget(Exception):
    """Raised inside a search when its node or time limit is reached."""


class Budget:
    """A limit shared by any number of searches, which have visited `nodes` positions so far, and its running clock."""

    def __init__(self, limit: Limit | None = None) -> None:
        self.nodes = 0
        self.most, self._clock_id, self._nanoseconds = limits_of(limit)
        self._now = time.thread_time_ns if self._clock_id == CPU_CLOCK else time.monotonic_ns
        self._started, self._began = self._now(), time.perf_counter()

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.perf_counter() - self._began

    @property
    def clock(self) -> tuple[int, int]:
        """The clock and the nanoseconds left on it, in the form that compiled code expects."""
        left = self._started + self._nanoseconds - self._now()
        return self._clock_id, 0 if self._clock_id < 0 else max(0, left)

    def count_node(self) -> None:
        """Count one more node; raise OutOfBudget if the limit is reached."""
        is_late = self._clock_id >= 0 and self._now() - self._started >= self._nanoseconds
        if is_late or self.nodes >= self.most:
            raise OutOfBudget
        self.nodes += 1


def search(
    board: Board,
    heuristic: Callable[..., float] | None,
    limit: Limit,
    method: Method = "alphabeta",
    *,
    seed: int = 0,
    interpreted: bool = False,
    **options: bool,
) -> SearchResult:
    """Choose a move for the player to move.

    With a depth limit, minimax and alpha-beta search to that depth. With a limit of nodes or time they deepen
    iteratively, and return the move of the last finished iteration, or the first legal move if none has finished.
    Best-first search and MCTS grow a tree until nodes or time are used up.

    Thread-safe: concurrent searches do not affect each other, and each compiled search uses one core. Interpreted
    searches share Python's lock. A heuristic that keeps state must be thread-safe itself.

    Args:
        heuristic: `f(game, player)`; None only for MCTS, which then evaluates leaves by random playouts.
        method: "minimax", "alphabeta", "bestfirst" or "mcts".
        seed: random seed of ties and playouts.
        interpreted: search in plain Python even if the heuristic compiles.
        options: the fields of `SearchOptions`.

    Raises:
        ValueError: the game is over; a depth limit for best-first search or MCTS; no heuristic for another method than
            MCTS.
        UserCodeTimeout: the heuristic did not return from one position in 90 s.
    """
    from .agents import SearchAgent, compile_or_reason

    chosen = check_search(heuristic, limit, method, options)
    if not board.moves_mask(board.active_index):
        raise ValueError(f"the game is over at {board!r}: no legal moves")
    name = getattr(heuristic, "__name__", repr(heuristic))
    agent = SearchAgent(name, method, heuristic, name, limit, chosen)
    if interpreted or not is_compilable(board):
        return agent.find_in_python(board, seed)
    if isinstance(why := compile_or_reason(heuristic, (board.height, board.width)), str):
        warnings.warn(f"{name} runs interpreted: {why}", stacklevel=2)
    return agent.find(board, seed)


def check_search(heuristic: Heuristic | None, limit: Limit, method: Method, options: dict[str, bool]) -> SearchOptions:
    """Return options that fit the method, the heuristic and the limit, and raise ValueError if they do not."""
    if method not in METHODS:
        raise ValueError(f"the method must be one of {', '.join(METHODS)}, not {method!r}")
    if method in TREES and limit.depth is not None:
        raise ValueError(f"{TREES[method]} has no depth limit: use nodes, ms or cpu_ms")
    if method != "mcts" and heuristic is None:
        raise ValueError(f"{method} needs a heuristic")
    unknown = set(options) - set(SearchOptions.__dataclass_fields__)
    if unknown:
        known = ", ".join(SearchOptions.__dataclass_fields__)
        raise ValueError(f"unknown search option {sorted(unknown)[0]!r}; known are {known}")
    return SearchOptions(**options)


def is_compilable(board: Board) -> bool:
    """Return whether compiled code supports the position: an ordinary board, not too large, both players placed."""
    cells = board.width * board.height
    placed = None not in board.locations
    return (
        type(board) is Board
        and cells <= MOST_COMPILED_CELLS
        and placed
        and board.move_count == cells - board.blank.bit_count()
    )
