"""Solving every placement pair: complete, resumable, the same in parallel; and what the results say."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.make_solved_tables import add_table, main, write_tables
from knights_isolation.experiments.exact import board_solving
from knights_isolation.experiments.exact.board_solving import read_pairs, shipped_pairs, solve_all, summarise
from knights_isolation.isolation.rules.game import Limit, Size, parse_size
from knights_isolation.isolation.rules.geometry import symmetries
from knights_isolation.isolation.rules.solved_tables import FILE, covered_sizes, is_covered
from knights_isolation.reports.charts.grids import refutation_maps
from knights_isolation.reports.plots.draw_chart import draw_chart, to_svg
from knights_isolation.reports.studies.perfect_play import board_sections
from knights_isolation.reports.text.rendering import render_sections


def stop_after(pairs):
    def show(solved, every):
        if solved >= pairs:
            raise KeyboardInterrupt

    return show


def test_every_pair_is_solved_and_written_with_what_it_took(tmp_path):
    path = tmp_path / "solved.parquet"
    winners = solve_all("4x5", path)
    assert (winners == shipped_pairs(Size(4, 5))).all()
    table = pq.read_table(path)
    assert table.schema.names == ["opening", "winner", "nodes"]
    assert len(table) == 380
    assert 0 <= min(table["nodes"].to_pylist()) < max(table["nodes"].to_pylist())
    assert all(winners[tuple(row["opening"])] == row["winner"] for row in table.to_pylist())
    assert (read_pairs(path, Size(4, 5)) == winners).all()


def test_an_interrupted_run_is_taken_up_where_it_stopped(tmp_path):
    path, whole = tmp_path / "solved.parquet", tmp_path / "whole.parquet"
    solve_all(Size(4, 5), whole)
    with pytest.raises(KeyboardInterrupt):
        solve_all(Size(4, 5), path, show=stop_after(100))
    kept = len(pq.read_table(path))
    assert 100 <= kept < 380
    reported = []
    solve_all(Size(4, 5), path, show=lambda solved, every: reported.append((solved, every)))
    assert reported[0] == (kept, 380)
    assert reported[-1] == (380, 380)
    assert pq.read_table(path).equals(pq.read_table(whole))


@pytest.mark.parametrize("size", [Size(3, 3), Size(4, 4)])
def test_a_pair_that_is_hard_to_solve_is_looked_into_move_by_move(tmp_path, monkeypatch, size):
    monkeypatch.setattr(board_solving, "_FIRST_ROUND", 1)
    assert (solve_all(size, tmp_path / "hard.parquet") == shipped_pairs(size)).all()


def test_several_processes_find_the_same(tmp_path):
    solve_all(Size(4, 5), tmp_path / "serial.parquet")
    solve_all(Size(4, 5), tmp_path / "parallel.parquet", jobs=2)
    assert pq.read_table(tmp_path / "parallel.parquet").equals(pq.read_table(tmp_path / "serial.parquet"))


def test_what_a_limit_left_unknown_is_tried_again(tmp_path):
    path = tmp_path / "solved.parquet"
    limited = solve_all(Size(5, 5), path, limit=Limit(nodes=300))
    summary = summarise(limited, Size(5, 5))
    assert 0 < summary.unknown < summary.openings
    whole = shipped_pairs(Size(5, 5))
    assert (limited == whole)[limited > 0].all()
    assert (solve_all(Size(5, 5), path) == whole).all()


@pytest.mark.parametrize("size", [Size(1, 7), Size(2, 5), Size(3, 5), Size(4, 4), Size(5, 3), Size(6, 7), Size(7, 7)])
def test_the_summary_says_who_wins_and_how_far_the_colour_rule_holds(size):
    winners = shipped_pairs(size)
    summary = summarise(winners, size)
    cells, columns = len(winners), size.columns
    pairs = [(first, second) for first in range(cells) for second in range(cells) if first != second]
    same = {
        (first, second): (sum(divmod(first, columns)) - sum(divmod(second, columns))) % 2 == 0
        for first, second in pairs
    }
    assert summary.openings == len(pairs)
    assert summary.first_wins == sum(winners[pair] == 1 for pair in pairs)
    assert summary.exceptions == tuple(pair for pair in pairs if (winners[pair] == 1) != same[pair])
    assert summary.rule_holds == len(pairs) - len(summary.exceptions)
    assert summary.refutations == tuple(
        tuple(second for second in range(cells) if second != first and winners[first, second] == 2)
        for first in range(cells)
    )
    assert summary.winner == (2 if all(summary.refutations) else 1)


def test_on_7x7_the_colour_rule_has_eight_exceptions_all_with_player_1_in_the_middle():
    summary = summarise(shipped_pairs(Size(7, 7)), Size(7, 7))
    assert (summary.winner, summary.first_wins, len(summary.exceptions)) == (2, 1160, 8)
    assert {first for first, _ in summary.exceptions} == {24}
    assert {second for _, second in summary.exceptions} == {9, 11, 15, 19, 29, 33, 37, 39}


@pytest.mark.parametrize(
    ("size", "exceptions", "unexplained"), [(Size(7, 7), 8, 0), (Size(8, 8), 64, 0), (Size(4, 6), 32, 8)]
)
def test_exceptions_are_explained_where_one_side_can_mirror_the_other(size, exceptions, unexplained):
    summary = summarise(shipped_pairs(size), size)
    assert (len(summary.exceptions), len(summary.unexplained)) == (exceptions, unexplained)
    assert set(summary.unexplained) <= set(summary.exceptions)
    # The players of the exceptions that are left stand neither on images of one another nor in the middle.
    assert all(sum(pair) != 23 for pair in summary.unexplained)


def test_the_map_of_a_board_has_every_column_though_all_cells_are_alike():
    text = render_sections(board_sections(summarise(shipped_pairs(Size(4, 7)), Size(4, 7)), "solved.parquet"), "table")
    assert [line.split() for line in text.splitlines()[-5:-1]] == [[str(row), *7 * ["14"]] for row in range(4)]


def test_a_partly_solved_board_has_no_known_winner_unless_every_first_cell_is_refuted():
    winners = shipped_pairs(Size(4, 4)).copy()
    winners[5] = np.where(winners[5] == 2, 0, winners[5])
    assert summarise(winners, Size(4, 4)).winner is None
    winners[5, np.arange(16) != 5] = 1
    assert summarise(winners, Size(4, 4)).winner == 1


@pytest.mark.exhaustive
def test_the_shipped_tables_can_be_made_anew(tmp_path):
    write_tables(tmp_path / "solved.json", 9)
    made, shipped = (json.loads(path.read_text()) for path in (tmp_path / "solved.json", FILE))
    assert list(made) == [*(f"1x{columns}" for columns in range(1, 10)), "2x2", "2x3", "2x4", "3x3"]
    assert made == {size: shipped[size] for size in made}


def test_a_board_that_was_solved_elsewhere_is_taken_into_the_tables_and_stays_there(tmp_path):
    tables, solved = tmp_path / "solved.json", tmp_path / "3x4.parquet"
    solve_all(Size(3, 4), solved)
    write_tables(tables, 4)
    before = json.loads(tables.read_text())
    add_table(Size(3, 4), solved, tables)
    shipped = json.loads(FILE.read_text())
    assert json.loads(tables.read_text()) == before | {"3x4": shipped["3x4"]}
    write_tables(tables, 6)
    made = json.loads(tables.read_text())
    assert made == {size: shipped[size] for size in made}
    assert list(made) == ["1x1", "1x2", "1x3", "1x4", "1x5", "1x6", "2x2", "2x3", "3x4"]


def test_a_board_of_which_pairs_are_missing_is_not_taken_into_the_tables(tmp_path):
    tables, solved = tmp_path / "solved.json", tmp_path / "5x5.parquet"
    solve_all(Size(5, 5), solved, limit=Limit(nodes=300))
    with pytest.raises(ValueError, match=r"of the 5x5 pairs are not solved yet"):
        add_table(Size(5, 5), solved, tables)
    assert not tables.exists()
    with pytest.raises(ValueError, match="use 3x4 instead of 4x3"):
        add_table(Size(4, 3), solved, tables)


@pytest.mark.parametrize(
    ("arguments", "code"), [([Size(8, 8)], 2), (["8x8", "absent.parquet"], "absent.parquet: cannot be read")]
)
def test_tables_asked_for_wrongly_are_told_of_in_a_line(arguments, code, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert str(ended.value.code).startswith(str(code))
    assert code != 2 or "usage" in capsys.readouterr().err


def test_the_tables_have_every_board_of_fewer_than_60_cells_and_8x8():
    sizes = {(rows, columns) for rows in range(1, 8) for columns in range(rows, 59 // rows + 1)}
    assert set(covered_sizes()) == sizes | {(8, 8)}
    assert is_covered(5, 3)
    assert is_covered(3, 5)
    assert not is_covered(8, 9)
    assert all(is_covered(*size) for size in covered_sizes())


@pytest.mark.parametrize("size", [Size(1, 9), Size(2, 29), Size(3, 19), Size(5, 11), Size(6, 9), Size(8, 8)])
def test_openings_that_are_alike_by_symmetry_have_one_winner_in_the_tables(size):
    winners = shipped_pairs(size)
    for image in symmetries(*size):
        assert (winners[np.ix_(image, image)] == winners)[winners > 0].all()


@pytest.mark.slow
@pytest.mark.parametrize("size", [Size(1, 2), Size(3, 3), Size(4, 7), Size(7, 4)])
def test_the_map_of_refutations_is_drawn_for_boards_of_any_shape(size):
    winners = shipped_pairs(size).copy()
    winners[0, 1] = 0
    assert "Winning replies to each first placement," in to_svg(draw_chart(refutation_maps(summarise(winners, size))))


@pytest.mark.parametrize(
    ("size", "complaint"),
    [
        ("12x11", "12x11 is too large: the solver supports boards of up to 128 cells"),
        ("1x1", "board has only one cell and no placement pair: use a larger board"),
        ("7", "must be ROWSxCOLUMNS, such as 7x7"),
    ],
)
def test_boards_that_cannot_be_solved_are_refused_before_anything_is_written(tmp_path, size, complaint):
    with pytest.raises(ValueError, match=complaint):
        solve_all(parse_size(size), tmp_path / "solved.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_depth_is_refused(tmp_path):
    with pytest.raises(ValueError, match="of nodes or time"):
        solve_all(Size(4, 4), tmp_path / "solved.parquet", limit=Limit(depth=3))


def test_a_file_of_another_board_or_of_something_else_is_left_alone(tmp_path):
    other = tmp_path / "other.parquet"
    solve_all(Size(3, 4), other)
    before = other.read_bytes()
    with pytest.raises(ValueError, match="the openings of 3x4, not those of 4x3"):
        solve_all(Size(4, 3), other)
    assert other.read_bytes() == before
    strange = tmp_path / "strange.parquet"
    pq.write_table(pa.table({"a": [1]}), strange)
    text = tmp_path / "text.parquet"
    text.write_text("not a table")
    for path in (strange, text):
        with pytest.raises(ValueError, match=path.name):
            solve_all(Size(4, 3), path)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot write there"):
        solve_all(Size(3, 3), tmp_path / "file" / "solved.parquet")


def test_boards_without_a_shipped_table_say_how_to_solve_them():
    with pytest.raises(ValueError, match="isolation perfect solve --all --board 8x9"):
        shipped_pairs(Size(8, 9))
