"""`SearchResult`, `SearchOptions` and the search methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..native.layout import CPU_CLOCK, NO_LIMIT, WALL_CLOCK
from ..rules.limits import Limit

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
        pv: the principal variation in cells; the first one is the move.
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
        all(isinstance(count, int) and 0 <= count < most for count, most in counts)
        and isinstance(result.score, float)
        and isinstance(result.seconds, int | float)
        and abs(result.seconds) < _LONGEST
        and isinstance(result.exact, bool)
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
