"""Sums over cells of terms that depend on the cell alone: which are read from tables, and what the tables hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation import heuristics
from knights_isolation.isolation.compiling.source_rewriter import rewrite
from knights_isolation.isolation.native.runtime.cell_sums import MOST_MASKS, Table, masks_of
from knights_isolation.isolation.search.agents import code_hash


def plain_loop(game, player):
    total = 0
    for row, column in game.get_legal_moves(player):
        total += row * column
    return total


def under_a_condition(game, player):
    total = 0
    for move in game.get_legal_moves(player):
        if move[0] == 0:
            total += 1
        elif move[1] == 0:
            total -= 2
    return total


def two_loops_with_the_same_variable(game, player):
    total = 0.0
    for move in game.get_legal_moves(player):
        total += move[0] / 3
    for move in game.get_legal_moves(game.get_opponent(player)):
        total -= move[1] / 3
    return total


def summed(game, player):
    middle = game.height / 2
    return sum(abs(row - middle) for row, column in game.get_legal_moves(player))


def counted(game, player):
    return len([move for move in game.get_legal_moves(player) if 0 in move])


def given_the_same_at_every_call(game, player):
    share = len(game.get_blank_spaces()) / 49
    return _weighted(game, player, share) - _weighted(game, game.get_opponent(player), share)


def _weighted(game, player, weight):
    total = 0.0
    for row, _column in game.get_legal_moves(player):
        total += weight * row
    return total


def given_another_at_each_call(game, player):
    return _weighted(game, player, 2) - _weighted(game, game.get_opponent(player), 3)


def from_where_the_player_stands(game, player):
    here = game.get_player_location(player)
    total = 0
    for row, _column in game.get_legal_moves(player):
        total += row - here[0]
    return total


def what_the_game_says_of_the_cell(game, player):
    total = 0
    for move in game.get_legal_moves(player):
        total += len(game.reach((move,)))
    return total


def broken_off(game, player):
    total = 0
    for row, _column in game.get_legal_moves(player):
        if total > 3:
            break
        total += row
    return total


def twice_a_round(game, player):
    total = 0.0
    for row, column in game.get_legal_moves(player):
        total += row / 3
        total += column / 7
    return total


def remembered_from_the_round_before(game, player):
    total, last = 0, 0
    for row, _column in game.get_legal_moves(player):
        total += last
        last = row
    return total


def by_a_weight_that_is_given_twice(game, player):
    weight, total = 1, 0
    if len(game.get_legal_moves(player)) > 3:
        weight = 2
    for row, _column in game.get_legal_moves(player):
        total += weight * row
    return total


def read_after_the_loop(game, player):
    total, row = 0, 0
    for row, _column in game.get_legal_moves(player):
        total += row
    return total * row


def from_minus_zero(game, player):
    total = -float(len(game.get_legal_moves(player)))
    for row, _column in game.get_legal_moves(player):
        total += row
    return total


WEIGHED = [
    plain_loop, under_a_condition, two_loops_with_the_same_variable, summed, counted, given_the_same_at_every_call,
]  # fmt: skip
LOOPS = [
    given_another_at_each_call, from_where_the_player_stands, what_the_game_says_of_the_cell, broken_off,
    twice_a_round, remembered_from_the_round_before, by_a_weight_that_is_given_twice, read_after_the_loop,
    from_minus_zero,
]  # fmt: skip


@pytest.mark.parametrize("function", WEIGHED, ids=lambda function: function.__name__)
def test_a_sum_of_what_depends_on_the_cell_alone_has_no_loop(function):
    source = rewrite(function).source
    *_, below_terms = source.split("@_isolation.term")
    assert "weighed" in below_terms
    assert "for " not in source


@pytest.mark.parametrize("function", LOOPS, ids=lambda function: function.__name__)
def test_any_other_sum_stays_a_loop(function):
    source = rewrite(function).source
    assert "weighed" not in source
    assert "for " in source


def test_what_tells_a_heuristic_from_others_in_logs_has_the_loops_that_were_written():
    assert "weighed" not in rewrite(plain_loop).code
    assert code_hash(heuristics.get("edge_distance_weighted")) == "b8b6ed070f53130c"


@given(
    st.lists(st.integers(-20, 40) | st.integers(-80, 80).map(lambda eighths: eighths / 8), min_size=9, max_size=9),
    st.sets(st.integers(0, 8)),
)
def test_counting_the_cells_of_masks_gives_the_sum_of_what_the_cells_add(values, cells):
    masks = masks_of(Table((tuple(values),), False))
    if masks is None:
        return
    counted = [len(cells & {cell for cell in range(9) if mask >> cell & 1}) for mask in masks.masks]
    total = masks.least * len(cells) + sum(count << bit for bit, count in enumerate(counted))
    assert total / masks.parts == sum(values[cell] for cell in cells)


@pytest.mark.parametrize(
    "values", [(0, 1 / 3), (0.0, 1 << MOST_MASKS)], ids=["not a sum of halves", "more bits than masks pay for"]
)
def test_what_masks_cannot_tell_cheaply_is_looked_up(values):
    assert masks_of(Table((values,), False)) is None
