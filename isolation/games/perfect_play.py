"""What perfect play says about a game, move by move: values, winning moves, and the regret of each move played."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..editions.classic_board import Board
from ..exact.early_table import early_moves
from ..exact.solved_tables import is_covered
from ..exact.solver import SearchBudget, known_value, move_results
from ..rules.geometry import cells_of
from ..rules.limits import Limit
from ..rules.sizes import Size
from .batch_evaluation import solve_moves
from .batch_moves import States


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
        is_open = cell in before.undecided and before.value != -1
        self.now = self._look_at(board, -1 if cell in before.winning else None if is_open else 1)
        if before.value == -1 or cell in before.winning or self.now.value == -1:
            self.regret = 0.0
        else:
            self.regret = 1.0 if before.value == 1 and self.now.value == 1 else None

    def _look_at(self, board: Board, value: int | None) -> Known:
        """Return what is known of a position whose value may already be known."""
        legal = board.legal_cells()
        if not legal or value == -1:
            return Known(-1, (), ())
        if None in board.locations:
            placed = tuple(cell for cell in board.locations if cell is not None)
            is_solved = is_covered(board.height, board.width)
            return _known_placements(Size(board.height, board.width), placed) if is_solved else Known(value, (), legal)
        early = early_moves(board)
        if early is not None:
            return Known(1 if early else -1, early, ())
        value = value or {True: 1, False: -1, None: None}[known_value(board)]
        if value == -1:
            return Known(-1, (), ())
        solved = solve_moves(States.of([board]), self._limit)
        winning, undecided = (
            tuple(cells_of(int(words[0, 0]) | int(words[0, 1]) << 64)) for words in (solved.winning, solved.undecided)
        )
        return Known(1 if winning else value if undecided else -1, winning, undecided)


@lru_cache(maxsize=1024)
def _known_placements(size: Size, placed: tuple[int, ...]) -> Known:
    """Return what the table of a solved board says before both players are placed."""
    moves = move_results(Board.from_moves(placed, size), SearchBudget())
    winning = tuple(sorted(move.cell for move in moves if move.keeps))
    return Known(1 if winning else -1, winning, ())
