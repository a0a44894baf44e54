"""Positions: exact results, values of moves, and thousands of positions in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from knights_isolation import heuristics
from knights_isolation.experiments.roster import AgentLike, parse_agent, parse_limit
from knights_isolation.inputs import agent_spec
from knights_isolation.isolation import Board
from knights_isolation.isolation.games.batch_evaluation import SolvedMoves as SolvedMoves
from knights_isolation.isolation.games.batch_moves import Positions, States, check_positions
from knights_isolation.isolation.games.vector_games import VectorGames as VectorGames

if TYPE_CHECKING:
    from knights_isolation.isolation.exact.solver import Winner
    from knights_isolation.isolation.games.vector_games import AgentPolicy

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
    from knights_isolation.isolation.exact.solver import SearchBudget, check_position, value

    check_position(board)
    won = value(board, SearchBudget(parse_limit(limit) if limit else None))
    if won is None:
        return None
    return 1 if won == (board.active_index == 0) else 2


def move_values(
    board: Board, heuristic: str | Callable[..., float] | None = None, *, depth: int = 1, limit: str | None = None
) -> dict[int, float]:
    """Return the value of each legal move to the side to move, by cell.

    Without a heuristic, values are exact: 1.0 for a move that wins, -1.0 for one that loses, NaN if the limit left it
    unknown. With one, they are its values after a search of `depth` plies, the move included; ±inf is proven.

    >>> move_values(Board.from_moves([24, 14, 9, 1]), "improved")[0]
    -1.0

    Raises:
        ValueError: there is no such heuristic, or the limit is invalid.
    """
    if heuristic is not None:
        from knights_isolation.reports.board.handlers import move_values as search_moves

        return search_moves(board, _function(heuristic), depth)
    from knights_isolation.isolation.exact.solver import SearchBudget, check_position, move_results

    check_position(board)
    worth = {True: 1.0, False: -1.0, None: float("nan")}
    budget = SearchBudget(parse_limit(limit) if limit else None)
    return {move.cell: worth[move.keeps] for move in sorted(move_results(board, budget))}


def evaluate_positions(
    heuristic: str | Callable[..., float],
    positions: PositionsLike,
    *,
    size: str = "7x7",
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
    from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic
    from knights_isolation.isolation.games.batch_evaluation import EvaluationBatch, evaluate_all
    from knights_isolation.isolation.rules.geometry import parse_size

    function, given = _function(heuristic), _positions(positions, size)
    valued = given.turns if players is None else np.asarray(players, np.int64)
    if len(valued) != len(given):
        raise ValueError(f"{len(valued)} players were given for {len(given)} positions")
    try:
        compiled = compile_heuristic(function, parse_size(given.size))
    except CompileError:
        boards = (given.board(index) for index in range(len(given)))
        pairs = zip(boards, valued.tolist(), strict=True)
        return np.array([function(board, board.players[player]) for board, player in pairs], np.float64)
    return evaluate_all(compiled, EvaluationBatch.of(given, valued))


def best_moves(
    agent: AgentLike, positions: PositionsLike, *, size: str = "7x7", limit: str | None = None, seed: int = 1
) -> NDArray[np.int16]:
    """Return an agent's moves in n positions, int16[n], each as if in a new game; -1 where it failed.

    Args:
        size: the board of positions that are given by their moves.
        limit: for an agent without one.

    Raises:
        ValueError: the agent is invalid, or a position is not legal.
    """
    from knights_isolation.isolation.games.batch_moves import choose_moves
    from knights_isolation.isolation.rules.seeds import splitmix64

    player = parse_agent(agent_spec(agent), parse_limit(limit) if limit else None)
    given = _positions(positions, size)
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
    from knights_isolation.isolation.games.vector_games import AgentPolicy

    return AgentPolicy(parse_agent(agent_spec(agent), parse_limit(limit) if limit else None), seed)


def solve_moves(positions: PositionsLike, *, size: str = "7x7", limit: str | None = None) -> SolvedMoves:
    """Find the winning moves in n positions in one compiled call. Late positions take about ten microseconds each.

    Args:
        size: the board of positions that are given by their moves.
        limit: give up a position after nodes=N, ms=N or cpu_ms=N.

    Raises:
        ValueError: the limit is invalid, or a position is not legal.
    """
    from knights_isolation.isolation.games import batch_evaluation

    return batch_evaluation.solve_moves(_positions(positions, size), parse_limit(limit) if limit else None)


def _function(heuristic: str | Callable[..., float]) -> Any:
    return heuristics.get(heuristic) if isinstance(heuristic, str) else heuristic


def _positions(positions: PositionsLike, size: str) -> Positions | States:
    """Return positions in flat arrays; those that come as arrays are not checked."""
    if isinstance(positions, Positions | States):
        return positions
    if len(positions) and isinstance(positions[0], Board):
        return States.of(cast("Sequence[Board]", positions))
    given = Positions.of(cast("Sequence[Sequence[int]]", positions), size)
    check_positions(given)
    return given
