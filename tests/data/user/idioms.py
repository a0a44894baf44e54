# ruff: noqa -- written as people write heuristics
"""Idioms that have a plainer form: methods behind operators, endless counts, NumPy's indices."""

import copy
import itertools
import statistics
from collections import deque
from fractions import Fraction

import numpy as np

WEIGHTS = np.arange(49).reshape(7, 7) / 10


def open_run(game, player):
    row, column = game.get_player_location(player)
    total = 0
    for step in itertools.takewhile(lambda step: game.move_is_legal((row, column + step)), itertools.count(1)):
        total += step
    below = itertools.takewhile(lambda cell: game.move_is_legal(cell), ((row + k, column) for k in itertools.count(1)))
    first = next(k for k in itertools.count() if not game.move_is_legal((row - k - 1, column)))
    return total + len(list(below)) + 10 * first


def methods_of_operators(game, player):
    own = game.get_legal_moves(player)
    value = own.__len__() + 0.5 * [1, 2, 3].__getitem__(1)
    if own.__contains__((3, 3)):
        value += 3
    table = {}
    table.__setitem__(3, value.__abs__())
    return table[3].__add__(1) - (own.__len__().__gt__(2))


def chosen_and_called(game, player):
    own, opponent = len(game.get_legal_moves(player)), len(game.get_legal_moves(game.get_opponent(player)))
    value = {True: lambda: own * 2.0, False: lambda: own - opponent}[own > opponent]()
    return value + {"more": lambda a, b: a - b}.get("more" if own > 3 else "less", lambda a, b: a / (b + 1))(
        own, opponent
    )


def indices_of_columns(game, player):
    blanks = np.zeros((game.height, game.width))
    blanks[tuple(zip(*game.get_blank_spaces()))] = 1
    row, column = game.get_player_location(player)
    return float(blanks[row].sum() + blanks[:, column].sum())


def masks(game, player):
    own = np.array([[row, column] for row, column in game.get_legal_moves(player)])
    if len(own) == 0:
        return 0.0
    weights = np.array([abs(row - 3) + abs(column - 3) for row, column in game.get_legal_moves(player)])
    mask = np.zeros((7, 7), dtype=bool)
    for row, column in game.get_legal_moves(player):
        mask[row, column] = True
    places = tuple(np.array(game.get_legal_moves(player)).T)
    return float(weights[own[:, 0] > 3].sum() + WEIGHTS[mask].sum() + WEIGHTS[places].sum())


def cells_as_lists(game, player):
    cells = [list(cell) for cell in game.get_legal_moves(player)]
    for cell in cells:
        cell[0] -= 1
    cells.append(list(game.get_player_location(player)))
    return sum(row * column for row, column in cells)


def tries_what_computes(game, player):
    def ratio(a, b):
        return (a * 3 + 1) / b

    own, opponent = len(game.get_legal_moves(player)), len(game.get_legal_moves(game.get_opponent(player)))
    try:
        value = ratio(own, opponent) + sum(10 / len(game.reach([move])) for move in game.get_legal_moves(player))
    except ZeroDivisionError:
        value = own - opponent
    return value


def sets_in_a_list(game, player):
    sides = [{game.get_player_location(who)} for who in (player, game.get_opponent(player))]
    owned = [set(side) for side in sides]
    for _ in range(3):
        for index in range(2):
            fresh = set()
            for cell in sides[index]:
                fresh.update(game.reach([cell]))
            fresh -= owned[0] | owned[1]
            owned[index] |= fresh
            sides[index] = fresh
    return len(owned[0]) - len(owned[1])


BONUS, ROWS, NAMES = [0.5, 1.5], [[1, 2, 3], [4, 5, 6]], ("low", "high")


def conditions_as_indices(game, player):
    own, opponent = len(game.get_legal_moves(player)), len(game.get_legal_moves(game.get_opponent(player)))
    counts = [0, 0]
    counts[own > opponent] += 3
    quadrants = [[0, 0], [0, 0]]
    for row, column in game.get_blank_spaces():
        quadrants[row > 3][column > 3] += 1
    value = BONUS[own > opponent] + (3, 4.5)[own == opponent] + len(NAMES[own > opponent])
    return value + ROWS[own > opponent][not own] + counts[1] + quadrants[own > 2][opponent > 2]


def box(top, left, bottom, right):
    return abs(top - bottom) * abs(left - right)


def stars_anywhere(game, player):
    me, other = game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    return box(*me, *other) + sum(box(*move, game.height, game.width) for move in game.get_legal_moves(player))


def texts_of_numbers(game, player):
    share = len(game.get_legal_moves(player)) / 3
    note = f"share {share:.3f}"
    print(note, end="")
    return float("{:.2f}".format(share)) + float("%.1f" % share) + float(f"{share:.3f}") + float(format(share, ".2f"))


def distinct_in_order(game, player):
    both = list(dict.fromkeys(game.get_legal_moves(player) + game.get_legal_moves(game.get_opponent(player))))
    counts = dict.fromkeys(range(3), 0)
    for row, _ in both:
        counts[row % 3] += 1
    seen = dict.fromkeys(both)
    return sum(index * row for index, (row, _) in enumerate(both)) + counts[1] + len(seen) + ((2, 3) in seen)


def parts_of_iterators(game, player):
    cells = sorted(game.get_legal_moves(player))
    value = sum(row for row, _ in itertools.islice(cells, 1, None)) + len(list(itertools.islice(cells, 3)))
    for row, group in itertools.groupby(cells, key=lambda cell: cell[0]):
        value += row * sum(1 for _ in group)
    return value + sum(len(list(group)) ** 2 for _, group in itertools.groupby(sorted(c for _, c in cells)))


def side(game, who, k=1, **options):
    moves = game.get_legal_moves(who)
    total = options.get("mobility", 1) * len(moves) * k
    if options.get("centre"):
        total += sum(1 for move in moves if move == (3, 3))
    if "edge" in options:
        total -= options["edge"] * sum(1 for move in moves if 0 in move)
    return total + worth(**options)


def worth(mobility=3, centre=False, edge=0):
    return mobility + edge * 2 + (5 if centre else 1)


def further_names(game, player):
    own = side(game, player, mobility=2, centre=True)
    return own - side(game, game.get_opponent(player), 2, edge=game.move_count)


def asks_for_the_next(game, player):
    cells = iter(game.get_legal_moves(player))
    first = next(cells, None)
    if first is None:
        return -1.0
    value = first[0]
    for row, column in cells:
        if row > column:
            break
        value += column
    rest = list(cells)
    squares = (row * row for row, _ in game.get_legal_moves(player))
    return value + 10 * len(rest) + next(squares) * 0.5 + sum(squares)


def keeps_the_last(game, player):
    last, first = deque(maxlen=3), deque([(0, 0)], maxlen=2)
    for move in game.get_legal_moves(player):
        last.append(move[0] + move[1])
        first.appendleft(move)
    return (
        sum(last) / (len(last) or 1) + first[0][0] - first[-1][1] + len(deque(game.get_legal_moves(player), maxlen=4))
    )


def yields_in_a_while(game, player):
    def layers(start):
        seen, edge = {start}, {start}
        while edge:
            edge = {cell for cell in game.get_blank_spaces() if cell in game.reach(edge)} - seen
            seen |= edge
            yield len(edge)

    return sum(count * 0.5**depth for depth, count in enumerate(layers(game.get_player_location(player))))


def spreads(game, player):
    exits = [len(game.reach([move])) for move in game.get_legal_moves(player)]
    if len(exits) < 2:
        return float(len(exits))
    value = statistics.pstdev(exits) + statistics.stdev(exits) * 7
    return value + statistics.variance(exits) + statistics.pvariance(exits) / 3


def assigns_in_a_choice(game, player):
    own = len(game.get_legal_moves(player))
    value = own - (other if (other := len(game.get_legal_moves(game.get_opponent(player)))) < 4 else 4)
    return value + ((half := own / 2) + half if own > 3 else (half := 1) - half)


def copies_and_mirrors(game, player):
    cells = [list(cell) for cell in game.get_legal_moves(player)]
    mirrored = copy.deepcopy(cells)
    for cell in mirrored:
        cell[0] = game.height - 1 - cell[0]
    open_cells = [cell for cell in mirrored if tuple(cell) in game.get_blank_spaces()]
    return len(open_cells) * 7 + sum(cell[0] for cell in cells)


def walks_with_a_path(game, player):
    def longest(cell, path, left):
        steps = [step for step in game.reach([cell]) if step not in path]
        if left == 0 or not steps:
            return 0
        return 1 + max(longest(step, path + (step,), left - 1) for step in steps[:2])

    return longest(game.get_player_location(player), (), 3) + float(Fraction(len(game.get_legal_moves(player)) + 1, 3))


def puts_many_in_front(game, player):
    cells, last = deque([(3, 3)]), deque(maxlen=3)
    cells.extendleft(game.get_legal_moves(player))
    last.extendleft(row * 7 + column for row, column in cells)
    cells.extendleft(cells)
    return sum(place * row + column for place, (row, column) in enumerate(cells)) + (last[0] - last[-1]) / 2


def put_under_masks(game, player):
    grid = np.zeros((7, 7))
    mask = np.zeros((7, 7), dtype=bool)
    for row, column in game.get_legal_moves(player):
        mask[row, column] = True
        grid[row, column] = row
    grid[mask] = 2.5
    grid[grid > 2.2] = 5
    grid[grid == 0] = 0.25
    return float(grid.sum() + grid[mask].sum())
