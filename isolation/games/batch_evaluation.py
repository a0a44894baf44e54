"""Evaluate many positions with a compiled heuristic, find principal variations, and solve them: which moves win."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..native import workspaces
from ..native.layout import MAX_PLY, NO_LIMIT
from ..rules.limits import Limit
from ..rules.sizes import Size
from .batch_moves import COUNT, DESK, AnyPositions, Positions, call_in_batches, packed

if TYPE_CHECKING:
    from ..compiling.compile_heuristic import CompiledHeuristic


@dataclass(frozen=True)
class EvaluationBatch:
    """n positions to evaluate, each for one of the players, in the form that compiled code expects.

    Attributes:
        size: board size.
        columns: blank cells in two words, the players' cells, the player to move, and the player to evaluate for.
    """

    size: Size
    columns: tuple[NDArray[Any], ...]

    @classmethod
    def of(cls, positions: AnyPositions, players: NDArray[np.int64]) -> EvaluationBatch:
        """Return the positions to be evaluated for these players (0 or 1)."""
        low, high, own, other = packed(positions)
        turns = positions.turns
        cells = np.where(turns == 0, own, other), np.where(turns == 0, other, own)
        columns = (low, high, *cells, turns, players.astype(np.int64))
        return cls(positions.size, tuple(np.ascontiguousarray(column) for column in columns))

    def __len__(self) -> int:
        return len(self.columns[0])


def evaluate_all(
    heuristic: CompiledHeuristic, asking: EvaluationBatch, parameters: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the heuristic's values, float64[n].

    Args:
        parameters: float64, in the order of `parameters_of`; by default those of the heuristic.

    Raises:
        ArithmeticError: the heuristic raised an exception at one of the positions.
    """
    from ..compiling.specialise import native_function

    given = heuristic.parameters if parameters is None else parameters
    values, parameters = np.empty(len(asking)), np.ascontiguousarray(given, np.float64)
    call = native_function("values", heuristic.score, *asking.size).call
    failure = "the heuristic raises an exception at one of the positions"
    numbers = workspaces.address_of(parameters)
    call_in_batches(call, len(asking), (*asking.columns, COUNT, DESK, numbers, values), failure)
    return values


@dataclass(frozen=True)
class PrincipalVariations:
    """Search results of n positions.

    Attributes:
        scores: float64[n], for the side to move; ±inf means proven.
        plies: int64[n], the length of each line; 0 if the limit was too small for any.
        cells: int16[n, MAX_PLY], the lines.
    """

    scores: NDArray[np.float64]
    plies: NDArray[np.int64]
    cells: NDArray[np.int16]


def expected_lines(
    heuristic: CompiledHeuristic,
    positions: Positions,
    parameters: NDArray[np.float64],
    depth: int | None,
    nodes: NDArray[np.int64] | None,
) -> PrincipalVariations:
    """Search positions by alpha-beta, each as part of a search for the side that has just moved.

    Args:
        depth: depth in plies, or None to use `nodes`.
        nodes: int64[n], node limit of each position.

    Raises:
        ArithmeticError: the heuristic raised an exception or returned NaN.
    """
    from ..compiling.specialise import native_function

    count = len(positions)
    lines = PrincipalVariations(np.empty(count), np.zeros(count, np.int64), np.zeros((count, MAX_PLY), np.int16))
    given = [np.ascontiguousarray(column) for column in packed(positions)]
    most = np.full(count, NO_LIMIT) if nodes is None else np.ascontiguousarray(nodes, np.int64)
    parameters = np.ascontiguousarray(parameters, np.float64)
    filled = (workspaces.address_of(parameters), lines.scores, lines.plies, lines.cells)
    call = native_function("lines", heuristic.score, *positions.size).call
    failure = "the heuristic raises an exception or returns NaN in a search"
    call_in_batches(call, count, (*given, COUNT, depth or 0, most, DESK, *filled), failure)
    return lines


@dataclass(frozen=True)
class SolvedMoves:
    """The exact results of n positions.

    Attributes:
        size: board size.
        winning: uint64[n, 2], the moves that win: bit i of the words is cell i.
        undecided: uint64[n, 2], the moves that the limit left undecided.
        nodes: int64[n], positions visited.
    """

    size: Size
    winning: NDArray[np.uint64]
    undecided: NDArray[np.uint64]
    nodes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def values(self) -> NDArray[np.float64]:
        """float64[n]: 1.0 if the side to move wins, -1.0 if it loses, NaN if the limit left it unknown."""
        won, unknown = self.winning.any(axis=1), self.undecided.any(axis=1)
        return np.where(won, 1.0, np.where(unknown, np.nan, -1.0))

    def regrets(self, cells: ArrayLike) -> NDArray[np.float64]:
        """Return float64[n]: 1.0 for a move that throws a win away, 0.0 for any other, NaN if unknown.

        Args:
            cells: int[n], the legal move played in each position.
        """
        index = np.asarray(cells, np.int64)
        bits = np.uint64(1) << (index & 63).astype(np.uint64)
        rows, words = np.arange(len(self)), index >> 6
        keeps, unknown = ((mask[rows, words] & bits) != 0 for mask in (self.winning, self.undecided))
        values = self.values
        regrets: NDArray[np.float64] = np.where(keeps | (values < 0), 0.0, np.where(unknown, np.nan, (values + 1) / 2))
        return regrets


def solve_moves(positions: AnyPositions, limit: Limit | None = None) -> SolvedMoves:
    """Find the winning moves in every position. Late positions take about ten microseconds each.

    Args:
        limit: nodes or milliseconds for each position; without one, all are solved.

    Raises:
        ValueError: the limit is in depth.
    """
    from ..compiling.specialise import native_function
    from ..exact.solver import solver_limits

    nodes, clock, nanoseconds = solver_limits(limit)
    count, given = len(positions), [np.ascontiguousarray(column) for column in packed(positions)]
    solved = SolvedMoves(
        positions.size, np.zeros((count, 2), np.uint64), np.zeros((count, 2), np.uint64), np.zeros(count, np.int64)
    )
    call = native_function("solve_many", None, *positions.size).call
    filled = (solved.winning, solved.undecided, solved.nodes)
    call_in_batches(call, count, (*given, COUNT, nodes, clock, nanoseconds, DESK, *filled))
    return solved
