# ruff: noqa -- written as people write heuristics
"""Variables that hold one of several dictionaries, and dictionaries that hold lists and functions."""

import math
import statistics
from collections import OrderedDict, defaultdict

import numpy as np

EARLY = {"own": 1.0, "opp": 1, "centre": 0.5}
LATE = {"own": 1.0, "opp": 2, "centre": 0}
PLANS = {"early": EARLY, "late": LATE, "last": {"own": 2, "opp": 1.5, "centre": 1}}
HEAT = np.arange(49).reshape(7, 7)


def features(board, who):
    opponent = board.get_opponent(who)
    return dict(own=len(board.get_legal_moves(who)), opp=-len(board.get_legal_moves(opponent)), centre=board.move_count)


def combined(found, weights):
    return sum(found[key] * weight for key, weight in weights.items())


def weights_of(game):
    if game.move_count < 12:
        return EARLY
    return LATE


def one_of_two(game, player):
    weights = EARLY if game.move_count < 20 else LATE
    return weights["own"] * 2 + weights["opp"] * 3 + weights.get("edge", 4)


def handed_on(game, player):
    plan = "early"
    if game.move_count > 20:
        plan = "late"
    elif game.move_count > 10:
        plan = "last"
    weights = PLANS[plan]
    found = features(game, player)
    return combined(found, weights) + sum(weights[key] * found[key] for key in found)


def returned(game, player):
    weights = weights_of(game)
    return weights["opp"] * len(game.get_legal_moves(player)) + weights_of(game)["centre"] + ("edge" in weights)


def grouped(game, player):
    rows, columns = defaultdict(list), {}
    for row, column in game.get_legal_moves(player):
        rows[row].append(column)
        columns.setdefault(column, []).append(row)
    longest = max(map(len, rows.values())) if rows else 0
    return longest + sum(max(found) - min(found) for found in columns.values())


def by_player(game, player):
    opponent = game.get_opponent(player)
    moves = {side: [move for move in game.get_legal_moves(side) if move[0] % 2] for side in (player, opponent)}
    return len(moves[player]) - len(moves[opponent]) + sum(1 for move in moves[player] if move in moves[opponent])


def by_attribute(game, player):
    order = OrderedDict([("own", 2), ("opp", 3)])
    if hasattr(game, "no_such_method"):
        return game.no_such_method()
    return sum(order.values()) * getattr(game, "width", 3) + getattr(game, "no_such_field", 1)


def filled_later(game, player):
    grid = [[None] * game.width for _ in range(game.height)]
    for row in range(game.height):
        for column in range(game.width):
            grid[row][column] = 0.5 if game.move_is_legal((row, column)) else 0
    return sum(map(sum, grid))


def means(game, player):
    rows = [row for row, column in game.get_blank_spaces()]
    thirds = [row / 3 for row in rows]
    if not rows:
        return 0.0
    weighed = np.average(thirds, weights=[1 + row for row in rows])
    return statistics.mean(rows) + statistics.fmean(thirds) + math.fsum(thirds) + float(np.average(thirds) + weighed)


def by_own_table_of_lambdas(game, player):
    plans = {"calm": lambda own, opp: 2 * own - opp, "bold": lambda own, opp: own - 2 * opp}
    return plans["calm" if game.move_count > 20 else "bold"](len(game.get_legal_moves(player)), game.move_count)


def at_places(game, player):
    moves = game.get_legal_moves(player)
    rows, columns = [row for row, column in moves], [column for row, column in moves]
    around = np.pad(HEAT, 1, mode="constant", constant_values=-2)
    return float(HEAT[rows, columns].sum() + HEAT[3][columns].sum() + around[:, 2].sum())
