"""What old code reads and sets of a game's private state."""

from __future__ import annotations

from numba.extending import overload

from knights_isolation.isolation.native import bitboards
from knights_isolation.isolation.native.position import PositionType, turned


def facing(game, player):
    """Return the game with that player to move."""


def awaiting(game, player):
    """Return the game with the opponent of that player to move."""


def flat_state(game):
    """Return the second edition's `_board_state`: the cells column by column, who is to move, where both stand."""


def visited_rows(game):
    """Return the first edition's `__board_state__`, as far as it is known: 0 where a cell is open, else 3.

    Positions do not keep who visited a cell, 1 or 2: what tells them apart differs from Python, and is found out.
    """


@overload(facing)
def _facing(game, player):
    return lambda game, player: turned(game, player)


@overload(awaiting)
def _awaiting(game, player):
    return lambda game, player: turned(game, 1 - player)


@overload(flat_state)
def _flat_state(game):
    if not isinstance(game, PositionType):
        return None
    rows, columns = game.rows, game.columns

    def flat_state(game):
        state = [
            0 if bitboards.contains(game._blank, row * columns + column) else 1
            for column in range(columns)
            for row in range(rows)
        ]
        (row, column), (other_row, other_column) = game.get_player_location(0), game.get_player_location(1)
        return state + [game._turn, other_row + other_column * rows, row + column * rows]  # noqa: RUF005

    return flat_state


@overload(visited_rows)
def _visited_rows(game):
    if not isinstance(game, PositionType):
        return None
    rows, columns = game.rows, game.columns
    return lambda game: [
        [0 if bitboards.contains(game._blank, row * columns + column) else 3 for column in range(columns)]
        for row in range(rows)
    ]
