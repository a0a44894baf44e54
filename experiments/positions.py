"""Positions: exact results, values of moves, and thousands of positions in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from knights_isolation import heuristics
from knights_isolation.heuristics.registry import Composite
from knights_isolation.isolation.compiling import FUNCTIONS_REMEMBERED
from knights_isolation.isolation.games import batches
from knights_isolation.isolation.games.batches import Positions, States, check_positions, choose_moves
from knights_isolation.isolation.games.learning import AgentPolicy
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import Limit, SizeLike
from knights_isolation.isolation.rules.seeds import splitmix64
from knights_isolation.isolation.search import Heuristic as Heuristic
from knights_isolation.isolation.search import is_compilable, search
from knights_isolation.isolation.search.agents import compile_or_reason
from knights_isolation.isolation.search.interpreted import appraise
from knights_isolation.isolation.search.solver import SearchBudget, Winner, check_position, move_results, value

from .plan import AgentLike, parse_agent, parse_limit, spec_of

PositionsLike: TypeAlias = "Positions | States | Sequence[Board] | Sequence[Sequence[int]]"
"""Many positions of one board size: flat arrays, boards, or the cells played to reach each, both placements first."""


def exact(board: Board, *, limit: str | None = None) -> Winner | None:
    """Return who wins with perfect play, 1 or 2; None if the limit left it unknown.

    Placement pairs of solved boards are looked up; other positions are searched to the end of the game.

    >>> exact(Board.from_moves([24, 14]))
    1

    Raises:
        ValueError: the limit is invalid.
    """
    check_position(board)
    won = value(board, SearchBudget(_limit(limit)))
    if won is None:
        return None
    return 1 if won == (board.active_index == 0) else 2


def move_values(
    board: Board, heuristic: str | Heuristic | None = None, *, depth: int = 1, limit: str | None = None
) -> dict[int, float]:
    """Return the value of each legal move to the side to move, by cell.

    Without a heuristic, values are exact: 1.0 for a move that wins, -1.0 for one that loses, NaN if the limit left it
    unknown. With one, they are its values after minimax of `depth` plies, the move included; ±inf is proven.

    >>> move_values(Board.from_moves([24, 14, 9, 1]), "improved")[0]
    -1.0

    Raises:
        ValueError: there is no such heuristic, or the limit is invalid.
    """
    if heuristic is not None:
        other = opposing(_function(heuristic))
        return {cell: 0.0 - position_value(board.successor(cell), other, depth - 1) for cell in board.legal_cells()}
    check_position(board)
    worth = {True: 1.0, False: -1.0, None: float("nan")}
    return {move.cell: worth[move.keeps] for move in sorted(move_results(board, SearchBudget(_limit(limit))))}


def position_value(board: Board, heuristic: Heuristic, depth: int) -> float:
    """Return the value of a position to the side to move by minimax; at depth 0 the heuristic's own value."""
    if not board.legal_cells():
        return float("-inf")
    if depth == 0:
        return appraise(heuristic, board.copy(), board.active_player)
    return search(board, heuristic, Limit(depth=depth), interpreted=not compiles(board, heuristic)).score


def compiles(board: Board, heuristic: Heuristic) -> bool:
    """Return whether compiled search supports the heuristic in a position."""
    size = (board.height, board.width)
    return is_compilable(board) and not isinstance(compile_or_reason(heuristic, size), str)


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def opposing(heuristic: Heuristic) -> Heuristic:
    """Return the heuristic from the opponent's view: what minimax maximises at the opponent's moves, for our value.

    A heuristic's values for both players need not be opposite, so negating a search result is not enough.
    """
    if isinstance(heuristic, Composite):
        phases = tuple(
            (until, tuple((weight, opposing(part)) for weight, part in parts)) for until, parts in heuristic.phases
        )
        return replace(heuristic, phases=phases)

    def loss(game: Any, player: Any) -> float:
        return -heuristic(game, game.get_opponent(player))

    return loss


def evaluate_positions(
    heuristic: str | Heuristic,
    positions: PositionsLike,
    *,
    size: SizeLike = "7x7",
    players: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return a heuristic's values of n positions, float64[n].

    Compiled heuristics evaluate flat arrays, `Positions` or `States`, at tens to hundreds of millions a second.

    Args:
        heuristic: a function of (game, player), or the name of a shipped one.
        size: the board of positions that are given by their moves.
        players: int64[n], whom to evaluate for, 0 or 1; by default the side to move.

    Raises:
        ValueError: there is no such heuristic, or a position is not legal.
        ArithmeticError: the compiled heuristic raised an exception at one of the positions.
    """
    function, given = _function(heuristic), _positions(positions, size)
    valued = given.turns if players is None else np.asarray(players, np.int64)
    if len(valued) != len(given):
        raise ValueError(f"{len(valued)} players were given for {len(given)} positions")
    compiled = compile_or_reason(function, given.size)
    if compiled and not isinstance(compiled, str):
        return batches.evaluate_all(compiled, batches.EvaluationBatch.of(given, valued))
    pairs = zip(map(given.board, range(len(given))), valued.tolist(), strict=True)
    return np.array([function(board, board.players[player]) for board, player in pairs], np.float64)


def best_moves(
    agent: AgentLike, positions: PositionsLike, *, size: SizeLike = "7x7", limit: str | None = None, seed: int = 1
) -> NDArray[np.int16]:
    """Return an agent's moves in n positions, int16[n], each as if in a new game; -1 where it failed.

    Args:
        size: the board of positions that are given by their moves.
        limit: for an agent without one.

    Raises:
        ValueError: the agent is invalid, or a position is not legal.
    """
    player, given = parse_agent(spec_of(agent), _limit(limit)), _positions(positions, size)
    seeds = splitmix64(np.uint64(splitmix64(seed)) ^ np.arange(1, len(given) + 1, dtype=np.uint64))
    return choose_moves(player, given, seeds).cells


def agent_policy(agent: AgentLike, *, limit: str | None = None, seed: int = 1) -> AgentPolicy:
    """Return an agent as a policy: a function of observations, bool[n, 4, rows, columns], that returns int64[n] cells.

    Args:
        limit: for an agent without one.
        seed: of the moves' seeds.

    Raises:
        ValueError: the agent is invalid.
    """
    return AgentPolicy(parse_agent(spec_of(agent), _limit(limit)), seed)


def solve_moves(positions: PositionsLike, *, size: SizeLike = "7x7", limit: str | None = None) -> batches.SolvedMoves:
    """Find the winning moves in n positions in one compiled call. Late positions take about ten microseconds each.

    Args:
        size: the board of positions that are given by their moves.
        limit: give up a position after nodes=N, ms=N or cpu_ms=N.

    Raises:
        ValueError: the limit is invalid, or a position is not legal.
    """
    return batches.solve_moves(_positions(positions, size), _limit(limit))


def _limit(text: str | None) -> Limit | None:
    return parse_limit(text) if text else None


def _function(heuristic: str | Heuristic) -> Heuristic:
    return heuristics.get(heuristic) if isinstance(heuristic, str) else heuristic


def _positions(positions: PositionsLike, size: SizeLike) -> Positions | States:
    """Return positions in flat arrays; those that come as arrays are not checked."""
    if isinstance(positions, Positions | States):
        return positions
    if len(positions) and isinstance(positions[0], Board):
        return States.of(cast("Sequence[Board]", positions))
    given = Positions.of(cast("Sequence[Sequence[int]]", positions), size)
    check_positions(given)
    return given
