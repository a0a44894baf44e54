"""A small tournament, played in a process of its own during an attack, and the contents of its log afterwards."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from click.testing import CliRunner

from cli import main
from knights_isolation.experiments.plan.config import Config
from knights_isolation.experiments.play.game_recorder import GameRecorder
from knights_isolation.experiments.play.pools.pool import Event, HerePool, MakePool
from knights_isolation.experiments.play.runner import RunOutcome, RunProgress, play_tournament
from knights_isolation.experiments.record import log, run_directory

TIMES = ["time_us", "started_at"]
"""Columns that differ from run to run."""
KEYS = ("--board", "5x5", "--pairs", "3", "--openings", "random:2", "--jobs", "1", "--seed", "5")
SMALL = ("tournament", "--contender", "MM:open@depth=1", "--contender", "R=random", "--baseline", "greedy",
         "--opponent", "random", "--opponent", "MM:null@depth=1", *KEYS)  # fmt: skip
"""48 games of a few milliseconds."""
PATIENCE = 300
"""Seconds after which a command counts as hanging."""

HANGS = -100
"""Exit code of a command that was ended because it was hanging."""

Show = Callable[[RunProgress], object]


@dataclass(frozen=True)
class Ended:
    """Result of a command: exit code (negative: the signal), output, and number of games it reported as logged."""

    code: int
    output: str
    acknowledged: int

    @property
    def fault(self) -> str:
        """Error in the result: a traceback, a hang, or an error in more than one line; empty if there is none."""
        lines = [line for line in self.output.splitlines() if line.startswith("Error: ")]
        if "Traceback" in self.output:
            return f"a traceback: {self.output.strip().splitlines()[-1]}"
        if self.code == HANGS:
            return f"it hangs: {self.output[-200:]}"
        if self.code in (1, 2) and len(lines) != 1 and "Interrupted" not in self.output:
            return f"exit code {self.code}, and not one line about it: {self.output[-200:]!r}"
        if self.code not in (0, 1, 2) and self.code >= 0:
            return f"exit code {self.code}: {self.output[-200:]!r}"
        return ""


class Here(HerePool):
    """A pool that plays in this process, six games at a time: fast, and the same at every attempt."""

    ROOM = 6

    @property
    def has_room(self) -> bool:
        return len(self._waiting) < self.ROOM

    def finished(self, timeout: float) -> list[Event]:
        return [event for _ in range(len(self._waiting)) for event in super(Here, self).finished(timeout)]


def command(words: Sequence[str], output: Path, *args: Any, **options: Any) -> Ended:
    """Run a command of `isolation` to its end; see `started`."""
    return started(words, output, *args, **options)()


def started(
    words: Sequence[str],
    output: Path,
    before: Callable[[], object] = lambda: None,
    show: Show = lambda progress: None,
    pools: MakePool = Here,
) -> Callable[[], Ended]:
    """Start a command of `isolation` in a fork with a session of its own; return a function that waits for it.

    Args:
        output: the file for its output; a file beside it has the number of games reported as logged.
        before: called there first, to cause the failure.
        show: called there with the progress of a tournament.
    """
    acknowledged = output.with_suffix(".acknowledged")
    acknowledged.write_text("0")
    child = os.fork()
    if child == 0:
        _be_command(words, output, acknowledged, before, show, pools)

    def wait() -> Ended:
        deadline = time.monotonic() + PATIENCE
        while (result := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return Ended(HANGS, output.read_text(errors="replace"), int(acknowledged.read_text()))
            time.sleep(0.002)
        return Ended(
            os.waitstatus_to_exitcode(result[1]), output.read_text(errors="replace"), int(acknowledged.read_text())
        )

    return wait


def digest(run: Path) -> str:
    """Return a hash of a log's contents except times."""
    table = log.read_table(run, log.SCHEMA.names).drop(TIMES).sort_by("game_id")
    return hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest()


def play_whole(folder: Path, words: Sequence[str] = SMALL, pools: MakePool = Here) -> Path:
    """Play an undisturbed run in this process, so that its forks have everything compiled and loaded."""
    run = folder / "undisturbed"
    with (
        steady(),
        patch("knights_isolation.reports.watch.play_tournament", partial(play_tournament, pools=pools)),
    ):
        CliRunner().invoke(main, [*words, "--out", str(run)], catch_exceptions=False)
    assert run_directory.is_finished(run)
    return run


def wrong_after(run: Path, undisturbed: Path) -> str:
    """Return what is wrong with a resumed and finished run; empty if nothing is."""
    if not run_directory.is_finished(run):
        return "it is not finished"
    if digest(run) != digest(undisturbed):
        return "its log is not that of the undisturbed run"
    litter = {path.name for path in run.rglob("*") if path.name.startswith(".")}
    others = {path.name for path in run.iterdir()} ^ {path.name for path in undisturbed.iterdir()}
    return f"left behind or missing: {', '.join(sorted(litter | others))}" if litter | others else ""


def emptied(folder: Path) -> Path:
    """Empty and return a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _be_command(
    words: Sequence[str], output: Path, answer: Path, before: Callable[[], object], show: Show, pools: MakePool
) -> None:
    code = 70
    try:
        os.setsid()
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        note = os.open(answer, os.O_WRONLY)
        with steady():
            before()
            with patch("knights_isolation.reports.watch.play_tournament", _noting(note, show, pools)):
                main([*words], prog_name="isolation")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


@contextmanager
def steady() -> Iterator[None]:
    """Play one game per batch, and write a part after every six, regardless of the clock."""
    with (
        patch("knights_isolation.experiments.play.pools.batch_feed.LONGEST_BATCH", 0.0),
        patch.object(GameRecorder, "write_if_due", GameRecorder.write),
    ):
        yield


def _noting(note: int, watch: Show, pools: MakePool) -> Callable[..., RunOutcome]:
    """Wrap `play_tournament` to record the number of games reported as logged."""

    def play(config: Config, *, show: Show, **options: Any) -> RunOutcome:
        def both(progress: RunProgress) -> None:
            os.pwrite(note, str(progress.logged).encode(), 0)
            watch(progress)
            show(progress)

        return play_tournament(config, **options, show=both, pools=pools)

    return play
