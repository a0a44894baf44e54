"""Append-only records: whatever character of a line changes is named, and what a kill cuts off costs only itself."""

import json
import multiprocessing
import random
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pytest

from knights_isolation.experiments.discovery.campaign import SearchTask, run_campaign
from knights_isolation.experiments.record.checked_lines import (
    DamagedFileError,
    append_lines,
    inspect_lines,
    open_journal,
    read_lines,
)
from knights_isolation.experiments.record.run_directory import TRIES, TRIES_SETTING
from knights_isolation.experiments.record.tries import Try, add_tries, read_tries
from knights_isolation.experiments.studies.batches import BatchResult
from knights_isolation.isolation.rules.game import Size

FIRST = Try("screen", "Ä", "B", "ID:a", "aaa", "", "suite 7x7", 9, (1.0, 0.5, 1.5), 0.001, None)
SETTINGS = {"what": "tuning", "plan": [1, 2]}


@pytest.fixture(autouse=True)
def log_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TRIES_SETTING)


def write_tries(path: Path) -> Callable[[], object]:
    """Write a record, and return what reads it."""
    add_tries([FIRST, FIRST], path.parent)
    (path.parent / TRIES).rename(path)
    return lambda: read_lines(path, dict, "restore it")


def write_tuning(path: Path) -> Callable[[], object]:
    open_journal(path, SETTINGS, dict)
    append_lines(path, [asdict(BatchResult(key, "0120", 0)) for key in range(2)])
    return partial(open_journal, path, SETTINGS, lambda line: BatchResult(**line))


def write_discovery(path: Path) -> Callable[[], object]:
    question = SearchTask(Size(6, 6))
    read = partial(run_campaign, question, path, 0.0)
    read()
    found = {"program": [["count", 0, "", 0, -1, "", 1.0, 0.5]], "cost": 9.0, "train": 0.5, "validation": 0.5}
    append_lines(path, [{"round": 0, "index": index, "seconds": 0.5, "candidates": 4, **found} for index in range(2)])
    return read


@pytest.mark.parametrize("write", [write_tries, write_tuning, write_discovery])
def test_a_changed_character_is_named_at_every_place(
    write: Callable[[Path], Callable[[], object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knights_isolation.experiments.discovery.programs.compiled_interpreter", lambda size: None)
    path = tmp_path / "record.jsonl"
    read = write(path)
    read()
    data = path.read_bytes()
    generator = random.Random(1)
    for place, byte in enumerate(data):
        other = generator.choice(sorted({*b"09\n }x", byte ^ 1} - {byte})) if place else ord("\n")
        path.write_bytes(data[:place] + bytes([other]) + data[place + 1 :])
        line = data[:place].count(b"\n") + 1
        with pytest.raises(DamagedFileError, match=rf"\.jsonl, line ({line}|{line + 1})( and 1 others)?: damaged"):
            read()


def test_a_record_cut_off_anywhere_loses_its_last_line_alone(tmp_path: Path) -> None:
    write_tries(tmp_path / TRIES)
    data = (tmp_path / TRIES).read_bytes()
    last = data[:-1].rindex(b"\n") + 1
    for end in range(last, len(data) + 1):
        (tmp_path / TRIES).write_bytes(data[:end])
        whole = ["Ä", "Ä"] if end >= len(data) - 1 else ["Ä"]
        assert [each.agent for each in read_tries(tmp_path)] == whole
        add_tries([replace(FIRST, agent="later")], tmp_path)
        assert [each.agent for each in read_tries(tmp_path)] == [*whole, "later"]


def test_a_journal_cut_off_in_its_first_line_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "it.jsonl"
    open_journal(path, SETTINGS, dict)
    data = path.read_bytes()
    for end in range(len(data) - 1):
        path.write_bytes(data[:end])
        assert open_journal(path, SETTINGS, dict) == []
        assert path.read_bytes() == data


def test_a_damaged_last_line_is_not_taken_for_a_torn_one_by_the_next_writer(tmp_path: Path) -> None:
    path = tmp_path / "it.jsonl"
    append_lines(path, [{"a": 1}])
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    append_lines(path, [{"a": 2}])
    assert (inspect_lines(path).damaged, inspect_lines(path).records) == ([1], {2: {"a": 2}})


def test_lines_of_older_versions_are_read_and_counted(tmp_path: Path) -> None:
    (tmp_path / TRIES).write_text(json.dumps(asdict(FIRST)) + "\n")
    add_tries([replace(FIRST, agent="later")], tmp_path)
    assert [each.agent for each in read_tries(tmp_path)] == ["Ä", "later"]
    assert inspect_lines(tmp_path / TRIES).unsealed == 1
    (tmp_path / TRIES).write_text(json.dumps({"command": "screen"}) + "\n")
    with pytest.raises(DamagedFileError, match=r"tries.jsonl, line 1: damaged or edited by hand; restore the file"):
        read_tries(tmp_path)


def test_a_full_disk_leaves_nothing_of_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    add_tries([FIRST], tmp_path)
    data = (tmp_path / TRIES).read_bytes()
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        add_tries([FIRST], tmp_path)
    assert (tmp_path / TRIES).read_bytes() == data


def add_many(home: Path, name: str) -> None:
    for number in range(50):
        add_tries([replace(FIRST, agent=f"{name}{number}")], home)


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    writers = [multiprocessing.Process(target=add_many, args=(tmp_path, name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(each.agent for each in read_tries(tmp_path)) == sorted(f"{n}{i}" for n in "ab" for i in range(50))
