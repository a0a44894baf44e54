"""Search: minimax, alpha-beta, iterative deepening, best-first and MCTS, compiled where possible."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..rules.geometry import MOST_COMPILED_CELLS
from ..rules.limits import Limit
from .result import METHODS, TREES, Method, SearchOptions, SearchResult

if TYPE_CHECKING:
    from ..editions.classic_board import Board
    from .interpreted import Heuristic

__all__ = ["METHODS", "TREES", "Limit", "Method", "SearchOptions", "SearchResult", "search"]


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
    chosen = check_search(heuristic, limit, method, options)
    if not board.moves_mask(board.active_index):
        raise ValueError(f"the game is over at {board!r}: no legal moves")

    def in_python() -> SearchResult:
        return search_in_python(board, heuristic, limit, method, chosen, seed)

    if not interpreted and is_compilable(board):
        from ..compiling.compile_heuristic import CompileError, compile_heuristic
        from .compiled import compiled_search, run_with_fallback

        size = (board.height, board.width)
        try:
            compiled = compile_heuristic(heuristic, size) if heuristic else None
        except CompileError as error:
            name = getattr(heuristic, "__name__", repr(heuristic))
            warnings.warn(f"{name} runs interpreted: {error}", stacklevel=2)
        else:
            player = compiled_search(compiled, method, chosen, limit, size)
            return run_with_fallback(player, board, seed, in_python)
    return in_python()


def check_search(heuristic: Heuristic | None, limit: Limit, method: Method, options: dict[str, bool]) -> SearchOptions:
    """Check that options fit the method, the heuristic and the limit, and return them.

    Raises:
        ValueError: they do not fit.
    """
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
    from ..editions.classic_board import Board

    cells = board.width * board.height
    placed = None not in board.locations
    return (
        type(board) is Board
        and cells <= MOST_COMPILED_CELLS
        and placed
        and board.move_count == cells - board.blank.bit_count()
    )


def search_in_python(
    board: Board, heuristic: Heuristic | None, limit: Limit, method: Method, options: SearchOptions, seed: int
) -> SearchResult:
    """Run the interpreted search of any method."""
    from .interpreted import endless_evaluations_end, search_interpreted
    from .trees import search_best_first, search_mcts

    with endless_evaluations_end():
        if method == "mcts":
            return search_mcts(board, heuristic, limit, seed)
        assert heuristic is not None
        if method == "bestfirst":
            return search_best_first(board, heuristic, limit)
        return search_interpreted(board, heuristic, limit, method, options, seed)
