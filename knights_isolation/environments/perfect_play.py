"""What perfect play says about a game, move by move: values, winning moves, and the regret of each move played."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.exact.early_table import early_moves, early_value
from knights_isolation.isolation.exact.solved_tables import is_covered, pair_is_won
from knights_isolation.isolation.games.batch_evaluation import solve_moves
from knights_isolation.isolation.games.batch_moves import States
from knights_isolation.isolation.rules.geometry import cells_of
from knights_isolation.isolation.rules.limits import Limit

DEFAULT_LIMIT = "nodes=1000000"
"""On 7x7 half a millisecond a move on average, and some 20 for the most difficult; the same on every machine."""


@dataclass(frozen=True)
class Known:
    """What is known of one position, for its side to move.

    Attributes:
        value: 1 if it wins with perfect play, -1 if it loses, None if unknown.
        winning: moves known to win, ascending.
        undecided: moves of which it is unknown.
    """

    value: int | None
    winning: tuple[int, ...]
    undecided: tuple[int, ...]

    @property
    def winning_moves(self) -> tuple[int, ...] | None:
        """All moves that win, ascending; None unless every move is known."""
        return None if self.undecided else self.winning


class PerfectPlay:
    """Follows one game. After each move it knows the value of the position, its winning moves, and the move's regret.

    What follows from the move before is not searched again: a move that wins leaves a lost position, of which all moves
    lose. Right after both placements, and before, the tables of solved boards answer; on 7x7 that of the first plies.

    Attributes:
        now: what is known of the current position.
        regret: 1.0 if the last move threw a win away, 0.0 if not, None if unknown or before the first move.
    """

    def __init__(self, board: Board, limit: Limit | None) -> None:
        """Begin at a position.

        Args:
            limit: of the search after each move, nodes or milliseconds; None to solve every position, however long it
                takes.
        """
        self._limit = limit
        self.now = self._look_at(board, None)
        self.regret: float | None = None

    def follow(self, cell: int, board: Board) -> None:
        """Note a legal move, and the position after it."""
        before = self.now
        self.now = self._look_at(board, value_after(before, cell))
        self.regret = regret_of(before, cell, self.now.value)

    def _look_at(self, board: Board, value: int | None) -> Known:
        """Return what is known of a position whose value may already be known."""
        legal = board.legal_cells()
        if not legal or value == -1:
            return Known(-1, (), ())
        table = placements_won(board.height, board.width)
        if None in board.locations:
            return Known(value, (), legal) if table is None else _known_placements(board, table)
        early = early_moves(board)
        if early is not None:
            return Known(1 if early else -1, early, ())
        value = value or _looked_up(board)
        if value == -1:
            return Known(-1, (), ())
        solved = solve_moves(States.of([board]), self._limit)
        winning, undecided = (
            tuple(cells_of(int(words[0, 0]) | int(words[0, 1]) << 64)) for words in (solved.winning, solved.undecided)
        )
        return Known(1 if winning else value if undecided else -1, winning, undecided)


def value_after(before: Known, cell: int) -> int | None:
    """Return the value of the position after a move, for its side to move, as far as it follows from the one before."""
    if cell in before.winning:
        return -1
    return None if cell in before.undecided and before.value != -1 else 1


def regret_of(before: Known, cell: int, value: int | None) -> float | None:
    """Return 1.0 if a move threw a win away, 0.0 if not, None if unknown.

    Args:
        value: of the position after the move, for its side to move.
    """
    if before.value == -1 or cell in before.winning or value == -1:
        return 0.0
    return 1.0 if before.value == 1 and value == 1 else None


@lru_cache(maxsize=16)
def placements_won(rows: int, columns: int) -> NDArray[np.bool_] | None:
    """Return bool[cells, cells]: whether the player on the first cell, to move, beats the one on the second.

    None if the board is not solved.
    """
    if not is_covered(rows, columns):
        return None
    cells = range(rows * columns)
    return np.array([[cell != other and pair_is_won(rows, columns, cell, other) for other in cells] for cell in cells])


def _looked_up(board: Board) -> int | None:
    """Return the value of a position with both players placed, for its side to move, if a table has it."""
    won = early_value(board)
    mover, other = board.locations[board.active_index], board.locations[1 - board.active_index]
    if won is None and board.move_count == 2 and mover is not None and other is not None:
        won = pair_is_won(board.height, board.width, mover, other)
    return None if won is None else 1 if won else -1


def _known_placements(board: Board, won: NDArray[np.bool_]) -> Known:
    """Return what the table says before both players are placed."""
    first = next((cell for cell in board.locations if cell is not None), None)
    # Player 1 moves first: it wins by a cell that beats every reply, and player 2 by a reply that is not beaten.
    keeps = won.sum(axis=1) == len(won) - 1 if first is None else ~won[first]
    winning = tuple(cell for cell in board.legal_cells() if keeps[cell])
    return Known(1 if winning else -1, winning, ())
