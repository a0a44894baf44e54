"""Heuristics that remember what they have computed: what a key determines is computed anew, or once for a board."""

# ruff: noqa
from functools import lru_cache

import numpy as np

STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))
TARGETS = {}
WEIGHTS = {}
DISTANCES = {}
CENTRES = {}
EXITS = {}
RINGS = {}
VALUES = {}
BOUNDED = {}
GRIDS = {}
POSITIONS = {}
LOOKUPS: dict = dict()


def targets_of(height, width):
    try:
        return TARGETS[height, width]
    except KeyError:
        table = {}
        for row in range(height):
            for col in range(width):
                table[row, col] = [
                    (row + down, col + right)
                    for down, right in STEPS
                    if 0 <= row + down < height and 0 <= col + right < width
                ]
        TARGETS[height, width] = table
        return table


def looks_up_targets(game, player):
    table = targets_of(game.height, game.width)
    return float(sum(len(table[cell]) for cell in game.get_legal_moves(player)))


def weights_of(game):
    size = (game.height, game.width)
    weights = WEIGHTS.get(size)
    if weights is None:
        rows, cols = np.mgrid[: game.height, : game.width]
        weights = WEIGHTS[size] = 1.0 / (1 + abs(rows - game.height // 2) + abs(cols - game.width // 2))
    return weights


def weighs_by_an_array(game, player):
    weights = weights_of(game)
    total = 0.0
    for row, col in game.get_legal_moves(player):
        total += weights[row, col]
    return total


def looks_up_in_place(game, player):
    if game.width not in CENTRES:
        grid = [[0] * game.width for _ in range(game.width)]
        for row in range(game.width):
            for col in range(game.width):
                grid[row][col] = min(row, col, game.width - 1 - row, game.width - 1 - col)
        CENTRES[game.width] = grid
    grid = CENTRES[game.width]
    total = 0
    for row, col in game.get_legal_moves(player):
        total += grid[row][col]
    return float(total)


def distance(one, other):
    key = (one, other)
    if key not in DISTANCES:
        DISTANCES[key] = abs(one[0] - other[0]) + abs(one[1] - other[1])
    return DISTANCES[key]


def measures_by_a_memo(game, player):
    here = game.get_player_location(player)
    there = game.get_player_location(game.get_opponent(player))
    return float(distance(here, there)) if here and there else 0.0


def exits(row, col, height, width):
    key = row, col, height, width
    if (known := EXITS.get(key)) is not None:
        return known
    count = 0
    for down, right in STEPS:
        if 0 <= row + down < height and 0 <= col + right < width:
            count += 1
    EXITS[key] = count
    return count


def counts_exits_by_a_memo(game, player):
    return float(sum(exits(row, col, game.height, game.width) for row, col in game.get_legal_moves(player)))


def ring(row, col, side):
    return RINGS.setdefault((row, col, side), min(row, col, side - 1 - row, side - 1 - col))


def sets_defaults(game, player):
    return float(sum(ring(row, col, game.width) for row, col in game.get_legal_moves(player)))


def worth(cell, height, _known={}):
    if cell not in _known:
        _known[cell] = cell[0] * 2 + cell[1]
    return _known[cell] + height


def keeps_in_a_default(game, player):
    return float(sum(worth(cell, game.height) for cell in game.get_legal_moves(player)))


def loops_over_a_memo(game, player):
    total = 0
    for row, col in game.get_legal_moves(player):
        if (row, col) not in VALUES:
            squared = row * row
            VALUES[row, col] = squared + col
        total += VALUES[row, col]
    return float(total)


def bounded(cell, side):
    key = (cell, side)
    if key in BOUNDED:
        return BOUNDED[key]
    far = abs(cell[0] * 2 + 1 - side) + abs(cell[1] * 2 + 1 - side)
    if len(BOUNDED) < 5000:
        BOUNDED[key] = far
    return far


def bounds_a_memo(game, player):
    return float(sum(bounded(cell, game.width) for cell in game.get_legal_moves(player)))


@lru_cache(maxsize=None)
def grid_of(height, width):
    return np.array(
        [[min(row, height - 1 - row) + min(col, width - 1 - col) for col in range(width)] for row in range(height)]
    )


def caches_a_grid(game, player):
    grid = grid_of(game.height, game.width)
    return float(sum(int(grid[cell]) for cell in game.get_legal_moves(player)))


def reach(game, who):
    return len(game.get_legal_moves(who)) * 2 + len(game.get_blank_spaces())


def remembers_positions(game, player):
    opponent = game.get_opponent(player)
    key = (frozenset(game.get_blank_spaces()), game.get_player_location(player), game.get_player_location(opponent))
    value = POSITIONS.get(key)
    if value is not None:
        return value
    value = float(reach(game, player) - reach(game, opponent))
    POSITIONS[key] = value
    return value


class Tables:
    @staticmethod
    def rows(height):
        if height not in GRIDS:
            GRIDS[height] = [abs(row - height // 2) for row in range(height)]
        return GRIDS[height]


def asks_a_class(game, player):
    rows = Tables.rows(game.height)
    return float(sum(rows[row] for row, _ in game.get_legal_moves(player)))


def lookup(height, width):
    size = (height, width)
    if size in LOOKUPS:
        table = LOOKUPS[size]
    else:
        table = {(row, col): row * col for row in range(height) for col in range(width)}
        LOOKUPS[size] = table
    return table


def best(game, who):
    table = lookup(game.height, game.width)
    return max([table[cell] for cell in game.get_legal_moves(who)], default=0)


def takes_the_best_of_a_table(game, player):
    return float(best(game, player) - best(game, game.get_opponent(player)))
