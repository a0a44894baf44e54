"""Scores that count moves."""

from __future__ import annotations

from .game_protocol import Game, Player


def net_advantage(game: Game, player: Player) -> float:
    """Own moves minus the opponent's; while waiting, own moves that the opponent could take first do not count."""
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(player)
    opp = game.get_legal_moves(game.get_opponent(player))
    if player == game.active_player:
        return float(len(own) - len(opp))
    return float(len(own - opp) - len(opp))


def net_mobility(game: Game, player: Player) -> float:
    """Side with more moves: +2 or -1 for the player to move, +1 or -2 for the waiting player, 0 if equal."""
    if over := game.utility(player):
        return over
    own = len(game.get_legal_moves(player))
    opp = len(game.get_legal_moves(game.get_opponent(player)))
    if own == opp:
        return 0.0
    if player == game.active_player:
        return 2.0 if own > opp else -1.0
    return 1.0 if own > opp else -2.0


def mobility_filled(game: Game, player: Player) -> float:
    """Own moves minus the opponent's, times the number of filled cells."""
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(player)
    opp = game.get_legal_moves(game.get_opponent(player))
    filled = game.width * game.height - len(game.get_blank_spaces())
    return float((len(own) - len(opp)) * filled)


def mobility_filled_half(game: Game, player: Player) -> float:
    """Own moves minus the opponent's, times half the number of filled cells."""
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(player)
    opp = game.get_legal_moves(game.get_opponent(player))
    filled = game.width * game.height - len(game.get_blank_spaces())
    return (len(own) - len(opp)) * filled * 0.5


def late_own(game: Game, player: Player) -> float:
    """Own moves minus the opponent's; own moves only once 80 % of the board is filled."""
    if over := game.utility(player):
        return over
    own = len(game.get_legal_moves(player))
    cells = game.width * game.height
    filled = cells - len(game.get_blank_spaces())
    if filled / cells < 0.8:
        return float(own - len(game.get_legal_moves(game.get_opponent(player))))
    return float(own)


def two_step_mobility(game: Game, player: Player) -> float:
    """Two-move paths of the player minus the opponent's; a cell counts once for each path that leads to it."""
    if over := game.utility(player):
        return over
    return float(_two_step_paths(game, player) - _two_step_paths(game, game.get_opponent(player)))


def _two_step_paths(game: Game, player: Player) -> int:
    paths = 0
    for cell in game.get_legal_moves(player):
        paths += len(game.reach((cell,)))
    return paths
