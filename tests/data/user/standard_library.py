# ruff: noqa -- written as people write heuristics
"""Functions and classes of the standard library that compiled code has written out."""

import heapq
import itertools
import math
import operator
import statistics
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict, defaultdict
from functools import partial, reduce

import numpy as np

KNIGHT = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]
LIMITS = [2, 5, 11, 20, 31]


def nearest_first(game, player):
    heap, done, value = [(0, game.get_player_location(player))], set(), 0
    while heap:
        steps, cell = heapq.heappop(heap)
        if cell in done:
            continue
        done.add(cell)
        value += steps
        for down, right in KNIGHT:
            other = (cell[0] + down, cell[1] + right)
            if other not in done and game.move_is_legal(other):
                heapq.heappush(heap, (steps + 1, other))
    return value


def heaped(game, player):
    heap = []
    for row, column in game.get_blank_spaces():
        heapq.heappush(heap, row * 3 % 7 + column)
    others = [column * 5 % 7 - row for row, column in game.get_blank_spaces()]
    heapq.heapify(others)
    value = sum(place * key for place, key in enumerate(heap)) + sum(place * key for place, key in enumerate(others))
    return value + sum(heapq.nlargest(3, heap)) - sum(heapq.nsmallest(2, others))


def nearest_three(game, player):
    nearest = heapq.nsmallest(3, game.get_blank_spaces(), key=lambda cell: abs(cell[0] - 3) + abs(cell[1] - 3))
    return sum(row * 10 + column for row, column in nearest)


def pairs_of_cells(game, player):
    own = game.get_legal_moves(player)
    value = sum(abs(a[0] - b[0]) for a, b in itertools.combinations(own, 2))
    value += sum(a[0] * b[1] for a, b in itertools.permutations(own, 2)) + 100 * len(
        list(itertools.combinations(own, 3))
    )
    return value + sum(game.move_is_legal(cell) for cell in itertools.product(range(3), repeat=2))


def some_of_them(game, player):
    own = [row for row, _ in game.get_legal_moves(player)]
    value = sum(itertools.islice(own, 3)) + 10 * sum(itertools.islice(own, 1, 4))
    value += len(list(itertools.takewhile(lambda row: row < 3, own))) - len(
        list(itertools.dropwhile(lambda row: row < 3, own))
    )
    value += sum(itertools.accumulate(own)) + sum(b - a for a, b in itertools.pairwise(own))
    return value + sum(a - b for a, b in itertools.zip_longest(own, [1, 2, 3], fillvalue=7))


def accumulates_by_a_function(game, player):
    own = [row * 7 + column for row, column in game.get_legal_moves(player)]
    largest = list(itertools.accumulate(own, max))
    return max(itertools.accumulate(own, operator.sub), default=-1) + sum(largest)


def operators(game, player):
    here, there = game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    value = sum(map(operator.mul, here, there)) - reduce(operator.add, map(operator.sub, here, there))
    value += sum(itertools.starmap(operator.floordiv, [(value, 2), (game.move_count, 3)]))
    return value + max(game.get_blank_spaces(), key=operator.itemgetter(1, 0))[0]


def places(game, player):
    left = len(game.get_blank_spaces())
    return bisect_left(LIMITS, left) + 10 * bisect_right(LIMITS, left) + 100 * bisect_left(LIMITS, game.move_count)


def most_frequent(game, player):
    counts = Counter(row for row, _ in game.get_blank_spaces())
    value = sum(place * count for place, (row, count) in enumerate(counts.most_common())) + counts[99]
    return value + 100 * len(counts) + sum(row for row, _ in counts.most_common(2))


def counted_by_row(game, player):
    rows, halves = Counter(), defaultdict(int)
    for row, column in game.get_legal_moves(player):
        rows[row] += 1
        halves[column > 3] += row
    return sum(rows[row] ** 2 for row in range(game.height)) + halves[True] * 10 + len(halves) / 2


def weights_by_row(game, player):
    worth = defaultdict(lambda: 2.5)
    for row, column in game.get_legal_moves(player):
        worth[row] += column / 2
    ordered = OrderedDict()
    ordered[1] = worth[1]
    return ordered[1] + worth[2]


def numbers(game, player):
    columns = [column + 1 for _, column in game.get_blank_spaces()][:5]
    return math.prod(columns) + statistics.median(columns)


def steps_from(game, cell, factor=1):
    return factor * sum(game.move_is_legal((cell[0] + down, cell[1] + right)) for down, right in KNIGHT)


def partly_given(game, player):
    steps, doubled = partial(steps_from, game), partial(steps_from, game, factor=2)
    here = game.get_player_location(player)
    return sum(map(steps, game.get_legal_moves(player))) + doubled(here) + partial(steps_from, cell=here)(game) / 2


def bits(game, player):
    mask = 0
    for row, column in game.get_legal_moves(player):
        mask |= 1 << (row * game.width + column)
    return bin(mask).count("1") + 10 * bin(-game.move_count).count("1") + 100 * (mask % 1021).bit_count()


def clipped(game, player):
    ahead = len(game.get_legal_moves(player)) - len(game.get_legal_moves(game.get_opponent(player)))
    return float(np.clip(ahead, -2, 3)) + float(np.clip(ahead / 2, -1, 0.75)) + float(np.clip([ahead, 4], 0, 2).sum())


def along_an_axis(game, player):
    own = np.array([(row, column) for row, column in game.get_legal_moves(player)] + [(3, 3)])
    spread = own.max(axis=0) - np.min(own, axis=0)
    return (
        float(spread.sum())
        + float(own.max(axis=1)[0]) / 8
        + np.zeros((2, 3), dtype=int).sum()
        + np.full((2, 2), 7)[1, 1]
    )
