# ruff: noqa -- written as people write heuristics
"""Heuristics that measure with NumPy, SciPy, math and powers."""

import math

import numpy as np
from scipy.spatial import distance
from scipy.spatial.distance import cityblock


def norms(game, player):
    own = np.array(game.get_player_location(player))
    opp = np.array(game.get_player_location(game.get_opponent(player)))
    middle = np.array((game.height / 2, game.width / 2))
    return np.linalg.norm(own - opp) - np.linalg.norm(own - middle)


def array_functions(game, player):
    own, opp = game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    apart = np.sum(np.abs(np.subtract(own, opp)))
    close = np.sum([abs(a - b) for a, b in zip(own, opp) if abs(a - b) < 3])
    return float(apart + close) + np.sign(own[0] - opp[0])


def library_distances(game, player):
    own, opp = game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    return distance.euclidean(own, opp) + cityblock(own, opp) - distance.chebyshev(own, opp)


def math_functions(game, player):
    own, opp = game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    return math.hypot(own[0] - opp[0], own[1] - opp[1]) + math.dist(own, opp) + math.sqrt(own[0]) + math.pi


def powers(game, player):
    moves = len(game.get_legal_moves(player))
    others = len(game.get_legal_moves(game.get_opponent(player)))
    return moves**2 + others**3 + 1.1 ** (moves - others) + 2 ** (moves - others) + (moves + 0.3) ** 0.5


def whole_comparisons(game, player):
    (r1, c1), (r2, c2) = game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    if abs(r1 - r2) is 2 and abs(c1 - c2) is 1:
        return 1.0
    return 0.0 if game.get_player_location(player) == None else 0.5


def nearest_corner(game, player):
    nearest, best = float("inf"), None
    for corner in [(0, 0), (0, game.width), (game.height, 0), (game.height, game.width)]:
        away = np.linalg.norm(np.array(game.get_player_location(player)) - np.array(corner))
        if away < nearest:
            nearest, best = away, corner
    return nearest - np.linalg.norm(np.array(game.get_player_location(game.get_opponent(player))) - np.array(best))


def arrays_and_tuples(game, player):
    here = np.array(game.get_player_location(player))
    there = game.get_player_location(game.get_opponent(player))
    middle = (game.height / 2, game.width / 2)
    return float(np.abs(here - there).sum()) + np.linalg.norm(middle - here) + np.max(np.array([2, 1]) * there)


def counted_values(game, player):
    cells = list(game.get_legal_moves(player)) + list(game.get_legal_moves(game.get_opponent(player)))
    if not cells:
        return 0.0
    values, counts = np.unique([row * game.width + column for row, column in cells], return_counts=True)
    return float(np.sum(counts > 1)) + values[0] / 100


def means_of_columns(game, player):
    moves = game.get_legal_moves(player)
    if not moves:
        return -9.0
    row, column = np.mean(np.array(moves), axis=0)
    return -float(abs(row - 3) + abs(column - 3))
