# ruff: noqa -- written as people write heuristics
"""Functions that are chosen while the heuristic runs."""


def own(game, player):
    return len(game.get_legal_moves(player))


def against(game, player, factor=2):
    return own(game, player) - factor * own(game, game.get_opponent(player))


def middle(game, player):
    row, column = game.get_player_location(player)
    return -abs(row - 3) - abs(column - 3)


STAGES = [middle, against, own]
BY_NAME = {"middle": middle, "against": against}


def stage_of(game):
    return 0 if game.move_count < 10 else 1 if game.move_count < 25 else 2


def by_stage(game, player):
    return STAGES[stage_of(game)](game, player) + STAGES[stage_of(game) - 3](game, player) / 2


def by_name(game, player):
    kind = "middle" if game.move_count < 12 else "against" if game.move_count < 30 else "other"
    return BY_NAME.get(kind, own)(game, player)


def by_condition(game, player):
    measure = own if game.move_count > 10 else against
    return measure(game, player) + (middle if game.active_player == player else own)(game, player)


def by_own_table(game, player):
    parts = {"early": own, "late": against}
    return parts["late" if game.move_count > 20 else "early"](game, player)


def reassigned(game, player):
    measure = middle
    if game.move_count > 15:
        measure = against
    return sum(measure(game.forecast_move(move), player) for move in game.get_legal_moves()) + measure(game, player)


def another_each_time(game, player):
    if game.move_count < 8:
        measure = lambda own, opp: own - opp
    elif game.move_count < 24:
        measure = lambda own, opp: own - 2 * opp
    else:
        measure = lambda own, opp: 2 * own - opp
    return measure(len(game.get_legal_moves(player)), len(game.get_legal_moves(game.get_opponent(player))))


def two_meanings(game, player):
    def weight(count):
        return count

    if game.move_count > 10:

        def weight(count):
            return 2 * count

    return float(weight(3))
