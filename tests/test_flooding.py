"""Loops that flood the board, two that do not meet: which are told as one, and that nothing changes."""

from __future__ import annotations

import ast
import operator
from textwrap import indent
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import positions

import heuristics
from isolation.compiling.compile_heuristic import compile_heuristic
from isolation.compiling.rewrites.loops.flood_fill import fuse_flood_fills
from isolation.compiling.source_rewriter import rewrite
from isolation.players.agents import code_hash

SIZES = ["3x4", "4x3", "5x5", "6x7", "7x7", "9x11"]


def by_hand(game, player):
    blank, opponent = game.get_blank_spaces(), game.get_opponent(player)
    unreached = blank
    front = game.get_legal_moves(opponent)
    moves, total = 1, 0.5
    while len(front) > 0:
        total += len(front) * (3 * moves - 0.25)
        moves += 1
        new = unreached & game.reach(front)
        unreached -= front
        front = new & unreached
    theirs = total + 50 * len(unreached) + len(game.reach(unreached)) + len(front)
    unreached = blank
    front = game.get_legal_moves(player)
    total, moves = 0, 0
    while front:
        moves = 2 + moves
        total -= moves * moves * len(front) + len(front)
        unreached = unreached - front
        front = game.reach(front) & unreached
    mine = total / 7 + 50 * len(unreached) + len(game.reach(unreached))
    unreached = blank
    return theirs - mine + len(unreached)


def in_two_statements(game, player):
    near = _nearness(player, game)
    blank = len(game.get_blank_spaces())
    return near * blank - _spread(game, game.get_opponent(player))


def _nearness(player, game):
    return 3 / (1 + _spread(game, player) ** 2)


def _spread(game, who):
    ahead, rest, found, step = game.get_legal_moves(who), game.get_blank_spaces(), 0, 1
    while ahead:
        found += step * len(ahead)
        rest = rest - ahead
        step += 1
        ahead = rest & game.reach(ahead)
    return found - 2 * len(rest) + len(ahead)


def after_every_move(game, player):
    best = -1000
    for move in game.get_legal_moves():
        child = game.forecast_move(move)
        best = max(best, _spread(child, child.active_player) - _spread(child, child.inactive_player))
    return best


ZERO, MINUS_ZERO = 0.0, -0.0


def from_zero(game, player):
    return _from_zero(game, player) - _from_zero(game, game.get_opponent(player))


def from_minus_zero(game, player):
    return _from_minus_zero(game, player) - _from_minus_zero(game, game.get_opponent(player))


def _from_zero(game, player):
    total, unreached, front = ZERO, game.get_blank_spaces(), game.get_legal_moves(player)
    while front:
        total += len(front)
        unreached = unreached - front
        front = game.reach(front) & unreached
    return total


def _from_minus_zero(game, player):
    total, unreached, front = MINUS_ZERO, game.get_blank_spaces(), game.get_legal_moves(player)
    while front:
        total += len(front)
        unreached = unreached - front
        front = game.reach(front) & unreached
    return total


FUNCTIONS = [heuristics.get("horizon"), by_hand, in_two_statements, after_every_move]
TWO = """
def changed(game, player):
    blank, last = game.get_blank_spaces(), 7
    own, free, total, moves = game.get_legal_moves(player), blank, 0, 0
    while own:
        moves += 1
        total += moves * len(own)
        free = free - own
        own = game.reach(own) & free
    mine = total / last
    other = 3
    left, found, step = blank, 0, 1
    front = game.get_legal_moves(game.get_opponent(player))
    while front:
        found += step * len(front)
        step += 1
        left = left - front
        front = game.reach(front) & left
    return mine - found + len(free) + other + last
"""
CHANGES = {
    "a flood that looks at something else": ("while own:", "while free:"),
    "a flood for as long as it is larger than something": ("while own:", "while len(own) > len(blank) > 0:"),
    "what may be a list is added to meanwhile": ("    other = 3", "    other = last\n    other += [3]"),
    "a list with another name changes meanwhile": ("    other = 3", "    other = last\n    other[0] = 3"),
    "a result meanwhile": ("    other = 3", "    other = 3\n    if last:\n        return 3"),
    "a flood that may be broken off": ("moves += 1", "if moves > 3:\n            break\n        moves += 1"),
    "something else at the end": ("    mine = total", "    else:\n        total = 7\n    mine = total"),
    "a flood over what is reached already": ("game.reach(own) & free", "game.reach(own)"),
    "a flood that stays where it was": ("game.reach(own) & free", "game.reach(own) & free | own"),
    "a flood that counts what it reached": ("free = free - own", "free = free | own"),
    "a step from other cells": ("game.reach(own)", "game.reach(free)"),
    "not from legal moves": ("game.get_legal_moves(player), blank", "game.reach(blank), blank"),
    "from the moves of who is told only once": ("get_legal_moves(player), blank", "get_legal_moves(s.pop()), blank"),
    "not from all blank cells": ("(player), blank, 0", "(player), game.get_legal_moves(player), 0"),
    "a front changed before": ("    while own:", "    own = own - blank\n    while own:"),
    "a front perhaps changed before": ("    while own:", "    if player:\n        own = own - blank\n    while own:"),
    "another position": ("    left, found", "    game = game.copy()\n    left, found"),
    "a flood of another position": ("front = game.get", "front = game.copy().get"),
    "rounds are told of": ("mine = total", "mine = moves + total"),
    "rounds are counted from what is not known": ("blank, 0, 0", "blank, 0, len(own)"),
    "a round's number alone is added": ("total += moves * len(own)", "total += moves"),
    "more than the front is counted": ("total += moves * len(own)", "total += moves * len(free)"),
    "an empty front counts": ("total += moves * len(own)", "total += moves * (len(own) + 1)"),
    "something is divided by nothing": ("total += moves * len(own)", "total += moves / len(own)"),
    "what is added may be infinite": ("total += moves * len(own)", "total += other * len(own)"),
    "a total that is multiplied": ("total += moves * len(own)", "total *= moves * len(own)"),
    "a total that is read": ("total += moves * len(own)", "total += total * len(own)"),
    "a total that may begin with minus zero": ("blank, 0, 0", "blank, -0.0, 0"),
    "a round that is remembered": ("free = free - own", "free, last = free - own, own"),
    "a total of both": ("found += step", "total += step"),
    "the second goes on from the first": ("left, found, step = blank", "left, found, step = free"),
    "the first decides what comes next": ("    other = 3", "    if mine > 3:\n        return 1"),
    "the second begins where the first tells": ("game.get_opponent(player)", "mine"),
    "the second needs what the first found": ("step = blank, 0, 1", "step = blank, 0, total"),
    "what the first is told of changes": ("    other = 3", "    other, last = 3, 4"),
    "a list that the first is told of changes": ("total / last\n", "total / last[0]\n    last[0] = 5\n"),
    "a list that the first is told of may change": ("    other = 3", "    other = change(last)"),
    "a front and open cells that change places": ("    while own:", "    own, free = free, own\n    while own:"),
    "a list that both change": ("    other = 3", "    other = [mine]\n    other.append(3)"),
    "something might fail and be caught": ("    other = 3", "    try:\n        other = 3\n    except E:\n        pass"),
}


CALLED_TWICE = """
def pair(game, player):
    free, front, far = game.get_blank_spaces(), game.get_legal_moves(player), 0
    while front:
        far += len(front)
        free = free - front
        front = game.reach(front) & free
    return far
def score(game, player):
    other = game.get_opponent(player)
    return pair(game, player) - pair(game, other)
"""
CALLS = {
    "one or the other": ("pair(game, player) - pair", "pair(game, player) if player else pair"),
    "perhaps one": ("return pair", "return other and pair"),
    "one for each of some": ("pair(game, player) -", "sum([pair(game, one) for one in (0, 1)]) -"),
    "in a function of its own": ("pair(game, player) -", "(lambda: pair(game, player))() -"),
    "a player bound meanwhile": ("pair(game, player) -", "(player := other) + pair(game, player) -"),
    "a name that means something else there": ("    other = game", "    len = 3\n    other = game"),
    "by name": ("pair(game, player) -", "pair(game, player=player) -"),
    "a player that something else gives": ("pair(game, player) -", "pair(game, seen.pop()) -"),
    "a position that something else gives": ("pair(game, player) -", "pair(game.copy(), player) -"),
    "a result before": ("    free, front", "    if game.is_loser(player):\n        return 3\n    free, front"),
    "more than one result": ("    return far", "    if far > 3:\n        return 3\n    return far"),
    "no result": ("    return far\n", "    far = 3\n"),
    "nothing for a result": ("    return far\n", "    return\n"),
    "more than players given": ("(game, player):\n    free", "(game, player, *more):\n    free"),
    "a player that is a number": ("    return far", "    return far + player"),
    "a player bound anew": ("    return far", "    player = 3\n    return far"),
    "a function within": ("    return far", "    return sum(far for one in free)"),
    "a flood that may not go on": ("far += len(front)", "far += 1"),
}


RETURNS_WITHIN = (
    CALLED_TWICE.replace("return pair", "return late(game, player) + pair")
    + """
def late(game, player):
    turns = 0
    while turns < 9:
        if game.get_legal_moves(player):
            return 1000
        turns += 1
    return turns
"""
)


USED_ANEW = """
def changed(game, player):
    free, front, far = game.get_blank_spaces(), game.get_legal_moves(player), 0
    while front:
        far += len(front)
        free = free - front
        front = game.reach(front) & free
    near = far
    free, front, far = game.get_blank_spaces(), game.get_legal_moves(), 0
    while front:
        far += len(front)
        free = free - front
        front = game.reach(front) & free
    near = near - far
    return near
"""


def within_a_loop(source):
    head, _, body = source.strip().partition("\n")
    return f"{head}\n    for player in (0, 1):\n{indent(body, '    ')}\n"


def as_python(source):
    """What was written for compiled code, run by Python."""
    parts = SimpleNamespace(
        jit=lambda function: function,
        number=float,
        _abs=abs,
        _int=int,
        _round=round,
        squared=lambda value: value**2,
        squared_difference=lambda a, b: (a - b) ** 2,
        small_sum=operator.add,
        small_difference=operator.sub,
        small_product=operator.mul,
        padded_blanks=lambda game: game.get_blank_spaces(),
        padded_moves=lambda game, player: game.get_legal_moves(player),
        blanks_like=blanks_like,
        next_to=lambda game, cells, among: game.reach(cells) & among,
        close_up=lambda game, cells: cells,
    )
    names = {"_isolation": parts}
    exec(source.partition("\n")[2], names)
    return names["score"]


def blanks_like(game, cells):
    colour = sum(cells[0]) % 2 if cells else 1
    return game.get_blank_spaces() & [cell for cell in game.get_blank_spaces() if sum(cell) % 2 == colour]


def two_as_one(source: str) -> bool:
    module = ast.parse(source)
    fuse_flood_fills(module)
    return "next_to" in ast.unparse(module)


def test_two_floods_are_one_wherever_they_stand():
    assert two_as_one(TWO)
    for function in FUNCTIONS:
        source = rewrite(function).source
        assert source.count("while ") == 1
        assert "next_to" in source
        assert "_spread" not in source


@pytest.mark.parametrize(("written", "instead"), CHANGES.values(), ids=CHANGES)
def test_a_flood_that_does_anything_else_stays_one_of_two(written, instead):
    assert TWO.count(written) == 1
    assert not two_as_one(TWO.replace(written, instead))


@pytest.mark.parametrize(("written", "instead"), CALLS.values(), ids=CALLS)
def test_a_function_that_is_not_plainly_a_flood_is_not_written_out(written, instead):
    assert two_as_one(CALLED_TWICE)
    assert CALLED_TWICE.count(written) == 1
    assert not two_as_one(CALLED_TWICE.replace(written, instead))


def test_a_function_that_may_return_from_its_loop_is_not_written_out():
    late = RETURNS_WITHIN.index("def late")
    module = ast.parse(RETURNS_WITHIN[late:] + RETURNS_WITHIN[:late])
    fuse_flood_fills(module)
    assert ast.unparse(module.body[-1]).count("return") == 1
    assert "late(game, player)" in ast.unparse(module.body[-1])


@pytest.mark.parametrize(("calls", "is_told"), [(6, True), (7, False)])
def test_of_a_few_floods_each_is_looked_at_beside_each(calls, is_told):
    assert (
        two_as_one(CALLED_TWICE.replace("return pair", f"return {'pair(game, player) + ' * (calls - 2)}pair"))
        == is_told
    )


def test_floods_of_two_positions_stay_apart():
    first, second = TWO.split("    other = 3\n")
    assert two_as_one(first + "    child = game\n" + second)
    assert not two_as_one(
        first
        + "    child = game.copy()\n"
        + second.replace("game.", "child.").replace("blank,", "child.get_blank_spaces(),")
    )


def test_what_the_first_is_told_of_stays_before_the_second_that_changes_it():
    begin = "    left, found, step = blank, 0, 1\n"
    early = TWO.replace(begin, "").replace(", 7\n", f", 7\n{begin}")
    assert two_as_one(early)
    assert not two_as_one(early.replace("total / last", "total / last + found"))


def test_a_loop_around_both_leaves_them_two_where_it_may_go_on_between_them():
    around = within_a_loop(TWO)
    assert two_as_one(around)
    assert not two_as_one(around.replace("other = 3", "if player:\n            continue"))


def test_variables_that_are_used_anew_are_told_apart_only_where_all_that_mentions_them_is_seen():
    assert two_as_one(USED_ANEW)
    assert not two_as_one(within_a_loop(USED_ANEW))
    assert not two_as_one(USED_ANEW.replace("return near", "return near + (lambda far: far)(3)"))


def test_a_function_stays_where_something_else_calls_it_and_where_nothing_ever_did():
    module = ast.parse(CALLED_TWICE.replace("- pair(game, other)", "- pair(game, other) + max(map(pair, [], []))"))
    fuse_flood_fills(module)
    assert "next_to" in ast.unparse(module)
    assert "def pair" in ast.unparse(module)
    strange = CALLED_TWICE.partition("def score")[0].replace("pair", "strange")
    strange = strange.replace("    free, front", "    game = game.copy()\n    free, front")
    module = ast.parse(strange + CALLED_TWICE.replace("return pair", "return strange(game, player) + pair"))
    fuse_flood_fills(module)
    assert "next_to" in ast.unparse(module)
    assert "strange(game, player) +" in ast.unparse(module)
    alone = ast.parse(CALLED_TWICE.partition("def score")[0])
    fuse_flood_fills(alone)
    assert "def pair" in ast.unparse(alone)


def test_a_total_that_begins_with_minus_zero_stays_as_it_was_written():
    assert "next_to" in rewrite(from_zero).source
    assert "next_to" not in rewrite(from_minus_zero).source


def test_what_tells_a_heuristic_from_others_in_logs_has_the_loop_that_was_written():
    assert "while front" in rewrite(heuristics.get("horizon")).code
    assert code_hash(heuristics.get("horizon")) == "8c0ddde8fe88b637"


@settings(max_examples=30)
@given(board=positions(st.sampled_from(SIZES)))
def test_two_floods_as_one_find_what_two_do_on_every_board(board):
    for function in FUNCTIONS:
        written = as_python(rewrite(function).source)
        for player in board.players:
            assert written(board, player) == function(board, player)


@settings(max_examples=40)
@given(board=positions())
def test_compiled_two_floods_as_one_find_what_two_do(board):
    compiled = compile_heuristic(by_hand)
    for index, player in enumerate(board.players):
        assert compiled.evaluate(board, index) == by_hand(board, player)
