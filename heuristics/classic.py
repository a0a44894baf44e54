"""Scores of the classic sample players."""

from __future__ import annotations

from .game_protocol import Game, Player


def null(game: Game, player: Player) -> float:
    """Won and lost positions only; 0 in all others."""
    return game.utility(player)


def open_moves(game: Game, player: Player) -> float:
    """Number of the player's moves."""
    if over := game.utility(player):
        return over
    return float(len(game.get_legal_moves(player)))


def improved(game: Game, player: Player) -> float:
    """Number of the player's moves minus the opponent's."""
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(player)
    opp = game.get_legal_moves(game.get_opponent(player))
    return float(len(own) - len(opp))


def center(game: Game, player: Player) -> float:
    """Squared distance from the middle of the board, (height/2, width/2); 0 before the player is on the board."""
    if over := game.utility(player):
        return over
    location = game.get_player_location(player)
    if location is None:
        return 0.0
    row, column = location
    return float((game.height / 2 - row) ** 2 + (game.width / 2 - column) ** 2)
