# ruff: noqa -- written as people write heuristics
"""Habits of people who come from other languages: classes, operators, names of methods, functions chosen once."""

import numpy as np
from collections import Counter, OrderedDict
from itertools import product
from functools import reduce
from collections import namedtuple


class Base:
    WEIGHT = 2

    def mobility(self, game, player):
        return len(game.get_legal_moves(player)) * self.WEIGHT

    def score(self, game, player):
        return self.mobility(game, player)


class Mine(Base):
    WEIGHT = 3
    PARTS = ("mobility", "centre")

    def mobility(self, game, player):
        return super().mobility(game, player) + 1

    def centre(self, game, player):
        r, c = game.get_player_location(player)
        return abs(r - 3) + abs(c - 3)

    def score(self, game, player):
        return sum(getattr(self, part)(game, player) for part in self.PARTS) + super(Mine, self).score(game, player)


judge = Mine()


def by_super(game, player):
    return judge.score(game, player)


def by_name(game, player):
    total = 0.0
    for part in ["mobility", "centre"]:
        total += getattr(judge, part)(game, player)
    return total


class Weighed:
    W = {"own": 1.0, "far": -0.5}

    def own(self, game, player):
        return len(game.get_legal_moves(player))

    def far(self, game, player):
        r, c = game.get_player_location(player)
        return abs(r - 3) + abs(c - 3)

    def score(self, game, player):
        value = 0
        for term, weight in self.W.items():
            value += weight * getattr(self, term)(game, player)
        return value


weighed = Weighed()


def by_item(game, player):
    return weighed.score(game, player)


F = namedtuple("F", "own opp ratio")
W = (1.0, -0.5, 0.25)


def feats(game, who):
    a = len(game.get_legal_moves(who))
    b = len(game.get_legal_moves(game.get_opponent(who)))
    return F(own=a, opp=b, ratio=a / (b + 1))


def mixed_tuple(game, player):
    return sum(w * f for w, f in zip(W, feats(game, player)))


class Side:
    def __init__(self, game, who):
        self.moves = game.get_legal_moves(who)
        self.loc = game.get_player_location(who)

    @property
    def mobility(self):
        return len(self.moves)

    def __sub__(self, other):
        return self.mobility - 0.5 * other.mobility


def subtracted(game, player):
    return Side(game, player) - Side(game, game.get_opponent(player))


def subtracted_later(game, player):
    a, b = Side(game, player), Side(game, game.get_opponent(player))
    return (b - a) * 2


def arrays_of_either(game, player):
    size = np.array([game.height, game.width])
    centre = (size - 1) / 2.0
    me = game.get_player_location(player)
    me = centre if me is None else np.array(me)
    return -np.abs(me - centre).sum()


def default_list(game, player):
    blanks = set(game.get_blank_spaces())
    near = {
        b: [(b[0] + i, b[1] + j) for i, j in product((-1, 0, 1), repeat=2) if (b[0] + i, b[1] + j) in blanks]
        for b in blanks
    }

    def worth(m):
        return len(near.get(m, []))

    return sum(worth(m) for m in game.get_legal_moves(player))


class Base:
    def __init__(self, weight):
        self.weight = weight

    def __call__(self, game, player):
        return self.weight * self.measure(game, player)


class A(Base):
    def measure(self, game, who):
        return len(game.get_legal_moves(who))


class B(Base):
    def measure(self, game, who):
        return game.get_player_location(who)[0]


ALL = (A(1.0), B(0.5))


def measured_by_classes(game, player):
    return float(sum(h(game, player) for h in ALL))


def unions_by_reduce(game, player):
    sets = [set(game.get_legal_moves(player)), set(game.get_legal_moves(game.get_opponent(player)))]
    return len(reduce(set.union, sets)) - len(reduce(set.intersection, sets))


def loc(c):
    return None if c is None else (c[1], c[0])


def placed_or_none(game, player):
    a, b = loc(game.get_player_location(player)), loc(game.get_player_location(game.get_opponent(player)))
    if a is None or b is None:
        return 0
    return abs(a[0] - b[0])


def deviations(game, player):
    cells = np.array(game.get_blank_spaces())
    if len(cells) == 0:
        return 0.0
    return float(cells.std(axis=0).sum())


def better_or_worse(game, player):
    opp = game.get_opponent(player)
    pick = max if game.active_player == player else min
    counts = [len(game.get_legal_moves(p)) for p in (player, opp)]
    values = []
    for m in game.get_legal_moves(game.active_player):
        values.append(m[0] + 0.5 * m[1])
    if not values:
        return game.utility(player)
    return pick(counts) + pick(v for v in values)


class Weighted:
    def __init__(self, attack, defend):
        self.attack = attack
        self.defend = defend

    @staticmethod
    def _off(game, loc):
        return 0 if loc is None else (loc[0] - game.height // 2) ** 2

    def __call__(self, game, player):
        opp = game.get_opponent(player)
        s = self.defend * len(game.get_legal_moves(player)) - self.attack * len(game.get_legal_moves(opp))
        return float(s) - self._off(game, game.get_player_location(player))


def called_object(game, player):
    return Weighted(attack=1.5, defend=2)(game, player)


def called_later(game, player):
    judge = Weighted(1, 2)
    return judge(game, player) + 1


def updated_counter(game, player):
    rows = Counter()
    for p in (player, game.get_opponent(player)):
        rows.update(r for r, c in game.get_legal_moves(p))
    return max(rows.values(), default=0) + rows[3]


def opening(me, opp):
    return me - opp


def middle(me, opp):
    return me - 2 * opp


def ending(me, opp):
    return 3 * me - 2 * opp


PHASES = OrderedDict([(14, opening), (28, middle)])


def first_that_fits(game, player):
    strategy = ending
    for limit, func in PHASES.items():
        if game.move_count < limit:
            strategy = func
            break
    return strategy(len(game.get_legal_moves(player)), len(game.get_legal_moves(game.get_opponent(player))))


TABLE = {(0, 1): -1.0, (0, 2): 0.5, (1, 2): 2.0}


def ordered_key(game, player):
    a, b = game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    if not (a and b):
        return 0
    key = tuple(sorted((abs(a[0] - b[0]), abs(a[1] - b[1]))))
    return TABLE.get(key, -0.1 * sum(key)) + (key == (1, 2))


def bits_of_cells(game, player):
    mask = 0
    for r, c in game.get_blank_spaces():
        mask |= 1 << (r * 9 + c)
    r, c = game.get_player_location(player)
    bits = 1 << (r * 9 + c)
    out = 0
    for s in (7, 11, 17, 19):
        out |= bits << s | bits >> s
    return bin(out & mask).count("1")


def spread(cells, blanks):
    seen, queue = set(cells), list(cells)
    for r, c in queue:
        for dr in (-1, 0, 1):
            cell = (r + dr, c + 1)
            if cell in blanks and cell not in seen:
                seen.add(cell)
                queue.append(cell)
    return len(seen)


def spread_of_moves(game, player):
    return spread(game.get_legal_moves(player), set(game.get_blank_spaces()))


def walked(game, at, most):
    used, steps = set(), 0
    while steps < most:
        best, fewest = None, 99
        for row, column in ((1, 2), (2, 1), (-1, 2), (-2, 1)):
            cell = (at[0] + row, at[1] + column)
            if cell not in used and game.move_is_legal(cell) and sum(cell) < fewest:
                best, fewest = cell, sum(cell)
        if best is None:
            break
        used.add(best)
        at = best
        steps += 1
    return steps + at[0]


def walks_from_an_argument(game, player):
    here = game.get_player_location(player)
    return 0.0 if here is None else walked(game, here, 3)


class Terms:
    weights = {"wall": 1, "centre": 0.5, "moves": 2.0}

    def term_wall(self, game, who):
        row, column = game.get_player_location(who) or (0, 0)
        return min(row, column)

    def term_centre(self, game, who):
        row, column = game.get_player_location(who) or (0, 0)
        return -abs(row - 3) - abs(column - 3)

    def term_moves(self, game, who):
        return len(game.get_legal_moves(who))

    def of(self, game, who):
        total = 0.0
        for place, (name, weight) in enumerate(sorted(self.weights.items())):
            total += weight * getattr(self, "term_" + name)(game, who) + place * getattr(self, f"term_{name}")(
                game, who
            )
        return total


TERMS = Terms()


def methods_found_by_parts_of_their_names(game, player):
    return TERMS.of(game, player) - TERMS.of(game, game.get_opponent(player))
