# ruff: noqa -- written as people write heuristics
"""Stars: in calls, in lists and sets, where values are unpacked, and in the parameters of helpers."""

import math
from itertools import chain

KNIGHT = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]
FACTORS = (2, 0.5)
OPTIONS = {"near": 1.5, "far": 0.25}


def weighed(game, player, near, far):
    row, column = game.get_player_location(player)
    return near * row + far * column


def manhattan(row, column, middle=3):
    return abs(row - middle) + abs(column - middle)


def total(factor, *counts):
    return factor * sum(counts) + len(counts)


def rows_and_columns(game, player):
    own = game.get_legal_moves(player)
    if not own:
        return -1.0
    rows, columns = zip(*own)
    return max(rows) - min(rows) + 10 * sum(columns)


def rows_of_nothing(game, player):
    rows, columns = zip(*game.get_legal_moves(player))
    return float(len(rows))


def all_columns(game, player):
    own = [(row, column, row * column) for row, column in game.get_legal_moves(player)]
    return sum(max(part) * (place + 1) for place, part in enumerate(zip(*own)))


def first_and_rest(game, player):
    first, *others = game.get_legal_moves(player)
    *_, last = game.get_blank_spaces()
    return first[0] + 10 * len(others) + last[1] / 4


def parts_of_cells(game, player):
    value = sum(manhattan(*cell) for cell in game.get_legal_moves(player))
    return (
        value + manhattan(*game.get_player_location(player), middle=2) + math.hypot(*game.get_player_location(player))
    )


def known_arguments(game, player):
    return weighed(game, player, *FACTORS) - weighed(game, player, **OPTIONS)


def any_number(game, player):
    own = len(game.get_legal_moves(player))
    return total(1.5, own, game.move_count) + total(2) + total(1, own)


def joined(game, player):
    own, opp = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    together = [*own, (3, 3), *opp]
    return len(together) + 10 * len({*own, *opp, (3, 3)}) + together.count((3, 3)) + sum((*own[:1], (1, 2))[0])


def largest_of_all(game, player):
    row, column = game.get_player_location(player)
    cells = [(row + down, column + right) for down, right in KNIGHT]
    return max(*(manhattan(*cell) for cell in cells)) - min(*map(sum, cells))


def chained(game, player):
    own = game.get_legal_moves(player)
    around = [[(row + down, column + right) for down, right in KNIGHT] for row, column in own]
    reached = set(chain(*around)) | set(chain.from_iterable(game.reach([cell]) for cell in own))
    return len(reached) + len(set().union(*around)) + len(set(chain(*map(lambda cell: game.reach([cell]), own))))


def start_by_name(game, player):
    value = sum(place * row for place, (row, _) in enumerate(game.get_legal_moves(player), start=1))
    return (
        value + sum([row for row, _ in game.get_legal_moves(player)], start=5) + round(game.move_count / 7, ndigits=1)
    )
