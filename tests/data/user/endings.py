# ruff: noqa -- written as people write heuristics
"""Heuristics that go through methods of the game, each with a number."""

INF = float("inf")


def filters_endings(game, player):
    endings = [(game.is_loser, -INF), (game.is_winner, INF)]
    decided = list(filter(lambda e: e[0](player), endings))
    if decided:
        return decided[0][1]
    return float(len(game.get_legal_moves(player)))


def lists_endings(game, player):
    endings = ((game.is_loser, float("-inf")), (game.is_winner, float("inf")))
    decided = [value for has_ended, value in endings if has_ended(player)]
    return decided[0] if decided else len(game.get_legal_moves(player)) * 1.5


def takes_the_next_ending(game, player):
    over = next((value for test, value in ((game.is_winner, INF), (game.is_loser, -INF)) if test(player)), None)
    if over is not None:
        return over
    return float(len(game.get_legal_moves(player)))


def loops_over_endings(game, player):
    for test, value in ((game.is_winner, INF), (game.is_loser, -INF)):
        if test(player):
            return value
    return float(len(game.get_legal_moves(player)))


def sums_endings(game, player):
    opponent = game.get_opponent(player)
    own = sum(weight * len(moves(player)) for moves, weight in [(game.get_legal_moves, 2)])
    return float(own - sum(weight for test, weight in [(game.is_loser, 5), (game.is_winner, 7)] if test(opponent)))


def asks_any_ending(game, player):
    if any(test(player) for test in (game.is_loser, game.is_winner)):
        return game.utility(player)
    return float(len(game.get_legal_moves(player)))


def names_its_endings(game, player):
    endings = {"lost": game.is_loser, "won": game.is_winner}
    values = {"lost": -INF, "won": INF}
    for name, test in endings.items():
        if test(player):
            return values[name]
    return float(len(game.get_blank_spaces()))
