# ruff: noqa -- written as people write heuristics
"""Variables that hold a list or a set here and a set of cells there, or nothing at first."""

import numpy as np

KNIGHT = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]


def around(game, cell):
    return [
        (cell[0] + down, cell[1] + right)
        for down, right in KNIGHT
        if game.move_is_legal((cell[0] + down, cell[1] + right))
    ]


def cells_then_list(game, player):
    cells, value = game.get_legal_moves(player), 0
    for step in range(3):
        value += len(cells) * (step + 1)
        following = []
        for cell in cells:
            for other in around(game, cell):
                if other not in following:
                    following.append(other)
        cells = following
    return value


def cells_then_set(game, player):
    front, blank = set(game.get_legal_moves(player)), set(game.get_blank_spaces())
    seen, value = set(front), 0
    while front and value < 99:
        value += len(front)
        front = ({(row + down, column + right) for row, column in front for down, right in KNIGHT} & blank) - seen
        seen |= front
    return value


def filtered_flood(game, player):
    queue, seen = set(game.get_legal_moves(player)), set()
    while queue:
        seen |= queue
        cells = [(row + down, column + right) for row, column in queue for down, right in KNIGHT]
        queue = set()
        queue |= set(filter(game.move_is_legal, cells)) - seen
    return len(seen)


def empty_in_one_branch(game, player):
    if game.move_count < 6:
        cells = []
    else:
        cells = [move for move in game.get_legal_moves(player) if 1 < move[0] < 5]
    for move in game.get_legal_moves(game.get_opponent(player)):
        cells.append(move)
    return len(cells)


def empty_argument(game, player):
    def longest(path, cell, depth):
        if depth == 0:
            return 0
        return max(
            [1 + longest(path + [other], other, depth - 1) for other in around(game, cell) if other not in path] or [0]
        )

    return longest([], game.get_player_location(player), 2)


def columns_by_row(game, player):
    rows = [[] for _ in range(game.height)]
    for row, column in game.get_blank_spaces():
        rows[row].append(column)
    return max(len(columns) * 10 + sum(columns) for columns in rows)


def fractions_among_counts(game, player):
    parts = [len(game.get_legal_moves(player)), -game.move_count]
    parts += [game.move_count / 49]
    return sum(parts)


def compared_sets(game, player):
    own, opp = set(game.get_legal_moves(player)), set(game.get_legal_moves(game.get_opponent(player)))
    return 4 * (own <= opp) + 2 * (own > opp) + 10 * len(own ^ opp) + len(own.symmetric_difference({(3, 3), (0, 0)}))


def cells_as_lists(game, player):
    cell = [2, 4]
    here = game.__last_player_move__[player]
    return game.move_is_legal([here[0] + 1, here[1] + 2]) + 2 * game.move_is_legal(cell) + here[0]


def cells_as_lists_that_change(game, player):
    here = list(game.get_player_location(player))
    here[1] += 2
    beside = [here[0], here[1]]
    beside[0] += 1
    return 2 * game.move_is_legal(beside) + game.move_is_legal(here) + 4 * game.move_is_legal(np.array(beside) + 1)


def nobody_asked(game, player):
    return moves_near(game, player=None, loc=(3, 3)) - moves_near(game, player)


def moves_near(game, player=None, loc=None, far=2):
    if loc is None:
        loc = game.get_player_location(player)
    row, column = loc
    cells = [(r, c) for r in range(row - far, row + far + 1) for c in range(column - far, column + far + 1)]
    return sum(1 for cell in cells if cell != loc and game.move_is_legal(cell))


def counts_outside(game, player):
    count, seen = 0, []
    most = 0

    def visit(cell, steps):
        nonlocal count, most
        count = count + steps
        most = max(most, steps)
        seen.append(cell)
        for other in around(game, cell):
            if steps and other not in seen:
                visit(other, steps - 1)

    visit(game.get_player_location(player), 2)
    return count + 100 * most + len(seen)


def named_lists(game, player):
    row, column = game.get_player_location(player)
    lines = {"row": [(row, other) for other in range(7)], "column": [(other, column) for other in range(7)], "far": 1.5}
    lines["far"] += 1
    return sum(map(game.move_is_legal, lines["row"])) - lines["far"] * sum(
        game.move_is_legal(cell) for cell in lines["column"]
    )


def put_if_missing(game, player):
    rows = {}
    for row, column in game.get_legal_moves(player):
        rows.setdefault(row, 10)
        rows[row] += column
    return sum(rows.values())


def sliced_cells(game, player):
    moves, value = game.get_legal_moves(player), 0
    while moves:
        value += moves[0][0] * len(moves)
        moves = moves[1:]
    return value


def best_of_nothing(game, player):
    best, second = None, None
    for move in game.get_legal_moves(player):
        if best is None or len(around(game, move)) > len(around(game, best)):
            best, second = move, best
        elif not second:
            second = move
    if best is None:
        return -1
    return best[0] * 10 + best[1] + (second[0] if second else 0.5)


def first_that_fits(game, player):
    found = next((move for move in game.get_legal_moves(player) if move[0] > 3), None)
    nearest = min(game.get_legal_moves(player), key=lambda move: abs(move[1] - 3), default=None)
    return (found[1] if found is not None else -3) + (nearest[0] if nearest else 9)


def known_cells(game, player):
    held = MIDDLE.intersection(game.get_legal_moves(player))
    return (
        len(held) + 10 * (game.get_player_location(player) in MIDDLE) + len(MIDDLE.difference(game.get_blank_spaces()))
    )


MIDDLE = frozenset((row, column) for row in range(2, 5) for column in range(2, 5))
RAGGED = [[(0, column) for column in range(7)], [(row, 0) for row in range(1, 7)], [(6, 6)]]


def lists_of_several_lengths(game, player):
    return sum(cell in part for cell in game.get_legal_moves(player) for part in RAGGED) + any(
        (3, 0) in part for part in RAGGED
    )


def filled_by_an_inner_function(game, player):
    steps = {}

    def spread(start, who):
        queue = [(start, 0)]
        while queue:
            cell, count = queue.pop(0)
            for other in around(game, cell):
                if (other, who) not in steps:
                    steps[(other, who)] = count + 1
                    queue.append((other, count + 1))

    spread(game.get_player_location(player), 0)
    spread(game.get_player_location(game.get_opponent(player)), 1)
    blank = game.get_blank_spaces()
    return sum((steps.get((cell, 0), 99) < steps.get((cell, 1), 99)) - 0.5 * ((cell, 1) in steps) for cell in blank)


def remembers_within_a_call(game, player):
    known = {}

    def paths(cell, left):
        if left == 0:
            return 1
        if (cell, left) not in known:
            known[(cell, left)] = sum(paths(other, left - 1) for other in around(game, cell))
        return known[(cell, left)]

    return paths(game.get_player_location(player), 3)


def tuples_of_sums(game, player):
    row = set([game.get_player_location(player)])
    for _ in range(2):
        found = set()
        for cell in row:
            for step in KNIGHT:
                other = tuple(map(sum, zip(cell, step)))
                if game.move_is_legal(other):
                    found.add(other)
        row = found
    return len(row) + 10 * (tuple(part // 4 for part in game.get_player_location(player)) == (0, 1))


def value_or_zero(game, player):
    first, second = None, None
    for move in game.get_legal_moves(player):
        count = len(around(game, move))
        if first is None or count > first:
            first, second = count, first
        elif second is None or count > second:
            second = count
    return (first or 0) * 10 + (second or 0) + (first and 0.5 or 0.25 if first is not None else 7)


def features(board, who):
    yield len(board.get_legal_moves(who))
    if board.move_count > 20:
        return
    yield len(board.get_legal_moves(board.get_opponent(who)))
    yield from [board.move_count, 3]


def yielded(game, player):
    value = sum(weight * part for weight, part in zip((1, -1.5, 0.05, 2), features(game, player)))
    return value + len(list(features(game, player))) + max(features(game, player)) / 8


def larger_cells(game, player):
    pairs = set()
    for move in game.get_legal_moves(player):
        for other in around(game, move):
            pairs.add((min(move, other), max(move, other)))
    return len(pairs) + max(1, game.move_count / 20)
