"""Scores by places: where the players stand, how near the edges their moves lie, and what they can still reach.

Near the edges, a move counts by its nearness to the middle rows and columns, with h = height / 2 and w = width / 2.
"""

from __future__ import annotations

from .game_protocol import Game, Location, Player


def accessibility(game: Game, player: Player) -> float:
    """+1 near the middle of the board, -1 far from it, 0 between; 0 before the player is on the board."""
    if over := game.utility(player):
        return over
    middle = (round(game.height / 2), round(game.width / 2))
    distance = _hops(game.get_player_location(player), middle)
    threshold = round(middle[0] / 2)
    if distance < 0 or distance == threshold:
        return 0.0
    return 1.0 if distance < threshold else -1.0


def proximity(game: Game, player: Player) -> float:
    """Minus the distance between the players, in steps of two cells; 0 until both are on the board."""
    if over := game.utility(player):
        return over
    distance = _hops(game.get_player_location(player), game.get_player_location(game.get_opponent(player)))
    return float(-max(distance, 0))


def offensive(game: Game, player: Player) -> float:
    """+1 for the player to move and -1 for the waiting player if both could move to the same cell, else 0."""
    if over := game.utility(player):
        return over
    if not game.get_legal_moves(player) & game.get_legal_moves(game.get_opponent(player)):
        return 0.0
    return 1.0 if player == game.active_player else -1.0


def _hops(a: Location | None, b: Location | None) -> int:
    """Return the larger of the row and column distances, halved and rounded down; -1 if either location is None."""
    if a is None or b is None:
        return -1
    return max(abs(a[0] - b[0]), abs(a[1] - b[1])) // 2


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
