# ruff: noqa -- written as people write heuristics
"""Heuristics that make an object whose attributes change."""

from collections import namedtuple

Place = namedtuple("Place", "moves row column")


class Tally:
    SCALE = 3

    def __init__(self, game, limit=4, *, bonus=0):
        self.game = game
        self.limit = limit
        self.best = -1
        self.total, self.count = 0.0, 0
        for step in range(2):
            self.total += step * bonus

    def see(self, cell):
        row, column = cell
        if self.count < self.limit:
            self.count += 1
            self.total += self.SCALE * row - column * 0.5
            if row > self.best:
                self.best = row
        return self

    def see_both(self, first, second):
        self.see(first)
        self.see(second)

    def mean(self):
        return self.total / self.count if self.count else 0.0


def tallies_moves(game, player):
    tally = Tally(game, bonus=2)
    for move in game.get_legal_moves(player):
        tally.see(move)
    tally.see_both((1, 2), (3, 3))
    tally.count += 1
    return tally.mean() + tally.best


class Flood:
    def __init__(self, game, player):
        self.game = game
        self.seen = set()
        self.frontier = game.get_legal_moves(player)
        self.depth = 0

    def step(self):
        for cell in self.frontier:
            self.seen.add(cell)
        self.frontier = [cell for cell in self.game.reach(self.frontier) if cell not in self.seen]
        self.depth += 1

    def run(self, limit):
        while self.frontier and self.depth < limit:
            self.step()
        return len(self.seen)


def floods(game, player):
    return Flood(game, player).run(3)


def counts_by_an_inner_function(game, player):
    own = Tally(game)

    def visit(move):
        own.total += move[0]
        own.count += 1

    for move in game.get_legal_moves(player):
        visit(move)
    return own.total / (own.count or 1)


class Compared:
    def __init__(self, game, player):
        self.game = game
        self.me = self.build(player)
        self.other = self.build(game.get_opponent(player))

    def build(self, who):
        row, column = self.game.get_player_location(who) or (3, 3)
        return Place(len(self.game.get_legal_moves(who)), row, column)

    def total(self):
        return self.me.moves - 1.5 * self.other.moves - abs(self.me.row - self.other.row)


def made_by_a_method_of_its_own(game, player):
    return Compared(game, player).total()
