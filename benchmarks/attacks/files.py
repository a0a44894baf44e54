"""Damaged files of every kind, and every command that reads them: the answer is the same, or an error in one line."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner

from benchmarks.attacks.attack import Attack, some
from benchmarks.attacks.tournaments import SMALL, Here, command, steady
from cli import main
from knights_isolation.experiments.game_files import save_game
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.record import run_directory
from knights_isolation.experiments.record.log import games_folder, read_part
from knights_isolation.experiments.record.log_parts import append
from knights_isolation.isolation import play
from knights_isolation.isolation.compiling import code_cache

FLIPS = 150
"""Number of bits of each file that are flipped, one at a time."""
SOLVED, GAME, TOML = "solved.parquet", "game.json", "my.toml"
ONE, OTHER, CUT = "one", "other", "interrupted"
UNSEEN = "2x7"
"""A size that is not loaded in this process, so that a command loads it from the folder of compiled code."""
FOREIGN = {"nothing": b"", "zeros": bytes(300), "a word": b"isolation\n", "[]": b"[]", "{}": b"{}", "null": b"null",
           "no text": bytes(range(256)), "a picture": b"\x89PNG\r\n\x1a\n" + bytes(90), "Parquet's magic": b"PAR1PAR1",
           "much nesting": b"[" * 100_000, "a long number": b"1" * 5_000}  # fmt: skip
SWAPPED = "that of another run"
NOWHERE = Path()
READING = (["summary"], ["compare"], ["ratings"], ["sprt", "--elo0", "0", "--elo1", "10"], ["games"], ["runs"])


@dataclass(frozen=True)
class Kind:
    """A kind of file: an example, another run's example, and the commands that read it."""

    name: str
    path: Path
    other: Path | None
    commands: Sequence[Sequence[str]]


def attack(folder: Path, share: float) -> Iterator[Attack]:
    """Yield every damage to every kind of file, with every command that reads it."""
    whole, home = folder / "whole", folder / "home"
    _furnish(whole)
    chance = random.Random(1)
    for kind in _kinds(whole):
        usual = cache(lambda *words: _ask(whole, home, words))
        cases = list(product(_damages(whole, kind, chance), kind.commands))
        for (damage, content), words in some(cases, share):
            if (damage, words[0]) == (SWAPPED, "runs"):
                continue  # it only lists the files, and does not read them
            failure = _compared(_ask(whole, home, words, kind.path, content), usual(*words))
            yield Attack(
                f"{kind.name}: {re.split(' at |: ', damage)[0]}", failure and f"{damage}: {words[0]}: {failure}"
            )


def _damages(whole: Path, kind: Kind, chance: random.Random) -> Iterator[tuple[str, bytes | None]]:
    """Yield damaged contents of a file; None is a folder in its place."""
    data = (whole / kind.path).read_bytes()
    for index in some(range(len(data)), min(1.0, FLIPS / len(data))):
        flipped = bytearray(data)
        flipped[index] ^= 1 << chance.randrange(8)
        yield f"a bit flipped at {index}", bytes(flipped)
    for kept in (*(len(data) * eighth // 8 for eighth in range(1, 8)), len(data) - 1):
        yield f"cut at {kept}", data[:kept]
    yield "a folder in its place", None
    for name, content in FOREIGN.items():
        yield f"something else at all: {name}", content
    if kind.other:
        yield SWAPPED, (whole / kind.other).read_bytes()
    yield "twice over", data + data


@dataclass(frozen=True)
class Answer:
    """Exit code of a command, its output, and what is wrong with how it ended."""

    code: int
    said: str
    fault: str


def _ask(whole: Path, home: Path, words: Sequence[str], path: Path = NOWHERE, content: bytes | None = b"") -> Answer:
    """Return the answer of a command in a fresh copy of the folder, with other contents of one file."""
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(whole, home)
    if path != NOWHERE:
        (home / path).unlink()
        if content is None:
            (home / path).mkdir()
        else:
            (home / path).write_bytes(content)

    def there() -> None:
        os.chdir(home)
        os.environ[code_cache.ENVIRONMENT_VARIABLE] = str(home / "cache")
        code_cache.folder.cache_clear()

    ended = command(words, home.with_suffix(".txt"), there)
    lines = [line for line in ended.output.splitlines() if not line.startswith("Note: compiled code")]
    fault = ended.fault or (f"it ends with {ended.code}" if ended.code < 0 else "")
    return Answer(ended.code, re.sub(r"\d+ s\b", "… s", "\n".join(lines)), fault)


def _compared(result: Answer, usual: Answer) -> str:
    is_told = result.code or " is left out: " in result.said
    if result.fault or is_told or result.said == usual.said:
        return result.fault
    return f"another answer, silently: {_first_difference(result.said, usual.said)}"


def _first_difference(output: str, usual: str) -> str:
    pairs = zip(output.splitlines(), usual.splitlines(), strict=False)
    return next(
        (f"{first!r} instead of {second!r}" for first, second in pairs if first != second), "more or fewer lines"
    )


# Undamaged files


def _furnish(whole: Path) -> None:
    """Create a folder with two different files of every kind."""
    whole.mkdir()
    again = ["tournament", "--contender", "ID:center@depth=1", "--baseline", "greedy", "--opponent", "random",
             "--board", "5x5", "--pairs", "4", "--seed", "9", "--jobs", "1"]  # fmt: skip
    with (
        steady(),
        patch("knights_isolation.reports.watch.play_tournament", partial(play_tournament, pools=Here)),
    ):
        for name, words in ((ONE, SMALL), (OTHER, again)):
            _do(*words, "--out", str(whole / name))
            _do("perfect", "label", str(whole / name), "--jobs", "1")
    _interrupt(whole)
    _do("perfect", "solve", "--all", "--board", "3x4", "--jobs", "1", "--out", str(whole / SOLVED))
    _do("perfect", "solve", "--all", "--board", "2x5", "--jobs", "1", "--out", str(whole / f"other-{SOLVED}"))
    save_game(whole / GAME, play(parse_agent("greedy"), parse_agent("random"), [0, 19], "4x5"))
    with patch.dict(os.environ, {code_cache.ENVIRONMENT_VARIABLE: str(whole / "cache")}):
        command(["system", "perft", "--board", UNSEEN], whole / "perft.txt", code_cache.folder.cache_clear)


def _interrupt(whole: Path) -> None:
    """Make a copy of the run in which two thirds of the games are played."""
    shutil.copytree(whole / ONE, whole / CUT)
    (whole / CUT / run_directory.END).unlink()
    (part,) = games_folder(whole / CUT).iterdir()
    table = read_part(part)
    part.unlink()
    append(part.parent, table.slice(0, 32))


def _do(*words: str) -> None:
    result = CliRunner().invoke(main, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output


def _kinds(whole: Path) -> list[Kind]:
    """Return the files of a run, and the independent ones; paths are relative to the folder."""
    readers = [[words[0], ONE, *words[1:]] for words in READING]
    resume = ["tournament", "--resume", ONE]
    replay = ["replay", ONE, "3"]
    (part,) = games_folder(whole / ONE).iterdir()
    (other_part,) = games_folder(whole / OTHER).iterdir()

    def of_run(name: str, file: str, *commands: Sequence[str]) -> Kind:
        return Kind(name, Path(ONE, file), Path(OTHER, file), commands)

    return [
        Kind("a part of the log", part.relative_to(whole), other_part.relative_to(whole), (*readers, resume, replay)),
        of_run("run.json", run_directory.FACTS, *readers, resume, replay),
        of_run("finished.json", run_directory.END, *readers, resume),
        *(
            Kind(f"{file} of an interrupted run", Path(CUT, file), Path(OTHER, file), [["tournament", "--resume", CUT]])
            for file in (run_directory.FACTS, run_directory.CONFIG)
        ),
        of_run("lock", "lock", ["results", ONE], resume, ["perfect", "label", ONE, "--jobs", "1"]),
        of_run("labels", "labels.parquet", ["perfect", "accuracy", ONE],
               ["perfect", "label", ONE, "--jobs", "1"], replay),
        Kind("a table of solved openings", Path(SOLVED), Path(f"other-{SOLVED}"),
             [["perfect", "solve", "--all", "--board", "3x4", "--jobs", "1", "--out", SOLVED]]),
        Kind("a saved game", Path(GAME), None, [["replay", GAME]]),
        *(
            Kind(f"compiled code, {path.suffix}", path.relative_to(whole), None,
                 [["system", "perft", "--board", UNSEEN]])
            for path in sorted((whole / "cache").rglob("perft_*.*"))
        ),
    ]  # fmt: skip
