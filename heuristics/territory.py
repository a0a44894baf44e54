"""Scores of what each player can still get to."""

from __future__ import annotations

from heuristics.game_protocol import Game, Player


def territory(game: Game, player: Player) -> float:
    """Cells the player reaches before the opponent minus those the opponent reaches first."""
    if over := game.utility(player):
        return over
    unclaimed = game.get_blank_spaces()
    movers = game.get_legal_moves(game.active_player)
    waiters = game.get_legal_moves(game.inactive_player)
    balance = 0
    while movers or waiters:
        unclaimed = unclaimed - movers
        waiters = waiters & unclaimed
        unclaimed = unclaimed - waiters
        balance += len(movers) - len(waiters)
        movers, waiters = game.reach(movers) & unclaimed, game.reach(waiters) & unclaimed
    return float(balance if player == game.active_player else -balance)


def horizon(game: Game, player: Player) -> float:
    """Nearness to the open board: the opponent's mean distance to the blank cells minus the player's."""
    if over := game.utility(player):
        return over
    return _mean_distance(game, game.get_opponent(player)) - _mean_distance(game, player)


def _mean_distance(game: Game, player: Player) -> float:
    """Return the mean number of knight's moves over blank cells to each; out of reach counts as the board's size."""
    blank = game.get_blank_spaces()
    unreached = blank
    front = game.get_legal_moves(player)
    total, moves = 0, 0
    while front:
        moves += 1
        total += moves * len(front)
        unreached = unreached - front
        front = game.reach(front) & unreached
    return (total + game.width * game.height * len(unreached)) / len(blank)
