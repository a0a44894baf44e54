"""Verify the records of a project: every file that a verdict rests on is read as whoever uses it reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from knights_isolation.isolation.usercode.inputs import changed_input

from .plan.run_keeping import written_config
from .record import log
from .record.checked_json import SEALED, read_json
from .record.checked_lines import inspect_lines
from .record.checked_parquet import read_parquet
from .record.log_validation import check_facts
from .record.run_directory import CONFIG, END, ENGINES, FACTS, HOME, TRIES, load_run, missing_sentence
from .record.schema import schema_of
from .record.tries import SOURCES, code_of, read_tries

KEPT = "evaluated"
"""Folder of kept answers of evaluations, below that of the runs."""


@dataclass(frozen=True)
class Verified:
    """A file of a project: what it is, in words, and its state; the state of a damaged one says where and why."""

    file: str
    what: str
    state: str
    is_damaged: bool = False


def verify(home: Path = HOME) -> list[Verified]:
    """Verify all runs and other records below a folder.

    Raises:
        ValueError: there is no such folder.
    """
    if not home.is_dir():
        raise ValueError(f"{home}: no such directory")
    runs = sorted(facts.parent for facts in home.rglob(FACTS))
    return [verified for run in runs for verified in _run(run)] + [
        _verified(path, what, state)
        for pattern, what, state in _OTHERS
        for path in sorted(home.rglob(pattern))
        if path.parent.name not in (ENGINES, log.GAMES) and not (what == "journal" and {TRIES, KEPT} & {*path.parts})
    ]


def _run(run: Path) -> Iterator[Verified]:
    facts = _verified(run / FACTS, "facts of a run", _facts)
    yield facts
    if (run / CONFIG).exists() and not facts.is_damaged:
        yield _verified(run / CONFIG, "configuration", _configuration)
    if (run / END).exists():
        yield _verified(run / END, "end of a run", _end)
    parts = [_verified(part, "games", _part) for part in log.live_files(log.games_folder(run))]
    damaged = [part for part in parts if part.is_damaged]
    yield from damaged
    if parts and not damaged and not facts.is_damaged:
        yield _verified(log.games_folder(run), "games", _games)


def _verified(path: Path, what: str, state_of: Callable[[Path], str | None]) -> Verified:
    """Verify a file by a function that says what is remarkable about it, if anything, and raises if it is damaged."""
    try:
        return Verified(str(path), what, state_of(path) or "whole")
    except (ValueError, OSError) as error:
        why = str(error).partition("\n")[0].removeprefix(str(path)).lstrip(":, ").removeprefix("is damaged or ")
        return Verified(str(path), what, f"damaged: {why}", True)


def _object(path: Path) -> str:
    read_json(path)
    return "whole" if f'"{SEALED}": true' in path.read_text(encoding="utf-8") else _unsealed("file")


def _configuration(path: Path) -> str:
    info = load_run(path.parent)
    written_config(info)
    return "whole" if info.configuration else _unsealed("file")


def _facts(path: Path) -> str:
    load_run(path.parent)
    return _object(path)


def _end(path: Path) -> str:
    if missing := missing_sentence(path.parent):
        raise ValueError(missing)
    return _object(path)


def _part(path: Path) -> None:
    log.read_part(path)


def _games(path: Path) -> None:
    info, played = load_run(path.parent), log.count_games(path.parent)
    check_facts(info)
    if played > info.games:
        raise ValueError(f"{played:,} games, but {info.games:,} were planned")


def _champion(path: Path) -> str:
    if changed := changed_input(read_json(path).get("inputs", {}), path.parent):
        raise ValueError(f"{changed} is not as it was when this won")
    return _object(path)


def _table(path: Path) -> None:
    read_parquet(path, schema_of(()))


def _source(path: Path) -> None:
    if code_of(path.read_text(encoding="utf-8")) != path.stem:
        raise ValueError("it is not the text that was tried")


def _tries(path: Path) -> str:
    read_tries(path.parent)
    return _lines(path)


def _lines(path: Path) -> str:
    lines = inspect_lines(path)
    if lines.damaged:
        raise ValueError(f"line{'s' * (len(lines.damaged) > 1)} {', '.join(map(str, lines.damaged))}")
    torn = "; the last line was cut off and is not read" * lines.is_torn
    return f"{_unsealed(f'{lines.unsealed:,} lines') if lines.unsealed else 'whole'}{torn}"


def _unsealed(what: str) -> str:
    return f"readable; {what} of an older version without checksum"


_OTHERS = (
    (TRIES, "log of tries", _tries),
    (f"{SOURCES}/*.py", "source of a try", _source),
    (f"{KEPT}/*.jsonl", "evaluations of a candidate", _lines),
    ("champion.json", "champion of evaluations", _champion),
    ("*.jsonl", "journal", _lines),
    ("league.json", "class of a league", _object),
    ("*.parquet", "table", _table),
)
"""Files besides runs, with what they are and who reads them."""
