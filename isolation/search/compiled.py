"""Call compiled searches from Python: a board and a limit in, a `SearchResult` out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..compiling.compile_heuristic import CompiledHeuristic
from ..compiling.specialise import NativeFunction, Template, native_function, pack
from ..native import layout as on_desk
from ..native import workspaces
from ..rules.classic_board import Board
from ..rules.game import Limit
from . import TREES, SearchOptions, SearchResult, limits_of

_SIGN = 1 << 63
_NO_TIME_LIMIT = 1 << 62
NO_PARAMETERS = np.zeros(0)
MOST_NODES_INTERPRETED = 1_000_000


@dataclass(frozen=True)
class CompiledPlayer:
    """A compiled player: its code, its settings, and the milliseconds after which its move is late, if any.

    The settings are depth, nodes, clock, nanoseconds and flags. `parameters`, float64, are those of its heuristic;
    compiled code reads them in place.
    """

    function: NativeFunction
    settings: tuple[int, int, int, int, int]
    parameters: NDArray[np.float64] = field(compare=False)
    late_ms: float | None = None


def as_row(player: CompiledPlayer) -> list[int]:
    """Return a compiled player as the nine numbers of `kernels.batches`, without a number in a move cache."""
    late = _NO_TIME_LIMIT if player.late_ms is None else int(player.late_ms * 1e6)
    return [player.function.address, *player.settings, late, workspaces.address_of(player.parameters), 0]


def identity(player: CompiledPlayer) -> tuple[object, ...]:
    """Return a key that is unique to a compiled player in this process, because compiled code is never unloaded."""
    return player.function.address, player.settings, player.late_ms, player.parameters.tobytes()


NOBODY = [0] * 9
"""The row of an absent player."""


class HeuristicFailed(Exception):
    """A compiled search failed; only the number of nodes is known."""

    def __init__(self, nodes: int) -> None:
        why = "raised an exception, returned NaN, or exceeded 64 bits in a whole number or ten million rounds in loops"
        super().__init__(f"the heuristic {why} after {nodes:,} nodes")
        self.nodes = nodes


def run_with_fallback(
    player: CompiledPlayer, board: Board, seed: int, interpreted: Callable[[], SearchResult]
) -> SearchResult:
    """Ask a compiled player for a move with both players placed; if it fails, repeat the search interpreted.

    That raises the exception itself.

    Raises:
        HeuristicFailed: the heuristic failed after so many nodes that the interpreter would take too long.
        Exception: the heuristic's exception, or NotANumber.
    """
    low, high, cell_0, cell_1, turn = pack(board)
    own, other = (cell_1, cell_0) if turn else (cell_0, cell_1)
    with workspaces.borrow_workspace() as desk:
        parameters = workspaces.address_of(player.parameters)
        score = player.function.call(low, high, own, other, *player.settings, signed(seed), desk.address, parameters)
        found, nodes = desk.numbers, int(desk.numbers[on_desk.NODES])
        if not found[on_desk.FAILED]:
            line = found[on_desk.BEST_LINE : on_desk.BEST_LINE + found[on_desk.BEST_LENGTH]]
            move, seconds = int(found[on_desk.MOVE]), int(found[on_desk.NANOSECONDS]) / 1e9
            pv, is_exact = tuple(line.tolist()) or (move,), bool(found[on_desk.EXACT])
            return SearchResult(move, score + 0.0, int(found[on_desk.DEPTH]), nodes, seconds, pv, is_exact)
    if nodes > MOST_NODES_INTERPRETED:
        raise HeuristicFailed(nodes)
    return interpreted()


def compiled_search(
    heuristic: CompiledHeuristic | None,
    method: Template,
    options: SearchOptions,
    limit: Limit | None,
    size: tuple[int, int],
    late_ms: float | None = None,
) -> CompiledPlayer:
    """Return the compiled search of a heuristic by a method under a limit, or random or greedy player, for a size."""
    ordered = options.order_moves and method == "alphabeta"
    quiescent = options.quiescence and method not in TREES
    function = native_function(method, heuristic.score_on(size) if heuristic else None, *size, ordered, quiescent)
    flags = on_desk.STOP_ON_AGREEMENT * options.stop_on_agreement | on_desk.RANDOM_TIES * options.random_ties
    parameters = heuristic.parameters if heuristic else NO_PARAMETERS
    depth = limit.depth or 0 if limit else 0
    return CompiledPlayer(function, (depth, *limits_of(limit), flags), parameters, late_ms)


def signed(seed: int) -> int:
    """Return the signed 64-bit number with the bits of an unsigned one."""
    return seed - 2 * _SIGN if seed >= _SIGN else seed
