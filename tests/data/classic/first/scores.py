"""The score functions of this folder's player."""
# ruff: noqa - it stands for code that is not ours to tidy


def mobility(game, player):
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return float(len(game.get_legal_moves(player)) - 2 * len(game.get_legal_moves(game.get_opponent(player))))
