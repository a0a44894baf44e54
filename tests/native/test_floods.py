"""`territory` and `distances`: the same in Python, in compiled code, and as loops over sets of cells."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from random_games import positions

from knights_isolation import heuristics
from knights_isolation.isolation import Board
from knights_isolation.isolation.compiling.compile_heuristic import compile_heuristic, sample_positions
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.search.agents import code_hash


def counts(game, player):
    own, other = game.territory(player)
    return 100 * own + other


def counts_by_loop(game, player):
    left, active = game.get_blank_spaces(), game.active_player
    first, second = game.get_legal_moves(active), game.get_legal_moves(game.get_opponent(active))
    own, other = 0, 0
    while first or second:
        left = left - first
        second = second & left
        left = left - second
        own += len(first)
        other += len(second)
        first, second = game.reach(first) & left, game.reach(second) & left
    return 100 * own + other if player == active else 100 * other + own


def sums(game, player):
    own, other = game.distances(player)
    return 10_000 * own + other


def sums_by_loop(game, player):
    return 10_000 * _sum_of_distances(game, player) + _sum_of_distances(game, game.get_opponent(player))


def _sum_of_distances(game, player):
    left, front = game.get_blank_spaces(), game.get_legal_moves(player)
    total, step = 0, 0
    while front:
        step += 1
        total += step * len(front)
        left = left - front
        front = game.reach(front) & left
    return total + game.width * game.height * len(left)


PAIRS = [(counts, counts_by_loop), (sums, sums_by_loop)]


def in_children(game, player):
    best = 0
    for move in game.get_legal_moves():
        own, other = game.forecast_move(move).territory(player)
        near, far = game.forecast_move(move).distances(player)
        best = max(best, own - other + far - near)
    return best


@pytest.mark.parametrize(("method", "loop"), PAIRS)
@given(board=positions())
def test_a_board_counts_what_a_loop_over_its_cells_counts(method, loop, board):
    for player in board.players:
        assert method(board, player) == loop(board, player)


@pytest.mark.parametrize(("method", "loop"), PAIRS)
def test_before_the_first_moves_every_blank_cell_is_a_move(method, loop):
    for cells in ([], [3]):
        board = Board.from_moves(cells)
        for player in board.players:
            assert method(board, player) == loop(board, player)


def test_who_is_no_player_has_neither():
    board = Board("first", "second")
    for method in (board.territory, board.distances):
        with pytest.raises(RuntimeError, match="'third' is not a player"):
            method("third")


@settings(max_examples=15)
@given(board=positions())
def test_compiled_code_counts_as_the_board_does(board):
    for function in (counts, sums, in_children, counts_by_loop, sums_by_loop):
        compiled = compile_heuristic(function)
        for index, player in enumerate(board.players):
            assert compiled.evaluate(board, index) == function(board, player)


def both(game, player):
    own, other = game.territory(player)
    near, far = game.distances(player)
    return 0.5 * own - other / 3 + near - far


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", ["1x9", "3x3", "8x6", "7x9", "8x8", "9x11"])
def test_floods_stay_on_the_board_whether_its_rows_have_room_between_them_or_not(size):
    compiled = compile_heuristic(both, parse_size(size))
    for board in sample_positions(parse_size(size), 200):
        for index, player in enumerate(board.players):
            assert compiled.evaluate(board, index) == both(board, player), board


def test_logs_know_the_heuristics_that_ask_for_them():
    assert code_hash(heuristics.get("territory")) == "c181da431a15e8e9"
    assert code_hash(heuristics.get("horizon")) == "82fc001a3bb82131"


@pytest.mark.parametrize(("method", "loop"), PAIRS)
def test_boards_larger_than_compiled_code_serves_count_alike(method, loop):
    board = Board.from_moves([0, 500], size="25x40")
    for player in board.players:
        assert method(board, player) == loop(board, player)
