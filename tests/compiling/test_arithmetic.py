"""Arithmetic in compiled code: Python's value and Python's exception, or none at all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.spatial import distance

from knights_isolation.isolation import Board, Limit, search
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic, sample_positions
from knights_isolation.isolation.games.batches import Positions, choose_moves
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.native.runtime import checked_arithmetic, numpy_loops, runtime_library
from knights_isolation.isolation.search.agents import SearchAgent

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
NEAR_THE_END = st.builds(lambda end, less: end - less, st.sampled_from([1 << 63, 1 << 53, 1 << 31]), st.integers(-9, 9))
WHOLE = (INT64 | NEAR_THE_END | st.integers(-70, 70)).filter(lambda n: -(1 << 63) <= n < 1 << 63)
FRACTION = st.floats() | st.floats(-50, 50) | st.integers(-70, 70).map(float)


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """A value, or the exception's class in its place."""
    try:
        return function(*arguments)
    except (ArithmeticError, ValueError, TypeError) as error:
        return type(error)


def same(expected: Any, got: Any) -> bool:
    """Whether compiled code did as Python: the same value, or an exception where Python has one, or no float at all."""
    if isinstance(expected, type | complex):
        return isinstance(got, type)
    if isinstance(got, type):
        return False
    return bool(expected == got or (expected != expected and got != got))


def gave_up(got: Any) -> bool:
    return got is checked_arithmetic.TOO_LARGE


# --- whole numbers ------------------------------------------------------------------------------------------------

WHOLES: list[Callable[[int, int], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a << b,
    lambda a, b: a >> b,
    lambda a, b: a // b,
    lambda a, b: a % b,
    lambda a, b: -a,
    lambda a, b: runtime_library._abs(a),
    lambda a, b: runtime_library.whole_power(a, 3),
    lambda a, b: runtime_library.power(a, b),
]
IN_PYTHON = {8: lambda a, b: abs(a), 9: lambda a, b: a**3, 10: lambda a, b: a**b}


def of_wholes(which: int, a: int, b: int) -> int:
    if which == 0:
        return a + b
    if which == 1:
        return a - b
    if which == 2:
        return a * b
    if which == 3:
        return a << b
    if which == 4:
        return a >> b
    if which == 5:
        return a // b
    if which == 6:
        return a % b
    if which == 7:
        return -a
    if which == 8:
        return runtime_library._abs(a)
    if which == 9:
        return runtime_library.whole_power(a, 3)
    return runtime_library.power(a, b)


@pytest.fixture(scope="module")
def compiled_wholes() -> Any:
    return njit(of_wholes, pipeline_class=checked_arithmetic.CheckedCompiler)


@settings(max_examples=300)
@given(which=st.integers(0, len(WHOLES) - 1), a=WHOLE, b=WHOLE)
@example(which=3, a=1, b=63)
@example(which=3, a=-1, b=63)
@example(which=3, a=0, b=64)
@example(which=3, a=1, b=-1)
@example(which=4, a=-5, b=-1)
@example(which=4, a=-5, b=200)
@example(which=5, a=-(1 << 63), b=-1)
@example(which=8, a=-(1 << 63), b=0)
@example(which=9, a=2097152, b=0)
@example(which=10, a=2, b=62)
@example(which=10, a=2, b=63)
@example(which=10, a=3, b=-1)
@example(which=10, a=1, b=-1)
def test_whole_numbers_are_pythons_or_too_large(compiled_wholes: Any, which: int, a: int, b: int) -> None:
    if which in (3, 10) and b > 200:
        b %= 200
    expected = outcome(IN_PYTHON.get(which, WHOLES[which]), a, b)
    got = outcome(compiled_wholes, which, a, b)
    if which == 3 and b > 63 and gave_up(got):
        return  # 0 << 64 is 0, and Python may compute it
    fits = isinstance(expected, int) and -(1 << 63) <= expected < 1 << 63
    assert same(expected, got) if fits or isinstance(expected, type) else gave_up(got)


TEXTS = ("12", "-12", "+7", " 0", "-0", "007", "123456789012345678", "", "-", "1.5", "two")


def reads_whole_numbers(game: Any, player: Any) -> float:
    return float(int(TEXTS[game.move_count % len(TEXTS)]))


def test_texts_are_read_as_whole_numbers_as_python_reads_them() -> None:
    compiled = compile_heuristic(reads_whole_numbers)
    for board in sample_positions((7, 7), 60):
        expected = outcome(reads_whole_numbers, board, board.players[0])
        assert compiled.value_of(board, 0) == (None if isinstance(expected, type) else expected)


# --- whole numbers and fractions ----------------------------------------------------------------------------------


def mixed(which: int, a: int, b: float) -> float:
    if which == 0:
        return 1.0 if a < b else 0.0
    if which == 1:
        return 1.0 if a == b else 0.0
    if which == 2:
        return a / int(b) if abs(b) < 2.0**62 else 0.0
    return 1.0 if a >= b else 0.0


@pytest.fixture(scope="module")
def compiled_mixed() -> Any:
    return njit(mixed, pipeline_class=checked_arithmetic.CheckedCompiler, error_model="python")


@given(which=st.integers(0, 3), a=WHOLE, b=FRACTION | WHOLE.map(float))
@example(which=1, a=(1 << 53) + 1, b=2.0**53)
@example(which=2, a=(1 << 53) + 1, b=3.0)
def test_whole_numbers_meet_fractions_exactly_or_not_at_all(compiled_mixed: Any, which: int, a: int, b: float) -> None:
    got = outcome(compiled_mixed, which, a, b)
    assert gave_up(got) if gave_up(got) and abs(a) > 1 << 53 else same(outcome(mixed, which, a, b), got) or gave_up(got)
    if abs(a) <= 1 << 53 and not (which == 2 and abs(b) > 2.0**53):
        assert not gave_up(got)


ROUNDED = njit(lambda x, digits: runtime_library._round(x, digits))
WHOLES_OF = [
    (math.floor, runtime_library.math.floor),
    (math.ceil, runtime_library.math.ceil),
    (math.trunc, runtime_library.math.trunc),
]
WHOLES_OF += [(int, runtime_library._int), (round, runtime_library._round)]


@pytest.mark.exhaustive
@settings(max_examples=500)
@given(x=FRACTION | st.integers(-(10**6), 10**6).map(lambda n: n / 1000), digits=st.integers(-5, 17))
@example(x=2.675, digits=2)
@example(x=-2.675, digits=2)
@example(x=0.5, digits=0)
@example(x=2.5, digits=0)
@example(x=0.125, digits=2)
@example(x=50.0, digits=-2)
@example(x=150.0, digits=-2)
@example(x=149.99999999999997, digits=-2)
@example(x=1e22, digits=2)
def test_digits_are_rounded_as_in_python(x: float, digits: int) -> None:
    got = outcome(ROUNDED, x, digits)
    if gave_up(got):
        assert (digits < 0 and abs(x) > 2.0**53) or 2.0**51 < abs(x) * 10.0**digits < 1e16
    else:
        assert same(outcome(round, x, digits), got)


@pytest.mark.parametrize(("python", "ours"), WHOLES_OF, ids=lambda function: getattr(function, "__name__", ""))
def test_fractions_become_whole_numbers_as_in_python(python: Any, ours: Any) -> None:
    compiled = njit(lambda x: ours(x))
    for x in (0.5, 1.5, -2.5, 7.0, -7.3, 2.0**62, 9e18, -(2.0**63) + 1024):
        assert compiled(x) == python(x)
    for x in (2.0**63, 1e300, math.inf, -math.inf, math.nan):
        assert isinstance(outcome(compiled, x), type)


# --- functions ----------------------------------------------------------------------------------------------------

OF_ONE = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log10",
]
OF_ONE += ["log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh", "cbrt"]
OF_TWO = ["atan2", "fmod", "hypot", "log", "pow"]
OF_NUMPY = [
    "arccos",
    "arctan",
    "arctanh",
    "cbrt",
    "cos",
    "exp",
    "expm1",
    "log",
    "log10",
    "log1p",
    "sin",
    "sqrt",
    "tanh",
]


def compiled_all(home: str, names: list[str], arguments: str) -> Any:
    """One compiled function of a number and arguments: the function with this number."""
    lines = [f"    if which == {index}: return float({home}.{name}({arguments}))" for index, name in enumerate(names)]
    text = f"def called(which, {arguments}):\n" + "\n".join(lines) + "\n    return 0.0"
    space: dict[str, Any] = {"support": runtime_library}
    exec(text, space)
    return njit(space["called"])


@pytest.fixture(scope="module")
def of_one() -> Any:
    return compiled_all("support.math", OF_ONE, "x")


@pytest.mark.exhaustive
@settings(max_examples=400)
@given(which=st.integers(0, len(OF_ONE) - 1), x=FRACTION | st.floats(-1.5, 1.5) | st.floats(-800, 800))
def test_functions_of_math_are_pythons(of_one: Any, which: int, x: float) -> None:
    assert same(outcome(getattr(math, OF_ONE[which]), x), outcome(of_one, which, x))


@pytest.mark.slow
def test_what_has_no_value_in_python_has_none_compiled(of_one: Any) -> None:
    nowhere = {"log": 0.0, "sqrt": -1.0, "acos": 2.0, "asin": -2.0, "atanh": 1.0, "acosh": 0.5, "exp": 710.0}
    nowhere |= {"cosh": 800.0, "log1p": -1.0, "sin": math.inf, "expm1": 1e3, "log2": -1.0, "log10": 0.0, "sinh": 800.0}
    for name, x in nowhere.items():
        assert isinstance(outcome(getattr(math, name), x), type), name
        assert isinstance(outcome(of_one, OF_ONE.index(name), x), type), name


@pytest.fixture(scope="module")
def of_two() -> Any:
    return compiled_all("support.math", OF_TWO, "x, y")


@pytest.mark.slow
@settings(max_examples=300)
@given(which=st.integers(0, len(OF_TWO) - 1), x=FRACTION, y=FRACTION)
def test_functions_of_two_numbers_are_pythons(of_two: Any, which: int, x: float, y: float) -> None:
    got = outcome(of_two, which, x, y)
    assert same(outcome(getattr(math, OF_TWO[which]), x, y), got) or gave_up(got)


POWER = njit(lambda a, b: runtime_library.power(a, b))
SQUARE = njit(lambda a: runtime_library.squared(a))


@settings(max_examples=300)
@given(a=FRACTION, b=FRACTION | st.sampled_from([0.5, 2.0, -1.0, 1.5]))
@example(a=1e200, b=2.0)
@example(a=-8.0, b=0.5)
@example(a=0.0, b=-1.0)
def test_powers_of_fractions_are_pythons(a: float, b: float) -> None:
    assert same(outcome(lambda: a**b), outcome(POWER, a, b))
    assert same(outcome(lambda: a**2), outcome(SQUARE, a))


@pytest.fixture(scope="module")
def of_numpy() -> Any:
    return compiled_all("support.np", OF_NUMPY, "x")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=300)
@given(which=st.integers(0, len(OF_NUMPY) - 1), x=FRACTION)
def test_functions_of_numpy_are_numpys(of_numpy: Any, which: int, x: float) -> None:
    offer_loops()
    assert same(float(getattr(np, OF_NUMPY[which])(x)), outcome(of_numpy, which, x))


def offer_loops() -> None:
    """What loading compiled code does: give the linker the loops of NumPy."""
    import ctypes

    import llvmlite.binding as llvm

    for name in ("add", "vecdot", "matmul", "power", *(name for name in OF_NUMPY if name != "sqrt")):
        llvm.add_symbol(f"{numpy_loops.LOOP}{name}", ctypes.addressof(numpy_loops.numpy_loop(name)))


def sums(which: int, values: Any) -> float:
    if which == 0:
        return runtime_library.np.sum(values)
    if which == 1:
        return runtime_library.np.mean(values)
    if which == 2:
        return runtime_library.np.std(values)
    if which == 3:
        return runtime_library.np.var(values)
    if which == 4:
        return runtime_library.np.dot(values, values)
    return runtime_library.norm(values)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sums_of_fractions_are_numpys_whatever_their_length() -> None:
    offer_loops()
    compiled = njit(sums)
    numpys_own = [np.sum, np.mean, np.std, np.var, lambda v: np.dot(v, v), np.linalg.norm]
    generator = np.random.default_rng(1)
    for length in (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 49, 99, 128, 129, 300):
        values = generator.random(length) * 3 - 1
        for which, own in enumerate(numpys_own):
            assert same(float(own(values)), outcome(compiled, which, values)), (which, length)


PRODUCTS = [(1, 1, 1), (1, 5, 3), (4, 5, 1), (7, 7, 7), (3, 49, 16), (16, 147, 1), (9, 11, 2), (2, 0, 3)]
LAYOUTS = [
    lambda values: values,
    lambda values: np.asfortranarray(values),
    lambda values: np.hstack([values, values])[:, : values.shape[1]],
    lambda values: np.vstack([values.T, values.T])[::2].T,
    lambda values: values[::-1],
]


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sums_of_matrices_are_numpys_however_they_lie_in_memory() -> None:
    offer_loops()
    compiled = njit(lambda v: (runtime_library.np.sum(v), runtime_library.np.var(v), runtime_library.norm(v)))
    generator = np.random.default_rng(3)
    for layout in LAYOUTS:
        for shape in [(1, 1), (2, 9), (7, 7), (9, 11), (17, 3)]:
            values = layout(generator.random(shape) * 3 - 1)
            assert compiled(values) == (np.sum(values), np.var(values), np.linalg.norm(values)), shape


@pytest.mark.exhaustive
def test_products_of_matrices_are_numpys_however_they_lie_in_memory() -> None:
    offer_loops()
    compiled = njit(lambda a, b: runtime_library.np.matmul(a, b))
    dotted = njit(lambda a, b: runtime_library.np.dot(a, b))
    generator = np.random.default_rng(4)
    for rows, terms, columns in PRODUCTS:
        for left, right in itertools.product(LAYOUTS, LAYOUTS):
            a, b = left(generator.random((rows, terms)) - 0.5), right(generator.random((terms, columns)) - 0.5)
            assert np.array_equal(compiled(a, b), a @ b)
            assert np.array_equal(compiled(a[0], b), a[0] @ b)
            assert np.array_equal(compiled(a, b[:, 0]), a @ b[:, 0])
            assert compiled(a[0], b[:, 0]) == a[0] @ b[:, 0]
            if all(v.flags.c_contiguous or v.flags.f_contiguous for v in (a, b)):
                assert np.array_equal(dotted(a, b), np.dot(a, b))
        wholes = [generator.integers(-9, 9, shape) for shape in ((rows, terms), (terms, columns))]
        assert np.array_equal(compiled(*wholes), np.matmul(*wholes))


MATRICES = [(1, 1), (9, 1), (500, 1), (1, 9), (3, 20), (20, 3), (17, 40), (40, 2), (0, 2)]


@pytest.mark.exhaustive
def test_sums_along_an_axis_are_numpys_whatever_their_length() -> None:
    offer_loops()
    compiled = njit(
        lambda values, axis: (runtime_library.np.sum(values, axis), runtime_library.mean_along(values, axis))
    )
    generator = np.random.default_rng(2)
    for shape in MATRICES:
        values = generator.random(shape) * 3 - 1
        for axis in (0, 1, -1, -2):
            if values.shape[axis]:
                total, mean = compiled(values, axis)
                assert np.array_equal(total, values.sum(axis)), (shape, axis)
                assert np.array_equal(mean, values.mean(axis)), (shape, axis)


@pytest.mark.exhaustive
def test_norms_of_an_order_are_numpys() -> None:
    offer_loops()
    compiled = njit(lambda values, order: runtime_library.norm_of_order(values, order))
    generator = np.random.default_rng(3)
    for length in (1, 7, 8, 49, 130):
        values = generator.random(length) * 3 - 1
        for order in (1.0, 2.0, math.inf):
            assert compiled(values, order) == np.linalg.norm(values, order), (length, order)
    assert isinstance(outcome(compiled, np.ones(2), 3.0), type)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_powers_of_arrays_are_numpys() -> None:
    offer_loops()
    operator, function, square, cube = (
        njit(lambda values, exponent: runtime_library.power(values, exponent)),
        njit(lambda values, exponent: runtime_library.np.power(values, exponent)),
        njit(lambda values: runtime_library.squared(values)),
        njit(lambda values: runtime_library.whole_power(values, 3)),
    )
    values = np.concatenate([np.random.default_rng(4).random(3000) * 50, [0.0, -0.0, -2.5]])
    for exponent in (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, -2.0, 1.7):
        assert np.array_equal(operator(values, exponent), values**exponent, equal_nan=True), exponent
        assert np.array_equal(function(values, exponent), np.power(values, exponent), equal_nan=True), exponent
    wholes = np.arange(1, 3000)
    for exponent in (0.5, -1.0, 2.0):
        assert np.array_equal(operator(wholes, exponent), wholes**exponent), exponent
    assert np.array_equal(operator(wholes, 3), wholes**3)
    assert operator(wholes, 3).dtype == np.int64
    for raised in (operator, function):
        assert outcome(raised, wholes, -1) is ValueError
    for numbers in (values, wholes):
        assert np.array_equal(square(numbers), numbers**2)
        assert np.array_equal(cube(numbers), numbers**3)


@pytest.mark.exhaustive
def test_distances_are_scipys_or_whole_numbers_are_too_large() -> None:
    offer_loops()
    names = ("cityblock", "chebyshev", "sqeuclidean")
    generator = np.random.default_rng(5)
    for name in names:
        compiled = compiled_distance(name)
        for length in (1, 2, 9, 40):
            a, b = generator.random((2, length)) * 3 - 1
            assert compiled(a, b) == getattr(distance, name)(a, b), (name, length)
        assert compiled((3, -4), (-2, 5)) == getattr(distance, name)((3, -4), (-2, 5))
        assert gave_up(outcome(compiled, (1 << 62, 0), (-(1 << 62), 0)))
        assert outcome(compiled, (1, 2, 3), (1, 2)) is ValueError
    assert gave_up(outcome(compiled_distance("cityblock"), (1 << 62, 1 << 62), (0, 0)))
    assert gave_up(outcome(compiled_distance("sqeuclidean"), ((1 << 27), 1), (0, 0)))
    assert gave_up(outcome(njit(lambda a: runtime_library.norm(a)), ((1 << 27), 1)))


def compiled_distance(name: str) -> Any:
    space: dict[str, Any] = {"support": runtime_library}
    exec(f"def called(a, b):\n    return support.{name}(a, b)", space)
    return njit(space["called"])


# --- whole numbers that become fractions --------------------------------------------------------------------------


def in_a_list(a):
    return [0.5, a][1]


def appended(a):
    values = [0.5]
    values.append(a)
    return values[1]


def put_into_a_list(a):
    values = [0.5, 1.5]
    values[1] = a
    return values[1]


def returned(a):
    if a < 0:
        return 0.5
    return a


def assigned(a):
    value = 0.5
    if a > 0:
        value = a
    return value


def in_a_tuple(a):
    pair = (0.5, 0.5)
    if a > 0:
        pair = (a, 0.5)
    return pair[0]


def largest(a):
    return max(a, 0.5)


def largest_of_a_tuple(a):
    return max((a, 0.5))


BECOMING_FRACTIONS = [in_a_list, appended, put_into_a_list, returned, assigned, in_a_tuple, largest, largest_of_a_tuple]


@pytest.mark.parametrize("function", BECOMING_FRACTIONS, ids=lambda function: function.__name__)
def test_a_whole_number_among_fractions_equals_its_fraction_or_is_too_large(function: Any) -> None:
    compiled = njit(function, pipeline_class=checked_arithmetic.CheckedCompiler)
    assert compiled(7) == 7
    assert compiled(1 << 53) == 1 << 53
    assert gave_up(outcome(compiled, (1 << 53) + 1))


# --- heuristics ---------------------------------------------------------------------------------------------------


def counts(game: Any, player: Any) -> tuple[int, int]:
    return len(game.get_legal_moves(player)), len(game.get_legal_moves(game.get_opponent(player)))


def rounds(game, player):
    own, opp = counts(game, player)
    return round(own / 16 - opp * 0.35, 2)


def takes_a_logarithm(game, player):
    own, opp = counts(game, player)
    return own - opp + math.log(len(game.get_blank_spaces()) - 10)


def outgrows(game, player):
    own, opp = counts(game, player)
    return own - opp * (1 + game.move_count**12 / 1e19)


def takes_a_remainder(game, player):
    return 3 ** (game.move_count - 5) % 7


def becomes_whole(game, player):
    return int(1e18 * math.exp(game.move_count - 38))


def overflows(game, player):
    return 1e-300 * math.exp(game.move_count**2 / 2.1)


def takes_another_logarithm(game, player):
    return math.log(40 - game.move_count)


def takes_a_root(game, player):
    (row, column), (other_row, other_column) = (
        game.get_player_location(item) for item in (player, game.get_opponent(player))
    )
    return math.sqrt(71 - (row - other_row) ** 2 - (column - other_column) ** 2)


def takes_a_mean(game, player):
    own = game.get_legal_moves(player)
    return np.mean([0.1 * row + 0.3 * column for row, column in own]) if own else 0.0


def measures(game, player):
    return np.linalg.norm([0.1 * row + 0.3 * column for row, column in game.get_blank_spaces()])


def sums_and_squares(game, player):
    total = 0
    for row, column in game.get_blank_spaces():
        total += (row - 3) * (column - 3) + row**2
    own, opp = counts(game, player)
    return total + (own - opp) ** 3 + 2**own + 2 ** (own - opp) + (own << 4)


def uses_arrays(game, player):
    if not game.get_blank_spaces():
        return 0.0
    blanks = [[0.1 * row + 0.3, 0.7 * column + 0.1] for row, column in game.get_blank_spaces()]
    values = np.array([0.1 * row + 0.3 * column + 0.1 for row, column in game.get_blank_spaces()])
    total = np.linalg.norm(values, 1) + np.linalg.norm(values, ord=2) + (values**-1).sum() + (values**3).sum()
    return total + np.array(blanks).sum(axis=0)[1] + np.array(blanks).sum(1)[0] + np.mean(np.array(blanks), axis=0)[0]


EXAMPLES = [rounds, takes_a_logarithm, outgrows, takes_a_remainder, becomes_whole, overflows, takes_another_logarithm]
EXAMPLES += [takes_a_root, takes_a_mean, measures, sums_and_squares, pytest.param(uses_arrays, marks=pytest.mark.slow)]
MUST_COMPILE = {rounds, takes_a_logarithm, takes_another_logarithm, takes_a_root, takes_a_mean, overflows, measures}
MUST_COMPILE |= {sums_and_squares, uses_arrays}


def long_games() -> list[Board]:
    """Every position of some games, one of them long, from the second ply to the last."""
    boards: list[Board] = []
    for game in range(4):
        board, choice = Board.from_moves([24 - game, 7 + game]), game
        while True:
            boards.append(board.copy())
            cells = board.legal_cells()
            if not cells:
                break
            board.play_cell(min(cells, key=lambda cell: (mobility(board, cell), (cell * 7 + choice) % 11)))
    return boards


def mobility(board: Board, cell: int) -> int:
    """How many moves there are from a cell once it is taken, and many where there is none."""
    after = board.copy()
    after.play_cell(cell)
    return len(after.get_legal_moves(board.active_player)) or 9


def compiled_or_none(function: Any) -> Any:
    """A heuristic, compiled; None if it is refused, and may be."""
    with suppress(CompileError) if function not in MUST_COMPILE else nullcontext():
        return compile_heuristic(function)
    return None


@pytest.mark.parametrize("function", EXAMPLES, ids=lambda function: function.__name__)
def test_a_heuristic_is_compiled_as_python_computes_it_or_refused(function: Any) -> None:
    compiled = compiled_or_none(function)
    if compiled is None:
        return
    boards = long_games()
    assert max(board.move_count for board in boards) > 40
    for board in boards:
        for index, player in enumerate(board.players):
            got = compiled.value_of(board, index)
            expected = outcome(lambda board=board, player=player: float(function(board, player)))
            if got is not None or function in MUST_COMPILE:
                assert same(expected, ArithmeticError if got is None else got), board


def inverts_a_condition(game, player):
    own, opp = counts(game, player)
    return ~(own > opp)


def uses_few_bits(game, player):
    return np.int8(game.move_count) * np.int8(7)


def makes_an_array_of_few_bits(game, player):
    return np.array([game.move_count, 3], dtype=np.uint8).sum()


def adds_conditions_of_numpys(game, player):
    own, opp = counts(game, player)
    return (np.mean([own, opp]) > 1) + (np.mean([own, 1]) > 1)


def uses_the_gamma_function(game, player):
    return math.gamma(len(game.get_blank_spaces()) + 0.5)


def names_a_large_number(game, player):
    return game.move_count * 100000000000000000000000000000000000000000000000000000000000000000000000000000000 % 7


def hides_what_is_too_large(game, player):
    total = 1
    try:
        for row, _ in game.get_blank_spaces():
            total = total * (row + 2)
    except Exception:
        return 0.0
    return float(total)


def grown(game, total):
    for row, _ in game.get_blank_spaces():
        total = total * (row + 2)
    return total


def hides_it_in_a_helper(game, player):
    try:
        return float(grown(game, 1))
    except Exception:
        return 0.0


def takes_a_distance_of_fractions(game, player):
    row, column = game.get_player_location(player)
    return distance.euclidean((row / 3, column / 7), (0.5, 0.5))


def takes_a_norm_along_an_axis(game, player):
    return np.linalg.norm(np.array([[0.5, 1.5], [2.5, game.move_count]]), axis=1)[0]


def sums_a_transposed_array(game, player):
    return np.array([[0.5, 1.5], [2.5, game.move_count]]).T.sum(axis=1)[0]


MIXED = [0.5, (1 << 60) + 1]
MIXED_ROWS = [[0.5, 1.0], [2.0, (1 << 60) + 1]]
MIXED_BY_NUMBER = {0: 0.5, 1: (1 << 60) + 1}


def looks_into_a_mixed_list(game, player):
    return MIXED[game.move_count % 2] % 2


def looks_into_mixed_rows(game, player):
    return MIXED_ROWS[game.move_count % 2][1] % 2


def looks_mixed_numbers_up(game, player):
    return MIXED_BY_NUMBER[game.move_count % 2] % 2


@pytest.mark.usefixtures("old_compiler_alone")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (takes_a_distance_of_fractions, "line .*euclidean with fractions.*math.dist"),
        (takes_a_norm_along_an_axis, "line .*norm along an axis"),
        (sums_a_transposed_array, "line .*an array that is transposed"),
        (looks_into_a_mixed_list, "line .*1152921504606846977 is among floats, which cannot represent it exactly"),
        (looks_into_mixed_rows, "line .*1152921504606846977 is among floats, which cannot represent it exactly"),
        (looks_mixed_numbers_up, "line .*1152921504606846977 is among floats, which cannot represent it exactly"),
        (inverts_a_condition, "line .*~ of a condition"),
        (uses_few_bits, "line .*np.int8: compiled code has float64 and int64"),
        (makes_an_array_of_few_bits, "line .*an array of np.uint8"),
        (adds_conditions_of_numpys, "line .*whose sum is a condition in NumPy"),
        (uses_the_gamma_function, "line .*math.gamma, which compiled code does not support"),
        (names_a_large_number, "line .*more than 64 bits: write it as a float, 1e"),
        (hides_what_is_too_large, "raises an exception where Python gives"),
        (hides_it_in_a_helper, "raises an exception where Python gives"),
    ],
)
def test_what_compiled_code_has_no_like_of_is_refused_in_plain_words(function: Any, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        compile_heuristic(function)


RARE = [24, 14, 9, 1, 4, 16, 13]


def outgrows_in_one_position(game, player):
    """Sound everywhere but where a game of seven plies ends: there its whole numbers have 80 bits."""
    own, opp = counts(game, player)
    is_rare = game.move_count == 7 and not any(game.move_is_legal(divmod(cell, 7)) for cell in RARE)
    shift = 20 * is_rare
    return own - opp + ((((own + 1) << shift << shift << shift << shift) >> 79) % 7)


HALF = np.float64(0.5)


def rounds_a_number_of_numpys(game, player):
    """NumPy rounds 0.295 to 0.3, Python to 0.29; which it is only shows where a game of seven plies ends."""
    own, opp = counts(game, player)
    is_rare = game.move_count == 7 and not any(game.move_is_legal(divmod(cell, 7)) for cell in RARE)
    return own - opp + round(HALF * (0.59 if is_rare else 0.5), 2)


def test_where_numpy_rounds_its_constants_otherwise_python_computes() -> None:
    board = Board.from_moves(RARE)
    expected = rounds_a_number_of_numpys(board, board.players[0])
    compiled = compile_heuristic(rounds_a_number_of_numpys)
    assert round(0.295, 2) != round(HALF * 0.59, 2)
    assert compiled.value_of(board, 0) in (None, expected)
    assert compiled.value_of(Board.from_moves(RARE[:5]), 0) is not None


@pytest.mark.usefixtures("old_compiler_alone")
@pytest.mark.slow
def test_where_whole_numbers_outgrow_compiled_code_python_computes() -> None:
    compiled = compile_heuristic(outgrows_in_one_position)
    assert compiled.value_of(Board.from_moves(RARE), 0) is None
    start = Board.from_moves(RARE[:5])
    limit = Limit(depth=2)
    expected = search(start, outgrows_in_one_position, limit, interpreted=True)
    result = search(start, outgrows_in_one_position, limit)
    assert (result.move, result.score, result.nodes) == (expected.move, expected.score, expected.nodes)


@pytest.mark.slow
def test_games_and_answers_are_pythons_too_where_whole_numbers_outgrow_compiled_code() -> None:
    agent = SearchAgent("mine", "alphabeta", outgrows_in_one_position, "mine", Limit(depth=2))
    openings = [RARE[:5], [24, 14], RARE[:4]]
    games, expected = (
        play_games(agent, agent, openings, [1, 2, 3], interpreted=interpreted) for interpreted in (False, True)
    )
    for column in ("winner", "reason", "moves", "score", "nodes"):
        assert np.array_equal(getattr(games, column), getattr(expected, column), equal_nan=column == "score")
    positions = Positions.of(openings, "7x7")
    answers = choose_moves(agent, positions, np.zeros(3, np.uint64))
    assert not answers.failure.any()
    assert answers.cells[0] == search(Board.from_moves(openings[0]), outgrows_in_one_position, agent.limit).move
    assert answers.detail == ""
