"""Parameters of heuristics: declared, set, and carried into compiled code as numbers."""

import json
import sys
from collections.abc import Callable
from functools import lru_cache, partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import annotated_types
import numpy as np
import pytest
from annotated_types import Gt, Interval
from hypothesis import given, settings
from hypothesis import strategies as st

from knights_isolation.experiments.plan import SpecError, complete, make_agent, parse_agent, parse_spec, settings_text
from knights_isolation.experiments.plan.user_files import file_catalogue
from knights_isolation.heuristics import get
from knights_isolation.heuristics.registry import Composite, Weight
from knights_isolation.isolation import Board, Limit, search
from knights_isolation.isolation.checks.search_cost import random_openings
from knights_isolation.isolation.compiling import compile_heuristic as compiler
from knights_isolation.isolation.compiling import linking
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic
from knights_isolation.isolation.games.batches import Positions, choose_moves
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.rules.parameters import (
    KINDS_OF_VALUES,
    Parameter,
    ParameterError,
    bind_parameters,
    name_of,
    parameter_values,
    parameters_of,
)
from knights_isolation.isolation.search.agents import GreedyAgent, SearchAgent, code_hash
from tests.compiling.test_threads import at_once

Range = Annotated[float, Interval(ge=-2, le=3)]


def share(own: float, other: float, weight: float) -> float:
    return own - weight * other


def reaching(game: Any, player: Any, *, reach: Range = 0.5, blocking: float = 1.0, shared: int = 2) -> float:
    """A float in a range, one without, a whole number; one of them goes to a helper."""
    own = game.get_legal_moves(player)
    other = game.get_legal_moves(game.get_opponent(player))
    far = game.reach(own)
    return share(float(len(own)), len(other), blocking) + reach * len(far) + shared * len(own & other) / 7


def central(game: Any, player: Any, *, reach: float = 0.25, power: int = 2) -> float:
    row, column = game.get_player_location(player)
    return -reach * float(abs(row - 3) ** power + abs(column - 3) ** power)


def within(game: Any, player: Any) -> float:
    return float(both(game, player)) / 3 + 0.1 * set_(game, player)


both = Composite(phases=((0.4, ((1.0, reaching), (0.5, central))), (1.0, ((2.0, reaching), (1.0, get("improved"))))))
set_ = bind_parameters(both, {"power": 1, "reaching.reach": 0.75})
VALUES = {"reach": st.floats(-2, 3), "blocking": st.floats(-9, 9), "shared": st.integers(-5, 5)}
BOTH = {"reaching.reach": VALUES["reach"], "central.reach": st.floats(-1, 1), "power": st.integers(0, 3)}


def of(function: Callable[..., float]) -> dict[str, Parameter]:
    return {item.name: item for item in parameters_of(function)}


def test_a_parameter_is_a_keyword_only_argument_whose_default_is_a_number() -> None:
    def several(
        game: Any, player: Any, *, a: float = 1.0, b: str = "x", c: Any = None, d: bool = True, e: int = 3
    ) -> Any:
        return a

    def positional(game: Any, player: Any, weight: float = 1.0) -> float:
        return weight

    assert list(of(several)) == ["a", "e"]
    assert parameters_of(positional) == ()
    assert parameters_of(get("improved")) == ()


@pytest.mark.parametrize(
    ("annotation", "default", "low", "high", "least", "most"),
    [
        (float, 0.5, 0, 1, -np.inf, np.inf),
        (float, -2.0, -4, 0, -np.inf, np.inf),
        (Annotated[float, Interval(ge=0.25, le=2)], 0.5, 0.25, 2, 0.25, 2),
        (Annotated[float, annotated_types.Ge(-1)], 0.5, -1, 1, -1, np.inf),
        (Annotated[float, annotated_types.Le(0.75)], 0.5, 0, 0.75, -np.inf, 0.75),
        (Annotated[float, Interval(gt=0, lt=1)], 0.5, 5e-324, np.nextafter(1, 0), 5e-324, np.nextafter(1, 0)),
        (Annotated[int, Interval(gt=0, lt=9)], 2, 1, 8, 1, 8),
        ("Nonsense", 0.5, 0, 1, -np.inf, np.inf),
    ],
)
def test_a_range_is_declared_or_reaches_from_zero_to_twice_the_default(
    annotation: Any, default: float, low: float, high: float, least: float, most: float
) -> None:
    def function(game: Any, player: Any, *, weight: annotation = default) -> float:
        return weight  # type: ignore[no-any-return]

    assert parameters_of(function) == (Parameter("weight", default, low, high, least, most),)


def test_a_default_outside_of_its_range_is_refused() -> None:
    def function(game: Any, player: Any, *, weight: Annotated[float, Interval(ge=1)] = 0.5) -> float:
        return weight

    with pytest.raises(ParameterError, match=r"the default of weight, 0\.5, is not within its range, 1 to inf"):
        parameters_of(function)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"reech": 1.0}, "reaching has no parameter 'reech'; did you mean reach?"),
        ({"x": 1.0}, "reaching has no parameter 'x'; it has reach, blocking, shared"),
        ({"reach": 3.5}, "reach must be from -2 to 3, not 3.5"),
        ({"shared": 1.5}, "shared must be a whole number, like its default 2, not 1.5"),
        ({"blocking": float("inf")}, "blocking must be a finite number, not inf"),
    ],
)
def test_values_that_cannot_be_are_refused(values: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=f"^{message.replace('?', '.')}$"):
        bind_parameters(reaching, values)


def test_a_function_without_parameters_says_what_one_is() -> None:
    with pytest.raises(
        ParameterError, match="improved has no parameter 'x'; it has none: a parameter is a keyword-only"
    ):
        bind_parameters(get("improved"), {"x": 1.0})


def test_the_range_of_an_enormous_default_ends_at_the_largest_number() -> None:
    def score(game: Any, player: Any, *, up: float = 1e308, down: float = -1e308, beyond: int = 10**400) -> float:
        return up + down

    up, down = parameters_of(score)
    assert (up.low, up.high) == (0, sys.float_info.max)
    assert (down.low, down.high) == (-sys.float_info.max, 0)


def test_a_range_too_wide_to_be_looked_through_is_refused() -> None:
    def score(game: Any, player: Any, *, w: Annotated[float, Interval(ge=-1e308, le=1e308)] = 0.0) -> float:
        return w

    with pytest.raises(ParameterError, match=r"the range of w, .* is too wide to search"):
        parameters_of(score)


def test_an_end_that_is_left_out_is_shown_as_it_was_declared() -> None:
    def score(
        game: Any, player: Any, *, a: Annotated[float, Gt(0)] = 1.0, b: Annotated[float, Interval(gt=0.1, lt=0.5)] = 0.2
    ) -> float:
        return a + b

    a, b = parameters_of(score)
    assert (str(a), str(b)) == ("a=1 (more than 0, to 2)", "b=0.2 (more than 0.1, to less than 0.5)")
    assert (a.allowed, b.allowed) == ("more than 0", "more than 0.1 and less than 0.5")


def test_a_range_that_is_not_declared_does_not_bind() -> None:
    assert parameter_values(bind_parameters(reaching, {"blocking": -7.5})) == {
        "reach": 0.5,
        "blocking": -7.5,
        "shared": 2,
    }


def test_values_are_added_to_those_set_before() -> None:
    twice = bind_parameters(bind_parameters(reaching, {"reach": 1.0, "blocking": 2.0}), {"reach": 0.0})
    assert parameter_values(twice) == {"reach": 0.0, "blocking": 2.0, "shared": 2}
    assert twice == bind_parameters(reaching, {"blocking": 2.0, "reach": 0.0})
    assert bind_parameters(reaching, {}) is reaching
    assert name_of(twice) == "reaching"


def test_partial_functions_caches_and_decorators_keep_what_they_take() -> None:
    @wraps(reaching)
    def closed(game: Any, player: Any) -> float:
        return reaching(game, player)

    @wraps(reaching)
    def open_(*args: Any, **kwargs: Any) -> float:
        return reaching(*args, **kwargs)

    assert parameter_values(partial(reaching, reach=1.5)) == {"reach": 1.5, "blocking": 1.0, "shared": 2}
    assert of(partial(reaching, reach=1.5))["reach"].high == 3
    assert list(of(lru_cache(reaching))) == list(of(open_)) == list(of(reaching))
    assert of(closed) == {}


def test_a_composite_has_the_parameters_of_its_parts_under_names_of_their_own() -> None:
    assert parameter_values(both) == {
        "reaching.reach": 0.5,
        "blocking": 1.0,
        "shared": 2,
        "central.reach": 0.25,
        "power": 2,
    }
    near, far = partial(central, power=1), partial(central, power=3)
    halves = Composite(phases=((1.0, ((1.0, near), (1.0, far), (1.0, near))),))
    assert parameter_values(halves) == {
        "central.reach": 0.25, "central.power": 1, "central2.reach": 0.25, "central2.power": 3,
    }  # fmt: skip
    assert parameters_of(within) == ()


def test_a_composite_gives_its_parts_what_it_was_given() -> None:
    board = Board.from_moves([24, 14, 9, 29])
    other = bind_parameters(both, {"reaching.reach": -1.0, "central.reach": 1.0, "power": 1})
    by_hand = 1.0 * reaching(board, board.active_player, reach=-1.0)
    by_hand += 0.5 * central(board, board.active_player, reach=1.0, power=1)
    assert other(board, board.active_player) == by_hand


improved = get("improved")
OPEN = Weight("open", 0.5, low=-1)
weighted = Composite(phases=((0.4, ((1.0, reaching), (OPEN, improved))), (1.0, ((OPEN, reaching), (1.0, central)))))


def test_weights_with_names_are_parameters_of_a_composite() -> None:
    assert next(iter(parameters_of(weighted))) == Parameter("open", 0.5, -1, 1.0, -1)
    board = Board.from_moves([24, 14, 9, 29])
    by_hand = reaching(board, board.active_player) - 0.75 * improved(board, board.active_player)
    assert bind_parameters(weighted, {"open": -0.75})(board, board.active_player) == by_hand
    nested = Composite(phases=((1.0, ((2.0, weighted), (Weight("open", 0.5), improved))),))
    assert {"Composite.open", "Composite2.open"} < parameter_values(nested).keys()
    assert (
        bind_parameters(nested, {"Composite.open": 0.0, "Composite2.open": -0.75})(board, board.active_player)
        == 2 * by_hand
    )
    with pytest.raises(ParameterError, match="open must be at least -1, not -2"):
        bind_parameters(weighted, {"open": -2})


def test_weights_of_one_name_are_one_weight() -> None:
    for weights in ((Weight("a", 1.0), Weight("a", 2.0)), (Weight("not a name", 1.0),)):
        with pytest.raises(ValueError, match="a weight has a name of its own"):
            Composite(phases=((1.0, tuple((weight, improved) for weight in weights)),))


@pytest.mark.exhaustive
@pytest.mark.parametrize("value", [-0.75, 0.0, 2.0])
def test_compiled_composites_take_the_weights_they_are_given(value: float) -> None:
    for opening in random_openings(2, 12) + random_openings(2, 24):
        same_as_interpreted(bind_parameters(weighted, {"open": value}), opening)


def same_as_interpreted(function: Any, opening: tuple[int, ...]) -> None:
    board = Board.from_moves(opening)
    for method, limit in (("alphabeta", Limit(depth=3)), ("minimax", Limit(depth=2)), ("mcts", Limit(nodes=60))):
        for options in ({}, {"quiescence": True}) if method != "mcts" else ({},):
            result = search(board, function, limit, method, **options)  # type: ignore[arg-type]
            expected = search(board, function, limit, method, interpreted=True, **options)  # type: ignore[arg-type]
            assert (result.move, result.score, result.nodes, result.pv) == (
                expected.move, expected.score, expected.nodes, expected.pv,
            )  # fmt: skip


@pytest.mark.exhaustive
@settings(max_examples=12)
@given(st.fixed_dictionaries(VALUES), st.sampled_from(random_openings(10, 20)))
def test_compiled_code_takes_the_numbers_it_is_given(values: dict[str, float], opening: tuple[int, ...]) -> None:
    same_as_interpreted(bind_parameters(reaching, values), opening)


@pytest.mark.exhaustive
@settings(max_examples=8)
@given(st.fixed_dictionaries(BOTH), st.sampled_from([*random_openings(5, 12), *random_openings(5, 24)]))
def test_composites_pass_numbers_on_in_compiled_code(values: dict[str, float], opening: tuple[int, ...]) -> None:
    same_as_interpreted(bind_parameters(both, values), opening)


@pytest.mark.exhaustive
def test_parts_with_values_of_their_own_and_composites_in_functions_compile_too() -> None:
    opening = random_openings(1, 14)[0]
    nested = Composite(
        phases=((1.0, ((1.0, bind_parameters(both, {"power": 3})), (0.5, bind_parameters(reaching, {"reach": 2.0})))),)
    )
    same_as_interpreted(nested, opening)
    same_as_interpreted(bind_parameters(nested, {"power": 1}), opening)
    same_as_interpreted(within, opening)
    same_as_interpreted(partial(reaching, reach=1.5), opening)


def test_a_new_vector_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> bytes:
        raise AssertionError("this compiles")

    board = Board.from_moves([24, 14])
    search(board, both, Limit(depth=2))
    for module, name in ((linking, "kernel_code"), (linking, "score_code"), (linking, "load"), (compiler, "rewrite")):
        monkeypatch.setattr(module, name, fail)
    scores = {search(board, bind_parameters(both, {"blocking": 0.1 * n}), Limit(depth=2)).score for n in range(5)}
    assert len(scores) == 5


def searcher(name: str, **values: float) -> SearchAgent:
    return SearchAgent(name, "alphabeta", bind_parameters(reaching, values), "reaching", Limit(depth=2))


def test_two_players_of_one_heuristic_each_keep_their_numbers() -> None:
    first, second = searcher("first", reach=2.0), searcher("second", reach=-2.0, blocking=3.0)
    openings = random_openings(6, 6)
    for pair in ((first, second), (second, first), (first, first)):
        games = play_games(*pair, openings, range(6))
        expected = play_games(*pair, openings, range(6), interpreted=True)
        assert games.moves.tolist() == expected.moves.tolist()
        np.testing.assert_array_equal(games.score, expected.score)
        np.testing.assert_array_equal(games.nodes, expected.nodes)


def test_batches_of_positions_are_answered_with_the_numbers_given() -> None:
    positions = Positions.of(random_openings(30, 12), "7x7")
    seeds = np.zeros(30, np.uint64)
    cells = set()
    for agent in (
        searcher("near", reach=-2.0),
        searcher("far", reach=3.0),
        GreedyAgent("x", bind_parameters(both, {"power": 0})),
    ):
        answers = choose_moves(agent, positions, seeds)
        for index in range(30):
            board = Board.from_moves(positions[index])
            assert agent.open().choose(board, 0).move == answers.cells[index]
            same = choose_moves(agent, positions.take(np.array([index])), seeds[:1])
            assert same.cells[0] == answers.cells[index]
        cells.add(tuple(answers.cells.tolist()))
    assert len(cells) == 3


def test_threads_do_not_mix_numbers_up() -> None:
    board = Board.from_moves([24, 14])
    tuples = [bind_parameters(reaching, {"reach": 0.3 * n}) for n in range(8)]
    asked = [lambda f=function: search(board, f, Limit(depth=5)).score for function in tuples]
    assert at_once(asked) == [question() for question in asked]


def test_code_that_differs_at_the_end_of_a_range_is_not_trusted() -> None:
    def growing(game: Any, player: Any, *, power: Annotated[int, Interval(ge=0, le=40)] = 2) -> float:
        number = 1
        for _ in range(power):
            number *= 11
        return float(number % 7 + len(game.get_legal_moves(player)))

    with pytest.raises(CompileError, match="compiled, it raises an exception where Python gives"):
        compile_heuristic(growing)


FILE = '''
from typing import Annotated
from annotated_types import Gt, Interval

def score(game, player, *, reach: Annotated[float, Interval(ge=0, le=2)] = 0.5, blocking=1.0):
    """How far it gets."""
    return reach * len(game.get_legal_moves(player)) - blocking

def other(game, player, *, reach: Annotated[float, Interval(ge=0, le=2)] = 3.0):
    return reach
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my.py"
    path.write_text(FILE)
    return path


def test_specs_set_parameters(file: Path) -> None:
    spec = complete(parse_spec(f"ID:{file}:score@nodes=2000, option.reach=0.7 ,order,option.blocking=2"))
    assert spec.parameters == (("blocking", 2.0), ("reach", 0.7))
    assert str(spec).endswith(":score@nodes=2000,order,option.blocking=2,option.reach=0.7")
    assert complete(parse_spec(str(spec))).parameters == spec.parameters
    assert spec.name.endswith(".my.score_2000nodes_order_blocking2_reach0.7")
    assert parameter_values(make_agent(spec).heuristic) == {"reach": 0.7, "blocking": 2.0}


def test_many_parameters_make_a_short_name_of_their_own() -> None:
    first, second = (
        complete(parse_spec("ID:improved@" + ",".join(f"option.p{n}={n + options}" for n in range(9)))).name
        for options in (0, 0.5)
    )
    assert first != second
    assert len(first) < 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("option.reach=9", "reach must be from 0 to 2, not 9"),
        ("option.reech=1", "score has no parameter 'reech'; did you mean reach?"),
        (
            "option.reach=much",
            f"reach must be a number, not 'much': {KINDS_OF_VALUES}",
        ),
        (
            "option.reach=1_0",
            f"reach must be a number, not '1_0': {KINDS_OF_VALUES}",
        ),
        ("option.reach=nan", "reach must be a finite number, not nan"),
        ("option.reach", "a parameter must be written option.NAME=NUMBER"),
        ("option.=1", "a parameter must be written option.NAME=NUMBER"),
        ("option.reach=1,option.reach=1", "reach is set twice"),
    ],
)
def test_wrong_options_are_underlined(file: Path, options: str, message: str) -> None:
    with pytest.raises(SpecError) as refusal:
        parse_agent(f"ID:{file}:score@{options}")
    assert str(refusal.value).startswith(f"{message}\n")


def test_players_without_a_heuristic_have_no_parameters() -> None:
    for text in ("random@option.x=1", "MCTS@option.x=1", "perfect@option.x=1"):
        with pytest.raises(
            SpecError, match=r"this player has no heuristic or engine whose parameters option\. could set"
        ):
            parse_spec(text)


def test_settings_carry_the_values_and_vectors_share_the_code(file: Path) -> None:
    plain, other = (parse_agent(f"ID:{file}:score@nodes=300{options}") for options in ("", ",option.reach=0.7"))
    assert plain.settings()["parameters"] == {"reach": 0.5, "blocking": 1.0}
    assert other.settings()["parameters"] == {"reach": 0.7, "blocking": 1.0}
    assert plain.settings()["code"] == other.settings()["code"]
    assert "parameters" not in parse_agent("ID:improved").settings()
    spec = complete(parse_spec(f"ID:{file}:score@option.reach=0.7"))
    assert json.loads(settings_text(spec, make_agent(spec)))["parameters"]["reach"] == 0.7


def test_another_default_is_another_agent() -> None:
    def first(game: Any, player: Any, *, weight: float = 1.0) -> float:
        return weight

    def second(game: Any, player: Any, *, weight: float = 2.0) -> float:
        return weight

    agents = [SearchAgent("x", "alphabeta", function, "x", Limit(depth=1)) for function in (first, second)]
    assert agents[0].settings() != agents[1].settings()
    assert code_hash(bind_parameters(first, {"weight": 5.0})) == code_hash(first)


def test_a_file_lists_its_parameters_and_what_is_wrong_with_them(file: Path) -> None:
    listed = {item.name: item.parameters for item in file_catalogue(file)}
    assert listed["score"] == "reach=0.5 (0 to 2), blocking=1 (0 to 2)"
    assert listed["other"] == "the default of reach, 3, is not within its range, 0 to 2"


def walking(game: Any, player: Any, *, jumps: Literal[1, 2, 4] = 2, weight: float = 0.5) -> float:
    own = game.get_legal_moves(player)
    for _ in range(jumps - 1):
        own = own | game.reach(own)
    return weight * len(own)


def test_a_choice_is_one_of_several_whole_numbers() -> None:
    jumps, weight = parameters_of(walking)
    assert jumps == Parameter("jumps", 2, 1, 4, 1, 4, (1, 2, 4))
    assert str(jumps) == "jumps=2 (1, 2 or 4)"
    assert not weight.choices
    assert type(jumps.checked(4.0)) is int
    for wrong in (3, 0, 5, 1.5):
        with pytest.raises(ParameterError, match=r"^jumps must be 1, 2 or 4, not"):
            jumps.checked(wrong)


def test_a_choice_reaches_compiled_code_as_a_number() -> None:
    compiled = [compile_heuristic(bind_parameters(walking, {"jumps": jumps})) for jumps in (1, 2, 4)]
    assert len({player.score for player in compiled}) == 1
    board = Board.from_moves(random_openings(1, 8)[0])
    for jumps, player in zip((1, 2, 4), compiled, strict=True):
        assert player.evaluate(board, board.active_index) == walking(board, board.active_player, jumps=jumps)  # type: ignore[arg-type]


def test_choices_that_are_none_are_refused() -> None:
    def words(game: Any, player: Any, *, kind: Literal["a", 1] = 1) -> float:
        return float(kind == 1)

    def outside(game: Any, player: Any, *, kind: Literal[1, 4] = 3) -> float:  # type: ignore[assignment]
        return float(kind)

    with pytest.raises(ParameterError, match=r"the choices of kind must be whole numbers, as in Literal\[2, 3, 5\]"):
        parameters_of(words)
    with pytest.raises(ParameterError, match="the default of kind, 3, is not among its choices, 1 or 4"):
        parameters_of(outside)


def test_a_choice_with_a_range_is_refused_and_other_notes_are_left_alone() -> None:
    def ranged(game: Any, player: Any, *, layers: Annotated[Literal[2, 3, 5], Interval(ge=3)] = 3) -> float:
        return float(layers)

    def noted(game: Any, player: Any, *, layers: Annotated[Literal[2, 3, 5], "how deep"] = 3) -> float:
        return float(layers)

    with pytest.raises(
        ParameterError, match=r"^layers is declared both as a choice and with a range: remove the range"
    ):
        parameters_of(ranged)
    assert of(noted)["layers"].choices == (2, 3, 5)


def test_arguments_that_are_no_parameters_are_told_with_the_reason(tmp_path: Path) -> None:
    source = """
from typing import Literal

def score(game, player, *, kind: Literal["moves", "reach"] = "moves", fast=True, weight=1.0, parts=(1, 2)):
    return weight * len(game.get_legal_moves(player))
"""
    (tmp_path / "my.py").write_text(source)
    for name, default in (("kind", "a text"), ("fast", "True"), ("parts", "no number")):
        with pytest.raises(SpecError, match=f"^{name} is not a parameter of score: its default is {default}; param"):
            parse_agent(f"ID:{tmp_path / 'my.py'}:score@option.{name}=1")
    (listed,) = file_catalogue(tmp_path / "my.py")
    assert listed.parameters == (
        "weight=1 (0 to 2); kind is not a parameter: its default is a text; "
        "fast is not a parameter: its default is True; parts is not a parameter: its default is no number"
    )
