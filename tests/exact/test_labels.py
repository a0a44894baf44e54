"""Labels of a log: what perfect play says of every move, complete, resumable, and refused where it is out of reach."""

from __future__ import annotations

import random

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from played_games import random_record, write_games, write_run
from random_games import random_game

import knights_isolation as ki
from cli import main
from knights_isolation.experiments.exact import labelling, labels
from knights_isolation.experiments.exact.accuracy import run_decisions
from knights_isolation.experiments.exact.labelling import label_moves, label_run
from knights_isolation.experiments.exact.labels import mistakes, read_labels
from knights_isolation.experiments.game_files import append_game
from knights_isolation.experiments.plan.run_keeping import locked
from knights_isolation.experiments.record.log import read_games
from knights_isolation.experiments.record.run_directory import LABELS_FILE
from knights_isolation.isolation import Board, Limit, solve
from knights_isolation.isolation.rules.game import Size
from knights_isolation.reports.board.handlers import games
from knights_isolation.reports.board.resources import GamesQuestion, Resources
from knights_isolation.reports.replay import replay_of_run

PLENTY = Limit(nodes=10**9)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("labelled") / "run"
    write_run(path, 12)
    label_run(path)
    return path


def fresh(tmp_path, games=12):
    write_run(tmp_path / "run", games)
    return tmp_path / "run"


def rows(path):
    return {
        row.game_id: {name: tuple(getattr(row, name)) for name in labels.PER_PLY}
        for row in read_labels(path).itertuples()
    }


def test_every_agents_move_is_labelled_as_the_solver_judges_it(run):
    labelled = rows(run)
    games = read_games(run)
    assert list(labelled) == games["game_id"].tolist()
    for game in games.itertuples():
        label = labelled[game.game_id]
        assert {len(values) for values in label.values()} == {game.plies}
        for ply, cell in enumerate(game.moves):
            result = tuple(label[name][ply] for name in labels.PER_PLY)
            if ply < len(game.opening):
                assert result == (-1, -1, -1, -1)
                continue
            board = Board.from_moves(game.moves[:ply], "5x5")
            solution = solve(board)
            won = solution.winner - 1 == board.active_index
            kept = int(cell in solution.moves) if won else -1
            assert result == (int(won), len(solution.moves), len(board.legal_cells()), kept)


def test_the_value_after_a_move_follows_from_the_move(run):
    for label in rows(run).values():
        for ply in range(2, len(label["value"]) - 1):
            if label["value"][ply]:
                assert label["value"][ply + 1] == 1 - label["kept"][ply]
            else:
                assert label["value"][ply + 1] == 1


def test_mistakes_are_the_plies_that_threw_the_win_away(run):
    labelled = rows(run)
    expected = {game: tuple(np.flatnonzero(np.array(label["kept"]) == 0)) for game, label in labelled.items()}
    assert {game: mistakes(run, game) for game in labelled} == expected
    assert any(expected.values())


@pytest.mark.parametrize(
    "read",
    [
        read_labels,
        run_decisions,
        lambda run: ki.games(run),
        lambda run: games(GamesQuestion(run=run.name), Resources((run,))),
        lambda run: replay_of_run(run, 0),
        lambda run: label_run(run, sample=3),
    ],
    ids=["labels", "accuracy", "games", "board", "replay", "label"],
)
def test_labels_of_another_run_are_refused_whoever_reads_them(read, tmp_path):
    run, other = fresh(tmp_path, 6), tmp_path / "other"
    write_games(other, [random_record(seed) for seed in range(50, 56)])
    label_run(other, sample=3)
    (run / LABELS_FILE).write_bytes((other / LABELS_FILE).read_bytes())
    with pytest.raises(ValueError, match="does not belong to the games of this run"):
        read(run)


def test_lists_of_games_say_how_often_a_win_was_thrown_away_in_each(tmp_path):
    run = fresh(tmp_path, 6)
    assert "mistakes" not in ki.games(run).to_frame()
    advised = CliRunner().invoke(main, ["games", str(run)])
    assert f"To see mistakes in won games, run isolation perfect label {run}." in advised.output
    label_run(run, sample=4)
    results = ki.games(run, kind="longest").sections[0].rows
    known = read_labels(run)["game_id"].tolist()
    counted = {game_id: len(mistakes(run, game_id)) for game_id in known}
    assert {row["game_id"]: row["mistakes"] for row in results} == dict.fromkeys(range(6)) | counted
    assert sum(counted.values()) > 0
    result = CliRunner().invoke(main, ["games", str(run), "--format", "csv"])
    assert result.output.splitlines()[0] == "game_id,agent_1,agent_2,won_by,plies,mistakes,reason,detail"
    assert "To see mistakes" not in CliRunner().invoke(main, ["games", str(run)]).output


def test_a_run_without_labels_has_no_mistakes_to_show_and_says_how_to_get_them(tmp_path):
    path = fresh(tmp_path, 1)
    assert mistakes(path, 0) == ()
    with pytest.raises(ValueError, match="isolation perfect label"):
        read_labels(path)


@pytest.mark.slow
def test_several_processes_label_alike(run, tmp_path):
    path = fresh(tmp_path)
    assert label_run(path, jobs=2) == 12
    assert rows(path) == rows(run)


def test_an_interrupted_run_goes_on_where_it_stopped(run, tmp_path, monkeypatch):
    monkeypatch.setattr(labelling, "_BATCH", 2)
    path = fresh(tmp_path)

    def stop(done, games):
        if done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        label_run(path, show=stop)
    kept = len(read_labels(path))
    assert 5 <= kept < 12
    seen = []
    assert label_run(path, show=lambda done, games: seen.append((done, games))) == 12
    assert seen[0] == (kept, 12)
    assert rows(path) == rows(run)


def test_games_logged_later_are_labelled_later(tmp_path):
    path = fresh(tmp_path, 5)
    label_run(path)
    for seed in range(3):
        append_game(path, random_record(seed), (None, None))
    assert label_run(path) == 8
    assert len(read_labels(path)) == 8


def test_a_sample_is_part_of_a_larger_sample(run, tmp_path):
    path, whole = fresh(tmp_path), rows(run)
    assert label_run(path, sample=4) == 4
    few = rows(path)
    assert label_run(path, sample=9) == 9
    options = rows(path)
    assert set(few) < set(options) < set(whole)
    assert all(options[game] == whole[game] for game in options)
    assert label_run(path, sample=100) == 12


def test_early_plies_can_be_left_out(run, tmp_path):
    path, whole = fresh(tmp_path, 12), rows(run)
    label_run(path, first_ply=8)
    for game, label in rows(path).items():
        for name in labels.PER_PLY:
            assert label[name][8:] == whole[game][name][8:]
            assert set(label[name][:8]) <= {-1}


def test_a_small_limit_leaves_early_positions_unknown_and_late_ones_right():
    rng = random.Random(4)
    for _ in range(10):
        board = random_game(rng, 6, 6, 36)
        whole = label_moves(board.history, 2, Size(6, 6), PLENTY)
        part = label_moves(board.history, 2, Size(6, 6), Limit(nodes=200))
        assert part[-1] == whole[-1]
        assert any(ply[0] < 0 for ply in part[2:])
        for known, partly in zip(whole[2:], part[2:], strict=True):
            assert all(first in (-1, second) for first, second in zip(partly, known, strict=True))
            assert partly[2] == known[2]


def test_placements_are_labelled_too_where_agents_made_them():
    first, second = label_moves((12, 1), 0, Size(5, 5), PLENTY)
    assert first == (0, 0, 25, -1)
    assert second == (1, len(solve(Board.from_moves([12], "5x5")).moves), 24, 0)


def test_a_board_out_of_reach_is_refused_and_nothing_is_written(tmp_path):
    path = fresh(tmp_path)
    with pytest.raises(ValueError, match=r"with nodes=1 only \d+ of the first \d+ positions on 5x5 can be solved"):
        label_run(path, limit=Limit(nodes=1))
    assert not (path / LABELS_FILE).exists()


def test_labels_of_another_kind_are_not_mixed_in(tmp_path):
    path = fresh(tmp_path)
    label_run(path, sample=3)
    before = (path / LABELS_FILE).read_bytes()
    with pytest.raises(ValueError, match="delete it and label again"):
        label_run(path, limit=Limit(nodes=10**6))
    assert (path / LABELS_FILE).read_bytes() == before


def test_bad_input_is_refused(tmp_path):
    path = fresh(tmp_path, 2)
    with pytest.raises(ValueError, match="not a run directory"):
        label_run(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="the sample must have at least 1 game, not 0"):
        label_run(path, sample=0)
    with pytest.raises(ValueError, match="of nodes or time"):
        label_run(path, limit=Limit(depth=2))
    with locked(path), pytest.raises(ValueError, match="is writing to this run"):
        label_run(path)
    (path / LABELS_FILE).write_text("not a table")
    with pytest.raises(ValueError, match=r"labels\.parquet is damaged or not a log file.*label again"):
        label_run(path)


def test_the_file_says_how_it_was_made(run):
    metadata = pq.read_schema(run / LABELS_FILE).metadata
    assert metadata[b"isolation.labels"] == b"first_ply=0 nodes=20000000"
