"""Scores by distance from the edges, own moves minus the opponent's.

Each move counts by its nearness to the middle rows and columns, with h = height / 2 and w = width / 2.
"""

from __future__ import annotations

from .game_protocol import Game, Player


def edge_distance(game: Game, player: Player) -> float:
    """Distances of own moves from the edges minus those of the opponent's moves."""
    if over := game.utility(player):
        return over
    return _distances(game, player) - _distances(game, game.get_opponent(player))


def edge_distance_weighted(game: Game, player: Player) -> float:
    """Own moves minus the opponent's, each weighted from 1 at the edge to 2 in the middle."""
    if over := game.utility(player):
        return over
    return _weighted(game, player, 1.0, 0.5) - _weighted(game, game.get_opponent(player), 1.0, 0.5)


def edge_distance_dynamic(game: Game, player: Player) -> float:
    """Own moves minus the opponent's: by their place early in the game, by their number late."""
    if over := game.utility(player):
        return over
    share = len(game.get_blank_spaces()) / (game.width * game.height)
    opponent = game.get_opponent(player)
    return _weighted(game, player, 1 - share, share / 2) - _weighted(game, opponent, 1 - share, share / 2)


def _distances(game: Game, player: Player) -> float:
    h, w = game.height / 2, game.width / 2
    total = 0.0
    for row, column in game.get_legal_moves(player):
        total += (h - abs(h - row)) + (w - abs(w - column))
    return total


def _weighted(game: Game, player: Player, base: float, weight: float) -> float:
    h, w = game.height / 2, game.width / 2
    total = 0.0
    for row, column in game.get_legal_moves(player):
        total += base + weight * (h - abs(h - row)) / h + weight * (w - abs(w - column)) / w
    return total
