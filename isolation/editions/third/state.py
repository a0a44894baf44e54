"""The third edition's game: an immutable state on 9 rows of 11 cells.

A cell is ``y * 13 + x``: cell 0 is at the bottom right, x grows to the left and y upwards. Bit `cell` of the board is
set while the cell is open. Each row of eleven cells is followed by two bits that are never set, so that no knight's
move wraps around.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

WIDTH, HEIGHT = 11, 9
STRIDE = WIDTH + 2
SIZE = STRIDE * HEIGHT - 2
NORTH, SOUTH, WEST, EAST = STRIDE, -STRIDE, 1, -1
BLANK_BOARD = sum((1 << WIDTH) - 1 << STRIDE * y for y in range(HEIGHT))

Locations = tuple[int | None, int | None]


class Action(IntEnum):
    """The eight moves of a knight as differences between cells, in the edition's order."""

    NNE = NORTH + NORTH + EAST
    ENE = EAST + NORTH + EAST
    ESE = EAST + SOUTH + EAST
    SSE = SOUTH + SOUTH + EAST
    SSW = SOUTH + SOUTH + WEST
    WSW = WEST + SOUTH + WEST
    WNW = WEST + NORTH + WEST
    NNW = NORTH + NORTH + WEST


ACTIONS = frozenset(Action)


class _Steps(dict[int, tuple[tuple[Action, int, int], ...]]):
    """By cell, its steps to cells of the board, as (action, target, the target's bit); filled on first use."""

    def __missing__(self, cell: int) -> tuple[tuple[Action, int, int], ...]:
        targets = ((action, cell + action) for action in Action)
        self[cell] = tuple((action, target, 1 << target) for action, target in targets if is_on_board(target))
        return self[cell]


class _Reach(dict[int | None, int]):
    """By cell, or None for all cells, the mask of its targets except cell 0; filled on first use."""

    def __missing__(self, cell: int | None) -> int:
        self[cell] = (BLANK_BOARD if cell is None else sum(bit for _, _, bit in _STEPS[cell])) & ~1
        return self[cell]


def is_on_board(cell: int) -> bool:
    """Return whether a number is a cell of the board."""
    return cell >= 0 and bool(BLANK_BOARD >> cell & 1)


_STEPS = _Steps()
_REACH = _Reach()


class Isolation(NamedTuple):
    """A position: the board, the plies played so far, and the cells of both players, None before their placement.

    Players are numbered 0 and 1; 0 places first. States are immutable tuples, and compare, hash and pickle as tuples.

    >>> state = Isolation().result(57).result(0)
    >>> state.actions()[:2], state.liberties(0)
    ([<Action.NNE: 25>, <Action.ENE: 11>], [15, 27])
    """

    board: int = BLANK_BOARD
    ply_count: int = 0
    locs: Locations = (None, None)

    def player(self) -> int:
        """Return the player to move."""
        return self.ply_count % 2

    def actions(self) -> list[Action] | list[int]:
        """Return the actions of the player to move: the open cells, ascending, for its placement; later `Action`s."""
        board, cell = self.board, self.locs[self.ply_count % 2]
        if cell is None:
            return _open_cells(board)
        return [action for action, _, bit in _STEPS[cell] if board & bit]

    def liberties(self, loc: int | None) -> list[int]:
        """Return the open cells a knight's move away from a cell; for None all open cells, ascending."""
        if loc is None:
            return _open_cells(self.board)
        board = self.board
        return [target for _, target, bit in _STEPS[loc] if board & bit]

    def result(self, action: int) -> Isolation:
        """Return the state after an action: a cell for a player's placement, later an `Action` or an equal number.

        Raises:
            AssertionError: not an action.
            RuntimeError: the cell is not open.
        """
        mover = self.ply_count % 2
        cell = self.locs[mover]
        assert cell is None or action in ACTIONS, f"{action} is no action of a knight"
        target = int(action) if cell is None else cell + action
        if target < 0 or not self.board >> target & 1:
            raise RuntimeError(f"cell {target} is not open")
        locs = (self.locs[0], target) if mover else (target, self.locs[1])
        return Isolation(self.board ^ 1 << target, self.ply_count + 1, locs)

    def terminal_test(self) -> bool:
        """Return whether either player has no liberties."""
        return not (self._has_liberties(0) and self._has_liberties(1))

    def utility(self, player_id: int) -> float:
        """Return positive infinity if the player has won, negative infinity if it has lost, 0 while the game goes on.

        The player to move has won if it has liberties and lost if it has none, whatever the other's liberties.
        """
        if not self.terminal_test():
            return 0
        mover = self.ply_count % 2
        return float("inf") if self._has_liberties(mover) == (player_id == mover) else float("-inf")

    def _has_liberties(self, player_id: int) -> bool:
        # The original tests whether any target cell is true, and cell 0 is not. Players depend on that.
        return bool(self.board & _REACH[self.locs[player_id]])


# Pickled states, such as the keys of opening books, refer to their classes by this module's name.
Isolation.__module__ = Action.__module__ = "isolation.isolation"


class DebugState(Isolation):
    """A state that can be printed."""

    __slots__ = ()
    __module__ = "isolation.isolation"
    player_symbols = ("1", "2")

    @staticmethod
    def from_state(state: Isolation) -> DebugState:
        """Return the same state as a `DebugState`."""
        return DebugState(state.board, state.ply_count, state.locs)

    @classmethod
    def ind2xy(cls, ind: int) -> tuple[int, int]:
        """Return the (x, y) of a cell, counted from the bottom right.

        >>> DebugState.ind2xy(57)
        (5, 4)
        """
        return ind % STRIDE, ind // STRIDE

    @property
    def bitboard_string(self) -> str:
        """Return the board in binary digits without leading zeros, the highest open cell first."""
        return f"{self.board:b}"

    def __str__(self) -> str:
        """Return the board as lines, top row first: the players, and an X for every other cell that is not open.

        A line break comes first and last, as in the edition.
        """
        border = f"+{' - +' * WIDTH}"
        rows = (f"|{self._row(y)}" for y in reversed(range(HEIGHT)))
        return "\n".join(["", border, *(line for row in rows for line in (row, border)), ""])

    def _row(self, y: int) -> str:
        return "".join(f" {self._symbol(y * STRIDE + x)} |" for x in reversed(range(WIDTH)))

    def _symbol(self, cell: int) -> str:
        if cell in self.locs:
            return self.player_symbols[self.locs.index(cell)]
        return " " if self.board >> cell & 1 else "X"


def _open_cells(board: int) -> list[int]:
    return [cell for cell in _CELLS if board >> cell & 1]


_CELLS = tuple(filter(is_on_board, range(SIZE)))
