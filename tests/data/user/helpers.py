# ruff: noqa -- written as people write heuristics
"""Heuristics made of helpers: keywords, defaults, inner functions, functions as arguments, imports."""

import functools
import logging
import math as m

from isolation.sample_players import improved_score

DEBUG = False
log = logging.getLogger(__name__)


def mobility(game, player, weight=1.0, *, bonus=0):
    return weight * len(game.get_legal_moves(player)) + bonus


def distance(a, b):
    return m.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)


def keywords(game, player):
    opponent = game.get_opponent(player=player)
    return mobility(game, player, bonus=2) - mobility(game=game, player=opponent, weight=1.5)


def default_function(game, player, measure=mobility):
    """Take the measure nobody gives."""
    return measure(game, player) - measure(game, game.get_opponent(player))


def path_length(game, player, depth, path=None):
    if path is None:
        path = [game.get_player_location(player)]
    if depth == 0:
        return len(path)
    longest = len(path)
    for move in game.get_legal_moves(player):
        longest = max(longest, path_length(game.forecast_move(move), player, depth - 1, path + [move]))
    return longest


def recursive(game, player):
    return float(path_length(game, player, 2))


def combine(game, player, measure, merge):
    scores = [measure(game.reach((move,))) for move in game.get_legal_moves(player)]
    return merge(scores) if scores else 0


def functions_as_arguments(game, player):
    here = game.get_player_location(player)
    far = combine(game, player, lambda cells: sum(distance(cell, here) for cell in cells), max)
    return combine(game, player, len, min) + far


def inner_functions(game, player):
    rows, columns = game.height, game.width

    def at_wall(move):
        return move[0] in (0, rows - 1) or move[1] in (0, columns - 1)

    def count(who):
        return len([move for move in game.get_legal_moves(who) if at_wall(move)])

    double = lambda value: 2 * value
    return float(count(game.get_opponent(player)) - double(count(player)))


@functools.lru_cache(maxsize=None)
def cached(count):
    return count * 3


def annotated(game, player: object) -> float:
    """Say what it does, then talk while doing it."""
    import math

    value: float = cached(len(game.get_legal_moves(player)))
    if DEBUG:
        raise RuntimeError(value)
    print("value", value)
    log.info("value %s", value)
    return value + math.log(2)


def of_another_module(game, player):
    if share := len(game.get_blank_spaces()) / (game.width * game.height):
        return improved_score(game, player) * share
    return 0.0


def loose_names(game, player):
    sum = max(len(game.get_legal_moves(player)), 1)
    len_ = 0
    for max_ in game.get_legal_moves(game.get_opponent(player)):
        len_ += max_[0]
    return len_ / sum


weighted = functools.partial(mobility, weight=3)


def partially(game, player):
    return weighted(game, player)


def within(game, player, low=None, high=None, step=None):
    """Comparisons of None that Python never reaches, in every shape."""
    own = len(game.get_legal_moves(player))
    if low is not None and (low < 3 or high > 5):
        return float("nan")
    if low is None or (low < own and (high < 3 or high > 5)):
        own += 1
    own += (low > 3 or high > 3) if low is not None else 2
    return own + (1.0 if step is None else 3.0 if (step < 1 or step > 2) else 4.0)


def _steps(location, blank):
    if location is None:
        return blank
    row, column = location
    return [
        (row + down, column + right)
        for down, right in ((1, 2), (2, 1), (-1, 2))
        if (row + down, column + right) in blank
    ]


def _opening_bonus(game):
    if game.move_count < 6:
        return 2.5


def helpers_that_know_of_none(game, player):
    if _opening_bonus(game):
        return float(len(frozenset(game.get_legal_moves(player)).intersection(game.get_legal_moves())))
    middle = game.width / 2
    queue, seen = [(game.get_player_location(player), 0)], {}
    while queue:
        cell, steps = queue.pop(0)
        if steps < 3 and cell not in seen:
            seen[cell] = steps
            queue.extend((near, steps + 1) for near in _steps(cell, set(game.get_blank_spaces())))
    return sum(seen.values()) + (0 if middle.is_integer() else 0.5)
