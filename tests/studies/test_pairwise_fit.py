"""Parameters fitted to proven results."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from annotated_types import Interval
from click.testing import CliRunner
from scipy.special import chdtri

from cli import main
from knights_isolation.experiments.plan.openings import split_of
from knights_isolation.experiments.studies.pairwise_fit import Fit, compare_moves, fit
from knights_isolation.experiments.studies.parameter_space import patch_of_defaults, space_of, write_patch
from knights_isolation.experiments.suite import Suite, read_suite
from knights_isolation.heuristics import get
from knights_isolation.isolation import Board, Limit
from knights_isolation.isolation.checks.search_cost import random_openings
from knights_isolation.isolation.compiling.compile_heuristic import compile_heuristic, sample_positions
from knights_isolation.isolation.games.batches import EvaluationBatch, Positions, evaluate_all, expected_lines, is_over
from knights_isolation.isolation.rules.parameters import ParameterError, bind_parameters
from knights_isolation.isolation.search.interpreted import value_of_move

Wide = Annotated[float, Interval(ge=-8, le=8)]


def linear(game: Any, player: Any, *, own: Wide = 1.0, reach: Wide = 0.0, idle: Wide = 1.0) -> float:
    moves = game.get_legal_moves(player)
    theirs = game.get_legal_moves(game.get_opponent(player))
    return own * len(moves) - 1.0 * len(theirs) + reach * len(game.reach(moves)) + 0.0 * idle


def curved(game: Any, player: Any, *, power: Annotated[float, Interval(ge=0.2, le=3)] = 1.0, whole: int = 2) -> float:
    moves = game.get_legal_moves(player)
    theirs = game.get_legal_moves(game.get_opponent(player))
    far = game.reach(moves)
    return float(len(moves)) ** power - len(theirs) + float(len(far)) * (whole - 1) / 4


@pytest.fixture(scope="module")
def suite() -> Suite:
    return read_suite("7x7", "fit").sample(900, 1)


def judged_by(suite: Suite, function: Any, **values: float) -> Suite:
    """The suite as if one move of each position kept the win, the likelier the more this heuristic values it."""
    after = [(*suite.positions[int(row)], int(cell)) for row, cell in zip(suite.position_of, suite.legal, strict=True)]
    asking = EvaluationBatch.of(Positions.of(after, suite.size), suite.positions.plies[suite.position_of] % 2)
    worth = evaluate_all(compile_heuristic(bind_parameters(function, values)), asking, np.array(list(values.values())))
    worth += np.random.default_rng(1).gumbel(size=len(worth))  # whose largest is drawn with chances exp(worth)
    best = np.maximum.reduceat(worth, suite.starts[:-1])[suite.position_of]
    return replace(suite, keeps=worth == best)


def fitted(function: Any, suite: Suite, at: Limit | None = None, **options: Any) -> Fit:
    return fit(function, suite, suite, at or Limit(depth=1), **options)


def test_a_heuristic_is_asked_for_many_positions_as_for_one() -> None:
    openings = [*random_openings(20, 9), *random_openings(20, 24)]
    positions, players = Positions.of(openings, "7x7"), np.arange(40) % 2
    values = evaluate_all(compile_heuristic(linear), EvaluationBatch.of(positions, players), np.array([2.0, -0.5, 1.0]))
    for value, opening, player in zip(values, openings, players, strict=True):
        board = Board.from_moves(opening)
        assert value == linear(board, board.players[player], own=2.0, reach=-0.5)


def test_games_are_over_where_the_side_to_move_has_no_move() -> None:
    boards = list(sample_positions((7, 7), 200))
    over = is_over(Positions.of([board.history for board in boards], "7x7"))
    assert over.tolist() == [not board.legal_cells() for board in boards]
    assert 0 < over.sum() < len(over)


@pytest.mark.slow
def test_what_a_search_expects_does_not_depend_on_the_positions_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    positions, heuristic = Positions.of(random_openings(10, 20), "7x7"), compile_heuristic(get("open"))
    nodes = np.arange(10, 110, 10)
    whole = expected_lines(heuristic, positions, np.zeros(0), None, nodes)
    monkeypatch.setattr("knights_isolation.isolation.games.batches.batches", lambda *count: [(0, 3), (3, 1), (4, 6)])
    parted = expected_lines(heuristic, positions, np.zeros(0), None, nodes)
    for column in ("scores", "plies", "cells"):
        assert getattr(parted, column).tolist() == getattr(whole, column).tolist()


@pytest.mark.slow
def test_a_search_expects_from_a_move_what_one_that_began_before_it_does() -> None:
    openings = [*random_openings(10, 20), *random_openings(10, 30)]
    heuristic = get("open")  # which is worth something else to either side
    for opening in openings:
        board = Board.from_moves(opening)
        for cell in board.legal_cells():
            after = (*opening, cell)
            if not Board.from_moves(after).legal_cells():
                continue
            lines = expected_lines(compile_heuristic(heuristic), Positions.of([after], "7x7"), np.zeros(0), 2, None)
            worth = value_of_move(board, heuristic, cell, 3)
            assert -lines.scores[0] == worth
            leaf = Board.from_moves((*after, *lines.cells[0, : lines.plies[0]].tolist()))
            if np.isneginf(worth):
                assert not leaf.legal_cells()
                assert lines.plies[0] == 1
            elif np.isfinite(worth):
                assert lines.plies[0] == 2
                assert heuristic(leaf, leaf.players[board.active_index]) == worth


def test_pairs_are_of_one_decision_and_weigh_one_a_decision(suite: Suite) -> None:
    pairs = compare_moves(suite, Limit(depth=1), compile_heuristic(linear), np.array([1.0, 0.0, 1.0]))
    assert (pairs.decision[pairs.kept] == pairs.decision[pairs.lost]).all()
    assert pairs.keeps[pairs.kept].all()
    assert not pairs.keeps[pairs.lost].any()
    np.testing.assert_allclose(pairs.weights.sum(), pairs.decisions)
    assert 0.9 < pairs.decisions / suite.is_telling.sum() <= 1
    assert pairs.ranked(pairs.keeps.astype(float)) == 1
    assert pairs.ranked(-pairs.keeps.astype(float)) == 0


def test_a_linear_heuristic_finds_the_weights_that_judged(suite: Suite) -> None:
    result = fitted(linear, judged_by(suite, linear, own=-1.5, reach=0.5, idle=0.0))
    assert result.is_linear
    for name, value in (("own", -1.5), ("reach", 0.5)):
        match = next(parameter for parameter in result.parameters if parameter.name == name)
        assert match.low < value < match.high
        assert match.high - match.low < 2
    assert result.ranked[1] > result.ranked[0] + 0.2
    assert [parameter.matters for parameter in result.parameters] == [True, True, False]
    assert [parameter.differs for parameter in result.parameters] == [True, True, False]
    idle = result.parameters[2]
    assert idle.after == 1.0
    assert idle.high - idle.low > 15


@pytest.mark.parametrize("values", [{"own": -1.5, "reach": 0.5, "idle": 0.0}, {"own": 7.9, "reach": 7.9, "idle": 0.0}])
def test_intervals_hold_the_values_that_are_not_significantly_worse(suite: Suite, values: dict[str, float]) -> None:
    for parameter in fitted(linear, judged_by(suite, linear, **values)).parameters:
        for value, worse in parameter.profile:
            assert (parameter.low <= value <= parameter.high) == (worse < chdtri(1, 0.05))
        assert parameter.low <= parameter.after <= parameter.high


def test_an_interval_around_a_fitted_end_of_the_range_is_the_profile_s(suite: Suite) -> None:
    def narrow(game: Any, player: Any, *, reach: Annotated[float, Interval(ge=0, le=0.25)] = 0.0) -> float:
        return linear(game, player, own=-1.5, reach=reach, idle=0.0)

    (reach,) = fitted(narrow, judged_by(suite, linear, own=-1.5, reach=0.5, idle=0.0)).parameters
    assert reach.end == "upper"
    assert reach.profile[-2][1] > chdtri(1, 0.05)
    assert reach.profile[-2][0] < reach.low <= reach.high == 0.25


@pytest.mark.exhaustive
def test_a_curved_heuristic_with_a_whole_number_does_too(suite: Suite) -> None:
    result = fitted(curved, judged_by(suite, curved, power=1.5, whole=4))
    assert not result.is_linear
    assert result.values["whole"] == 4
    assert result.values["power"] == pytest.approx(1.5, abs=0.2)
    assert result.parameters[1].end == "upper"


@pytest.mark.slow
def test_looking_through_a_search_leaves_out_what_it_sees_and_fits_the_rest(suite: Suite) -> None:
    near, far = (fitted(linear, suite, limit) for limit in (Limit(depth=1), Limit(depth=3)))
    assert far.decisions < near.decisions
    assert far.values != near.values
    assert fitted(linear, suite, Limit(nodes=60)).decisions < near.decisions


@pytest.mark.exhaustive
def test_intervals_hold_what_other_openings_say() -> None:
    whole = read_suite("7x7")
    halves = [whole.take(np.flatnonzero(whole.split == split)) for split in ("fit", "screen")]
    assert set(split_of(halves[0].orbit)) == {"fit"}
    first, second = (fitted(linear, half, only=["own", "reach"]) for half in halves)
    for parameter, other in zip(first.parameters, second.parameters, strict=True):
        assert parameter.low < other.high
        assert other.low < parameter.high


def test_only_the_parameters_that_are_named_move(suite: Suite) -> None:
    assert fitted(linear, suite, only=["reach"]).values.keys() == {"reach"}


@pytest.mark.parametrize(
    ("function", "wanted", "message"),
    [
        (get("improved"), (), "improved has no parameters: declare some as keyword-only arguments"),
        (linear, ("x",), "linear has no parameter 'x'; it has own, reach, idle"),
    ],
)
def test_what_cannot_be_fitted_says_so(suite: Suite, function: Any, wanted: tuple[str, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        fitted(function, suite, only=wanted)


def test_a_heuristic_that_returns_no_number_says_so(suite: Suite) -> None:
    def score(game: Any, player: Any, *, power: float = 1.0) -> float:
        return float("nan") * power

    with pytest.raises(
        ValueError, match=r"^score cannot be fitted: it returns NaN at \d+ of \d+ positions, with power="
    ):
        fitted(score, suite)


def test_a_range_of_one_number_wants_another() -> None:
    def zero(game: Any, player: Any, *, weight: int = 0) -> float:
        return weight

    with pytest.raises(
        ParameterError, match="the range of weight is the single number 0: declare a range, as in weight: "
    ):
        space_of(zero)


def test_a_parameter_that_starts_at_zero_needs_no_range() -> None:
    def moves(game: Any, player: Any, *, small: float = 0.0, large: float = 0.0, near: float = 0.05) -> float:
        open_moves = len(game.get_legal_moves(player))
        return open_moves + small * 1000 * open_moves + large * open_moves / 1000 + near * open_moves

    def flat(game: Any, player: Any, *, weight: float = 0.0) -> float:
        return weight

    space = space_of(moves)
    assert list(zip(space.names, space.low, space.high, strict=True)) == [
        ("small", -0.002, 0.002),
        ("large", -2000, 2000),
        ("near", 0, 0.1),
    ]
    assert [*space_of(flat).low, *space_of(flat).high] == [-1, 1]


FILE = '''"""Für alle."""
from annotated_types import Interval

def score(game, player, *, own=1.0, reach=0.25, depth=2):  # größer, besser
    moves = game.get_legal_moves(player)
    return own * len(moves) + reach * len(game.reach(moves)) - depth * len(game.get_legal_moves(game.inactive_player))
'''


def test_a_patch_gives_new_defaults_and_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    (tmp_path / "it.patch").write_text(
        patch_of_defaults(path, "score", {"own": 1.0, "reach": -0.5, "depth": 3.0}), encoding="utf-8"
    )
    assert path.read_text(encoding="utf-8") == FILE
    subprocess.run(["patch", str(path), str(tmp_path / "it.patch")], check=True, capture_output=True)
    assert path.read_text(encoding="utf-8") == FILE.replace("reach=0.25, depth=2", "reach=-0.5, depth=3")
    with pytest.raises(ValueError, match="has no `def score` with a default for x"):
        patch_of_defaults(path, "score", {"x": 1.0})


@pytest.mark.parametrize("given", ["mine.py", "whole"])
def test_git_applies_a_patch_from_where_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    patch = patch_of_defaults(path if given == "whole" else Path(given), "score", {"reach": -0.5})
    assert patch.startswith("--- a/mine.py\n+++ b/mine.py\n")
    Path("it.patch").write_text(patch, encoding="utf-8")
    subprocess.run(["git", "apply", "it.patch"], check=True, capture_output=True)
    assert path.read_text(encoding="utf-8") == FILE.replace("reach=0.25", "reach=-0.5")


def test_values_that_were_right_before_matter_and_do_not_differ(suite: Suite) -> None:
    result = fitted(linear, judged_by(suite, linear, own=1.0, reach=0.0, idle=1.0))
    assert [parameter.matters for parameter in result.parameters] == [True, True, False]
    assert all(parameter.after != parameter.before for parameter in result.parameters[:2])
    assert [parameter.differs for parameter in result.parameters] == [False] * 3


def test_a_patch_is_written_for_values_judged_better_only(tmp_path: Path) -> None:
    path, patch = tmp_path / "mine.py", tmp_path / "it.patch"
    path.write_text(FILE, encoding="utf-8")
    said = write_patch(patch, f"{path}:score", {"reach": -0.5}, is_better=False)
    assert not patch.exists()
    assert said == f"Did not write {patch}: the new values are not significantly better."
    said = write_patch(patch, f"{path}:score", {"reach": -0.5}, is_better=True)
    assert said.startswith(f"Wrote {patch}; {path} is unchanged.")
    assert "reach=-0.5" in patch.read_text(encoding="utf-8")


def test_the_command_fits_screens_and_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "knights_isolation.reports.studies.tuning.read_suite", lambda *asked: read_suite(*asked).sample(2500, 1)
    )
    Path("mine.py").write_text(FILE, encoding="utf-8")
    words = ["fit", "mine.py", "--limit", "nodes=50", "--parameter", "reach", "--patch", "it.patch"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "score is linear in its parameters." in result.output
    assert "The new agent: ID:mine.py:score@option.reach=" in result.output
    assert "before" in result.output
    assert "-def score(game, player, *, own=1.0, reach=0.25, depth=2)" in Path("it.patch").read_text(encoding="utf-8")
    assert Path("mine.py").read_text(encoding="utf-8") == FILE
