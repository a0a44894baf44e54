"""`isolation runs --verify`: whatever a verdict rests on is read, and one changed character is found in each file."""

import json
import random
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from invented_runs import gauntlet

from knights_isolation.command_line.main import main
from knights_isolation.experiments.plan.run_keeping import finish
from knights_isolation.experiments.record.checked_json import write_json
from knights_isolation.experiments.record.checked_lines import append_lines, open_journal
from knights_isolation.experiments.record.checked_parquet import save_table
from knights_isolation.experiments.record.run_directory import TRIES_SETTING
from knights_isolation.experiments.record.tries import Try, add_tries
from knights_isolation.experiments.studies.cascade import admit
from knights_isolation.experiments.studies.evaluation import EvaluationTask
from knights_isolation.experiments.studies.noted_tries import keep_source
from knights_isolation.experiments.verification import verify

FIRST = Try("screen", "A", "B", "ID:a", "aaa", "", "suite 7x7", 9, (1.0, 0.5, 1.5), 0.001, None)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a record of every kind."""
    monkeypatch.delenv(TRIES_SETTING)
    home, file = tmp_path / "runs", tmp_path / "it.py"
    file.write_text("def score(game, player):\n    return 1.0\n")
    run = gauntlet(openings=4).write(home / "one")
    write_json(run / "run.json", json.loads((run / "run.json").read_text()))
    finish(run, 8, 0, reproducible=True)
    save_table(run / "labels.parquet", pa.table({"value": [1, 2, 3]}))
    write_json(run / "league.json", {"entries": [1]})
    add_tries([FIRST, FIRST], home)
    keep_source(f"ID:{file}", home)
    append_lines(home / "evaluated" / "key.jsonl", [{"evaluation": {"score": 1.5}, "inputs": {}}] * 2)
    admit(home / "evaluated", EvaluationTask(), file, "score", 1.5, {})
    open_journal(home / "discover" / "journal.jsonl", {"what": "discovery"}, dict)
    return home


def states(home: Path) -> dict[str, bool]:
    return {str(Path(each.file).relative_to(home)): each.is_damaged for each in verify(home)}


def test_every_kind_of_record_is_verified_and_a_changed_character_found(project: Path) -> None:
    generator = random.Random(1)
    whole = states(project)
    assert list(whole.values()) == [False] * 10
    for path in sorted(each for each in project.rglob("*") if each.is_file() and each.suffix != ".toml"):
        data = path.read_bytes()
        digits = [place for place, byte in enumerate(data) if chr(byte).isdigit() or path.suffix == ".parquet"]
        for place in generator.sample(digits, 6) if len(digits) > 6 else digits:
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            damaged = [name for name, is_damaged in states(project).items() if is_damaged]
            assert damaged, f"{path} at {place}"
            near = (path, path.parent, path.parent / "champion.json", path.parents[1] / "finished.json")
            assert {project / name for name in damaged} <= {*near}
        path.write_bytes(data)
    assert states(project) == whole


def test_the_table_names_file_kind_and_state_and_the_exit_code_tells(project: Path) -> None:
    good = CliRunner().invoke(main, ["runs", str(project), "--verify"])
    assert good.exit_code == 0
    log = project / "tries.jsonl"
    log.write_text(log.read_text().replace("0.001", "0.101") + '{"sealed": true, "co')
    older = project / "discover" / "journal.jsonl"
    older.write_text(json.dumps({"what": "discovery"}) + "\n" + json.dumps(asdict(FIRST)) + "\n" + '{"sealed": tr')
    result = CliRunner().invoke(main, ["runs", str(project), "--verify", "--format", "json"])
    assert result.exit_code == 1
    rows = {Path(row["file"]).name: (row["what"], row["state"]) for row in json.loads(result.output)}
    assert rows["tries.jsonl"][0] == "log of tries"
    assert rows["tries.jsonl"][1].startswith("damaged: line 1 and 1 others: damaged or edited by hand; restore")
    assert rows["journal.jsonl"] == (
        "journal",
        "readable; 2 lines of an older version without checksum; the last line was cut off and is not read",
    )


def test_games_of_another_run_and_lost_ones_are_found(project: Path) -> None:
    (part,) = (project / "one/games").glob("*.parquet")
    other = gauntlet(openings=4, contenders=("Other",)).write(project / "two")
    (theirs,) = (other / "games").glob("*.parquet")
    theirs.write_bytes(part.read_bytes())
    assert [name for name, is_damaged in states(project).items() if is_damaged] == ["two/games"]
    part.unlink()
    assert [name for name, is_damaged in states(project).items() if is_damaged] == ["one/finished.json", "two/games"]
