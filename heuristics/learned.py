"""The best heuristic there is so far: its form found by features that rank solved moves, its weights by games."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Interval

from heuristics.features import nearer_cells
from heuristics.game import Game, Player


def learned(
    game: Game,
    player: Player,
    *,
    waiting: Annotated[float, Interval(ge=0, le=2)] = 1.04,
    moves: Annotated[float, Interval(ge=0, le=0.2)] = 0.037,
    waiting_moves: Annotated[float, Interval(ge=0, le=0.2)] = 0.078,
    cells: Annotated[float, Interval(ge=-0.1, le=0.1)] = 0.0125,
) -> float:
    """Links a cell among the cells nearer to the player, and a little of its moves, minus the opponent's.

    A territory is worth how well it hangs together, not how large it is: a walk needs a way on from each of its cells.
    The weights are beside a link a cell of the side to move.

    Args:
        waiting: of a link a cell of the side that waits.
        moves: of a move of the side to move.
        waiting_moves: of a move of the side that waits, to a cell that the other cannot go to first.
        cells: of each nearer cell, against whom it belongs to.
    """
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(game.active_player)
    other = game.get_legal_moves(game.inactive_player) - own
    movers, waiters = nearer_cells(game)
    mesh = game.links(movers) / (len(movers) + 1) - waiting * game.links(waiters) / (len(waiters) + 1)
    value = mesh + moves * len(own) - waiting_moves * len(other) - cells * (len(movers) - len(waiters))
    return value if player == game.active_player else -value
