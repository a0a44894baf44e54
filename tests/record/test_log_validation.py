"""Log rows that do not belong to their run are refused in one line, on resuming and on reading."""

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scripted_pool import here

from cli import main
from knights_isolation.experiments.plan import run_keeping
from knights_isolation.experiments.plan.config import Config, load_config
from knights_isolation.experiments.plan.tournament_plan import Plan, make_plan
from knights_isolation.experiments.play.finished_games import check_scheduled
from knights_isolation.experiments.play.game_recorder import GameRecorder
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.record import log, log_parts, run_directory
from knights_isolation.experiments.record.checked_json import read_json
from knights_isolation.experiments.statistics.run_results import load_findings

KEYS = {"format": "head-to-head", "contenders": ["greedy"], "baseline": "random", "pairs": 4, "jobs": 1}


def config(run: Path, **keys: Any) -> Config:
    return load_config(None, {**KEYS, **keys, "out": str(run)})


def plan_of(run: Path) -> Plan:
    return make_plan(load_config(run / run_directory.CONFIG))


def check(run: Path) -> None:
    plan = plan_of(run)
    check_scheduled(run, plan.schedule, [entrant.settings for entrant in plan.entrants])


def begun(run: Path, games: slice = slice(0, 4), **keys: Any) -> Path:
    """A run of which some games have been played."""
    play_tournament(config(run, **keys), pools=here)
    (part,) = log.live_files(log.games_folder(run))
    table = log.read_part(part).sort_by("game_id")
    part.unlink()
    (run / run_directory.END).unlink()
    log_parts.append(log.games_folder(run), table.take(pa.array(range(len(table))[games])))
    return run


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begun(tmp_path_factory.mktemp("belonging") / "run")


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "run")


def put(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Write the run's part anew with its second game changed."""
    (part,) = log.live_files(log.games_folder(run))
    rows = log.read_part(part).to_pylist()
    change(rows[1])
    part.unlink()
    log_parts.append(log.games_folder(run), pa.Table.from_pylist(rows, log.SCHEMA))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"seed": 5}, r"opening is not the scheduled one|seed is not the scheduled one"),
        ({"contenders": ["Same=greedy"]}, "agent_[12] is not the scheduled one"),
        ({"contenders": ["Greedy=ID:open@nodes=50"]}, "settings_[12] is not the scheduled one"),
        ({"board": "5x5"}, "rows is not the scheduled one"),
        ({"pairs": 6}, "no such game is scheduled"),
    ],
)
def test_another_run_s_part_is_refused(keys: dict[str, Any], why: str, run: Path, tmp_path: Path) -> None:
    other = begun(tmp_path / "other", slice(4, None), **keys)
    (part,) = log.live_files(log.games_folder(other))
    part.rename(log.games_folder(run) / "games-000007-000007.parquet")
    with pytest.raises(
        ValueError, match=rf"games-000007-000007\.parquet does not belong to this run: game \d+: ({why})"
    ):
        play_tournament(config(run), resume=True, pools=here)
    assert log.count_games(run) == 4 + log.count_games(run) - 4


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("game_id", None), ("game_id", -1), ("game_id", 10**12), ("game_id", 8), ("pair_id", 3), ("winner", 0),
        ("winner", 3), ("winner", None), ("seed", 1), ("opening", [1, 2]), ("opening_id", 1), ("orbit", None),
        ("agent_1", None), ("agent_2", "Nobody"), ("settings_1", "{}"), ("reason", "boredom"), ("colours", "none"),
        ("columns", 9), ("population", 5),
    ],
)  # fmt: skip
def test_a_row_with_one_wrong_number_is_refused(column: str, value: Any, run: Path) -> None:
    check(run)
    put(run, lambda row: row.update({column: value}))
    with pytest.raises(ValueError, match=r"games-000001-000001\.parquet.*" + column.split("_")[0]) as message:
        GameRecorder(run, plan_of(run))
    assert "\n" not in str(message.value)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("game_id", None), ("game_id", -1), ("winner", 0), ("winner", 3), ("winner", None), ("agent_1", None),
        ("agent_2", "Nobody"), ("settings_1", "{}"), ("reason", "boredom"), ("columns", 9), ("seed", 7),
        ("opening_id", 7),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["results", "ratings"])
def test_reading_a_run_with_a_foreign_row_ends_in_one_line(command: str, column: str, value: Any, run: Path) -> None:
    put(run, lambda row: row.update({column: value}))
    result = CliRunner().invoke(main, [command, str(run)])
    assert result.exit_code == 2
    assert "games-000001-000001.parquet" in result.output
    assert len(result.output.splitlines()) == 1


def test_reading_a_run_with_a_part_of_another_seed_s_run_ends_in_one_line(run: Path, tmp_path: Path) -> None:
    other = begun(tmp_path / "other", slice(4, 8), seed=2)
    shutil.copy(other / "games" / "games-000001-000001.parquet", run / "games" / "games-000002-000002.parquet")
    result = CliRunner().invoke(main, ["results", str(run)])
    assert result.exit_code == 2
    assert "games-000002-000002.parquet does not belong to this run" in result.output
    assert "seed" in result.output


def test_a_run_with_duplicate_games_is_mended_by_the_command_that_the_message_names(run: Path) -> None:
    play_tournament(config(run), resume=True, pools=here)
    games = load_findings([run]).games
    part = log.read_part(log.live_files(log.games_folder(run))[0])
    log_parts.append(log.games_folder(run), part.slice(2, 3))
    result = CliRunner().invoke(main, ["results", str(run)])
    assert result.exit_code == 2
    message, _, goes_on = result.output.partition("; to remove them: isolation ")
    assert message == f"Error: {run}: contains duplicate games"
    mended = CliRunner().invoke(main, shlex.split(goes_on))
    assert mended.exit_code == 0
    assert "removed 3 duplicate games from the log" in mended.output
    pd.testing.assert_frame_equal(load_findings([run]).games, games)
    assert read_json(run / run_directory.END)["games"] == 8


def test_what_belongs_is_gone_on_with(run: Path) -> None:
    assert play_tournament(config(run), resume=True, pools=here).finished
    assert load_findings([run]).games["game_id"].tolist() == list(range(8))


# run.json


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("games",), "many"), (("agents",), []), (("agents", "Greedy"), 3), (("agents", "Greedy", "settings"), 3),
        (("agents", "Greedy", "settings"), "[]"), (("agents", "Greedy", "settings"), "{"),
        (("agents", "Greedy", "roles"), "contender"), (("agents", "Greedy", "deterministic"), "perhaps"),
        (("requested",), None), (("requested", "board"), 7), (("requested", "seed"), "one"), (("notes",), {}),
        (("processor_costs",), {"a": "b"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["results", "ratings"])
def test_a_run_json_of_wrong_types_is_refused(keys: tuple[str, ...], value: Any, command: str, run: Path) -> None:
    facts = read_json(run / run_directory.FACTS)
    index = facts
    for key in keys[:-1]:
        index = index[key]
    index[keys[-1]] = value
    (run / run_directory.FACTS).write_text(json.dumps(facts))
    result = CliRunner().invoke(main, [command, str(run)])
    assert result.exit_code == 2
    assert "run.json: cannot be read" in result.output
    assert len(result.output.splitlines()) == 1


def test_out_may_begin_with_a_tilde_that_is_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_keeping.new_directory(config(Path("./~nobody-is-called-this"))) == Path("~nobody-is-called-this")


def test_games_of_another_run_are_neither_listed_nor_shown(run: Path) -> None:
    put(run, lambda row: row.update(winner=3))
    for words in (["games", str(run)], ["replay", str(run), "0"]):
        result = CliRunner().invoke(main, words)
        assert (result.exit_code, len(result.output.splitlines())) == (2, 1)
        assert "does not belong to this run" in result.output


def test_a_damaged_run_is_left_out_of_the_list_with_a_word(run: Path) -> None:
    (run / run_directory.FACTS).write_text("{")
    with pytest.warns(UserWarning, match=r"run skipped: .*run\.json: cannot be read"):
        assert run_directory.list_runs(run.parent) == []


def test_a_run_can_begin_where_one_was_killed_before_it_had_begun(tmp_path: Path) -> None:
    half_written = tmp_path / "run" / f".{run_directory.CONFIG}.0a1b2c3d"
    half_written.parent.mkdir()
    half_written.touch()
    assert play_tournament(config(tmp_path / "run", pairs=1), pools=here).finished
    assert not half_written.exists()
