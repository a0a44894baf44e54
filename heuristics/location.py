"""Scores by the players' locations."""

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
