"""First program: OpenEvolve changes what stands between the two comments."""


# EVOLVE-BLOCK-START
def score(game, player):
    """Return how many more moves the player has."""
    own = game.get_legal_moves(player)
    opponent = game.get_legal_moves(game.get_opponent(player))
    return float(len(own) - len(opponent))


# EVOLVE-BLOCK-END
