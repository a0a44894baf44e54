"""Atomic writes: a file appears whole or not at all, survives a crash, and has one writer at a time."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from knights_isolation.experiments.plan.run_keeping import RunLockedError, locked
from knights_isolation.experiments.record.checked_parquet import write_parquet
from knights_isolation.isolation.files import atomic_write
from knights_isolation.isolation.files.atomic_write import (
    check_output,
    make_folder,
    sweep,
    write_atomic,
    write_text,
    written_often,
)


def write_table(path: Path) -> None:
    write_parquet(path, pa.table({"number": [1]}))


def test_a_target_is_checked_before_anything_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: tmp_path / "locked" not in (path, path.parent))
    (tmp_path / "locked").mkdir()
    for target, why in (
        (tmp_path, "is a directory: name a file"),
        (tmp_path / "no" / "it.svg", "no: no such directory"),
        (tmp_path / "it.gif", "unknown format '.gif': use .svg or .png"),
        (tmp_path / "locked" / "it.svg", "cannot write there: permission denied"),
    ):
        with pytest.raises(ValueError, match=why):
            check_output(target, (".svg", ".png"))
    check_output(tmp_path / "it.svg", (".svg", ".png"))
    check_output(tmp_path / "no" / "further", makes_folders=True)
    with pytest.raises(ValueError, match="cannot write there"):
        check_output(tmp_path / "locked", makes_folders=True)


WRITERS = [lambda path: write_text(path, "new"), write_table]


@pytest.mark.parametrize("write", WRITERS)
def test_a_file_is_synced_renamed_and_its_folder_synced_in_this_order(
    write: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    sync, replace = os.fsync, Path.replace

    def seen_sync(descriptor: int) -> None:
        steps.append("sync folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync file")
        sync(descriptor)

    def seen_replace(self: Path, target: Path) -> Path:
        assert self.stat().st_size > 0
        steps.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", seen_sync)
    monkeypatch.setattr(Path, "replace", seen_replace)
    write(tmp_path / "file")
    assert steps == ["sync file", "rename", "sync folder"]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("write", WRITERS)
def test_a_full_disk_leaves_what_was_there_and_nothing_else(
    write: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises((OSError, ValueError), match="No space left on device"):
        write(tmp_path / "file")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "old")]


def test_what_a_failing_writer_wrote_is_gone(tmp_path: Path) -> None:
    def fail(file: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_atomic(tmp_path / "file", fail)
    assert not any(tmp_path.iterdir())


def test_two_that_write_the_same_file_at_a_time_do_not_mix(tmp_path: Path) -> None:
    def write_inside(file: object) -> None:
        file.write(b"outer")  # type: ignore[attr-defined]
        write_text(tmp_path / "file", "inner")

    write_atomic(tmp_path / "file", write_inside)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "outer")]


def test_others_may_read_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_text(tmp_path / "file", "text")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_table_is_written_with_its_folder_or_refused_in_one_line(tmp_path: Path) -> None:
    write_table(tmp_path / "new" / "table.parquet")
    assert pq.read_table(tmp_path / "new" / "table.parquet")["number"].to_pylist() == [1]
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="cannot write there"):
        write_table(tmp_path / "file" / "table.parquet")


def test_a_lock_keeps_another_process_out_until_its_holder_has_died(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from knights_isolation.experiments.plan.run_keeping import locked\n"
        "with locked(Path(sys.argv[1])):\n    print('held', flush=True)\n    input()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(RunLockedError, match=f"process {holder.pid} is writing to this run"), locked(tmp_path):
        pass
    holder.kill()
    holder.communicate()
    with locked(tmp_path):
        assert (tmp_path / "lock").read_text() == str(os.getpid())


def test_what_reads_runs_is_imported_where_there_are_no_such_locks() -> None:
    modules = "experiments.exact.labels, experiments.record.run_directory, experiments.record.log"
    code = f"import sys; sys.modules['fcntl'] = None; import {modules}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_folder_that_is_made_is_on_the_disk_with_those_it_lies_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    make_folder(tmp_path / "runs" / "one")
    assert synced == [(tmp_path / "runs").stat().st_ino, tmp_path.stat().st_ino]
    make_folder(tmp_path / "runs" / "one")
    assert len(synced) == 2


def test_what_a_killed_process_left_of_a_file_goes_and_nothing_else(tmp_path: Path) -> None:
    for name in (".run.json.0a1b2c3d", ".other.json.0a1b2c3d", "run.json", ".run.json"):
        (tmp_path / name).touch()
    sweep(tmp_path / "run.json")
    assert {path.name for path in tmp_path.iterdir()} == {".other.json.0a1b2c3d", "run.json", ".run.json"}


def test_a_growing_file_is_written_now_and_then_and_once_more_whatever_ends_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, written = [0.0], list[float]()
    monkeypatch.setattr(atomic_write, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def work() -> None:
        with written_often(lambda: written.append(now[0])) as look:
            for now[0] in (1.0, 5.5, 6.0, 10.0, 11.0, 12.0):
                look()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert written == [5.5, 11.0, 12.0]
