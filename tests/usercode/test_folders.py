"""Temporary folders: removed with their makers or by later processes, never while in use."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from knights_isolation.isolation.files.folders import LOCK, temporary_folder

MAKE = (
    "import os, sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
    "from knights_isolation.isolation.files.folders import temporary_folder\n"
    "print(temporary_folder('tests').path, flush=True)\n"
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def made(home: Path, then: str) -> tuple[Path, subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", MAKE + then, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    return Path(process.stdout.readline().strip()), process


def test_a_folder_goes_with_its_process(home: Path) -> None:
    folder, process = made(home, "")
    process.communicate()
    assert folder.parent == home
    assert not folder.exists()


def test_what_a_killed_process_leaves_is_removed_by_the_next_and_what_is_in_use_is_not(home: Path) -> None:
    killed, process = made(home, "os.kill(os.getpid(), 9)")
    process.communicate()
    used, living = made(home, "input()")
    (killed / "markers").touch()
    young, process = made(home, "os.kill(os.getpid(), 9)")
    process.communicate()
    for old in (killed, used):
        os.utime(old, (0, 0))
    other_kind, unlocked = home / "isolation-other-x", home / "isolation-tests-x"
    other_kind.mkdir()
    (other_kind / LOCK).touch()
    unlocked.mkdir()
    os.utime(unlocked, (0, 0))
    mine = temporary_folder("tests")
    assert [folder.exists() for folder in (killed, used, young, other_kind, unlocked, mine.path)] == [
        False,
        *[True] * 5,
    ]
    living.communicate("\n")
    mine.remove()
    assert not used.exists()
    assert not mine.path.exists()
