# ruff: noqa -- written as people write heuristics
"""Heuristics that compiled code would get wrong. Each names, in the line at fault, why it is refused."""

import itertools
import random
import zlib
import time
from collections import defaultdict, deque
from dataclasses import dataclass
from functools import reduce

import numpy as np

best_so_far = 0
seen = {}
total = 0.0
KINDS = {"corner", "edge", "centre"}
RANKS = frozenset({("corner", 1), ("edge", 2)})


def remember(value):
    global best_so_far
    best_so_far = value


def chance(game, player):
    moves = len(game.get_legal_moves(player))
    return moves + random.random()  # refused: calls random.random, so its value depends on chance


def numpy_chance(game, player):
    return float(np.random.randint(3))  # refused: calls np.random.randint, so its value depends on chance


def clock(game, player):
    return time.time() % 2  # refused: depends on the time


def reads_what_changes(game, player):
    return float(best_so_far)  # refused: reads best_so_far, which line


def fills_a_table(game, player):
    here = game.get_player_location(player)
    seen[here] = 1.0  # refused: reads seen, which line
    return seen[here]


def changes_a_global(game, player):
    global total
    total = total + 1  # refused: changes total, which outlives the call
    return total


def keeps_a_default(game, player, scores=[]):
    scores.append(1)  # refused: changes scores, which outlives the call
    return float(len(scores))


def asks_the_player(game, player):
    if player.time_left() < 10:  # refused: reads player.time_left, but in compiled code a player is a number
        return 0.0
    return 1.0


def asks_the_opponent(game, player):
    opponent = game.get_opponent(player)
    return float(opponent.search_depth)  # refused: reads opponent.search_depth


def moves_on_the_given_game(game, player):
    for move in game.get_legal_moves(player):
        game.apply_move(move)  # refused: makes a move on the game itself
    return 0.0


def draws_the_board(game, player):
    return float(len(game.to_string()))  # refused: uses game.to_string, which games in compiled code do not support


def writes_to_the_player(game, player):
    player.best = 1  # refused: reads player.best
    return 0.0


def misspelled(game, player):
    return float(lenght(game.get_legal_moves(player)))  # refused: lenght is not defined


def own(game, player, weight):
    return len(game.get_legal_moves(player))


def open_cells(game, player, weight):
    return len(game.get_blank_spaces())


def fills_the_board(game, player):
    other = game.copy()
    other._board_state[3] = 1  # refused: changes other._board_state
    return float(len(other.get_legal_moves()))


def shuffles(game, player):
    cells = game.get_legal_moves(player)
    random.shuffle(cells)  # refused: it calls random.shuffle, so its value depends on chance
    return float(len(cells))


def latter_kinds_count_more(game, player):
    value = 0.5
    for kind in KINDS:  # refused: it uses KINDS, a set whose order changes with every start of Python: write a tuple
        value = 3 * value + len(kind)
    return value


def place_in_a_list(game, player):
    return list(KINDS).index("edge")  # refused: it uses KINDS, a set whose order changes


def first_rank(game, player):
    return [rank for _, rank in RANKS][0]  # refused: it uses RANKS, a set whose order changes


def inner_loop(game, player):
    moves = game.get_legal_moves(player)
    return [len(kind) + row for row, _ in moves for kind in KINDS][0]  # refused: it uses KINDS, a set whose order


def longest_kind(game, player):
    return ord(max(KINDS, key=len)[0])  # refused: it uses KINDS, a set whose order changes


def folded_kinds(game, player):
    return reduce(lambda value, kind: 3 * value + len(kind), KINDS, 0)  # refused: it uses KINDS, a set whose order


def kinds_of_its_own(game, player):
    kinds = {"corner", "edge", "centre"}
    return sum(place * len(kind) for place, kind in enumerate(kinds))  # refused: it uses kinds, a set whose order


def kinds_written_out(game, player):
    return [len(kind) for kind in {"corner", "edge"}][0]  # refused: it uses {'corner', 'edge'}, a set whose order


def kinds_written_out_in_a_loop(game, player):
    value = 0
    for kind in {"corner", "edge"}:  # refused: it uses {'corner', 'edge'}, a set whose order changes
        value = 3 * value + len(kind)
    return value


def first_of(names):
    return [len(name) for name in names][0]  # refused: it uses names, a set whose order changes


def kinds_under_another_name(game, player):
    kinds = KINDS  # refused: it uses KINDS, a set whose order changes
    return first_of(kinds)


def kinds_made_a_set(game, player):
    value = 0
    for kind in set(["corner", "edge"]):  # refused: it uses set(['corner', 'edge']), a set whose order changes
        value = 3 * value + len(kind)
    return value


def kinds_picked_into_a_set(game, player):
    return [len(kind) for kind in {name for name in KINDS}][0]  # refused: it uses {name for name in KINDS}, a set whose


def kinds_made_a_list_again(game, player):
    kinds = ["corner", "edge"]
    return len(list(set(kinds))[0])  # refused: it uses set(kinds), a set whose order changes


def remembers_in_a_closure(function):
    known = {}

    def remembered(game, player):
        if game.move_count not in known:  # refused: it reads known, which line
            known[game.move_count] = function(game, player)
        return known[game.move_count]

    return remembered


remembered_moves = remembers_in_a_closure(chance)


def compares_texts_of_fractions(game, player):
    share = "%.2f" % (game.move_count / 7)  # refused: only %s, %d, %+d, %3d
    return 1.0 if share < "3" else 0.0


@dataclass
class Left:
    rows: int
    cells: int


@dataclass
class Right:
    cells: int
    rows: int


def reads_either(game, player):
    side = Left(1, 2) if game.move_count > 3 else Right(3, 4)
    return float(side.rows)  # refused: it reads .rows, which Left and Right both have: give it another name in one


class Counting:
    def __init__(self):
        self.calls = 0

    def value(self, game, player):
        self.calls += 1
        return self.calls


COUNTING = Counting()


def asks_an_object_that_changes(game, player):
    return float(COUNTING.value(game, player))  # refused: it calls COUNTING.value, of an object that changes between


def first_of_many(game, player):
    def counts_for_ever(start):
        while True:  # refused: it yields in a loop that never ends: build a list
            yield start
            start += 1

    return float(next(counts_for_ever(3)))


class Tally:
    def __init__(self):
        self.total = 0

    def add(self, value):
        self.total += value


def fills_an_object(game, player):
    tallies = [Tally()]  # refused: it makes a new Tally, an object that changes: write x = Tally(...) once, outside
    for row, _ in game.get_legal_moves(player):
        tallies[0].add(row)
    return float(tallies[0].total)


memo = {}


def looks_into_a_memo(game, player):
    here = game.get_player_location(player)
    return memo.get(here, 0.0)  # refused: it looks things up in memo, which is empty: what is kept between calls


def asks_a_library(game, player):
    return float(zlib.crc32(b"cells"))  # refused: it calls zlib.crc32, which compiled code does not support


def takes_pairs_from_an_iterator(game, player):
    cells = iter(game.get_legal_moves(player))
    first = next(cells)
    return first[0] + len(list(zip(cells, cells)))  # refused: it runs over the iterator cells in two places at once


def reads_none_from_a_dictionary(game, player):
    seen = dict.fromkeys(game.get_legal_moves(player))  # refused: it makes a dictionary of None by fromkeys: give the
    return float(sum(seen[cell] is None for cell in seen))


MOVES = {}
GRIDS = {}
DRAWN = {}
RAISED = {}
EARLY = {}
CALLS = {}
SIZES = {}
MOVED = {}
STALE = {}
TURNS = {}
ORDERS = {}


def remembers_by_too_small_a_key(game, player):
    here = game.get_player_location(player)
    if here not in MOVES:  # refused: it reads MOVES, which line
        MOVES[here] = float(len(game.get_legal_moves(player)))
    return MOVES[here]


def changes_what_it_remembers(game, player):
    size = (game.height, game.width)
    if size not in GRIDS:  # refused: it reads GRIDS, which line
        GRIDS[size] = [[0] * size[1] for _ in range(size[0])]
    grid = GRIDS[size]
    grid[0][0] += 1
    return float(grid[0][0])


def remembers_chance(game, player):
    if game.width not in DRAWN:
        DRAWN[game.width] = random.random()  # refused: it calls random.random, so its value depends on chance
    return DRAWN[game.width]


def adds_to_what_it_remembers(game, player):
    here = game.get_player_location(player)
    if here in RAISED:  # refused: it reads RAISED, which line
        return RAISED[here] + 1
    RAISED[here] = 2.0 * here[0]
    return RAISED[here]


def remembers_some_positions(game, player):
    here = game.get_player_location(player)
    if here in EARLY:  # refused: it reads EARLY, which line
        return EARLY[here]
    if len(game.get_blank_spaces()) > 20:
        return 1.0
    EARLY[here] = 2.0 * here[0]
    return EARLY[here]


def counts_its_calls(game, player):
    here = game.get_player_location(player)
    CALLS[here] = CALLS.get(here, 0) + 1  # refused: it reads CALLS, which line
    return float(CALLS[here])


def asks_how_much_it_remembers(game, player):
    here = game.get_player_location(player)
    if here not in SIZES:  # refused: it reads SIZES, which line
        SIZES[here] = here[0]
    return float(SIZES[here] + len(SIZES))


def remembers_for_either_player(game, player):
    key = tuple(game.get_blank_spaces())
    if key not in TURNS:  # refused: it reads TURNS, which line
        TURNS[key] = 1.0 if player == game.active_player else 2.0
    return TURNS[key]


def remembers_an_order(game, player):
    count, total = 0, 0
    for cell in game.get_legal_moves(player):
        count += 1
        if cell not in ORDERS:  # refused: it reads ORDERS, which line
            ORDERS[cell] = count
        total += ORDERS[cell]
    return float(total)


def changes_what_its_key_is_made_of(game, player):
    row, col = game.get_player_location(player)
    key = (row, col)
    row += len(game.get_legal_moves(player))
    if key not in MOVED:  # refused: it reads MOVED, which line
        MOVED[key] = float(row)
    return MOVED[key]


def remembers_by_the_last_key(game, player):
    key, total = (0, 0), 0
    for cell in game.get_legal_moves(player):
        if cell[0] > 3:
            key = cell
        if key not in STALE:  # refused: it reads STALE, which line
            STALE[key] = cell[0]
        total += STALE[key]
    return float(total)
