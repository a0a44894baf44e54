"""Scores by the cells each player can still reach."""

from __future__ import annotations

from .game_protocol import Game, Player


def territory(game: Game, player: Player) -> float:
    """Cells the player reaches before the opponent minus those the opponent reaches first."""
    if over := game.utility(player):
        return over
    own, opponent = game.territory(player)
    return float(own - opponent)


def horizon(game: Game, player: Player) -> float:
    """Nearness to the open board: the opponent's mean distance to the blank cells minus the player's."""
    if over := game.utility(player):
        return over
    own, opponent = game.distances(player)
    blank = len(game.get_blank_spaces())
    return opponent / blank - own / blank
