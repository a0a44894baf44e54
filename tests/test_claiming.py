"""Loops that share out the blank cells between two sides: which are told as one flood, and that nothing changes."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from random_games import positions

import heuristics
from isolation.compiling.compile_heuristic import compile_heuristic, sample_positions
from isolation.compiling.rewrites.loops.territory_fill import fuse_territory_loops
from isolation.compiling.source_rewriter import rewrite
from isolation.players.agents import code_hash
from isolation.rules.geometry import parse_size


def written_otherwise(game, player):
    theirs, mine = game.get_legal_moves(game.get_opponent(player)), game.get_legal_moves(player)
    open_cells = game.get_blank_spaces()
    own, other = 3, 0.0
    while mine or theirs:
        fresh = theirs - mine
        own += len(mine)
        other -= len(fresh)
        open_cells = open_cells - (mine | fresh)
        theirs = game.reach(fresh) & open_cells
        mine = open_cells & game.reach(mine)
    return own + other + 100 * len(open_cells) + len(mine) + len(theirs)


def for_every_move(game, player):
    total = 0
    for move in game.get_legal_moves():
        child = game.forecast_move(move)
        left = child.get_blank_spaces()
        a = child.get_legal_moves(player)
        b = child.get_legal_moves(child.get_opponent(player))
        while b or a:
            left = left - b
            a = a & left
            left = left - a
            total += len(a) - len(b)
            a, b = child.reach(a) & left, child.reach(b) & left
    return total


ROUND = """
def changed(game, player):
    free = game.get_blank_spaces()
    a = game.get_legal_moves(player)
    b = game.get_legal_moves(game.get_opponent(player))
    total, last = 0, a
    while a or b:
        free = free - a
        b = b & free
        free = free - b
        total += len(a) - len(b)
        a, b = game.reach(a) & free, game.reach(b) & free
    return total + len(last)
"""
CHANGES = {
    "only one side goes on": ("while a or b:", "while a:"),
    "both must go on": ("a or b", "a and b"),
    "the second takes what the first has": ("b = b & free", "b = b & (free | a)"),
    "the second blocks nobody": ("free = free - b", "free = free | b"),
    "a side goes on over what is claimed": ("game.reach(a) & free", "game.reach(a)"),
    "a side goes on from where the other is": ("game.reach(b) & free", "game.reach(a) & free"),
    "rounds are counted": ("total += len(a)", "total += 1 + len(a)"),
    "cells count more often": ("total += len(a)", "total += 2 * len(a)"),
    "what is left is counted": ("total += len(a)", "total += len(free)"),
    "a total that is multiplied": ("total += len(a)", "total *= len(a)"),
    "a total that is read": ("total += len(a)", "total += total + len(a)"),
    "not from legal moves": ("b = game.get_legal_moves(game.get_opponent(player))", "b = game.get_blank_spaces()"),
    "not from all blank cells": ("free = game.get_blank_spaces()", "free = game.get_legal_moves(player)"),
    "of another position": ("b = game.get_legal", "b = game.copy().get_legal"),
    "changed before": ("total, last = 0, a", "total, last = 0, a\n    b = b - a"),
    "perhaps changed before": ("total, last = 0, a", "total, last = 0, a\n    if player:\n        b = b - a"),
    "another position since": ("total, last = 0, a", "total, last = 0, a\n    game = game.forecast_move(a[0])"),
    "another player since": ("total, last = 0, a", "total, last = 0, a\n    player = game.get_opponent(player)"),
    "a total that is no whole number": ("total, last = 0, a", "total, last = 0.5, a"),
    "a total that may be no whole number": ("total, last = 0, a", "total, last = len(b) / 3, a"),
    "a total that is no whole number by then": ("total, last = 0, a", "total, last = 0, a\n    total += 0.1"),
    "a total so large that floats leave out numbers": ("total, last = 0, a", "total, last = 1e16, a"),
    "a total that is given": ("(game, player):", "(game, player, total=0.5):"),
    "a round that is remembered": ("free = free - b", "free = free - b\n        last = b"),
    "broken off": ("total += len(a) - len(b)", "if total > 3:\n            break"),
    "something else at the end": ("    return total", "    else:\n        total = 7\n    return total"),
}


def told_as_one_flood(source: str) -> bool:
    module = ast.parse(source)
    fuse_territory_loops(module)
    return "_isolation.claimed(game, player, game.get_opponent(player))" in ast.unparse(module)


def test_a_loop_that_shares_out_the_blank_cells_is_one_flood():
    assert told_as_one_flood(ROUND)
    for function in (heuristics.get("territory"), heuristics.get("phased"), written_otherwise, for_every_move):
        source = rewrite(function).source
        assert "_isolation.claimed" in source
        assert "while" not in source


@pytest.mark.parametrize("total", ["FIRST", "OPEN"])
def test_a_total_may_have_any_name(total):
    module = ast.parse(ROUND.replace("total", total))
    fuse_territory_loops(module)
    assert f"{total} += _v_first1 - " in ast.unparse(module)


@pytest.mark.parametrize(("written", "instead"), CHANGES.values(), ids=CHANGES)
def test_a_loop_that_does_anything_else_stays_one(written, instead):
    assert ROUND.count(written) == 1
    changed = ROUND.replace(written, instead)
    ast.parse(changed)
    assert not told_as_one_flood(changed)


def test_what_tells_a_heuristic_from_others_in_logs_has_the_loop_that_was_written():
    assert "while movers or waiters" in rewrite(heuristics.get("territory")).code
    assert code_hash(heuristics.get("territory")) == "97347f008c7cefd2"


@settings(max_examples=40)
@given(board=positions())
def test_one_flood_claims_what_two_do_however_they_are_written(board):
    compiled = compile_heuristic(written_otherwise)
    for index, player in enumerate(board.players):
        assert compiled.evaluate(board, index) == written_otherwise(board, player)


def floods(game, player):
    mine, theirs = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    around = game.reach(mine)
    left = game.get_blank_spaces()
    balance = 0
    while mine or theirs:
        left = left - mine
        theirs = theirs & left
        left = left - theirs
        balance += len(mine) - len(theirs)
        mine, theirs = game.reach(mine) & left, game.reach(theirs) & left
    return balance + sum(70 * row + 10 * column for row, column in around) + 0.1 * sum(7 * r + c for r, c in left)


@pytest.mark.slow
@pytest.mark.parametrize("size", ["1x9", "3x3", "8x6", "7x9", "8x8", "9x11"])
def test_floods_stay_on_the_board_whether_its_rows_have_room_between_them_or_not(size):
    assert "_isolation.claimed" in rewrite(floods).source
    compiled = compile_heuristic(floods, parse_size(size))
    for board in sample_positions(parse_size(size), 200):
        for index, player in enumerate(board.players):
            assert compiled.evaluate(board, index) == floods(board, player), board
