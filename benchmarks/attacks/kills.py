"""Kills of parent or worker, by several signals, in every phase of a run, which is then resumed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import count, product
from pathlib import Path

from benchmarks.attacks.attack import Attack, some
from benchmarks.attacks.disk import Disk
from benchmarks.attacks.tournaments import SMALL, Ended, Here, Show, command, emptied, play_whole, wrong_after
from knights_isolation.experiments.play.pools.loky_pool import LokyPool
from knights_isolation.experiments.play.runner import RunProgress
from knights_isolation.experiments.record import log, run_directory
from knights_isolation.isolation.compiling import code_cache

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PHASES = ("preparing", "compiling", "playing", "writing", "finishing")
VICTIMS = ("parent", "worker", "everybody")
MOMENTS = 3
LONGEST_LIFE = 15.0
"""Seconds after which all processes of a finished run must have ended."""

PAUSES = {"preparing": 0.5, "compiling": 4.0}
"""Maximum delay in seconds between the beginning of a phase and the signal."""
MARK = "ISOLATION_ATTACK"
JOBS = ("--jobs", "2")


def attack(folder: Path, share: float) -> Iterator[Attack]:
    """Yield every signal to every victim in every phase, at different moments."""
    undisturbed = play_whole(folder)
    chance = random.Random(1)
    cases = list(product(PHASES, VICTIMS, SIGNALS, range(MOMENTS)))
    for phase, victim, number, _ in some(cases, share):
        failure = _kill(folder, undisturbed, phase, victim, number, chance)
        yield Attack(f"{number.name} to {victim} while {phase}", failure)


def _kill(
    folder: Path, undisturbed: Path, phase: str, victim: str, number: signal.Signals, chance: random.Random
) -> str:
    home, mark = emptied(folder / "home"), f"{os.getpid()}-{chance.random()}"
    run, output = home / "run", folder / "output.txt"
    before, show = _bringing_on(home, phase, victim, number, chance)
    compiles = phase == "compiling"

    def prepared() -> None:
        os.environ[MARK] = mark
        if compiles:
            os.environ[code_cache.ENVIRONMENT_VARIABLE] = str(folder / "cache")
            code_cache.folder.cache_clear()

    def marked() -> None:
        prepared()
        before()

    emptied(folder / "cache")
    ended = command([*SMALL, *JOBS, "--out", str(run)], output, marked, show, LokyPool)
    if failure := _wrong_end(ended, victim, number):
        return failure
    if left := _left_of(mark):
        return f"processes are left: {left}"
    if not run_directory.is_run(run):
        return "" if not ended.acknowledged else "games were acknowledged, and there is no run"
    if (kept := log.count_games(run)) < ended.acknowledged:
        return f"{ended.acknowledged} games were acknowledged, {kept} are there"
    again = command(["tournament", "--resume", str(run), *JOBS], output, prepared, pools=LokyPool if compiles else Here)
    return again.fault or wrong_after(run, undisturbed)


def _wrong_end(ended: Ended, victim: str, number: signal.Signals) -> str:
    if victim != "worker" and ended.code == -number and number in (signal.SIGKILL, signal.SIGHUP):
        return ""
    return ended.fault or (f"it ends with {ended.code}" if ended.code < 0 else "")


def _bringing_on(
    home: Path, phase: str, victim: str, number: signal.Signals, chance: random.Random
) -> tuple[Callable[[], object], Show]:
    """Return the functions to call before the command and with its progress, so that the signal comes in this phase."""
    delay = chance.random()

    def strike() -> None:
        workers = _children(os.getpid())
        if victim == "everybody":
            os.killpg(0, number)
        elif victim == "parent" or not workers:
            os.kill(os.getpid(), number)
        else:
            os.kill(chance.choice(workers), number)

    if phase in ("writing", "finishing"):
        at = chance.randrange(20, 60) if phase == "writing" else chance.randrange(80, 90)
        return lambda: Disk(home, at, strike).attach(), lambda progress: None
    calls = count()

    def show(progress: RunProgress) -> None:
        is_due = {
            "preparing": progress.phase == "preparing",
            "compiling": progress.phase == "preparing" and next(calls) >= 1,
            "playing": progress.phase == "playing" and progress.logged > 0,
        }
        if is_due[phase] and not struck:
            struck.append(True)
            time.sleep(delay * PAUSES.get(phase, 0))
            strike()

    struck: list[bool] = []
    return lambda: None, show


def _children(parent: int) -> list[int]:
    completed = subprocess.run(
        ["pgrep", "-P", str(parent), "-f", "popen_loky"], capture_output=True, text=True, check=False
    )
    return [int(pid) for pid in completed.stdout.split()]


def _left_of(mark: str) -> list[str]:
    """Return the processes with this mark that still exist when they should not."""
    deadline = time.monotonic() + LONGEST_LIFE
    while (left := _marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def _marked(mark: str) -> list[str]:
    result = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes():
                result.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return result
