"""Games for learning agents: thousands in arrays, agents as policies, and what perfect play says of each move."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..rules.classic_board import Board
from ..rules.game import USUAL_SIZE, Limit, Size, SizeLike, size_of
from ..rules.geometry import cells_of, full_mask
from ..rules.solved_tables import is_covered
from ..search.agents import Agent, choose_once
from ..search.solver import SearchBudget, early_moves, known_value, move_results
from .batches import States, choose_moves, solve_moves

_WORD = (1 << 64) - 1
_UNPLACED = -1


class VectorGames:
    """`count` games on boards of one size. Each step plays one move in every game, in place; games that end begin anew.

    The player who made the move that ends a game has won it: there are no draws. So `done` is also the reward of the
    player who moved, and the opponent's reward is its negative. All arrays are changed by `step` and must not be
    written to; copy what is to be kept. They are seen from the side to move.

    Attributes:
        size: rows and columns.
        observations: bool[count, 4, rows, columns], as `Board.observation`; None if not asked for.
        moves, blank: uint64[count, 2], the legal moves and the blank cells: bit i of the words is cell i.
        knights: int64[count, 2], the cells of the side to move and of its opponent, -1 before they are placed.
        plies: int64[count], plies played since the game began; player 1 is to move where it is even.
        done: bool[count], whether the last step ended a game, of which the arrays show the next one.

    >>> games = VectorGames(2)
    >>> games.step([24, 0])
    array([False, False])
    >>> games.plies
    array([1, 1])
    """

    def __init__(self, count: int, size: SizeLike = USUAL_SIZE, *, observations: bool = True) -> None:
        """Begin `count` games on empty boards.

        Raises:
            ValueError: less than one game, or a board that compiled code does not support.
        """
        from ..compiling.specialise import native_function
        from ..native import workspaces

        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise ValueError(f"a whole number of games is needed, at least one, not {count!r}")
        self.size = size_of(size)
        self._call = native_function("step", None, *self.size).call
        self._actions = np.zeros(count, np.int64)
        self.moves = np.empty((count, 2), np.uint64)
        self.blank = np.empty((count, 2), np.uint64)
        self.knights = np.empty((count, 2), np.int64)
        self.plies = np.empty(count, np.int64)
        self.done = np.zeros(count, bool)
        self.observations: NDArray[np.bool_] | None = np.empty((count, 4, *self.size), bool) if observations else None
        columns_of = (self._actions, self.blank, self.moves, self.knights, self.plies, self.done, self.observations)
        self._table = np.array([0 if c is None else workspaces.address_of(c) for c in columns_of], np.int64)
        # ctypes converts plain numbers fastest, and asking NumPy for an address takes longer than the step of a game.
        self._arguments = workspaces.address_of(self._table), count
        self.reset()

    def __len__(self) -> int:
        return len(self.plies)

    def reset(self) -> None:
        """Begin all games anew."""
        everywhere = full_mask(*self.size)
        self.blank[:] = self.moves[:] = everywhere & _WORD, everywhere >> 64
        self.knights[:] = _UNPLACED
        self.plies[:] = 0
        self.done[:] = False
        if self.observations is not None:
            self.observations[:] = np.array([True, False, False, True])[:, None, None]

    def step(self, cells: ArrayLike) -> NDArray[np.bool_]:
        """Play a cell in every game, int[count], and return `done`: whether it won the game, which then begins anew.

        Raises:
            ValueError: not one cell for each game, or an illegal one; then no game is changed.
            TypeError: the cells are not integers.
        """
        actions = np.asarray(cells)
        if actions.shape != self._actions.shape:
            raise ValueError(f"one cell for each of {len(self)} games is needed, not an array of shape {actions.shape}")
        if not np.issubdtype(actions.dtype, np.integer):
            raise TypeError(f"the cells must be integers, not {actions.dtype}")
        np.copyto(self._actions, actions, casting="same_kind")
        illegal = int(self._call(*self._arguments))
        if illegal >= 0:
            legal = list(cells_of(int(self.moves[illegal, 0]) | int(self.moves[illegal, 1]) << 64))
            raise ValueError(f"illegal move in game {illegal}: cell {self._actions[illegal]}; legal are {legal}")
        return self.done

    def mask(self) -> NDArray[np.bool_]:
        """Return bool[count, cells]: the legal moves of every game, in a new array."""
        words = self.moves.astype("<u8").view(np.uint8)
        bits = np.unpackbits(words, axis=1, count=self.size.cells, bitorder="little")
        return bits.view(bool)

    def states(self, games: NDArray[np.integer] | NDArray[np.bool_] | slice = slice(None)) -> States:
        """Return positions of games, by indices or a mask, with both players placed, for agents and the solver; a copy.

        Raises:
            ValueError: a player is not placed yet in one of them.
        """
        plies, blank, knights = self.plies[games], self.blank[games], self.knights[games]
        if (plies < 2).any():
            raise ValueError("both players must be placed: choose games by their plies, such as games.plies >= 2")
        low, high = (np.ascontiguousarray(blank[:, word]) for word in (0, 1))
        own, other = (np.ascontiguousarray(knights[:, player]) for player in (0, 1))
        return States(self.size, low, high, own, other, plies & 1)


class AgentPolicy:
    """An agent as a function of many observations at once, compiled where the agent is.

    Every position is as if in a new game. In placements, agents that search do so with a small limit.
    """

    def __init__(self, agent: Agent, seed: int = 1) -> None:
        self._agent = agent
        self._random = np.random.default_rng(seed)

    def __call__(
        self, observations: NDArray[np.generic], masks: NDArray[np.generic] | None = None
    ) -> NDArray[np.int64]:
        """Return int64[n], the cells to play, by observations as `Board.observation`; masks are not used.

        Raises:
            RuntimeError: the agent failed in one of the positions.
        """
        planes = np.asarray(observations, bool)
        count, _, rows, columns = planes.shape
        size, flat = Size(rows, columns), planes.reshape(count, 4, rows * columns)
        seeds = self._random.integers(2**63, size=(count,)).astype(np.uint64)
        cells = np.empty(count, np.int64)
        own, other = flat[:, 1].argmax(axis=1), flat[:, 2].argmax(axis=1)
        placed = flat[:, 1].any(axis=1)
        for i in np.flatnonzero(~placed):
            board = Board.from_moves(other[i : i + 1].tolist() if flat[i, 2].any() else [], size)
            cells[i] = choose_once(self._agent.placing(), board, int(seeds[i])).move
        if not placed.any():
            return cells
        turns = (rows * columns - flat[:, 0].sum(axis=1)) & 1
        states = States.of_arrays(planes[placed, 0], own[placed], other[placed], turns[placed], size)
        answers = choose_moves(self._agent, states, seeds[placed])
        if answers.first_failure is not None:
            raise RuntimeError(f"{self._agent.name} failed in position {answers.first_failure}: {answers.detail}")
        cells[placed] = answers.cells
        return cells


@dataclass(frozen=True)
class Known:
    """What is known of one position, for its side to move: 1 if it wins with perfect play, -1 if it loses, or None.

    `winning` are the moves known to win, ascending, and `undecided` those of which it is unknown.
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
        """Begin at a position, with a limit of the search after each move, nodes or milliseconds, if any."""
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
        if (early := early_moves(board)) is not None:
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
