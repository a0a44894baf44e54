"""Faults at every write: a full or broken disk, a kill, a power cut, at each operation of each command."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pyarrow as pa
from click.testing import CliRunner

from benchmarks.attacks.attack import Attack, some
from benchmarks.attacks.disk import CUT, HARMS, Disk, Harm
from benchmarks.attacks.tournaments import SMALL, command, digest, emptied, play_whole, wrong_after
from cli import main
from knights_isolation.experiments.exact import board_solving, labelling, labels
from knights_isolation.experiments.play.pools.recovery import KILLED
from knights_isolation.experiments.record import log, log_parts, run_directory
from knights_isolation.experiments.record.run_directory import LABELS_FILE
from knights_isolation.isolation.rules.game import parse_size

RUN = "runs/one"
SIZE = "3x4"


@dataclass(frozen=True)
class Scene:
    """A writing scenario: initial state, command, resuming command, and check of the final state.

    `again` and `wrong` are called with the folder that contains everything.
    """

    name: str
    prepare: Callable[[Path], object]
    words: Callable[[Path], list[str]]
    again: Callable[[Path], list[str]]
    wrong: Callable[[Path], str]


def attack(folder: Path, share: float) -> Iterator[Attack]:
    """Yield every harm, at every operation of every scene."""
    undisturbed = play_whole(folder)
    for scene in _scenes(undisturbed):
        for at, harm in some(list(product(range(_operations(scene, folder)), HARMS)), share):
            failure = _strike(scene, emptied(folder / "home"), at, harm)
            yield Attack(f"{scene.name}: {harm}", failure and f"operation {at}: {failure}")


def _strike(scene: Scene, home: Path, at: int, harm: Harm) -> str:
    scene.prepare(home)
    ended = command(scene.words(home), home.with_suffix(".txt"), lambda: Disk(home, at, harm).attach())
    if ended.code == CUT:
        shutil.rmtree(home)
        home.with_name(f"{home.name}-ruins").rename(home)
    if ended.fault and ended.code != CUT:
        return ended.fault
    if (home / RUN).exists() and (kept := log.count_games(home / RUN) if _has_log(home) else 0) < ended.acknowledged:
        return f"{ended.acknowledged} games were acknowledged, {kept} are there"
    if ended.acknowledged and not (home / RUN).exists():
        return f"{ended.acknowledged} games were acknowledged, and there is no run"
    again = command(scene.again(home), home.with_suffix(".txt"))
    return again.fault or scene.wrong(home) or (again.output if again.code else "")


def _has_log(home: Path) -> bool:
    return log.games_folder(home / RUN).is_dir()


def _operations(scene: Scene, folder: Path) -> int:
    """Count the file operations of a scene if nothing goes wrong."""
    home, counted = emptied(folder / "home"), folder / "operations.txt"
    scene.prepare(home)

    def count() -> None:
        disk = Disk(home)
        disk.attach()
        disk.meet = lambda operation, path: counted.write_text(str(int(counted.read_text()) + 1))  # type: ignore

    counted.write_text("0")
    ended = command(scene.words(home), home.with_suffix(".txt"), count)
    assert ended.code == 0, ended.output
    return int(counted.read_text())


# The scenes


def _scenes(undisturbed: Path) -> list[Scene]:
    def go_on(home: Path) -> list[str]:
        """Return what a user would do: resume the run, or start it if there is none."""
        return ["tournament", "--resume", str(home / RUN)] if run_directory.is_run(home / RUN) else begin(home)

    def begin(home: Path) -> list[str]:
        return [*SMALL, "--out", str(home / RUN)]

    def resume(home: Path) -> list[str]:
        return ["tournament", "--resume", str(home / RUN)]

    def retry(home: Path) -> list[str]:
        return [*resume(home), "--retry-forfeits"]

    def wrong(home: Path) -> str:
        return wrong_after(home / RUN, undisturbed)

    return [
        Scene("a new tournament", lambda home: None, begin, go_on, wrong),
        Scene("going on with one", lambda home: _interrupted(undisturbed, home), resume, resume, wrong),
        Scene("taking back forfeits", lambda home: _forfeited(undisturbed, home), retry, retry, wrong),
        _labelling(undisturbed),
        _solving(undisturbed.parent),
    ]


def _interrupted(undisturbed: Path, home: Path) -> None:
    """Make a run of which two thirds are played, in parts that are not merged."""
    run = home / RUN
    shutil.copytree(undisturbed, run)
    (run / run_directory.END).unlink()
    table = _unmerged(run)
    for start in (0, 8, 24):
        log_parts.append(log.games_folder(run), table.slice(start, 8))


def _forfeited(undisturbed: Path, home: Path) -> None:
    """Make a finished run in two files, with games in each that were lost by a dead process."""
    run = home / RUN
    shutil.copytree(undisturbed, run)
    table = _unmerged(run)
    details = pa.array([f"{KILLED} 3 times" if index % 5 == 2 else "" for index in range(len(table))])
    table = table.set_column(log.SCHEMA.get_field_index("detail"), "detail", details)
    for start in (0, 20):
        log_parts.append(log.games_folder(run), table.slice(start, 20 if start == 0 else None))


def _unmerged(run: Path) -> pa.Table:
    """Return the games of a run, and delete its files."""
    table = log.read_table(run, log.SCHEMA.names)
    for path in log.games_folder(run).iterdir():
        path.unlink()
    return table


def _labelling(undisturbed: Path) -> Scene:
    labelling.label_run(undisturbed)
    expected = labels.read_label_table(undisturbed)
    (undisturbed / LABELS_FILE).unlink()

    def words(home: Path) -> list[str]:
        return ["perfect", "label", str(home / RUN), "--jobs", "1"]

    def wrong(home: Path) -> str:
        is_same = labels.read_label_table(home / RUN).equals(expected)
        if not is_same or digest(home / RUN) != digest(undisturbed):
            return "labels or log are not those of the undisturbed run"
        return ""

    return Scene("labels", lambda home: shutil.copytree(undisturbed, home / RUN), words, words, wrong)


def _solving(folder: Path) -> Scene:
    def words(home: Path) -> list[str]:
        return ["perfect", "solve", "--all", "--board", SIZE, "--jobs", "1", "--out", str(home / "solved.parquet")]

    def wrong(home: Path) -> str:
        pairs = board_solving.read_pairs(home / "solved.parquet", parse_size(SIZE))
        return "" if (pairs == board_solving.shipped_pairs(parse_size(SIZE))).all() else "other winners"

    CliRunner().invoke(main, words(folder))  # in this process, so that forks have everything it loads
    return Scene("a table of solved openings", lambda home: None, words, words, wrong)
