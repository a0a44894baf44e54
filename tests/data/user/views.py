# ruff: noqa -- written as people write heuristics
"""Heuristics that join the keys of dictionaries as sets."""

from collections import Counter, defaultdict

STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))


def ways(game, who):
    counts = Counter()
    for row, col in game.get_legal_moves(who):
        counts[row, col] += 2
        counts.update(
            (row + down, col + right) for down, right in STEPS if game.move_is_legal((row + down, col + right))
        )
    return counts


def joins_keys(game, player):
    own, other = ways(game, player), ways(game, game.get_opponent(player))
    total = 0
    for cell in own.keys() | other.keys():
        total += 2 * (own[cell] > other[cell]) - (own[cell] < other[cell])
    return float(total)


def meets_keys(game, player):
    own, other = ways(game, player), ways(game, game.get_opponent(player))
    return float(len(own.keys() & other.keys()) - len(own.keys() ^ other.keys()) + 3 * len(own.keys() - other.keys()))


def names_its_keys(game, player):
    own = {cell: cell[0] for cell in game.get_legal_moves(player)}
    blank = set(game.get_blank_spaces())
    keys = own.keys()
    unreached = blank - keys
    unreached |= keys
    return float(len(unreached) + len(keys & blank) + 2 * (keys >= own.keys()))


def joins_keys_with_a_list(game, player):
    own = {}
    for cell in game.get_legal_moves(player):
        own[cell] = own.get(cell, 0) + 1
    shared = own.keys() & game.get_legal_moves(game.get_opponent(player))
    return float(sum(own[cell] for cell in shared))
