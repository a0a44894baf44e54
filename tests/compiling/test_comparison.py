"""Compiled code compared with Python before it is used: what is tried, what is noticed, and what is said of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli import main
from knights_isolation.experiments.analysis.quick_trial import Trial
from knights_isolation.experiments.plan.user_files import compiles
from knights_isolation.isolation import Board, Limit, search
from knights_isolation.isolation.compiling import code_cache, specialise
from knights_isolation.isolation.compiling import compile_heuristic as compiler
from knights_isolation.isolation.compiling.comparison import compare
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic, sample_positions
from knights_isolation.reports.analysis.file_answers import describe_trial


@cache
def checked() -> tuple[Board, ...]:
    return tuple(sample_positions((7, 7), 300))


def wrapped(number: int) -> int:
    """A whole number in 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def power_wrapped(exponent: int) -> float:
    return wrapped(3**exponent) if exponent >= 0 else 3**exponent


def saturated(number: float) -> float:
    """A float made a whole number in 64 bits."""
    return float(max(-(2**63), min(2**63 - 1, int(number))))


def unless(error: type[Exception], compute: Callable[[], float], otherwise: float) -> float:
    try:
        return compute()
    except error:
        return otherwise


def counts(game: Any, player: Any) -> tuple[int, int, int]:
    opponent = game.get_opponent(player)
    return len(game.get_legal_moves(player)), len(game.get_legal_moves(opponent)), len(game.get_blank_spaces())


def apart(game: Any) -> tuple[int, int]:
    (row, column), (other_row, other_column) = map(game.get_player_location, game.players)
    return row - other_row, column - other_column


def mean(game: Any, player: Any) -> float:
    """What NumPy makes of eight fractions, which it sums in pairs; of fewer, their sum in turn."""
    values = [0.1 * row + 0.3 * column for row, column in game.get_legal_moves(player)]
    if len(values) < 8:
        return mean_in_turn(game, player)
    a, b, c, d, e, f, g, h = values
    return (((a + b) + (c + d)) + ((e + f) + (g + h))) / 8


def mean_in_turn(game: Any, player: Any) -> float:
    total, values = 0.0, [0.1 * row + 0.3 * column for row, column in game.get_legal_moves(player)]
    for value in values:
        total += value
    return total / len(values) if values else 0.0


OTHERWISE = {
    "half a hundredth is rounded otherwise": (
        lambda game, player: round(counts(game, player)[0] / 16 - counts(game, player)[1] * 0.35, 2),
        lambda game, player: round(100 * (counts(game, player)[0] / 16 - counts(game, player)[1] * 0.35)) / 100,
    ),
    "the logarithm of nothing, with ten blank cells": (
        lambda game, player: math.log(counts(game, player)[2] - 10),
        lambda game, player: unless(ValueError, lambda: math.log(counts(game, player)[2] - 10), -math.inf),
    ),
    "a power beyond 64 bits, from ply 39 on": (
        lambda game, player: 1 + game.move_count**12 / 1e19,
        lambda game, player: 1 + wrapped(game.move_count**12) / 1e19,
    ),
    "a power beyond 64 bits, from ply 45 on": (
        lambda game, player: 3 ** (game.move_count - 5) % 7,
        lambda game, player: power_wrapped(game.move_count - 5) % 7,
    ),
    "a whole number beyond 64 bits, from ply 41 on": (
        lambda game, player: int(1e18 * math.exp(game.move_count - 38)),
        lambda game, player: saturated(1e18 * math.exp(game.move_count - 38)),
    ),
    "an exponential beyond all numbers, from ply 39 on": (
        lambda game, player: 1e-300 * math.exp(game.move_count**2 / 2.1),
        lambda game, player: unless(OverflowError, lambda: 1e-300 * math.exp(game.move_count**2 / 2.1), math.inf),
    ),
    "the logarithm of nothing, from ply 40 on": (
        lambda game, player: math.log(40 - game.move_count),
        lambda game, player: unless(ValueError, lambda: math.log(40 - game.move_count), -math.inf),
    ),
    "the root of less than nothing, from corner to corner": (
        lambda game, player: math.sqrt(71 - apart(game)[0] ** 2 - apart(game)[1] ** 2),
        lambda game, player: unless(
            ValueError, lambda: math.sqrt(71 - apart(game)[0] ** 2 - apart(game)[1] ** 2), math.nan
        ),
    ),
    "the last bit of a mean of eight": (mean, mean_in_turn),
}


@pytest.mark.parametrize(("python", "compiled"), OTHERWISE.values(), ids=OTHERWISE)
def test_what_compiled_code_does_otherwise_in_few_positions_is_noticed(python: Any, compiled: Any) -> None:
    def evaluate(board: Board, index: int) -> float | None:
        return float(compiled(board, board.players[index]))

    problem = compare([(python, evaluate)], (7, 7))
    assert problem is not None
    assert problem.is_difference


@pytest.mark.parametrize("raises_in_python", [True, False])
def test_an_exception_of_either_is_one_of_both(raises_in_python: bool) -> None:
    def python(game: Any, player: Any) -> float:
        return 1 / (game.move_count - 48) if raises_in_python else 1.0

    def evaluate(board: Board, index: int) -> float | None:
        return 1 / ((board.move_count - 48) or math.inf) if raises_in_python else None

    problem = compare([(python, evaluate)], (7, 7))
    assert problem is not None
    assert ("raises ZeroDivisionError" if raises_in_python else "it raises an exception where Python gives") in (
        problem.reason
    )


@pytest.mark.parametrize("player", [0, 1])
def test_both_players_are_compared(player: int) -> None:
    problem = compare([(lambda game, player: 0.0, lambda board, index: float(index == player))], (7, 7))
    assert problem is not None
    assert f"for player {player + 1} at" in problem.reason


def test_games_are_sampled_to_their_last_ply() -> None:
    assert {board.move_count for board in checked()} == set(range(2, 50))
    assert sum(board.move_count >= 40 for board in checked()) >= 25
    assert {board.outcome() is None for board in checked()} == {True, False}


def test_either_player_has_any_number_of_moves_and_stands_anywhere() -> None:
    for index in (0, 1):
        assert {board.moves_mask(index).bit_count() for board in checked()} == set(range(9))
        assert sum(board.moves_mask(index).bit_count() == 8 for board in checked()) >= 9
        assert {board.locations[index] for board in checked()} == set(range(49))


def test_the_players_stand_at_any_distance_from_each_other() -> None:
    distances = {tuple(map(abs, apart(board))) for board in checked()}
    assert distances == {(row, column) for row in range(7) for column in range(7)} - {(0, 0)}


def test_the_players_stand_in_opposite_corners_of_a_large_board_too() -> None:
    corners = [set(board.locations) for board in sample_positions((9, 11), 300)]
    assert {0, 98} in corners
    assert {10, 88} in corners


def test_those_who_have_positions_may_change_them() -> None:
    board = next(sample_positions((7, 7), 300))
    before = board.copy()
    board.play_cell(board.legal_cells()[0])
    assert next(sample_positions((7, 7), 300)) == before


def test_what_differs_in_its_last_digits_is_said_to_do_just_that() -> None:
    problem = compare([(lambda game, player: 0.1, lambda board, index: 0.1 + 2**-56)], (7, 7))
    assert problem is not None
    where = f"{checked()[0]!r}, for player 1: 0.1 in Python, 0.10000000000000002 compiled"
    assert problem.reason == f"compiled, it differs from Python in the 16th digit at {where}"
    problem = compare([(lambda game, player: -2.67, lambda board, index: -2.68)], (7, 7))
    assert problem is not None
    assert problem.reason.startswith("compiled, it gives -2.68 where Python gives -2.67, for player 1 at Board")


def test_what_compiles_and_differs_is_not_said_not_to_compile() -> None:
    reason = "compiled, it differs from Python in the 16th digit at …"
    trial = Trial(reason, None, None, None, [], None, None, is_difference=True)
    assert f"Runs interpreted: {reason}" in describe_trial("mine.py:score", trial)
    assert "Does not compile" not in describe_trial("mine.py:score", trial)


def test_a_difference_is_one_in_the_error_and_in_the_list_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "knights_isolation.isolation.compiling.compile_heuristic.compare",
        lambda *_: compiler.Problem("it differs", None, True),
    )

    def mine(game: Any, player: Any) -> float:
        return game.move_count / 7.25

    for _ in range(2):  # found, and kept
        with pytest.raises(CompileError, match="it differs") as refused:
            compile_heuristic(mine)
        assert refused.value.is_difference
    assert compiles(mine) == "differs: it differs"


def multiplies_by_a_large_power(game: Any, player: Any) -> float:
    own, opponent, blank = counts(game, player)
    return float((own - opponent) * 7**blank)


def stays_within(game: Any, player: Any) -> float:
    large = 3 * 2**61 + len(game.get_blank_spaces())
    return float((large * large + large) % 1001)


def hashes(game: Any, player: Any) -> float:
    total = 5381
    for cell in game.get_blank_spaces():
        total *= 33 + cell[0]
    return float(total % 1001)


@pytest.mark.parametrize(
    ("function", "outgrown"),
    [
        (multiplies_by_a_large_power, "7 ** blank"),
        (hashes, "total *= 33 + cell[0]"),
        (stays_within, "large * large"),
    ],
)
def test_an_integer_of_more_than_64_bits_is_named_with_what_helps(function: Any, outgrown: str) -> None:
    with pytest.raises(CompileError) as refused:
        compile_heuristic(function)
    assert f": {outgrown} exceeds 64 bits" in refused.value.reason
    assert "write float(x)" in refused.value.reason


def counts_moves(game: Any, player: Any) -> float:
    return len(game.get_legal_moves(player)) * 1.125


def test_a_fault_of_ours_is_no_verdict_and_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from numba.core.runtime import rtsys

    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path)
    fault = (
        r"the compiler fails \(a bug in this toolkit; please report\): AttributeError: .*initialize.* "
        r"at isolation/compiling/llvm_ir\.py:\d+, Python 3\.[\d.]+, numba [\d.]+, llvmlite [\d.]+"
    )
    with monkeypatch.context() as broken:
        broken.delattr(type(rtsys), "initialize")
        with pytest.raises(CompileError, match=fault):
            compile_heuristic(counts_moves)
        with pytest.warns(UserWarning, match=f"counts_moves runs interpreted.*{fault}"):
            search(Board.from_moves([24, 14]), counts_moves, Limit(depth=1))
    assert not list(tmp_path.rglob("problem_*.json"))
    compiler._of_this_process.clear()  # as another process begins
    assert compile_heuristic(counts_moves).evaluate(Board.from_moves([24, 14]), 0) == 9.0
    (kept,) = tmp_path.rglob("problem_*.json")
    assert json.loads(kept.read_text()) is None


@pytest.mark.usefixtures("old_compiler_alone")
@pytest.mark.parametrize(
    ("error", "compiling", "is_kept"),
    [
        ("TypingError('why')", "score_code", True),
        ("LoweringError('why')", "score_code", True),
        ("UnsupportedError('why')", "score_code", True),
        ("InternalError('why')", "score_code", False),
        ("KeyError('why')", "score_code", False),
        ("ImportError('why')", "score_code", False),
        ("AttributeError('why')", "score_code", False),
        ("RecursionError('why')", "score_code", False),
        ("TypingError('why')", "kernel_code", False),
        ("RuntimeError('LLVM: why')", "link", False),
    ],
)
def test_only_refusals_of_numbas_are_verdicts(
    error: str, compiling: str, is_kept: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from numba.core import errors

    def counts(game: Any, player: Any) -> float:
        return len(game.get_legal_moves(player)) * 1.25

    def fail(*arguments: Any) -> Any:
        raise eval(error, {**vars(errors)})

    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path)
    for step in ("kernel_code", "score_code", "link"):
        monkeypatch.setattr(specialise, step, fail if step == compiling else lambda *arguments: b"")
    with pytest.raises(CompileError) as refused:
        compile_heuristic(counts)
    assert bool(list(tmp_path.rglob("problem_*.json"))) == is_kept
    assert ("a bug in this toolkit" in refused.value.reason) == (not is_kept and "RecursionError" not in error)


def test_a_command_that_the_compiler_fails_ends_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from numba.core.runtime import rtsys

    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path)
    monkeypatch.delattr(type(rtsys), "initialize")
    specialise.native_function.cache_clear()
    result = CliRunner().invoke(main, ["perfect", "solve", "--moves", "0,1", "--board", "4x6"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: the compiler fails (a bug in this toolkit; please report): AttributeError")
    assert result.output.count("\n") == 1
