"""Evaluate many positions with a compiled heuristic, and find principal variations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isolation.games.batch_moves import AnyPositions, Positions, batches, packed
from isolation.rules.geometry import parse_size

if TYPE_CHECKING:
    from isolation.compiling.compile_heuristic import CompiledHeuristic

_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class EvaluationBatch:
    """n positions to evaluate, each for one of the players, in the form that compiled code expects.

    Attributes:
        size: board size, ROWSxCOLUMNS.
        columns: blank cells in two words, the players' cells, the player to move, and the player to evaluate for.
    """

    size: str
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
    heuristic: CompiledHeuristic, asking: EvaluationBatch, parameters: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the heuristic's values, float64[n].

    Args:
        parameters: float64, in the order of `parameters_of`.

    Raises:
        ArithmeticError: the heuristic raised an exception at one of the positions.
    """
    from isolation.compiling.specialise import native_function
    from isolation.native import workspaces
    from isolation.native.layout import FAILED

    values = np.empty(len(asking))
    parameters = np.ascontiguousarray(parameters, np.float64)
    with workspaces.borrow_workspace() as desk:
        native_function("values", heuristic.score, *parse_size(asking.size)).call(
            *map(workspaces.address_of, asking.columns), len(asking), desk.address,
            workspaces.address_of(parameters), workspaces.address_of(values),
        )  # fmt: skip
        if desk.numbers[FAILED]:
            raise ArithmeticError("the heuristic raises an exception at one of the positions")
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
    from isolation.compiling.specialise import native_function
    from isolation.native import workspaces
    from isolation.native.layout import FAILED, MAX_PLY, NO_LIMIT

    count = len(positions)
    lines = PrincipalVariations(np.empty(count), np.zeros(count, np.int64), np.zeros((count, MAX_PLY), np.int16))
    given = [np.ascontiguousarray(column) for column in packed(positions)]
    most = np.full(count, NO_LIMIT) if nodes is None else np.ascontiguousarray(nodes, np.int64)
    parameters = np.ascontiguousarray(parameters, np.float64)
    call = native_function("lines", heuristic.score, *parse_size(positions.size)).call
    with workspaces.borrow_workspace() as desk:
        for first, batch in batches(count):
            remaining = slice(first, None)
            call(
                *(workspaces.address_of(column[remaining]) for column in given), batch, depth or 0,
                workspaces.address_of(most[remaining]), desk.address, workspaces.address_of(parameters),
                *(workspaces.address_of(column[remaining]) for column in (lines.scores, lines.plies, lines.cells)),
            )  # fmt: skip
            if desk.numbers[FAILED]:
                raise ArithmeticError("the heuristic raises an exception or returns NaN in a search")
    return lines
