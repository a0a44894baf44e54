"""Convert a `Board` to a state of the third edition and back, and adapt heuristics of states.

A board of 9 rows and 11 columns corresponds cell by cell. A smaller board is converted to a 9x11 board whose outer
cells were visited before the game began. Boards with more rows or columns, such as 11x9, are not supported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache, partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ...rules.geometry import Move, format_size
from .state import HEIGHT, STRIDE, WIDTH, Isolation

if TYPE_CHECKING:
    from ...boards.board import Board


def unsupported_size_reason(rows: int, columns: int) -> str:
    """Return why a state cannot hold a board of this size, or "" if it can."""
    if rows <= HEIGHT and columns <= WIDTH:
        return ""
    size = format_size(rows, columns)
    return f"players of the third edition support boards of up to {format_size(HEIGHT, WIDTH)}, not {size}"


def state_of(board: Board) -> Isolation:
    """Convert a position to a state.

    Raises:
        ValueError: the board is too large.
    """
    rows, columns = board.height, board.width
    cells, images = _cells(rows, columns), _images(columns)
    row_mask = (1 << columns) - 1
    blank = 0
    for row in range(rows):
        blank |= images[board.blank >> row * columns & row_mask] << cells[(row + 1) * columns - 1]
    first, second = (None if cell is None else cells[cell] for cell in board.locations)
    # The number of plies determines the side to move, even if old code has set it.
    plies = board.move_count + (board.move_count % 2 ^ board.active_index)
    return Isolation(blank, plies, (first, second))


def from_state_cell(cell: int, rows: int, columns: int) -> Move:
    """Convert a state's cell to (row, column) on a board of this size; the result may be off the board."""
    x, y = cell % STRIDE, cell // STRIDE
    return rows - 1 - (y - (HEIGHT - rows) // 2), columns - 1 - (x - (WIDTH - columns) // 2)


def to_state_cell(row: int, column: int, rows: int, columns: int) -> int:
    """Convert (row, column) on a board of this size to a state's cell.

    >>> to_state_cell(0, 0, 9, 11), to_state_cell(8, 10, 9, 11), to_state_cell(3, 3, 7, 7)
    (114, 0, 57)
    """
    x, y = columns - 1 - column + (WIDTH - columns) // 2, rows - 1 - row + (HEIGHT - rows) // 2
    return y * STRIDE + x


@lru_cache(maxsize=64)
def _cells(rows: int, columns: int) -> tuple[int, ...]:
    if why := unsupported_size_reason(rows, columns):
        raise ValueError(why)
    return tuple(to_state_cell(row, column, rows, columns) for row in range(rows) for column in range(columns))


@lru_cache(maxsize=16)
def _images(columns: int) -> tuple[int, ...]:
    """Return the mirror image of each set of cells of a row."""
    return tuple(
        sum(1 << columns - 1 - column for column in range(columns) if row >> column & 1) for row in range(1 << columns)
    )


class StateHeuristic:
    """A heuristic of (game, player) that calls a heuristic of states.

    Attributes:
        of_players: for player 0 and player 1, the function of a state and of parameters by name that returns the
            state's value for that player.
    """

    def __init__(self, function: FunctionType, of_players: tuple[Callable[..., Any], ...]) -> None:
        self.of_players = of_players
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, game: Any, player: Any, **parameters: float) -> Any:
        """Return the position's value for one of its players; `parameters` are passed to the function."""
        return self.of_players[game._index_of(player)](state_of(game), **parameters)


def as_heuristic(value: Any, owner: type | None) -> StateHeuristic | None:
    """Adapt a function of (state, player_id), or, given its owner, a method of (self, state).

    Such a method may also take the player_id. Returns None if `value` is neither. For a method, an instance of the
    owner is created for each player.

    Raises:
        Exception: any exception raised while a player is created.
    """
    names = required_parameters(value) if inspect.isfunction(value) else []
    if owner is not None and (len(names) == 2 or names[2:] == ["player_id"]):
        methods = [getattr(owner(player_id=seat), value.__name__) for seat in (0, 1)]
        if names[2:]:
            methods = [partial(method, player_id=seat) for seat, method in enumerate(methods)]
        return StateHeuristic(value, tuple(methods))
    if owner is None and len(names) == 2 and names[0] == "state" and "depth" not in names[1]:
        return StateHeuristic(value, tuple(partial(value, **{names[1]: seat}) for seat in (0, 1)))
    return None


def required_parameters(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that a function or method requires; empty if it has no signature."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each.name for each in given if each.default is each.empty and each.kind not in kinds]
