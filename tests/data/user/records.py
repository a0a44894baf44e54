# ruff: noqa -- written as people write heuristics
"""Objects that never change: named tuples, dataclasses, and classes whose `__init__` sets everything."""

from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

KNIGHT = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]
Weights = namedtuple("Weights", "mobility centre wall")
EARLY = Weights(1.0, 0.5, -0.2)
LATE = Weights(mobility=2, centre=0.25, wall=-1)


@dataclass
class Style:
    aggression: float = 1.5
    patience: float = 0.25

    def of(self, own, opp):
        return own - self.aggression * opp


BOLD, CAREFUL = Style(), Style(aggression=0.5)


class Step(NamedTuple):
    cell: tuple
    depth: int = 0

    @property
    def worth(self):
        return self.depth * 2 + self.cell[0]


class Territory:
    """Counts the cells that a player reaches first."""

    UNREACHED = 1000

    def __init__(self, game, player):
        self.game = game
        self.player = player
        self.opponent = game.get_opponent(player)

    def steps(self, who):
        found, front, step = {}, [self.game.get_player_location(who)], 0
        while front:
            step += 1
            following = []
            for row, column in front:
                for down, right in KNIGHT:
                    cell = (row + down, column + right)
                    if self.game.move_is_legal(cell) and cell not in found:
                        found[cell] = step
                        following.append(cell)
            front = following
        return found

    def balance(self):
        own, opp = self.steps(self.player), self.steps(self.opponent)
        far = self.UNREACHED
        return sum(
            (own.get(c, far) < opp.get(c, far)) - (opp.get(c, far) < own.get(c, far))
            for c in self.game.get_blank_spaces()
        )


def by_phase(game, player):
    weights = EARLY if game.move_count < 20 else LATE
    row, column = game.get_player_location(player)
    at_wall = row in (0, game.height - 1) or column in (0, game.width - 1)
    distance = abs(row - 3) + abs(column - 3)
    return weights.mobility * len(game.get_legal_moves(player)) - weights.centre * distance + weights.wall * at_wall


def by_style(game, player):
    style = BOLD if game.move_count % 2 else CAREFUL
    own, opp = len(game.get_legal_moves(player)), len(game.get_legal_moves(game.get_opponent(player)))
    return style.of(own, opp) + style.patience + Style(0.5, patience=2).of(opp, own)


def queue_of_steps(game, player):
    queue, seen, value = [Step(game.get_player_location(player))], [], 0
    while queue:
        step = queue.pop(0)
        value += step.worth
        for down, right in KNIGHT:
            cell = (step.cell[0] + down, step.cell[1] + right)
            if game.move_is_legal(cell) and cell not in seen:
                seen.append(cell)
                queue.append(Step(cell, step.depth + 1))
    return value


def who_is_first(game, player):
    return Territory(game, player).balance()


def replaced(game, player):
    weights = Weights(1.0, 0.5, 0.25)
    if game.move_count > 20:
        weights = weights._replace(centre=game.move_count / 10, wall=2.0)
    return weights.mobility + weights.centre * len(game.get_legal_moves(player)) - weights.wall


class Scorer:
    def __init__(self, own=1.0, opp=1.0):
        self.own = own
        self.opp = opp

    def __call__(self, game, player):
        opponent = game.get_opponent(player)
        return self.own * len(game.get_legal_moves(player)) - self.opp * len(game.get_legal_moves(opponent))


BALANCED, EAGER = Scorer(), Scorer(opp=2.5)


def called_objects(game, player):
    return EAGER(game, player) if game.move_count < 15 else BALANCED(game, player)


Part = namedtuple("Part", ["name", "weight", "measure"])
PARTS = [Part("own", 1.5, BALANCED.__call__), Part("blank", -0.01, lambda game, player: len(game.get_blank_spaces()))]


def parts_with_functions(game, player):
    return sum(part.weight * part.measure(game, player) for part in PARTS)


class Zone(Enum):
    CENTRE = 3
    BORDER = 1


def zone_of(game, cell):
    ring = min(cell[0], cell[1], game.height - 1 - cell[0], game.width - 1 - cell[1])
    return Zone.BORDER if ring == 0 else Zone.CENTRE


def values_of_members(game, player):
    zones = [zone_of(game, move) for move in game.get_legal_moves(player)]
    return sum(zone.value for zone in zones) + 100 * (zone_of(game, game.get_player_location(player)) == Zone.CENTRE)


class Evaluation:
    factor = 1

    def __call__(self, game, player):
        return self.evaluate(game, player) * self.factor


class Mobility(Evaluation):
    factor = 1.5

    def evaluate(self, game, player):
        return len(game.get_legal_moves(player)) + self.factor


MOBILITY = Mobility()


def object_of_a_class_that_inherits(game, player):
    return MOBILITY(game, player) - MOBILITY.evaluate(game, game.get_opponent(player))


Place = namedtuple("Place", "row column")


def makes_records_of_items(game, player):
    places = [Place._make(cell) for cell in game.get_legal_moves(player)]
    here = Place._make(game.get_player_location(player))
    return sum(place.row * 2 + place.column for place in places) + here.column


@dataclass
class Counts:
    own: int
    opponent: int

    def lead(self):
        return self.own - 1.5 * self.opponent


def a_dataclass_made_and_asked_at_once(game, player):
    return Counts(len(game.get_legal_moves(player)), len(game.get_legal_moves(game.get_opponent(player)))).lead()


def a_dataclass_in_a_variable(game, player):
    counts = Counts(len(game.get_legal_moves(player)), opponent=3)
    return counts.lead() + counts.own
