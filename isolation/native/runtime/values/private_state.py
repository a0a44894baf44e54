"""What old code reads and sets of a game's private state."""

from __future__ import annotations

from ... import bitboards
from ...decorators import by_type, for_all_types
from ...position import PositionType, turned


@for_all_types
def facing(game, player):
    """Return the game with that player to move."""
    return turned(game, player)


@for_all_types
def awaiting(game, player):
    """Return the game with the opponent of that player to move."""
    return turned(game, 1 - player)


@by_type
def flat_state(game):
    """Return the second edition's `_board_state`: the cells column by column, who is to move, where both stand."""
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


@by_type
def visited_rows(game):
    """Return the first edition's `__board_state__`, as far as it is known: 0 where a cell is open, else 3.

    Positions do not keep who visited a cell, 1 or 2: what tells them apart differs from Python, and is found out.
    """
    if not isinstance(game, PositionType):
        return None
    rows, columns = game.rows, game.columns
    return lambda game: [
        [0 if bitboards.contains(game._blank, row * columns + column) else 3 for column in range(columns)]
        for row in range(rows)
    ]
