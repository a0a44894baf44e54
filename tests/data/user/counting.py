# ruff: noqa -- written as people write heuristics
"""Heuristics that count and compare with comprehensions, generators and lambdas."""

from collections import Counter
from itertools import product


def sums(game, player):
    center = game.height // 2
    near = sum(1 for row, column in game.get_legal_moves(player) if abs(row - center) + abs(column - center) < 3)
    spread = sum([abs(row - center) for row, column in game.get_legal_moves(game.get_opponent(player))])
    return near - 0.25 * spread


def own_moves_the_opponent_lacks(game, player):
    own = game.get_legal_moves(player)
    opp = game.get_legal_moves(game.get_opponent(player))
    only_own = [move for move in own if move not in opp]
    only_opp = [move for move in opp if move not in own]
    return float(len(only_own) - len(only_opp))


def any_and_all(game, player):
    own = game.get_legal_moves(player)
    if any(row == 0 or column == 0 for row, column in own):
        return -1.0
    if all([row > 1 for row, _ in own]):
        return 2.0
    return 0.0


def best_and_worst(game, player):
    moves = game.get_legal_moves(player)
    if not moves:
        return float("-inf")
    roomy = max(moves, key=lambda move: len(game.forecast_move(move).get_legal_moves(player)))
    tight = min(len(game.reach([move])) for move in moves)
    first = max(moves)
    return roomy[0] * 7 + roomy[1] + tight / 10 + first[0]


def with_defaults(game, player):
    corner = [(0, 0), (game.height - 1, game.width - 1)]
    least = min((column for row, column in game.get_legal_moves(player) if row > 3), default=-1)
    hit = next((move for move in game.get_legal_moves(player) if move in corner), None)
    return float(least) + (10.0 if hit is None else 0.0)


def sorted_by_distance(game, player):
    row, column = game.get_player_location(game.get_opponent(player))
    blank = sorted(game.get_blank_spaces(), key=lambda cell: abs(cell[0] - row) + abs(cell[1] - column))
    if len(blank) < 2:
        return 0.0
    far = sorted([r * c for r, c in blank], reverse=True)
    return blank[0][0] - blank[1][1] + far[0] / 100


def mapped_and_filtered(game, player):
    moves = game.get_legal_moves(player)
    reached = map(lambda move: len(game.reach((move,))), moves)
    inner = list(filter(lambda move: 0 < move[0] < game.height - 1, moves))
    return sum(reached) + len(inner) / 2


def nested_lists(game, player):
    steps = [(1, 2), (2, 1), (-1, 2), (2, -1)]
    blank = game.get_blank_spaces()
    return sum(
        [
            len([cell for cell in [(r + a, c + b) for a, b in steps] if cell in blank])
            for r, c in game.get_legal_moves(player)
        ]
    )


def averages(game, player):
    lengths = [len(game.reach((move,))) for move in game.get_legal_moves(player)]
    weights = {move: index + 1 for index, move in enumerate(game.get_blank_spaces())}
    total = sum(weights[move] for move in game.get_legal_moves(player))
    return sum(lengths) / max(len(lengths), 1) + total / 100.0


def shares_of_floats(game, player):
    h, w = game.height / 3, game.width / 7
    own = sum(abs(row - h) * 0.1 + abs(column - w) * 0.3 for row, column in game.get_legal_moves(player))
    return own + sum((0.1 for _ in game.get_blank_spaces()), 1.5)


def steps_in_every_direction(game, player):
    row, column = game.get_player_location(player)
    steps = product((-1, 0, 1), (-1, 0, 1))
    return float(sum(1 for down, right in steps if game.move_is_legal((row + down, column + right))))


def best_or_none(game, player):
    best = None
    for row, column in game.get_legal_moves(player):
        if best is None or row * 1.5 - column > best:
            best = row * 1.5 - column
    return float(best) if best is not None else -99.0


def survives_division(game, player):
    try:
        return len(game.get_legal_moves(player)) / len(game.get_legal_moves(game.get_opponent(player)))
    except ZeroDivisionError:
        return 100.0


def counts_and_other_counts(game, player):
    own = Counter(row for row, _ in game.get_legal_moves(player))
    other = Counter(row for row, _ in game.get_legal_moves(game.get_opponent(player)))
    fewer, more, both, most = own - other, own + other, own & other, own | other
    more.subtract(fewer)
    own.update(other)
    own.update(column for _, column in game.get_legal_moves(player))
    value = sum(row * count for row, count in fewer.items()) + sum(more.values()) + 10 * len(both)
    return value + sum(most.elements()) + own.total() + fewer[3]


def counts_from_dictionaries(game, player):
    rows = Counter(row for row, _ in game.get_legal_moves(player))
    rows.update({1: 3, 2: 5})
    rows.update({column: row for row, column in game.get_legal_moves(player)})
    rows.subtract({1: 1})
    votes = Counter(own=len(game.get_legal_moves(player)), other=2)
    votes.update(own=3, spare=1)
    return rows[1] * 10 + rows[2] + rows[3] + votes["own"] - votes["other"] + 7 * votes["spare"] + Counter({4: 2})[4]


VOTES = {0: 2, 3: 5}


def counts_of_a_dictionary(game, player):
    rows = {}
    for row, column in game.get_legal_moves(player):
        rows[row] = rows.get(row, 0) + column
    counts, votes = Counter(rows), Counter(VOTES)
    counts[3] += 1
    votes[len(counts)] += 1
    return counts[3] * 10 + counts[9] + sum(counts.values()) + votes[0] + votes[3] - len(rows)
