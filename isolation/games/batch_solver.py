"""Solve many positions in one compiled call: which moves win."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isolation.games.batch_moves import AnyPositions, batches, packed
from isolation.rules.geometry import parse_size
from isolation.rules.limits import Limit


@dataclass(frozen=True)
class SolvedMoves:
    """The exact results of n positions.

    Attributes:
        size: ROWSxCOLUMNS.
        winning: uint64[n, 2], the moves that win: bit i of the words is cell i.
        undecided: uint64[n, 2], the moves that the limit left undecided.
        nodes: int64[n], positions visited.
    """

    size: str
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
    from isolation.compiling.specialise import native_function
    from isolation.native import workspaces
    from isolation.native.layout import CPU_CLOCK, NO_LIMIT, WALL_CLOCK

    if limit is not None and limit.unit == "depth":
        raise ValueError(f"the solver searches to the end of the game: use a limit of nodes or time, not {limit}")
    milliseconds = None if limit is None else limit.ms or limit.cpu_ms
    clock = -1 if limit is None or milliseconds is None else CPU_CLOCK if limit.cpu_ms else WALL_CLOCK
    nodes = NO_LIMIT if limit is None or limit.nodes is None else limit.nodes
    budget = int((milliseconds or 0) * 1_000_000)
    given = [np.ascontiguousarray(column) for column in packed(positions)]
    count = len(positions)
    solved = SolvedMoves(
        positions.size, np.zeros((count, 2), np.uint64), np.zeros((count, 2), np.uint64), np.zeros(count, np.int64)
    )
    call = native_function("solve_many", None, *parse_size(positions.size)).call
    with workspaces.borrow_workspace() as desk:
        for first, batch in batches(count):
            part = slice(first, None)
            call(
                *(workspaces.address_of(column[part]) for column in given), batch, nodes, clock, budget, desk.address,
                *(workspaces.address_of(column[part]) for column in (solved.winning, solved.undecided, solved.nodes)),
            )  # fmt: skip
    return solved
