"""Every feature against its definition, worked out cell by cell; and the choice of features."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import log, sqrt
from pathlib import Path

import pytest
from click.testing import CliRunner
from documented_commands import few_positions
from hypothesis import given, settings
from hypothesis import strategies as st

from cli import main
from knights_isolation import heuristics
from knights_isolation.experiments.studies.feature_selection import (
    SelectedFeature,
    Selection,
    SingleFeature,
    select_features,
)
from knights_isolation.experiments.suite import Suite, read_suite
from knights_isolation.heuristics import FEATURES, Composite
from knights_isolation.isolation import Board, Limit
from knights_isolation.isolation.compiling.compile_heuristic import compile_heuristic
from knights_isolation.reports.studies.tuning import feature_sections
from tests.heuristics.test_scores import Cell, Facts, links, nearer_to, positions


def both(count: Callable[[set[Cell]], float]) -> Callable[[Facts], float]:
    """What is counted among the player's nearer cells, less the opponent's."""
    return lambda f: count(nearer_to(f)[0]) - count(nearer_to(f)[1])


def layer(jumps: int) -> Callable[[Facts], float]:
    def count(f: Facts) -> float:
        (own, other), (own_before, other_before) = nearer_to(f, jumps), nearer_to(f, jumps - 1)
        return len(own - own_before) - len(other - other_before)

    return count


def moves(count: Callable[[Facts, set[Cell]], float]) -> Callable[[Facts], float]:
    return lambda f: count(f, f.moves_p) - count(f, f.moves_o)


def for_mover(f: Facts, value: float) -> float:
    return value if f.to_move else -value


def ties(f: Facts) -> float:
    mine, theirs = f.distances(f.p), f.distances(f.o)
    return for_mover(f, sum(mine[cell] == theirs[cell] <= 5 for cell in mine.keys() & theirs.keys()))


def second(f: Facts, first: set[Cell]) -> int:
    return len(set().union(*(f.moves(cell) for cell in first)))


def walk(cells: set[Cell], at: Cell | None) -> int:
    if at is None:
        return 0
    other = sum((r + c + at[0] + at[1]) % 2 for r, c in cells)
    return min(2 * other, 2 * (len(cells) - other) + 1)


def walks(f: Facts) -> float:
    own, other = nearer_to(f)
    return walk(own, f.p) - walk(other, f.o)


def cuts(f: Facts, first: set[Cell], cells: set[Cell]) -> int:
    """How many cells there are without which a player cannot get to all the others."""

    def reached(without: Cell) -> set[Cell]:
        result, front = set(first & cells), set(first & cells) - {without}
        while front:
            front = {target for cell in front for target in f.moves(cell) & cells} - result
            result |= front
            front -= {without}
        return result

    return sum(reached(cell) < cells for cell in cells)


def cut_cells(f: Facts) -> float:
    own, other = nearer_to(f)
    return cuts(f, f.moves_p, own) - cuts(f, f.moves_o, other)


def own_region(f: Facts) -> float:
    mine, theirs = f.distances(f.p).keys(), f.distances(f.o).keys()
    return len(mine - theirs) - len(theirs - mine)


def own_walks(f: Facts) -> float:
    mine, theirs = set(f.distances(f.p)), set(f.distances(f.o))
    return 0 if mine & theirs else walk(mine, f.p) - walk(theirs, f.o)


def degree(cells: set[Cell], cell: Cell) -> int:
    return links(cells) - links(cells - {cell})


DEFINITIONS: dict[str, Callable[[Facts], float]] = {
    "nearer": both(len),
    **{f"nearer_in_{jumps}": layer(jumps) for jumps in range(1, 6)},
    "ties": ties,
    "mobility": moves(lambda f, own: len(own)),
    "cramped": moves(lambda f, own: len(own) < 2),
    "free": moves(lambda f, own: len(own) > 3),
    "contested": lambda f: for_mover(f, len(f.moves_p & f.moves_o)),
    "second_moves": moves(second),
    "stranded": moves(lambda f, own: second(f, own) == 0),
    "links": both(links),
    "link_roots": both(lambda cells: sqrt(links(cells))),
    "links_a_cell": both(lambda cells: links(cells) / (len(cells) + 1)),
    "dead_ends": both(lambda cells: sum(degree(cells, cell) < 2 for cell in cells)),
    "cut_cells": cut_cells,
    "walks": walks,
    "imbalance": both(lambda cells: abs(len(cells) - 2 * sum((r + c) % 2 for r, c in cells))),
    "own_region": own_region,
    "own_walks": own_walks,
    "edge": lambda f: both(lambda cells: sum(r in (0, f.h - 1) or c in (0, f.w - 1) for r, c in cells))(f),
    "centre": lambda f: both(lambda cells: sum(2 <= r < f.h - 2 and 2 <= c < f.w - 2 for r, c in cells))(f),
    "late_nearer": lambda f: both(len)(f) * f.filled / f.cells,
    "late_links": lambda f: both(links)(f) * f.filled / f.cells,
    "late_mobility": lambda f: (f.own - f.opp) * f.filled / f.cells,
}


@pytest.mark.parametrize("name", FEATURES)
@given(board=positions())
@settings(max_examples=15, deadline=None)
def test_a_feature_has_its_defined_value_from_both_sides(name: str, board: Board) -> None:
    if not all(board.get_player_location(player) for player in ("first", "second")):
        return  # nobody asks a feature before both stand on the board
    for player in ("first", "second"):
        value = heuristics.get(name)(board, player)
        assert type(value) is float
        assert value == pytest.approx(DEFINITIONS[name](Facts(board, player)), rel=1e-12, abs=1e-9)


@given(positions(), st.data())
def test_links_are_the_pairs_of_cells_a_knights_move_apart(board: Board, data: st.DataObject) -> None:
    every = [(row, column) for row in range(board.height) for column in range(board.width)]
    cells = data.draw(st.lists(st.sampled_from(every), max_size=20))
    assert board.links(cells) == links(set(cells)) == board.links(cell for cell in cells)


NAMES = [*FEATURES, "learned"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [(7, 7), (9, 11)])
def test_features_compile_on_large_boards(name: str, size: tuple[int, int]) -> None:
    # compiled code is compared with Python on some hundred positions before it is taken
    assert compile_heuristic(heuristics.get(name), size)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("names", "size"),
    [*((NAMES[start : start + 7], (3, 4)) for start in range(0, len(NAMES), 7)), (["links_a_cell", "walks"], (9, 11))],
)
def test_features_compile_as_parts_of_a_sum(names: list[str], size: tuple[int, int]) -> None:
    parts = tuple((2.0**place, heuristics.get(name)) for place, name in enumerate(names))
    assert compile_heuristic(Composite(phases=((1.0, parts),)), size)


def counted_twice(game, player):  # type: ignore[no-untyped-def]
    cells = [cell for cell in game.get_blank_spaces() if cell[0] != 1]
    return float(game.links(cells))


def test_links_of_a_list_compile_too() -> None:
    assert compile_heuristic(counted_twice, (7, 7))


def test_features_are_named_like_heuristics_but_are_not_among_them() -> None:
    assert not set(FEATURES) & set(heuristics.names())
    assert all(5 <= len(heuristics.meaning(name)) < 110 for name in FEATURES)
    with pytest.raises(ValueError, match=r"no heuristic 'linkz'.*links"):
        heuristics.get("linkz")


@pytest.fixture(scope="module")
def halves() -> tuple[Suite, Suite]:
    fit, screen = (read_suite("7x7", split) for split in ("fit", "screen"))
    return fit.sample(1500, 1), screen.sample(800, 1)


@pytest.mark.exhaustive
def test_the_first_feature_chosen_is_the_one_that_ranks_moves(halves: tuple[Suite, Suite]) -> None:
    selection = select_features(*halves, ["contested", "nearer", "ties"], Limit(depth=1), most=2)
    assert selection.alone[0].feature == selection.chosen[0].feature == "nearer"
    assert selection.chosen[0].weights == (1.0,)
    assert selection.chosen[0].ranked > 0.8
    assert selection.alone[0].loss < selection.alone[1].loss < log(2) + 0.01
    assert selection.chosen[0].gain == pytest.approx(1000 * (log(2) - selection.alone[0].loss))


@pytest.mark.exhaustive
def test_a_feature_that_says_nothing_new_is_not_chosen(halves: tuple[Suite, Suite]) -> None:
    selection = select_features(*halves, ["nearer", "null"], Limit(depth=1))
    assert [choice.feature for choice in selection.chosen] == ["nearer"]


@pytest.mark.exhaustive
def test_features_against_whom_they_belong_to_get_a_negative_weight(halves: tuple[Suite, Suite]) -> None:
    selection = select_features(*halves, ["cramped"], Limit(depth=1))
    assert selection.chosen[0].weights == (-1.0,)
    assert selection.chosen[0].ranked == pytest.approx(selection.alone[0].ranked)


@pytest.mark.exhaustive
def test_openings_that_judge_have_no_part_in_the_choice(halves: tuple[Suite, Suite]) -> None:
    fit, screen = halves
    names = ["nearer", "mobility"]
    result, other = (
        select_features(fit, part, names, Limit(depth=1), most=1) for part in (screen, screen.sample(300, 2))
    )
    assert [contribution.loss for contribution in result.alone] == [contribution.loss for contribution in other.alone]
    assert result.chosen[0].weights == other.chosen[0].weights
    assert result.chosen[0].ranked != other.chosen[0].ranked


OWN = """
def safe(game, player):
    '''Moves towards the last rows.'''
    return float(len([move for move in game.get_legal_moves(player) if move[0] > 1]))

def random_score(game, player):
    import random
    return random.random()
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("beside", [pytest.param([], marks=pytest.mark.exhaustive), ["mobility"]])
def test_functions_of_a_file_are_features(tmp_path: Path, beside: list[str]) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    own = f"{tmp_path / 'mine.py'}:safe"
    result = CliRunner().invoke(main, ["features", own, *beside, "--most", "1", "--table", "alone", "--format", "json"])
    assert result.exit_code == 0, result.output
    rows = {row["feature"]: row for row in json.loads(result.output)["alone"]}
    assert rows.keys() == {own, *beside}
    assert rows[own]["meaning"] == "Moves towards the last rows."
    assert 0 < rows[own]["loss"] < log(2)


def test_a_function_from_a_cell_is_a_feature_by_its_own_name_in_tables() -> None:
    names = (f"/cache/functions/{'0' * 16}/score.py:score", "mine.py:safe", "centre")
    alone = tuple(SingleFeature(name, "", 0.5, 0.5) for name in names)
    table = feature_sections(Selection(Limit(depth=1), "territory", 1, alone, ()))[0]
    assert [row["feature"] for row in table.rows] == ["score", "mine.py:safe", "centre"]


def test_a_feature_that_does_not_compile_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    result = CliRunner().invoke(main, ["features", f"{tmp_path / 'mine.py'}:random_score"])
    assert result.exit_code == 2
    assert "mine.py:random_score does not compile, as a feature must: " in result.output


def test_what_was_chosen_before_ctrl_c_is_shown_and_the_command_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, chosen = SingleFeature("centre", "", 0.5, 0.5), SelectedFeature("centre", 1.0, 1.0, (1.0,), 0.5)
    selection = Selection(Limit(depth=1), "territory", 1, (alone,), (chosen,), is_interrupted=True)
    name = "knights_isolation.reports.studies.tuning.select_features"
    monkeypatch.setattr(name, lambda *asked: selection)
    result = CliRunner().invoke(main, ["features", "centre"])
    assert "Forward selection of features" in result.stdout
    assert result.stderr.endswith("chosen before are shown. Continue with: isolation features centre\n")
    assert result.exit_code == 1


@pytest.mark.exhaustive
def test_the_command_prints_both_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knights_isolation.reports.studies.tuning.read_suite", few_positions)
    result = CliRunner().invoke(main, ["features", "links", "mobility", "--most", "1"])
    assert result.exit_code == 0, result.output
    assert "Single features" in result.output
    assert "Forward selection of features" in result.output
