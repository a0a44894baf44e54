"""Suites of telling positions: proven answers, no opening in two splits, made again alike, and refused if damaged."""

import numpy as np
import pytest

from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.plan.openings import orbit_ids, split_of
from knights_isolation.experiments.suite import read_suite, shipped_suites
from knights_isolation.experiments.suite.build_suite import PositionSource, Recipe, build_suite
from knights_isolation.experiments.suite.suite_file import how_made, members, read_table, write_table
from knights_isolation.isolation import Board, solve
from knights_isolation.isolation.rules.game import Size

RECIPE = Recipe(
    Size(5, 5),
    2,
    10,
    openings=8,
    sources=(PositionSource("mine", ("random", "greedy"), (0.2,)), PositionSource("other", ("ID:improved@nodes=20",))),
    field=("greedy", "AB:open@depth=1", "random"),
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    path = tmp_path_factory.mktemp("suites") / "small.parquet"
    build_suite(RECIPE, path)
    return path


def moves_of(suite, index):
    """Legal cells, whether they keep the win, and who errs after them, of a position."""
    rows = slice(suite.starts[index], suite.starts[index + 1])
    return suite.legal[rows].tolist(), suite.keeps[rows].tolist(), suite.errs[rows].tolist()


def is_as_the_solver_says(suite, index):
    board = Board.from_moves(suite.positions[index], suite.size)
    solution = solve(board)
    legal, keeps, _ = moves_of(suite, index)
    assert legal == sorted(board.legal_cells())
    assert tuple(cell for cell, kept in zip(legal, keeps, strict=True) if kept) == solution.moves
    assert suite.is_telling[index] == (solution.winner == board.active_index + 1)


def test_every_result_is_what_the_solver_finds(built):
    suite = read_suite(built)
    assert len(suite) > 50
    assert 0 < suite.is_telling.sum() < len(suite)
    for index in range(len(suite)):
        is_as_the_solver_says(suite, index)


def test_won_positions_have_a_move_that_loses_and_lost_ones_moves_of_unlike_trouble(built):
    suite = read_suite(built)
    for index, is_telling in enumerate(suite.is_telling):
        _, keeps, errs = moves_of(suite, index)
        assert len(set(keeps if is_telling else errs)) > 1
        assert len(set(errs if is_telling else keeps)) == 1


def test_trouble_is_who_of_the_field_errs_in_the_answer(built):
    suite = read_suite(built)
    greedy = parse_agent("greedy")
    for index in np.flatnonzero(~suite.is_telling)[:40]:
        board = Board.from_moves(suite.positions[index], suite.size)
        legal, _, errs = moves_of(suite, index)
        for cell, bits in zip(legal, errs, strict=True):
            after = board.successor(cell)
            assert bits & 1 == (greedy.choose(after, 0).move not in solve(after).moves)


def test_who_of_the_field_keeps_a_win_is_known(built):
    suite = read_suite(built)
    greedy = parse_agent("greedy")
    for index in np.flatnonzero(suite.is_telling)[:40]:
        board = Board.from_moves(suite.positions[index], suite.size)
        assert suite.kept_by[index] & 1 == (greedy.choose(board, 0).move in solve(board).moves)


def cells_of(suite):
    """The moves of all positions, a row each, padded with -1."""
    cells = np.full((len(suite), int(suite.positions.plies.max())), -1, np.int16)
    for index, row in enumerate(cells):
        row[: len(suite.positions[index])] = suite.positions[index]
    return cells


@pytest.mark.exhaustive
def test_positions_that_several_openings_lead_to_come_once(tmp_path):
    whole = Recipe(Size(4, 4), 2, 12, sources=RECIPE.sources[:1], field=("greedy", "random"))
    build_suite(whole, tmp_path / "whole.parquet")
    suite = read_suite(tmp_path / "whole.parquet")
    assert len(suite) > 100
    assert len(np.unique(orbit_ids(cells_of(suite), suite.size))) == len(suite)


def test_no_opening_is_in_both_splits(built):
    suite = read_suite(built)
    cells = cells_of(suite)
    assert (orbit_ids(cells[:, :2], suite.size) == suite.orbit).all()
    assert (suite.split == split_of(suite.orbit)).all()
    fit, screen = read_suite(built, "fit"), read_suite(built, "screen")
    assert len(fit) + len(screen) == len(suite)
    assert not set(fit.orbit) & set(screen.orbit)


@pytest.mark.exhaustive
def test_the_same_recipe_makes_the_same_suite_whoever_works_on_it(built, tmp_path):
    build_suite(RECIPE, tmp_path / "again.parquet", jobs=2)
    assert read_table(tmp_path / "again.parquet").equals(read_table(built), check_metadata=True)


@pytest.mark.slow
def test_an_interrupted_build_goes_on_where_it_was(built, tmp_path):
    def stop(done, orbits):
        if done == 3:
            raise KeyboardInterrupt

    path = tmp_path / "part.parquet"
    with pytest.raises(KeyboardInterrupt):
        build_suite(RECIPE, path, show=stop)
    part = read_table(path)
    assert 0 < len(part) < len(read_table(built))
    seen = []
    build_suite(RECIPE, path, show=lambda done, orbits: seen.append((done, orbits)))
    assert seen[0] == (3, 8)
    assert read_table(path).equals(read_table(built), check_metadata=True)


def test_a_suite_made_in_another_way_is_not_gone_on_with(built):
    other = Recipe(Size(4, 5), 2, 10, seed=2, openings=8, sources=RECIPE.sources, field=RECIPE.field)
    with pytest.raises(ValueError, match="made with other settings"):
        build_suite(other, built)


def test_a_recipe_that_makes_no_sense_is_refused(tmp_path):
    with pytest.raises(ValueError, match="ply 3 or later"):
        build_suite(Recipe(Size(4, 5), 1, 10), tmp_path / "never.parquet")
    with pytest.raises(ValueError, match="1 to 15 members, not 16"):
        build_suite(Recipe(Size(4, 5), 2, 10, field=("greedy",) * 16), tmp_path / "never.parquet")
    with pytest.raises(ValueError, match="128 cells"):
        build_suite(Recipe(Size(12, 12), 2, 10), tmp_path / "never.parquet")
    assert not (tmp_path / "never.parquet").exists()


def test_what_is_no_suite_is_refused_in_a_sentence(built, tmp_path):
    with pytest.raises(ValueError, match=r"no suite 9x9: use .*7x7"):
        read_suite("9x9")
    damaged = tmp_path / "damaged.parquet"
    data = bytearray(built.read_bytes())
    data[len(data) // 3] ^= 4
    damaged.write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        read_suite(damaged)


def test_taking_positions_keeps_their_moves_together(built):
    suite = read_suite(built)
    rows = np.array([7, 3, 20])
    taken = suite.take(rows)
    assert [taken.positions[i] for i in range(3)] == [suite.positions[i] for i in rows.tolist()]
    assert [moves_of(taken, i) for i in range(3)] == [moves_of(suite, i) for i in rows.tolist()]


def test_a_larger_sample_contains_the_smaller(built):
    suite = read_suite(built)
    small, large = ({item.positions[i] for i in range(len(item))} for item in (suite.sample(5, 1), suite.sample(15, 1)))
    assert len(small) == 5
    assert small < large


def test_members_are_counted_in_sets_of_bits():
    assert members(np.array([0, 1, 5, 2**15 - 1], np.int16)).tolist() == [0, 1, 2, 15]


@pytest.mark.parametrize("name", shipped_suites())
def test_shipped_suites_are_whole_and_their_answers_right(name):
    suite = read_suite(name)
    assert str(suite.size) == name
    assert len(suite) >= (10_000 if name == "7x7" else 1000)
    assert set(suite.split) == {"fit", "screen"}
    late = np.flatnonzero(suite.positions.plies > np.median(suite.positions.plies))
    for index in np.random.default_rng(1).choice(late, 15, replace=False):
        is_as_the_solver_says(suite, int(index))


def test_a_table_without_positions_reads_as_an_empty_suite(built, tmp_path):
    table = read_table(built)
    write_table(tmp_path / "empty.parquet", table.slice(0, 0), *how_made(table))
    assert len(read_suite(tmp_path / "empty.parquet")) == 0
