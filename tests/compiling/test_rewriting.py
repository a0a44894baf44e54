"""Heuristics in the shapes people write them: compiled they give what they give interpreted, or are refused."""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import sampled

from knights_isolation import heuristics
from knights_isolation.heuristics import Composite
from knights_isolation.isolation import Board
from knights_isolation.isolation.compiling.compile_errors import explain_line
from knights_isolation.isolation.compiling.compile_heuristic import compile_heuristic, sample_positions
from knights_isolation.isolation.compiling.rewrites.loops import comprehensions
from knights_isolation.isolation.compiling.rewrites.simplification import CleanUp
from knights_isolation.isolation.compiling.source_rewriter import CompileError, rewrite
from knights_isolation.isolation.compiling.specialise import own_code
from knights_isolation.isolation.loading.load_user_code import load_module
from knights_isolation.isolation.usercode.parsing import suppress_warnings

USER = Path(__file__).parents[1] / "data" / "user"


@cache
def user_file(name: str) -> ModuleType:
    return load_module(USER / f"{name}.py")


def heuristics_of(path: Path) -> list[tuple[str, str]]:
    """The functions of a file whose first parameters are game and player and whose others have defaults.

    They are read from the syntax tree, as loading all files in every process that collects tests takes seconds.
    """
    with suppress_warnings():
        tree = ast.parse(path.read_text())
    functions = [(node.name, node.args) for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [
        (path.stem, name)
        for name, arguments in functions
        if [argument.arg for argument in arguments.args[:2]] == ["game", "player"]
        if len(arguments.args) - len(arguments.defaults) <= 2 and None not in arguments.kw_defaults
    ]


WRITTEN = [one for path in sorted(USER.glob("*.py")) if path.stem != "refused" for one in heuristics_of(path)]


def interpreted(function: Callable[..., Any], board: Board, player: Any) -> float | None:
    try:
        return float(function(board.copy(), player))
    except Exception:
        return None


# Each costs some seconds.
@pytest.mark.parametrize(("file", "name"), sampled(WRITTEN, slow=60, fast=120))
def test_a_heuristic_as_people_write_it_compiles_and_agrees_with_itself(file: str, name: str) -> None:
    function = getattr(user_file(file), name)
    compiled = compile_heuristic(function)
    for board in sample_positions((7, 7), 60, seed=7):
        for index, player in enumerate(board.players):
            value = interpreted(function, board, player)
            if value is None:
                with pytest.raises(ArithmeticError):
                    compiled.evaluate(board, index)
            else:
                assert compiled.evaluate(board, index) == value


@pytest.mark.parametrize("name", [*(name for _, name in heuristics_of(USER / "refused.py")), "remembered_moves"])
def test_what_compiled_code_would_get_wrong_is_refused_with_reason_and_line(name: str) -> None:
    function = getattr(user_file("refused"), name)
    lines, first = inspect.getsourcelines(function)
    line, reason = next(
        (number, text.split("# refused: ")[1].strip())
        for number, text in enumerate(lines, first)
        if "# refused" in text
    )
    with pytest.raises(CompileError) as error:
        rewrite(function)
    assert error.value.line == line
    assert reason in error.value.reason
    assert str(error.value) == f"line {line}: {error.value.reason}"


def test_a_table_for_a_board_size_is_a_constant_of_modules_for_that_size() -> None:
    function = user_file("memos").looks_up_targets
    assert "range(height)" in rewrite(function).source
    assert "range(height)" not in rewrite(function, 0, (7, 7)).source
    assert rewrite(function).code == rewrite(function, 0, None).code
    compiled = compile_heuristic(function)
    for board in sample_positions((5, 6), 3, seed=1):
        assert compiled.value_of(board, 0) is None
    for board in sample_positions((5, 6), 20, seed=1):
        assert compile_heuristic(function, (5, 6)).evaluate(board, 0) == interpreted(function, board, board.players[0])


def test_only_functions_that_give_the_same_in_every_process_are_run_for_tables() -> None:
    for name in ("remembers_chance", "changes_what_it_remembers"):
        with pytest.raises(CompileError):
            rewrite(getattr(user_file("refused"), name), 0, (7, 7))


KINDS = {"light", "dark", "edge"}
RARE = frozenset({"none", "dark"})
ONLY = {"light"}


def worth(kind: str, names: Any) -> int:
    return 2 if kind in names else 0


def kinds_whatever_their_order(game: Any, player: Any) -> Any:
    kinds = ["light" if sum(cell) % 2 else "dark" for cell in game.get_legal_moves(player)]
    value = sum(kind in KINDS for kind in kinds) + sum(worth(kind, RARE) for kind in kinds)
    value += sum(len(kind) for row in range(2) for kind in KINDS) + max(map(len, RARE))
    for index, kind in enumerate(sorted(KINDS)):
        value += index * len(kind)
    for kind in ONLY:
        value += len(kind)
    return value + len(KINDS) + len(min(KINDS)) + any(kind in kinds for kind in RARE)


def test_a_set_of_texts_stands_sorted_wherever_no_order_is_asked_for() -> None:
    constants = [ast.unparse(inner) for inner in ast.walk(ast.parse(rewrite(kinds_whatever_their_order).source))]
    assert constants.count("('dark', 'edge', 'light')") == 5
    assert constants.count("('dark', 'none')") == 3


def counts_kinds_once(game: Any, player: Any) -> Any:
    kinds = ["light", "dark", "light"]
    return sum(len(kind) for kind in set(kinds)) + len(list(set(kinds))) + max(map(len, set(kinds)))


def test_sets_made_of_texts_are_taken_where_no_order_is_asked_for() -> None:
    assert "set(" in rewrite(counts_kinds_once).source


def test_a_table_too_small_for_the_board_is_an_error_and_not_garbage() -> None:
    matrix = user_file("tables").matrix
    compiled = compile_heuristic(matrix, (9, 11))
    board = Board.from_moves([98, 0], size="9x11")
    with pytest.raises(IndexError):
        matrix(board, board.active_player)
    with pytest.raises(ArithmeticError):
        compiled.evaluate(board, 0)


PHASED = heuristics.get("phased")


def calls_a_composite(game: Any, player: Any) -> Any:
    return PHASED(game, player) + 1


def test_composites_are_unrolled_wherever_they_stand() -> None:
    inner = Composite(phases=((1.0, ((0.5, heuristics.get("improved")),)),))
    late = ((1.0, inner), (0.1, calls_a_composite))
    composite = Composite(phases=((0.3, ((2.0, heuristics.get("center")),)), (1.0, late)))
    compiled = compile_heuristic(composite)
    for board in sample_positions((7, 7), 60):
        for index, player in enumerate(board.players):
            assert compiled.evaluate(board, index) == composite(board, player)


def plain_mobility(game: Any, player: Any) -> Any:
    return len(game.get_legal_moves(player))


def near_the_middle(game: Any, player: Any) -> Any:
    return -sum(abs(cell - 3) for cell in game.get_player_location(player))


TERMS = ((0.5, plain_mobility), (0.25, near_the_middle))


def weighs_functions_in_a_list(game: Any, player: Any) -> Any:
    return max([weight * function(game, player) for weight, function in TERMS])


def test_a_list_made_of_functions_is_written_out() -> None:
    compiled = compile_heuristic(weighs_functions_in_a_list)
    for board in sample_positions((7, 7), 30):
        for index, player in enumerate(board.players):
            assert compiled.evaluate(board, index) == weighs_functions_in_a_list(board, player)


def plain(game: Any, player: Any) -> Any:
    return sum(1 for move in game.get_legal_moves(player) if move[0])


def copied(function: FunctionType) -> FunctionType:
    """The same function once more: what has been rewritten once is remembered."""
    return FunctionType(function.__code__, function.__globals__, function.__name__)


def test_the_source_stands_alone_and_keeps_the_lines() -> None:
    rewritten = rewrite(plain)
    functions = [node for node in ast.parse(rewritten.source).body if isinstance(node, ast.FunctionDef)]
    assert functions[-1].name == rewritten.entry == "score"
    assert "for move in" in rewritten.plain
    imports = [node for node in ast.parse(rewritten.source).body if isinstance(node, ast.ImportFrom | ast.Import)]
    assert [ast.unparse(node) for node in imports] == [
        "from knights_isolation.isolation.native.runtime import runtime_library as _isolation"
    ]
    assert inspect.getsourcelines(plain)[1] + 1 in rewritten.lines.values()


def test_a_copy_of_a_template_loses_the_imports_of_templates_and_no_others() -> None:
    template = (
        '"""A template."""\n'
        "from __future__ import annotations\n"
        "from numpy.random import default_rng\n"
        "from knights_isolation.isolation.native.kernels.players import think\n"
        "from knights_isolation.isolation.native.kernels.placeholders import score\n"
        "from knights_isolation.isolation.native.kernels.workspace import MOVE\n"
        "from random import random\n"
        "MOST = 3\n"
    )
    assert own_code(template).splitlines() == [
        "from numpy.random import default_rng",
        "from knights_isolation.isolation.native.kernels.workspace import MOVE",
        "from random import random",
        "MOST = 3",
    ]


def test_the_same_function_is_always_rewritten_alike() -> None:
    assert rewrite(plain).source == rewrite(copied(plain)).source


def unknown_method(game: Any, player: Any) -> Any:
    moves = game.get_legal_moves(player)
    return float(moves.popularity)


def returns_nothing(game: Any, player: Any) -> Any:
    len(game.get_legal_moves(player))


def returns_text(game: Any, player: Any) -> Any:
    return "good"


def returns_moves(game: Any, player: Any) -> Any:
    return game.get_legal_moves(player)


def forgets_to_count(game: Any, player: Any) -> Any:
    own = game.get_legal_moves(player)
    return own - 3


def forgets_to_call(game: Any, player: Any) -> Any:
    return len(game.get_legal_moves)


def formats(game: Any, player: Any) -> Any:
    return float("%d" % len(game.get_legal_moves(player)))  # noqa: UP031


def marks_none(game: Any, player: Any) -> Any:
    grid = [[None] * 7 for _ in range(7)]
    grid[3][game.move_count % 7] = 1
    return float(sum(1 for row in grid for mark in row if mark is not None))


def puts_a_number_among_lists(game: Any, player: Any) -> Any:
    layers = [[game.move_count]]
    layers.append(game.move_count)
    return float(len(layers))


def puts_a_list_among_numbers(game: Any, player: Any) -> Any:
    table = {1: 0}
    table[2] = game.get_legal_moves(player)
    return float(len(table))


def masks_by_too_much(game: Any, player: Any) -> Any:
    mask = np.zeros((7, 7, 2), dtype=bool)
    return float(np.ones((7, 7))[mask].sum())


def indexes_by_fractions(game: Any, player: Any) -> Any:
    return [1, 2, 3][game.width / 2]


def changes_cells(game: Any, player: Any) -> Any:
    free = game.get_blank_spaces()
    free -= game.get_legal_moves(player)
    free.append((0, 0))
    return len(free)


def narrows_cells(game: Any, player: Any) -> Any:
    free = everything = game.get_blank_spaces()
    around = game.reach(game.get_legal_moves(player))
    free -= game.get_legal_moves(player)
    around &= everything
    free |= around
    return len(free) + 100 * len(around) + 10_000 * len(everything)


def test_cells_that_a_game_returns_are_narrowed_and_joined_as_in_python() -> None:
    compiled = compile_heuristic(narrows_cells)
    for board in sample_positions((7, 7), 30):
        for index, player in enumerate(board.players):
            assert compiled.evaluate(board, index) == narrows_cells(board, player)


def calls_a_number(game: Any, player: Any) -> Any:
    return game.width()


def asks_too_much(game: Any, player: Any) -> Any:
    return len(game.get_legal_moves(player, 2))


def faculty(game: Any, player: Any) -> Any:
    return math.gamma(len(game.get_legal_moves(player)))


def only_empty(game: Any, player: Any) -> Any:
    result: dict[Any, Any] = {}
    return float(sum(result.get(move, 0) for move in game.get_legal_moves(player)))


def compares_nothing(game: Any, player: Any, least: Any = None) -> Any:
    if game.width > 100 and (least < 3 or least > 5):
        return 1.0
    return 3.0


def two_types(game: Any, player: Any) -> Any:
    best = ()
    for move in game.get_legal_moves(player):
        best = [move]
    return float(len(best))


@pytest.mark.usefixtures("old_compiler_alone")
@pytest.mark.parametrize(
    ("function", "offset", "reason"),
    [
        (unknown_method, 2, "it uses .popularity of a list of cells, which compiled code does not support"),
        (compares_nothing, 1, "it computes (None) < (whole number), which compiled code does not support"),
        (two_types, 4, "the variable best is sometimes an empty tuple and sometimes a list of cells"),
        (returns_nothing, 0, "it never returns a value: a return with a number is missing"),
        (returns_text, 0, "it returns text, where a number is expected"),
        (returns_moves, 0, "it returns a list of cells, where a number is expected"),
        (forgets_to_count, 2, "it computes (list of cells) - (whole number), which compiled code does not support"),
        (
            forgets_to_call,
            1,
            "it calls len with (method get_legal_moves without ()), which compiled code does not support",
        ),
        (formats, 1, "it makes a number of text, which compiled code does not support"),
        (indexes_by_fractions, 1, "it takes [number] of a list of whole numbers, which compiled code does not support"),
        (changes_cells, 2, "which compiled code does not support: write a = a - b instead of a -= b"),
        (calls_a_number, 1, "it calls a whole number as if it were a function"),
        (asks_too_much, 1, "it calls get_legal_moves of a game with (whole number, whole number)"),
        (marks_none, 2, "it puts a whole number among None: write a number such as -1 for what is empty"),
        (puts_a_number_among_lists, 2, "it puts a whole number into a list of list of whole numbers: write a"),
        (puts_a_list_among_numbers, 2, "where something else was kept before: keep values of one kind"),
        (masks_by_too_much, 2, "this line does what compiled code does not support: write it in smaller steps, with"),
        (faculty, 1, "it uses math.gamma, which compiled code does not support"),
        (only_empty, 1, "the type of this value is unknown: is it a list, set or dictionary that stays empty?"),
    ],
)
def test_what_numba_refuses_is_put_in_plain_words(function: Any, offset: int, reason: str) -> None:
    with pytest.raises(CompileError, match=re.escape(reason)) as error:
        compile_heuristic(function)
    assert error.value.line == inspect.getsourcelines(function)[1] + offset


def test_messages_of_numba_never_show_its_own_names() -> None:
    message = "Cannot unify Moves7x7 and list(UniTuple(int64 x 2))<iv=None> for '$phi72.2.2', defined at /a/b.py (5)"
    assert explain_line(message)[0] == (
        "a value is sometimes a list of cells and sometimes a list of cells: write a variable for each"
    )
    unknown, _ = explain_line("Undecided type $250load_method.19 := <undecided>")
    assert unknown.startswith("the type of this value is unknown")
    kept, _ = explain_line("Cannot capture the non-constant value associated with variable 'k' in a function that may")
    assert kept == "it keeps a function that reads k: give k to it as an argument, or call it at once"
    odd, _ = explain_line("Something odd of $12load.3, defined at /a/b.py (5)")
    assert odd == "the compiler refuses this line (Something odd of): write it in smaller steps"


def a_move_or_none(game: Any, player: Any) -> Any:
    best = max(game.get_legal_moves(player), key=lambda move: move[0], default=None)
    return 0.0 if best is None else float(best[0])


def a_move_or_none_of_a_helper(game: Any, player: Any) -> Any:
    def first_below(row: int) -> Any:
        return max((move for move in game.get_legal_moves(player) if move[0] > row), default=None)

    best = first_below(3)
    return 0.0 if best is None else float(best[0])


@pytest.mark.parametrize("function", [a_move_or_none, a_move_or_none_of_a_helper])
def test_a_move_or_none_compiles(function: Callable[..., Any]) -> None:
    compiled = compile_heuristic(function)
    for board in sample_positions((7, 7), 30):
        for index, player in enumerate(board.players):
            assert compiled.evaluate(board, index) == function(board, player)


@pytest.mark.usefixtures("old_compiler_alone")
def test_the_line_is_right_after_the_function_has_moved_in_its_file(tmp_path: Path) -> None:
    file = tmp_path / "moving.py"
    for above in (0, 3):
        file.write_text("\n" * above + "def text(game, player):\n    moves = 1\n    return moves + 'a'\n")
        with pytest.raises(CompileError) as error:
            compile_heuristic(load_module(file).text)
        assert error.value.line == above + 3


def no_game(position: Any) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        (no_game, "does not take (game, player)"),
        (len, "the heuristic is len, an object of the class builtin_function_or_method, not a plain function"),
        (lambda *both: 0.0, "what is called is lambda(*both), perhaps a decorator's: it takes any number of arguments"),
        (eval("lambda game, player: 0.0"), "the source of <lambda> is not available"),
        (
            type("Scorer", (), {"__call__": lambda self, game, player: 0.0})(),
            "an object of the class Scorer, not a plain",
        ),
    ],
)
def test_what_is_no_function_with_a_source_is_refused(thing: Any, reason: str) -> None:
    with pytest.raises(CompileError, match=re.escape(reason)):
        rewrite(thing)


def adds_up_nothing(game: Any, player: Any) -> Any:
    moves = game.get_legal_moves(player)
    return len(moves) + sum()  # type: ignore[call-overload]


@pytest.mark.usefixtures("old_compiler_alone")
def test_a_rewrite_that_fails_is_a_reason_with_its_line() -> None:
    with pytest.raises(CompileError) as error:
        compile_heuristic(adds_up_nothing)
    assert error.value.line == inspect.getsourcelines(adds_up_nothing)[1] + 2


@pytest.mark.parametrize("failure", [KeyError("oops"), RecursionError("too\ndeep"), AssertionError()])
def test_whatever_a_rewrite_fails_on_names_what_it_was_about(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def fail(self: Any, node: ast.GeneratorExp) -> None:
        raise failure

    monkeypatch.setattr(CleanUp, "visit_GeneratorExp", fail, raising=False)
    with pytest.raises(CompileError) as error:
        rewrite(copied(plain))
    assert error.value.line == inspect.getsourcelines(plain)[1] + 1
    assert type(failure).__name__ in error.value.reason
    assert "\n" not in str(error.value)


def test_two_lambdas_on_one_line_are_told_apart() -> None:
    first, second = lambda game, player: 1.0, lambda game, player: 2.0
    assert "1.0" in rewrite(first).source
    assert "2.0" in rewrite(second).source


def sums_onto_moves(game: Any, player: Any) -> Any:
    return sum((row / 3 for row, column in game.get_blank_spaces()), len(game.get_legal_moves(player)))


def test_sums_of_floats_carry_the_rounding_along_where_python_does(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import njit

    from knights_isolation.isolation.native.runtime import runtime_library

    monkeypatch.setattr(comprehensions, "COMPENSATED", True)
    assert "_isolation.added" in rewrite(copied(plain)).source

    @njit
    def compensated(values: Any) -> Any:
        total, args = 0.0, 0.0
        for value in values:
            total, args = runtime_library.add(total, args, value)
        return runtime_library.added(total, args)

    values = [0.1] * 10 + [1e100, 1.0, -1e100]
    assert compensated(tuple(values)) == math.fsum(values)

    @njit
    def from_whole(start: Any, values: Any) -> Any:
        total, rest = start, runtime_library.rest_of(start)
        for value in values:
            total, rest = runtime_library.add_from(total, rest, value)
        return runtime_library.added(total, rest)

    # What sum() gives from Python 3.12 on: a whole number and the first float are added plainly.
    assert from_whole(1, (0.1, 0.1, 0.2)) == 1.4000000000000001
    assert from_whole(1.0, (0.1, 0.1, 0.2)) == 1.4
    assert "_isolation.add_from" in rewrite(sums_onto_moves).source


ODD = st.recursive(
    st.sampled_from(
        ["1", "0.5", "None", "'a'", "True", "()", "[]", "{}", "game", "player", "k", "moves", "no_such_name"]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "<", "is", "and", "or", "in", "not in", "**", "==", "//"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        st.tuples(
            st.sampled_from(["sum", "max", "min", "any", "sorted", "len", "map", "set", "range", "zip", "dict", "abs"]),
            st.lists(inner, max_size=3),
        ).map(lambda parts: f"{parts[0]}({', '.join(parts[1])})"),
        st.tuples(inner, inner).map(lambda parts: f"{parts[0]}[{parts[1]}]"),
        st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]} if {parts[1]} else {parts[2]})"),
        st.tuples(inner, inner).map(lambda parts: f"[{parts[0]} for m in {parts[1]} if m]"),
        inner.map(lambda part: f"(lambda *a: {part})(1)"),
        inner.map(lambda part: f"(kept := {part})"),
        inner.map(lambda part: f"moves.index({part})"),
    ),
    max_leaves=8,
)


def is_python(expression: str) -> bool:
    try:
        with suppress_warnings():
            compile(expression, "<odd>", "eval")
    except SyntaxError:
        return False
    return True


@pytest.mark.exhaustive
@settings(max_examples=60)
@given(odd=ODD.filter(is_python))
def test_odd_functions_are_rewritten_or_refused_with_a_line_of_theirs(
    tmp_path_factory: pytest.TempPathFactory, odd: str
) -> None:
    path = tmp_path_factory.mktemp("odd") / "odd.py"
    path.write_text(f"def odd(game, player, k=None):\n    moves = game.get_legal_moves()\n    return {odd}\n")
    assert line_refused(load_module(path).odd) in (None, 1, 2, 3)


def line_refused(function: Any) -> int | None:
    try:
        rewrite(function)
    except CompileError as error:
        assert error.line is not None  # noqa: PT017
        return error.line
    return None


def test_what_is_nested_too_deep_for_the_rewrites_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "deep.py"
    path.write_text(f"def deep(game, player):\n    own = 1\n    return {' + '.join(['own'] * 900)}\n")
    assert load_module(path).deep(Board.from_moves([24, 14]), 1) == 900
    assert line_refused(load_module(path).deep) == 3
