"""The best heuristic so far: features selected on solved moves, tuned and confirmed by games."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Interval

from .features import nearer_cells
from .game_protocol import Game, Player

NEAR = 3
"""Largest distance of near cells, in jumps."""


def learned(
    game: Game,
    player: Player,
    *,
    moves: Annotated[float, Interval(ge=0, le=0.2)] = 0.037,
    waiting_moves: Annotated[float, Interval(ge=0, le=0.2)] = 0.083,
    near: Annotated[float, Interval(ge=-0.05, le=0.05)] = 0.014,
    across: Annotated[float, Interval(ge=0, le=1)] = 0.25,
) -> float:
    """Links per cell among the cells nearer to the player, and a few further terms, minus the opponent's.

    A territory is worth how well it is connected, not how large it is: a walk needs an exit from each of its cells.
    Links into the other's territory count in part. A walk visits few of the near cells, so these count against their
    owner. The weights are relative to links per cell, whose weight is 1.

    Args:
        moves: weight of a move of the side to move.
        waiting_moves: weight of a move of the waiting side to a cell that the other cannot move to first.
        near: weight of each nearer cell within three jumps, counted against its owner.
        across: weight of a link between the two territories, counted for both.
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
