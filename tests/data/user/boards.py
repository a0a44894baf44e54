# ruff: noqa -- written as people write heuristics
"""Heuristics that reach into the game, and that play on."""

from copy import copy


def first_edition(game, player):
    own = sum(len(game.__get_moves__(move)) for move in game.get_legal_moves(player))
    return own if player == game.__active_player__ else -own


def second_edition(game, player):
    if game._player_1 == player:
        return float(len(game._Board__get_moves(game.get_player_location(player))))
    return float(game.move_count) if game._inactive_player == player else -1.0


def looks_ahead(game, player):
    total = 0
    for move in game.get_legal_moves():
        child = game.forecast_move(move)
        if child.is_winner(player) or child.is_loser(player):
            total += child.utility(player) > 0
        total += len(child.get_legal_moves(player))
    return float(total)


def plays_on_a_copy(game, player):
    total = 0
    for move in game.get_legal_moves(game.active_player):
        board = game.copy()
        board.apply_move(move)
        other = copy(board)
        total += len(other.get_legal_moves(other.active_player))
    return float(total)


def free_cells_around(game, player):
    row, column = game.get_player_location(player)
    blank = game.get_blank_spaces()
    free = [(r, c) for r in range(row - 1, row + 2) for c in range(column - 1, column + 2) if (r, c) in blank]
    return float(len(free))
