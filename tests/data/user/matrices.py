# ruff: noqa -- written as people write heuristics
"""Heuristics that multiply matrices."""

import math

import numpy as np

WEIGHTS = np.sin(np.arange(49.0)).reshape(7, 7)
UNITS = [[0.1 * row - 0.03 * column * row for column in range(7)] for row in range(5)]
WHOLE = np.arange(49).reshape(7, 7) % 5


def features(board, side):
    rows = [0.0] * 7
    for row, column in board.get_legal_moves(side):
        rows[row] += 0.1 * column + 0.3
    return np.array(rows)


def a_net(game, player):
    hidden = np.tanh(np.array(UNITS) @ features(game, player))
    return float(hidden @ hidden) + float(hidden.sum())


def products_of_matrices(game, player):
    x = features(game, player)
    value = x @ WEIGHTS @ x + (WEIGHTS.T @ x)[0] + WEIGHTS.dot(x)[2] + np.dot(WEIGHTS, WEIGHTS)[1, 2]
    value += (WEIGHTS[:, :3].T @ x)[1] + x[::2] @ x[:4] + WEIGHTS[:, 2] @ x + np.matmul(WEIGHTS, x)[1]
    return float(value + np.trace(WEIGHTS) * len(x) + (WEIGHTS * x).T.sum())


def products_of_whole_matrices(game, player):
    grid = np.zeros((7, 7), dtype=int)
    for row, column in game.get_legal_moves(player):
        grid[row, column] = 1
    value = (grid @ WHOLE)[2, 3] + (grid[1] @ WHOLE)[3] + grid[2] @ grid[3] + np.trace(grid @ grid.T)
    return (
        int(value)
        + math.comb(len(game.get_blank_spaces()), 2)
        + math.isqrt(int(value))
        + math.factorial(int(value) % 5)
    )
