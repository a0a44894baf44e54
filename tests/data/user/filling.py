# ruff: noqa -- written as people write heuristics
"""Heuristics whose lists are empty at first, and what is made of lists by tools of the standard library."""

from functools import reduce
from itertools import chain
from operator import itemgetter

import numpy as np


def joined_to_itself(game, player):
    cells = []
    for move in game.get_legal_moves(player):
        cells = cells + [move]
    rows = []
    for row, column in cells:
        rows += [row / 2]
    return float(len(cells)) + sum(rows)


def _collect(game, cell, found):
    for near in game.reach((cell,)):
        found.append(near)


def filled_by_a_helper(game, player):
    found = []
    _collect(game, game.get_player_location(player), found)
    return float(len(found) + sum(row for row, column in found) / 10)


def filled_by_an_inner_function(game, player):
    seen = set()

    def visit(cell, depth):
        if depth > 0:
            for near in game.reach((cell,)):
                seen.add(near)
                visit(near, depth - 1)

    visit(game.get_player_location(player), 2)
    return float(len(seen))


def given_later(game, player):
    own, rows, near = game.get_legal_moves(player), [], []
    corners = []
    if game.move_count > 12:
        corners = [move for move in own if move in [(0, 0), (0, 6), (6, 0), (6, 6)]]
        rows = [move[0] for move in own]
    if not own:
        own = []
    return float(len(corners) * 10 + sum(rows) + len(own) + len(near))


def emptied(game, player):
    blanks = []
    if game.move_count % 2:
        blanks = game.get_blank_spaces()
    return float(sum((place + 1) * cell[0] for place, cell in enumerate(blanks)))


def tools_of_lists(game, player):
    own, opponent = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    both = list(chain(own, opponent))
    repeated = len(both) - len(set(chain(own, opponent)))
    lowest = max(both, key=itemgetter(0))[0] if both else -1
    product = reduce(lambda total, move: total * (1 + move[0]), own, 1)
    first = reduce(min, [move[1] for move in both]) if both else 0
    return float(repeated + lowest + product + first)


def products_of_mixed_vectors(game, player):
    weights = np.array([1.0, -1.5, 0.25])
    counts = np.array([len(game.get_legal_moves(player)), game.move_count, 2])
    return float(np.dot(weights, counts)) + np.dot(counts, counts)


def fractions_in_place_of_whole_numbers(game, player):
    queue, rows, shares = [(game.get_player_location(player), 1)], [0] * 9, {"near": 0, "far": 0}
    while queue:
        cell, share = queue.pop(0)
        rows[cell[0]] += share / 2
        shares["near" if cell[1] < 3 else "far"] += share / 4
        if share > 0.3:
            queue.extend((near, share * 0.5) for near in game.reach((cell,)))
    return max(rows) + shares["near"] - shares["far"]
