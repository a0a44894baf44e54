"""Adverse circumstances of a run: two writers, folders renamed, moved and read-only, and clocks that jump."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, product
from pathlib import Path

from benchmarks.attacks.attack import Attack, some
from benchmarks.attacks.tournaments import SMALL, command, digest, emptied, play_whole, started, wrong_after
from knights_isolation.experiments.play.runner import RunProgress
from knights_isolation.experiments.record import log, log_parts, run_directory

Case = tuple[str, Callable[[], str]]
NOBODY = 65534
READING = ("summary", "compare", "ratings", "games", "runs")
MOMENTS = range(0, 40, 4)
"""Progress reports of a run at which its folder is changed."""
JUMPS = {"back by hours": -7_200.0, "on by hours": 7_200.0, "back by years": -9e8, "on by years": 9e8}


def attack(folder: Path, share: float) -> Iterator[Attack]:
    """Yield every circumstance and every clock."""
    folder.chmod(0o755)
    undisturbed = play_whole(folder)
    home = folder / "home"
    cases: list[Case] = [
        *[("two begin one run at once", partial(_two, home, undisturbed, False))] * 20,
        *[("two go on with one run at once", partial(_two, home, undisturbed, True))] * 20,
        *(_cases_of_nobody(home, undisturbed) if _nobody_can_play() else []),
        ("a moved run is gone on with", partial(_moved, home, undisturbed)),
        ("a run behind a link is gone on with", partial(_linked, home, undisturbed)),
        *[
            (f"a clock that jumps {what}", partial(_jumping, home, undisturbed, seconds, every))
            for (what, seconds), every in product(JUMPS.items(), (1, 3, 10, 100))
        ],
    ]
    for what, do in some(cases, share):
        emptied(home)
        yield Attack(what, do())


def _cases_of_nobody(home: Path, undisturbed: Path) -> list[Case]:
    return [
        *[
            (f"a run's folder {what} while it is played", partial(_changed, home, undisturbed, moment, do))
            for moment, (what, do) in product(MOMENTS, CHANGES.items())
        ],
        *[("a read-only run is read", partial(_read, home, undisturbed, command)) for command in READING],
        ("a read-only run is not gone on with", partial(_refused, home, undisturbed, "--resume")),
        ("no run is made in a read-only folder", partial(_refused, home, undisturbed, "--out")),
    ]


# Two writers


def _two(home: Path, undisturbed: Path, resume: bool) -> str:
    """Start two commands that write one run; one of them may be refused, and the run must be undamaged."""
    run = home / "run"
    words = [*SMALL, "--out", str(run)]
    if resume:
        _part_of(undisturbed, run)
        words = ["tournament", "--resume", str(run)]
    waiting = [started(words, home / f"{number}.txt") for number in range(2)]
    ended = [wait() for wait in waiting]
    if fault := next(filter(None, (end.fault for end in ended)), ""):
        return fault
    codes = sorted(end.code for end in ended)
    return f"exit codes {codes}" if codes not in ([0, 0], [0, 2]) else wrong_after(run, undisturbed)


def _part_of(undisturbed: Path, run: Path) -> None:
    """Make a run of which half of the games are played."""
    shutil.copytree(undisturbed, run)
    (run / run_directory.END).unlink()
    table = log.read_table(run, log.SCHEMA.names)
    for path in log.games_folder(run).iterdir():
        path.unlink()
    log_parts.append(log.games_folder(run), table.slice(0, len(table) // 2))


# Changes while a run is played


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
    """Change the folder at a progress report; afterwards the acknowledged games exist, and the run can be resumed."""
    home.chmod(0o777)
    run, reports = home / "run", count()

    def show(progress: RunProgress) -> None:
        if next(reports) == moment:
            do(run)

    ended = command([*SMALL, "--out", str(run)], home / "output.txt", _as_nobody, show)
    if ended.fault:
        return f"at report {moment}: {ended.fault}"
    moved = home / "renamed" if (home / "renamed").exists() else run
    log.games_folder(moved).chmod(0o755)
    kept = sum(log.count_games(there) for there in {moved, run} if log.games_folder(there).is_dir())
    if kept < ended.acknowledged:
        return f"{ended.acknowledged} games were acknowledged, {kept} are there"
    again = command(["tournament", "--resume", str(moved)], home / "output.txt")
    return again.fault or wrong_after(moved, undisturbed)


def _nobody_can_play() -> bool:
    """Return whether the user that root switches to can read Python and this code."""
    folders = {folder for index in (sys.prefix, __file__) for folder in Path(index).resolve().parents}
    return os.getuid() != 0 or all(folder.stat().st_mode & 0o005 == 0o005 for folder in folders)


def _as_nobody() -> None:
    """Switch to a user that is subject to permissions."""
    if os.getuid() == 0:
        os.setuid(NOBODY)
    os.environ["HOME"] = "/nonexistent"


# Changes afterwards


def _moved(home: Path, undisturbed: Path) -> str:
    _part_of(undisturbed, home / "run")
    return _gone_on_with((home / "run").rename(home / "a new 'name' – with $signs"), undisturbed)


def _linked(home: Path, undisturbed: Path) -> str:
    _part_of(undisturbed, home / "run")
    (home / "link").symlink_to("run")
    return _gone_on_with(home / "link", undisturbed)


def _gone_on_with(run: Path, undisturbed: Path) -> str:
    ended = command(["tournament", "--resume", str(run)], run.parent / "output.txt")
    return ended.fault or wrong_after(run, undisturbed)


def _read(home: Path, undisturbed: Path, name: str) -> str:
    run = shutil.copytree(undisturbed, home / "run")
    usual = command([name, str(run)], home / "output.txt")
    _protect(run)
    ended = command([name, str(run)], home / "output.txt", _as_nobody)
    return ended.fault or ("" if ended.output == usual.output else ended.output)


def _refused(home: Path, undisturbed: Path, option: str) -> str:
    run = home / "run"
    _part_of(undisturbed, run)
    _protect(run)
    words = [*SMALL, "--out", str(run / "deeper")] if option == "--out" else ["tournament", "--resume", str(run)]
    ended = command(words, home / "output.txt", _as_nobody)
    return ended.fault or ("" if ended.code in (1, 2) else f"exit code {ended.code}: {ended.output[-200:]}")


def _protect(run: Path) -> None:
    """Make a run read-only."""
    for path in (*run.rglob("*"), run):
        path.chmod(0o555 if path.is_dir() else 0o444)


# Clocks


def _jumping(home: Path, undisturbed: Path, seconds: float, every: int) -> str:
    """Play with a wall clock that jumps at regular numbers of readings."""
    run = home / "run"

    def jump() -> None:
        real, looks = time.time, count()
        time.time = lambda: real() + seconds * (next(looks) // every % 2)

    ended = command([*SMALL, "--out", str(run)], home / "output.txt", jump)
    if ended.fault or ended.code:
        return ended.fault or ended.output
    return "" if digest(run) == digest(undisturbed) else "its log is not that of the undisturbed run"
