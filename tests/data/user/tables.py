# ruff: noqa -- written as people write heuristics
"""Heuristics that look values up in constants of every shape."""

import numpy as np

from collections import namedtuple
from enum import Enum

KNIGHT = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]
VALUES = [
    [2, 3, 4, 4, 4, 3, 2],
    [3, 4, 6, 6, 6, 4, 3],
    [4, 6, 8, 8, 8, 6, 4],
    [4, 6, 8, 8, 8, 6, 4],
    [4, 6, 8, 8, 8, 6, 4],
    [3, 4, 6, 6, 6, 4, 3],
    [2, 3, 4, 4, 4, 3, 2],
]
BY_CELL = {(row, column): 8 - abs(row - 3) - abs(column - 3) / 2 for row in range(7) for column in range(7)}
POINTS = {cell: (value, cell) for cell, value in BY_CELL.items()}
NEIGHBOURS = {
    (row, column): [(row + dr, column + dc) for dr, dc in KNIGHT if 0 <= row + dr < 7 and 0 <= column + dc < 7]
    for row in range(7)
    for column in range(7)
}
HALVES = [1, 0.5, 0.25, 0.125]
WEIGHTS = {"own": 1.5, "opp": -1}
CENTER = {(2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (4, 3)}
BY_COUNT = {}

Weights = namedtuple("Weights", "own opp")
CHOSEN = Weights(own=2, opp=0.5)


class Style(Enum):
    CAREFUL = 1
    BOLD = 3


def fill():
    for count in range(9):
        BY_COUNT[count] = count * count


fill()


def matrix(game, player):
    own = sum(VALUES[row][column] for row, column in game.get_legal_moves(player))
    row, column = game.get_player_location(player)
    return own + VALUES[row][column] / 2


def local_matrix(game, player):
    book = [[1, 2], [3, 4.5]]
    row, column = game.get_player_location(player)
    return book[row % 2][column % 2] + HALVES[row % 4]


def dictionaries(game, player):
    own, opp = game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    value = BY_CELL[own] - POINTS[opp][0] + BY_CELL.get((own[0], 9), -2.0)
    if own in BY_CELL and own in CENTER:
        value += 1
    return value + BY_COUNT[len(game.get_legal_moves(player))]


def neighbours(game, player):
    count = 0
    for move in game.get_legal_moves(player):
        for next_move in NEIGHBOURS[move]:
            if game.move_is_legal(next_move):
                count += 1
    return float(count)


def directions(game, player):
    row, column = game.get_player_location(player)
    return len([1 for dr, dc in KNIGHT if game.move_is_legal((row + dr, column + dc))]) * WEIGHTS["own"]


def settings(game, player):
    own = len(game.get_legal_moves(player)) * CHOSEN.own
    return own - CHOSEN.opp * len(game.get_legal_moves(game.get_opponent(player))) + Style.BOLD.value


LINES = [[1, 2, 3], [4], [], [5, 6]]
SHARES = ((0.5, 0.25), (0.1,), (0.2, 0.3, 0.4))
RINGS = [[(3, 3)], [(2, 2), (4, 4), (2, 4)], [(0, 0), (6, 6)]]


def rows_of_several_lengths(game, player):
    own = game.get_legal_moves(player)
    first = len(own) % 3
    value = sum(ring for ring, cells in enumerate(RINGS, start=1) for cell in cells if cell in own)
    for place, row in enumerate(LINES, first):
        value += place * sum(row)
        if value > 90:
            break
    for weight, row, ring in zip(range(first), SHARES, reversed(RINGS)):
        value += weight * max(row) * len(ring)
    for ring, cells in enumerate(RINGS):
        for cell in cells:
            value += ring * (cell in own)
    lines = [[1], [2, 3]]
    return value + sum(map(len, LINES)) + SHARES[first][0] + len(LINES[-1 - first]) + sum(len(line) for line in lines)


HEIGHTS = tuple(tuple(abs(row - 3) * abs(column - 3) for column in range(7)) for row in range(7))
DEPTHS = tuple(tuple(0.3 * height for height in row) for row in HEIGHTS)


def tables_of_tuples_that_more_than_a_cell_decides_on(game, player):
    value = 0
    shares = np.array([3.5, 2, 1, 0.25, 1, 2, 3])
    changed = np.array([3, 2, 1, 0, 1, 2, 3])
    alias = changed
    for row, column in game.get_legal_moves(player):
        alias[column] += 1
        for other, right in game.get_legal_moves(game.get_opponent(player)):
            value += HEIGHTS[row - 7][right - other - 1] * 3 - DEPTHS[-1][column] + HEIGHTS[2][right] * shares[other]
    return value + changed[3]


def _steps():
    cells = [(row, column) for row in range(7) for column in range(7)]
    table = {}
    for source in cells:
        table[source] = {other: abs(source[0] - other[0]) + abs(source[1] - other[1]) for other in cells}
    return table


STEPS_BETWEEN = _steps()
BY_ROW = {row: {column: row * column for column in range(7) if column != row} for row in range(7)}
BITS = {1 << cell: cell for cell in range(0, 60, 3)}


def dictionaries_of_dictionaries(game, player):
    own, other = game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    if own is None or other is None:
        return 0.0
    value = STEPS_BETWEEN[own][other] + 10 * STEPS_BETWEEN[(0, 0)][own]
    return value + (100 * BY_ROW[own[0]][own[1]] if own[0] != own[1] else 0.5)


def keys_far_apart(game, player):
    row, column = game.get_player_location(player) or (0, 0)
    low = 1 << (3 * row + column)
    return BITS[low] if low in BITS else BITS.get(low >> 1, -column)
