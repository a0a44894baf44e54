"""Where and when a run lies: two writers at once, folders renamed, moved and read-only, and clocks that jump."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

from benchmarks.attacks.attack import Attack, some
from benchmarks.attacks.tournaments import SMALL, command, digest, emptied, play_whole, started, wrong_after
from experiments import log, runs
from experiments.play.runner import Progress

NOBODY = 65534
MOMENTS = range(0, 40, 4)
"""At which of the progress reports of a run something is done to its folder."""
JUMPS = {"back by hours": -7_200.0, "on by hours": 7_200.0, "back by years": -9e8, "on by years": 9e8}


def attack(folder: Path, share: float) -> Iterator[Attack]:
    """Every place, every clock."""
    folder.chmod(0o755)
    undisturbed = play_whole(folder)
    for _ in some(range(20), share):
        yield Attack("two begin one run at once", _two(emptied(folder / "home"), undisturbed, False))
        yield Attack("two go on with one run at once", _two(emptied(folder / "home"), undisturbed, True))
    for moment in some(MOMENTS, share):
        for what, do in CHANGES.items():
            failure = _changed(emptied(folder / "home"), undisturbed, moment, do)
            yield Attack(f"a run's folder {what} while it is played", failure and f"at report {moment}: {failure}")
    for what, failure in _afterwards(folder, undisturbed):
        yield Attack(what, failure)
    for what, seconds in JUMPS.items():
        for every in some((1, 3, 10, 100), share):
            failure = _jumping(emptied(folder / "home"), undisturbed, seconds, every)
            yield Attack(f"a clock that jumps {what}", failure)


# Two writers


def _two(home: Path, undisturbed: Path, resume: bool) -> str:
    """Start two commands that write one run; one of them may be refused, and the run is whole."""
    run = home / "run"
    words = [*SMALL, "--out", str(run)]
    if resume:
        _part_of(undisturbed, run)
        words = ["tournament", "--resume", str(run)]
    waiting = [started(words, home / f"{number}.txt") for number in range(2)]
    ended = [wait() for wait in waiting]
    if fault := next(filter(None, (one.fault for one in ended)), ""):
        return fault
    codes = sorted(one.code for one in ended)
    return f"exit codes {codes}" if codes not in ([0, 0], [0, 2]) else wrong_after(run, undisturbed)


def _part_of(undisturbed: Path, run: Path) -> None:
    """A run of which half of the games are played."""
    shutil.copytree(undisturbed, run)
    (run / runs.END).unlink()
    table = log.read_table(run, log.SCHEMA.names)
    for path in log.games_folder(run).iterdir():
        path.unlink()
    log.append(log.games_folder(run), table.slice(0, len(table) // 2))


# While a run is played


def _renamed(run: Path) -> None:
    run.rename(run.with_name("renamed"))


def _replaced(run: Path) -> None:
    run.rename(run.with_name("renamed"))
    log.games_folder(run).mkdir(parents=True)


def _read_only(run: Path) -> None:
    log.games_folder(run).chmod(0o555)


CHANGES: dict[str, Callable[[Path], None]] = {
    "renamed": _renamed,
    "renamed, and an empty one in its place": _replaced,
    "made read-only": _read_only,
}


def _changed(home: Path, undisturbed: Path, moment: int, do: Callable[[Path], None]) -> str:
    """Change the folder at a report of progress; what was acknowledged is in it, and it can be gone on with."""
    home.chmod(0o777)
    run, reports = home / "run", count()

    def show(progress: Progress) -> None:
        if next(reports) == moment:
            do(run)

    ended = command([*SMALL, "--out", str(run)], home / "output.txt", _as_nobody, show)
    if ended.fault:
        return ended.fault
    moved = home / "renamed" if (home / "renamed").exists() else run
    log.games_folder(moved).chmod(0o755)
    kept = sum(log.count_games(there) for there in {moved, run} if log.games_folder(there).is_dir())
    if kept < ended.acknowledged:
        return f"{ended.acknowledged} games were acknowledged, {kept} are there"
    again = command(["tournament", "--resume", str(moved)], home / "output.txt")
    return again.fault or wrong_after(moved, undisturbed)


def _as_nobody() -> None:
    """Be a user for whom permissions count."""
    if os.getuid() == 0:
        os.setuid(NOBODY)
    os.environ["HOME"] = "/nonexistent"


# Afterwards


def _afterwards(folder: Path, undisturbed: Path) -> Iterator[tuple[str, str]]:
    """Runs that were moved, linked to, or cannot be written."""
    half = emptied(folder / "home") / "run"
    _part_of(undisturbed, half)
    half.rename(half.with_name("a new 'name' – with $signs"))
    yield "a moved run is gone on with", _gone_on_with(half.with_name("a new 'name' – with $signs"), undisturbed)
    _part_of(undisturbed, emptied(folder / "home") / "run")
    (folder / "home/link").symlink_to("run")
    yield "a run behind a link is gone on with", _gone_on_with(folder / "home/link", undisturbed)
    for command_name in ("summary", "compare", "ratings", "games", "runs"):
        run = emptied(folder / "home") / "run"
        shutil.copytree(undisturbed, run)
        usual = command([command_name, str(run)], folder / "output.txt")
        for path in (*run.rglob("*"), run):
            path.chmod(0o555 if path.is_dir() else 0o444)
        (folder / "output.txt").chmod(0o666)
        found = command([command_name, str(run)], folder / "output.txt", _as_nobody)
        yield "a read-only run is read", found.fault or ("" if found.output == usual.output else found.output)
    yield "a read-only run is not gone on with", _refused(["tournament", "--resume", str(run)], folder)
    yield "no run is made in a read-only folder", _refused([*SMALL, "--out", str(run / "deeper")], folder)


def _gone_on_with(run: Path, undisturbed: Path) -> str:
    ended = command(["tournament", "--resume", str(run)], run.parent / "output.txt")
    return ended.fault or wrong_after(run, undisturbed)


def _refused(words: Sequence[str], folder: Path) -> str:
    ended = command(words, folder / "output.txt", _as_nobody)
    return ended.fault or ("" if ended.code in (1, 2) else f"exit code {ended.code}: {ended.output[-200:]}")


# Clocks


def _jumping(home: Path, undisturbed: Path, seconds: float, every: int) -> str:
    """Play with a wall clock that jumps at every so manyth look."""
    run = home / "run"

    def jump() -> None:
        real, looks = time.time, count()
        time.time = lambda: real() + seconds * (next(looks) // every % 2)

    ended = command([*SMALL, "--out", str(run)], home / "output.txt", jump)
    if ended.fault or ended.code:
        return ended.fault or ended.output
    return "" if digest(run) == digest(undisturbed) else "its log is not that of the undisturbed run"
