"""The best heuristic so far: features selected on solved moves, tuned and confirmed by games."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Interval

from heuristics.features import nearer_cells
from heuristics.game_protocol import Game, Player

NEAR = 3
"""Within how many jumps a cell is near."""


def learned(
    game: Game,
    player: Player,
    *,
    moves: Annotated[float, Interval(ge=0, le=0.2)] = 0.037,
    waiting_moves: Annotated[float, Interval(ge=0, le=0.2)] = 0.083,
    near: Annotated[float, Interval(ge=-0.05, le=0.05)] = 0.014,
    across: Annotated[float, Interval(ge=0, le=1)] = 0.25,
) -> float:
    """Links a cell among the cells nearer to the player, and a little of its moves, minus the opponent's.

    A territory is worth how well it hangs together, not how large it is: a walk needs a way on from each of its cells.
    Links into the other's territory count in part. Of cells near at hand a walk takes few, and leaves the others.
    The weights are beside a link a cell.

    Args:
        moves: of a move of the side to move.
        waiting_moves: of a move of the side that waits, to a cell that the other cannot go to first.
        near: of each nearer cell within three jumps, against whom it belongs to.
        across: of a link between the two territories, for both.
    """
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(game.active_player)
    other = game.get_legal_moves(game.inactive_player) - own
    near_movers, near_waiters = nearer_cells(game, NEAR)
    movers, waiters = nearer_cells(game)
    share, waiting_share = 1 / (len(movers) + 1), 1 / (len(waiters) + 1)
    links, waiting_links = game.links(movers), game.links(waiters)
    shared = across * (game.links(movers | waiters) - links - waiting_links)
    value = moves * len(own) - waiting_moves * len(other) - near * (len(near_movers) - len(near_waiters))
    value += share * (links + shared) - waiting_share * (waiting_links + shared)
    return value if player == game.active_player else -value
