# ruff: noqa -- written as people write heuristics
"""Heuristics that are put together from lists and dictionaries of functions."""


def mobility(game, player):
    return len(game.get_legal_moves(player)) - len(game.get_legal_moves(game.get_opponent(player)))


def centre(game, player):
    row, column = game.get_player_location(player)
    return -abs(row - game.height / 2) - abs(column - game.width / 2)


def distance(game, player):
    row, column = game.get_player_location(player)
    other_row, other_column = game.get_player_location(game.get_opponent(player))
    return abs(row - other_row) + abs(column - other_column)


PARTS = [(mobility, 1.0), (centre, 0.25), (distance, -0.1)]
NAMED = {"mobility": mobility, "centre": centre, "distance": distance}
WEIGHTS = {"mobility": 2, "centre": 0.5, "distance": -1}
FUNCTIONS, FACTORS = [mobility, distance, centre], [1.0, 0.3, 0.7]


def sum_of_parts(game, player):
    return sum(weight * part(game, player) for part, weight in PARTS)


def loop_over_parts(game, player):
    total = 0.0
    for part, weight in PARTS:
        if weight < 0 and game.move_count > 20:
            total -= part(game, player)
        total += weight * part(game, player)
    return total


def parts_of_its_own(game, player):
    def edge(game, player):
        row, column = game.get_player_location(player)
        return min(row, column)

    parts = [(1.5, edge), (0.5, mobility), (-2, lambda game, player: distance(game, player) / 3)]
    return sum([weight * measure(game, player) for weight, measure in parts])


def best_of_functions(game, player):
    values = [measure(game, player) for measure in (mobility, distance, centre)]
    return max(values) + min(measure(game, player) for measure in FUNCTIONS) + 0.1 * len(values)


def functions_and_factors(game, player):
    mixed = sum(factor * measure(game, player) for measure, factor in zip(FUNCTIONS, FACTORS))
    for place, measure in enumerate(FUNCTIONS):
        mixed += place * measure(game, player)
    return float(mixed)


def functions_by_index(game, player):
    total = 0.0
    for i in range(len(FUNCTIONS)):
        total += FACTORS[i] * FUNCTIONS[i](game, player)
    return total + PARTS[0][0](game, player)


def functions_by_name(game, player):
    total = sum(WEIGHTS[name] * NAMED[name](game, player) for name in NAMED)
    for name, measure in NAMED.items():
        total += WEIGHTS[name] * measure(game, player) / 2
    return float(total + NAMED["centre"](game, player))


def any_of_functions(game, player):
    high = any(measure(game, player) > 3 for measure in NAMED.values())
    return float(high) + all(measure(game, player) > -9 for measure, weight in PARTS)


def defaults_of_variables(game, player):
    middle = (game.height // 2, game.width // 2)
    from_middle = lambda cell, centre=middle: abs(cell[0] - centre[0]) + abs(cell[1] - centre[1])

    def mobility_of(who=game.get_opponent(player), weight=game.move_count / 10):
        return weight * len(game.get_legal_moves(who))

    near = sum(from_middle(cell) for cell in game.get_legal_moves(player))
    return near + mobility_of(player) - mobility_of() + from_middle(game.get_player_location(player), (0, 0))
