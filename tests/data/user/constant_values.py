# ruff: noqa -- written as people write heuristics
"""What has the same value at every call, computed from texts and builtins, and what only looks so."""

import sys

import numpy as np

ROWS = "2344432 3466643 4688864 4688864 4688864 3466643 2344432"


def table_in_a_text(game, player):
    grid = [[int(digit) for digit in row] for row in ROWS.split()]
    r, c = game.get_player_location(player)
    return float(grid[r][c])


def lines_of_a_text(game, player):
    table = """
    0.5 1 2
    1.5 2 3
    """
    rows = [list(map(float, line.split())) for line in table.strip().splitlines()]
    r, c = game.get_player_location(player)
    return rows[r % 2][c % 3] * len(game.get_legal_moves(player))


def products_of_arrays(game, player):
    weights = np.outer(np.arange(1, 8), np.linspace(0, 1, 7)).tolist()
    return float(sum(weights[r][c] for r, c in game.get_legal_moves(player)))


def changed_after_all(game, player):
    counts = dict.fromkeys("abc", 0)
    for r, c in game.get_legal_moves(player):
        counts["abc"[(r + c) % 3]] += 1
    return float(counts["a"] - counts["b"])


def numbers_of_a_text(game, player):
    text = "%d-%d" % (len(game.get_legal_moves(player)), len(game.get_blank_spaces()))
    left, right = text.split("-")
    return float(int(left) - int(" " + right) + int("-3"))


def largest_whole_numbers(game, player):
    if not game.get_legal_moves(game.get_opponent(player)):
        return sys.maxsize
    if not game.get_legal_moves(player):
        return -sys.maxsize
    return len(game.get_legal_moves(player)) / 2


def sets_summed(game, player):
    rows = {r for r, c in game.get_blank_spaces()}
    return float(sum({r for r, c in game.get_legal_moves(player)}) + len(rows))


def sets_sorted(game, player):
    return float(sum(sorted({r for r, c in game.get_legal_moves(player)}, reverse=True)[:2]))


def sets_by_key(game, player):
    return float(
        max({(r + c, c) for r, c in game.get_blank_spaces()}, key=lambda pair: (pair[0] % 4, pair[1]), default=(0, 0))[
            1
        ]
    )


def functions_in_a_dictionary(game, player):
    def less(game, player):
        return len(game.get_legal_moves(player)) - 8

    measure = {0: len_of_moves, 1: less}.get(game.move_count // 12, against)
    return float(measure(game, player)) + [len_of_moves, less][game.move_count % 2](game, player)


def len_of_moves(game, player):
    return len(game.get_legal_moves(player))


def against(game, player):
    return -len(game.get_legal_moves(game.get_opponent(player)))


class Measures:
    """Nothing but functions."""

    FACTOR = 1.5

    @staticmethod
    def moves(game, player):
        return len(game.get_legal_moves(player))

    @classmethod
    def scaled(cls, game, player):
        return cls.FACTOR * cls.moves(game, player)

    def difference(self, game, player):
        return self.moves(game, player) - self.FACTOR * self.moves(game, game.get_opponent(player))


def object_without_attributes(game, player):
    measures = Measures()
    return measures.difference(game, player) + Measures().scaled(game, player)


class Grid:
    SIZE = 7

    def __init__(self, blanks):
        self.cells = [[0] * self.SIZE for _ in range(self.SIZE)]
        for r, c in blanks:
            self.cells[r][c] = 1

    def in_row(self, row):
        return sum(self.cells[row])


def class_constant_in_the_making(game, player):
    grid = Grid(game.get_blank_spaces())
    return float(grid.in_row(game.get_player_location(player)[0]))


class Weighed:
    def __init__(self, weight):
        self.weight = weight

    def difference(self, game, player):
        return self.weight * len(game.get_legal_moves(player))


MEASURES = [Measures(), Weighed(0.5)]
PAIRS = ((2.0, Weighed(1)), (0.5, Measures()))


def objects_of_several_classes(game, player):
    total = sum(measure.difference(game, player) for measure in MEASURES)
    for weight, measure in PAIRS:
        total += weight * measure.difference(game, player)
    return float(total)


def exception_that_is_only_printed(game, player):
    try:
        return 1 / len(game.get_legal_moves(player))
    except ZeroDivisionError as error:
        print("no moves", error)
        return -1.0
