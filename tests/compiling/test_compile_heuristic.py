"""Compiled heuristics: every one of the registry, and users' functions."""

import math
import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import positions

from knights_isolation import heuristics
from knights_isolation.isolation import Board, Limit, search
from knights_isolation.isolation.compiling import code_cache, comparison
from knights_isolation.isolation.compiling import compile_heuristic as compiler
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic, sample_positions


@pytest.mark.parametrize("size", ["7x7", pytest.param("9x11", marks=pytest.mark.exhaustive)])
@settings(max_examples=8)
@given(data=st.data())
def test_compiled_values_are_the_interpreted_ones_to_the_last_bit(size, data):
    board = data.draw(positions(st.just(size)))
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


LARGE = np.zeros((355, 355))


def looks_into_a_large_table(game, player):
    """Its table is too large to stand in code; its address, which would, is another in every process."""
    return float(LARGE[len(game.get_blank_spaces()), 3])


@pytest.mark.exhaustive
def test_constants_too_large_to_be_kept_are_refused():
    with pytest.raises(CompileError, match="its constants are too large"):
        compile_heuristic(looks_into_a_large_table)


def wraps_around(game, player):
    """A huge integer in Python, something else in 64 bits."""
    return float((len(game.get_blank_spaces()) + 3) ** 40 % 1000)


def is_random(game, player):
    return random.random()


def remembers(game, player, seen=[]):  # noqa: B006
    seen.append(1)
    return float(len(seen))


@pytest.mark.usefixtures("old_compiler_alone")
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


def makes_a_number_of_text(game, player):
    return float(f"{len(game.get_legal_moves(player))}.5")


@pytest.mark.usefixtures("old_compiler_alone")
def test_a_number_made_of_text_is_refused_with_what_to_write_instead():
    with pytest.raises(CompileError, match=r"makes a number of text, .*: compute the number, as own \+ opponent / 10"):
        compile_heuristic(makes_a_number_of_text)


def test_a_function_that_never_answers_is_refused_rather_than_waited_for(monkeypatch):
    monkeypatch.setattr(comparison, "LONGEST_CALL", 0.2)
    # 0.2 s of processor time, or 2 s by the clock where the machine is busy
    with pytest.raises(CompileError, match=r"it takes longer than (0\.2|2) s at Board"):
        compile_heuristic(never_answers)


def test_a_verdict_about_time_is_not_kept_for_good(monkeypatch, tmp_path):
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path)  # where no earlier run has found that it compiles

    def patient(game, player):
        return sum(n for n in range(1000)) + game.move_count * 1.0

    monkeypatch.setattr(comparison, "LONGEST_CALL", 1e-6)
    for _ in range(2):
        with pytest.raises(CompileError, match=r"it takes longer than 1e-0[56] s at Board"):
            compile_heuristic(patient)
    monkeypatch.setattr(comparison, "LONGEST_CALL", 2.0)
    compiler._of_this_process.clear()
    compiler._compiled_or_refused.cache_clear()
    assert compile_heuristic(patient).evaluate(Board.from_moves([24, 14]), 0) == 499502.0


def count_down(depth, cell):
    if depth == 0:
        return cell[0]
    return 1 + count_down(depth - 1, (cell[0] + 1, cell[1]))


def test_a_function_may_call_itself_with_other_kinds_of_numbers_than_it_was_called_with():
    def recursive(game, player):
        return float(count_down(2, (1, 1)) + game.move_count)

    assert compile_heuristic(recursive).evaluate(Board.from_moves([24, 14]), 0) == 7.0


def test_a_heuristic_that_calls_itself_without_end_is_refused_before_it_ends_the_process():
    def endless(game, player):
        return endless(game, player) + 1.0 if game.move_count > 3 else 1.0

    with pytest.raises(CompileError, match="infinite recursion"):
        compile_heuristic(endless)


def not_a_number(game, player):
    return float("nan")


def asks_what_a_game_has(game, player):
    known = 10 if hasattr(game, "move_count") else 20
    return known + hasattr(game, "no_such_method") + getattr(game, "width", 3) + getattr(game, "no_such_field", 0.5)


def test_what_a_game_has_is_known_to_compiled_code():
    compiled = compile_heuristic(asks_what_a_game_has)
    board = next(iter(sample_positions((7, 7), 1, seed=7)))
    assert compiled.evaluate(board, 0) == asks_what_a_game_has(board, board.players[0]) == 17.5


def test_nan_compiles_as_nan():
    assert math.isnan(compile_heuristic(not_a_number).evaluate(Board.from_moves([24, 14]), 0))


def sees_a_condition_as_a_number(game, player):
    return float(len(game.get_legal_moves(player)) > 3) + float(game.move_count in (2, 3))


def test_a_condition_is_a_number_where_python_makes_it_one():
    compiled = compile_heuristic(sees_a_condition_as_a_number)
    board = Board.from_moves([24, 14])
    assert compiled.evaluate(board, 0) == sees_a_condition_as_a_number(board, 1) == 2.0


def forgets_to_round(game, player):
    return float(sum(range(game.width / 2)))


@pytest.mark.usefixtures("old_compiler_alone")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (forgets_to_round, "compiled, it gives 3.0 where Python raises TypeError, for player 1 at Board"),
        (wraps_around, "where Python gives "),
    ],
)
def test_what_a_function_does_otherwise_is_told(function, message):
    with pytest.raises(CompileError, match=message):
        compile_heuristic(function)


@dataclass
class Scorer:
    """A callable that cannot be hashed."""

    weight: float

    def __call__(self, game, player):
        return self.weight * len(game.get_legal_moves(player))


def test_an_object_is_refused_by_its_class_and_not_by_its_address():
    with pytest.raises(CompileError, match="an object of the class Scorer, not a plain function"):
        compile_heuristic(Scorer(2.0))


@pytest.mark.parametrize("text", ["", "nul", "[]", '{"reason": 3, "line": 1}', '{"reason": "why"', '{"line": 3}', "\0"])
def test_a_damaged_verdict_is_found_out_anew(text, tmp_path):
    file = tmp_path / "problem_7x7.json"
    for problem in (comparison.Problem("why"), comparison.Problem("why", 3, is_difference=True), None):
        file.write_text(compiler._written(problem))
        assert compiler._known_problem(file) == problem
    file.write_text(text)
    with pytest.warns(UserWarning, match="damaged"):
        assert compiler._known_problem(file) is compiler._UNKNOWN
    assert not file.exists()


def test_code_that_numba_runs_may_call_what_was_gathered():
    from numba import njit, types

    from knights_isolation.isolation.compiling.llvm_ir import collect_ir
    from knights_isolation.isolation.native.decorators import inner

    @inner
    def double(number):
        return 2 * number

    @inner
    def quadruple(number):
        return double(double(number))

    with collect_ir():
        quadruple.compile((types.int64,))
    assert njit(lambda number: quadruple(number))(3) == 12
