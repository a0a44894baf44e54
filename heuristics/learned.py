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
    waiting: Annotated[float, Interval(ge=0, le=2)] = 1.0,
    moves: Annotated[float, Interval(ge=0, le=0.2)] = 0.05,
) -> float:
    """Links a cell among the cells nearer to the player, and a little of its moves, minus the opponent's.

    A territory is worth how well it hangs together, not how large it is: a walk needs a way on from each of its cells.

    Args:
        waiting: what the nearer cells of the side that waits weigh beside those of the side to move.
        moves: what a move weighs beside a link a cell.
    """
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(game.active_player)
    other = game.get_legal_moves(game.inactive_player) - own
    movers, waiters = nearer_cells(game)
    mesh = game.links(movers) / (len(movers) + 1) - waiting * game.links(waiters) / (len(waiters) + 1)
    value = mesh + moves * (len(own) - len(other))
    return value if player == game.active_player else -value
