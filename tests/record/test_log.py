"""The log: what is written is read back, parts appear whole or not at all, and merging loses nothing when killed."""

import itertools
import json
import multiprocessing
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.run_keeping import locked
from knights_isolation.experiments.plan.tournament_plan import Plan, make_plan
from knights_isolation.experiments.play.finished_games import FinishedGames, forfeited_game, games_table, joined
from knights_isolation.experiments.record import log, log_parts
from knights_isolation.isolation.files.received import DamagedFileError
from knights_isolation.isolation.games.match import play_games


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(
        load_config(None, {"format": "head-to-head", "contenders": ["random"], "baseline": "greedy", "pairs": 30})
    )


def played(plan: Plan, ids: list[int]) -> FinishedGames:
    """These games of the plan."""
    return joined([_one(plan, id_) for id_ in ids])


def _one(plan: Plan, id_: int) -> FinishedGames:
    ids = np.array([id_])
    (sides,) = plan.schedule.players(ids)
    first, second = (plan.entrants[index].agent for index in sides)
    games = play_games(first, second, plan.schedule.openings(ids), plan.schedule.seeds(ids).tolist(), interpreted=True)
    return FinishedGames(ids, games, started_us=np.array([1_700_000_000_000_000 + id_]))


def table_of(plan: Plan, ids: list[int]) -> object:
    return games_table(plan.schedule, [entrant.settings for entrant in plan.entrants], played(plan, ids))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    log.games_folder(tmp_path).mkdir()
    return tmp_path


def test_some_games_at_a_time_are_those_of_all_parts_in_their_order(plan: Plan, run: Path, monkeypatch) -> None:
    monkeypatch.setattr(log, "_BATCH", 2)
    for ids in ([3, 0, 5], [1, 2]):
        log_parts.append(log.games_folder(run), table_of(plan, ids))
    columns = log.fold_batches(run, ["moves", "game_id"], list)
    assert [games.column_names for games in columns] == [["moves", "game_id"]] * 3
    assert [games["game_id"].to_pylist() for games in columns] == [[3, 0], [5], [1, 2]]
    assert pa.concat_tables(columns).equals(log.read_table(run, ["moves", "game_id"]))


def test_games_that_are_merged_while_they_are_read_count_once(plan: Plan, run: Path) -> None:
    folder = log.games_folder(run)
    for ids in ([3, 0], [1, 2]):
        log_parts.append(folder, table_of(plan, ids))

    def look(games: pa.Table) -> int:
        log_parts.merge(folder)
        return len(games)

    assert log.fold_batches(run, ["game_id"], lambda games: sum(map(look, games))) == 4
    assert len(log.live_files(folder)) == 1


def test_a_damaged_part_that_is_read_by_some_games_at_a_time_is_named_with_a_way_out(plan: Plan, run: Path) -> None:
    log_parts.append(log.games_folder(run), table_of(plan, [0, 1]))
    (part,) = log.live_files(log.games_folder(run))
    data = bytearray(part.read_bytes())
    data[len(data) // 3] ^= 1
    part.write_bytes(data)
    with pytest.raises(DamagedFileError, match=rf"{part.name}.*replay its games with --resume"):
        log.fold_batches(run, ["game_id"], lambda games: sum(map(len, games)))


def test_what_is_written_is_read_back(plan: Plan, run: Path) -> None:
    log_parts.append(log.games_folder(run), table_of(plan, [3, 0]))
    frame = log.read_games(run)
    assert list(frame.columns) == log.SCHEMA.names
    game = frame.iloc[1]
    assert (frame.game_id.tolist(), frame.pair_id.tolist()) == ([0, 3], [0, 1])
    record = played(plan, [3]).games
    assert game.moves.tolist() == record.moves.tolist()
    assert game.opening.tolist() == game.moves[:2].tolist() == list(plan.schedule.openings(np.array([3]))[0])
    assert (game.agent_1, game.agent_2) == ("Greedy", "Random")
    assert '"kind": "greedy"' in game.settings_1
    assert (game.rows, game["columns"], game.winner, game.reason) == (7, 7, record.winner[0], "no_moves")
    assert game.plies == len(game.moves) == len(game.score) == len(game.depth) == len(game.nodes) == len(game.exact)
    assert np.isnan(game.score[:2]).all()
    assert game.seed == plan.schedule.seeds(np.array([3]))[0]
    assert game.started_at == pd.Timestamp(1_700_000_000_000_003, unit="us", tz="UTC")


def test_columns_have_their_types(plan: Plan, run: Path) -> None:
    log_parts.append(log.games_folder(run), table_of(plan, [0, 1]))
    types = log.read_games(run).dtypes.astype(str).to_dict()
    assert {name: types[name] for name in ("agent_1", "reason", "winner", "seed", "started_at")} == {
        "agent_1": "category",
        "reason": "category",
        "winner": "int8",
        "seed": "uint64",
        "started_at": "datetime64[us, UTC]",
    }


def test_chosen_columns_come_in_the_order_of_the_ids_whatever_the_order_of_the_parts(plan: Plan, run: Path) -> None:
    for ids in ([8, 9], [0, 5], [2, 3]):
        log_parts.append(log.games_folder(run), table_of(plan, ids))
    frame = log.read_games(run, ["winner", "game_id"])
    assert list(frame.columns) == ["winner", "game_id"]
    assert frame.game_id.tolist() == [0, 2, 3, 5, 8, 9]
    assert list(log.read_games(run, ["agent_1"]).columns) == ["agent_1"]


def test_any_parquet_tool_reads_the_folder(plan: Plan, run: Path) -> None:
    log_parts.append(log.games_folder(run), table_of(plan, [0, 1]))
    log_parts.append(log.games_folder(run), table_of(plan, [2]))
    assert sorted(pd.read_parquet(log.games_folder(run)).game_id) == [0, 1, 2]


def test_versions_stand_in_the_files(plan: Plan, run: Path) -> None:
    log_parts.append(log.games_folder(run), table_of(plan, [0]))
    (path,) = log.games_folder(run).iterdir()
    versions = json.loads(pq.read_schema(path).metadata[b"isolation"])
    assert {"knights-isolation", "python", "numba", "numpy", "machine"} <= set(versions)


def test_an_empty_log_and_no_log(run: Path, tmp_path: Path) -> None:
    assert len(log.read_games(run)) == log.count_games(run) == 0
    with pytest.raises(ValueError, match="not a run directory"):
        log.read_games(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="no column 'winer'"):
        log.read_games(run, ["winer"])


def test_merging_sorts_and_keeps_every_game(plan: Plan, run: Path) -> None:
    for ids in ([8, 9], [0, 5], [2, 3]):
        log_parts.append(log.games_folder(run), table_of(plan, ids))
    before = log.read_games(run)
    log_parts.merge(log.games_folder(run))
    (path,) = log.games_folder(run).iterdir()
    assert pq.read_table(path)["game_id"].to_pylist() == [0, 2, 3, 5, 8, 9]
    pd.testing.assert_frame_equal(log.read_games(run), before)


def test_parts_go_on_after_a_merge(plan: Plan, run: Path) -> None:
    folder = log.games_folder(run)
    for ids in ([0, 1], [2]):
        log_parts.append(folder, table_of(plan, ids))
    log_parts.merge(folder)
    log_parts.append(folder, table_of(plan, [3]))
    assert log.read_games(run).game_id.tolist() == [0, 1, 2, 3]
    log_parts.merge(folder)
    assert len(list(folder.iterdir())) == 1


def test_large_parts_are_left_as_they_are(plan: Plan, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = log.games_folder(run)
    monkeypatch.setattr(log_parts, "SMALL_PART", 3)
    monkeypatch.setattr(log_parts, "LARGE_PART", 5)
    for ids in ([0], [1, 2], [3, 4], [5, 6], [7, 8, 9], [10], [11, 12, 13, 14], [15], [16]):
        log_parts.append(folder, table_of(plan, ids))
    log_parts.merge(folder)
    spans = [path.stem for path in log.live_files(folder)]
    assert spans == [f"games-{a:06}-{b:06}" for a, b in ((1, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 9))]
    assert log.read_games(run).game_id.tolist() == list(range(17))


def _die_at(folder: str, step: int) -> None:
    """Merge, and die as by kill -9 at the given system call that changes the folder."""
    calls = itertools.count(1)

    def dying(real: object) -> object:
        def call(*args: object, **keys: object) -> object:
            if next(calls) == step:
                os._exit(9)
            return real(*args, **keys)  # type: ignore[operator]

        return call

    os.fsync = dying(os.fsync)
    Path.replace = dying(Path.replace)  # type: ignore[method-assign]
    Path.unlink = dying(Path.unlink)  # type: ignore[method-assign]
    log_parts.merge(Path(folder))
    os._exit(0)


def test_a_merge_killed_at_any_step_loses_nothing(plan: Plan, run: Path) -> None:
    folder = log.games_folder(run)
    for ids in ([8, 9], [0, 5], [2, 3]):
        log_parts.append(folder, table_of(plan, ids))
    expected = log.read_games(run)
    codes = []
    for step in itertools.count(1):
        process = multiprocessing.get_context("fork").Process(target=_die_at, args=(str(folder), step))
        process.start()
        process.join()
        codes.append(process.exitcode)
        pd.testing.assert_frame_equal(log.read_games(run), expected)
        if process.exitcode == 0:
            break
    assert set(codes[:-1]) == {9}
    assert len(codes) > 4
    assert [path.name for path in folder.iterdir()] == ["games-000001-000003.parquet"]


def test_a_full_disk_leaves_no_trace_of_a_part(plan: Plan, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = log.games_folder(run)
    for ids in ([0], [2]):
        log_parts.append(folder, table_of(plan, ids))
    names = sorted(path.name for path in folder.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _no_space)
        for write in (lambda: log_parts.append(folder, table_of(plan, [1])), lambda: log_parts.merge(folder)):
            with pytest.raises(OSError, match="No space left"):
                write()
    assert sorted(path.name for path in folder.iterdir()) == names
    assert log.read_games(run).game_id.tolist() == [0, 2]


def _no_space(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_part_is_not_seen_before_it_is_whole(plan: Plan, run: Path) -> None:
    folder = log.games_folder(run)
    log_parts.append(folder, table_of(plan, [0]))
    (folder / ".games-000002-000002.parquet").write_bytes(b"PAR1 half a part")
    assert log.read_games(run).game_id.tolist() == [0]
    log_parts.sweep(folder)
    assert len(list(folder.iterdir())) == 1


def test_two_writers_are_kept_apart(run: Path) -> None:
    with locked(run):
        with pytest.raises(ValueError, match=f"process {os.getpid()} is writing to this run"), locked(run):
            pass
        assert (run / "lock").read_text() == str(os.getpid())
    with locked(run):
        pass


def test_a_game_that_could_not_be_played_is_lost_by_the_mover(plan: Plan, run: Path) -> None:
    log_parts.append(
        log.games_folder(run), games_table(plan.schedule, ["", ""], forfeited_game(plan.schedule, 5, 1, "why"))
    )
    game = log.read_games(run).iloc[0]
    assert (game.game_id, game.winner, game.reason, game.detail, game.plies) == (5, 2, "error", "why", 2)
