"""Compiled heuristics: every one of the registry, and users' functions."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import positions

import heuristics
from isolation import Board, Limit, search
from isolation.compiler import CompileError, compile_heuristic, sample_positions


@settings(max_examples=25)
@given(board=positions(st.sampled_from(["7x7", "9x11"])))
def test_compiled_values_are_the_interpreted_ones_to_the_last_bit(board):
    for name in heuristics.names():
        function = heuristics.get(name)
        compiled = compile_heuristic(function, (board.height, board.width))
        for index, player in enumerate(board.players):
            assert compiled.evaluate(board, index) == function(board, player), name


def test_finished_games_are_evaluated_alike_too():
    finished = [board for board in sample_positions((7, 7), 2000) if board.outcome()]
    assert finished
    for name in heuristics.names():
        compiled = compile_heuristic(heuristics.get(name), (7, 7))
        for board in finished:
            for index, player in enumerate(board.players):
                assert compiled.evaluate(board, index) == heuristics.get(name)(board, player), name


def wraps_around(game, player):
    """A huge integer in Python, something else in 64 bits."""
    return float((len(game.get_blank_spaces()) + 3) ** 40 % 1000)


def is_random(game, player):
    return random.random()


def remembers(game, player, seen=[]):  # noqa: B006
    seen.append(1)
    return float(len(seen))


@pytest.mark.parametrize("function", [wraps_around, is_random, remembers])
def test_a_function_that_compiled_code_would_get_wrong_is_refused(function):
    with pytest.raises(CompileError):
        compile_heuristic(function)


def test_what_does_not_compile_runs_interpreted_and_says_so():
    with pytest.warns(UserWarning, match="is_random runs interpreted"):
        result = search(Board.from_moves([24, 14]), is_random, Limit(depth=1))
    assert result.depth == 1


def raises_sometimes(game, player):
    if len(game.get_legal_moves(player)) == 3:
        raise ValueError("three is one too few")
    return 0.0


def test_an_exception_reaches_the_caller_of_a_compiled_search():
    compile_heuristic(raises_sometimes)
    with pytest.raises(ValueError, match="three is one too few"):
        search(Board.from_moves([24, 14]), raises_sometimes, Limit(depth=4))


def divides_by_zero(game, player):
    return 1 / (len(game.get_legal_moves(player)) - 3)


def test_an_exception_at_a_position_is_one_in_compiled_code_as_well():
    compiled = compile_heuristic(divides_by_zero)
    for board in sample_positions((7, 7), 200):
        try:
            expected = divides_by_zero(board, 1)
        except ZeroDivisionError:
            with pytest.raises(ArithmeticError):
                compiled.evaluate(board, 0)
        else:
            assert compiled.evaluate(board, 0) == expected


def never_answers(game, player):
    while len(game.get_legal_moves(player)) >= 0:
        pass
    return 0.0


def test_a_function_that_never_answers_is_refused_rather_than_waited_for():
    with pytest.raises(CompileError, match="no answer within 2 s"):
        compile_heuristic(never_answers)


def not_a_number(game, player):
    return float("nan")


def test_nan_compiles_as_nan():
    assert math.isnan(compile_heuristic(not_a_number).evaluate(Board.from_moves([24, 14]), 0))
