"""The score functions of this folder's players: another module of the same name lies in the other folder."""
# ruff: noqa - it stands for code that is not ours to tidy


def chase(game, player):
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    row, col = game.get_player_location(player)
    other_row, other_col = game.get_player_location(game.get_opponent(player))
    return -float((row - other_row) ** 2 + (col - other_col) ** 2)
