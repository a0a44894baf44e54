"""The log of tries: every look at a comparison in a project, so that the best of many is not taken for a single one.

`runs/tries.jsonl` has a JSON object a line, which is only ever appended (`checked_lines`). The sources that were tried
are kept beside it by their hash, in `runs/tried/`. The environment variable `ISOLATION_TRIES=off` turns the log off.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from difflib import unified_diff
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from pydantic import TypeAdapter

from .checked_lines import append_lines, read_lines
from .run_directory import HOME, TRIES, keeps_tries

SOURCES = "tried"
_DUELS, _SHARED = "head to head with", "over shared opponents, compared with"


@dataclass(frozen=True)
class Try:
    """One look at a comparison of an agent with a baseline.

    A *question* asks about one agent; all its openings count together, whatever run, seed or machine they come from.
    Questions of a *family* are corrected for together.

    Attributes:
        command: the command that compared them.
        agent, baseline: their names.
        spec: the agent's spec.
        code: hash of everything that influences the agent's play; equal code at the same limit has the same one.
        source: hash of the file with the agent's code, by which its text is kept; empty for shipped code.
        judged_on: the openings or positions, in words: equal for equal ones.
        n: how many there are.
        difference: to the baseline in percentage points, with the ends of its interval.
        p_value: of the difference alone; None if a sequential test decided when to stop.
        cost: processor time a node, over the baseline's; None if it was not measured.
        when: time of the comparison, in UTC.
        family: what is measured against which baseline on what kind of openings or positions, in words.
        question: the agent and its opponents, within the family.
        planned: openings planned when the question was first looked at; 0 for a fixed set of positions.
        looked: different openings of the question so far, the look's included.
        z: the difference of all of these in standard errors; None if the look is not judged by a p-value.
        openings: those that the look added, as `pack_ids` writes them.
    """

    command: str
    agent: str
    baseline: str
    spec: str
    code: str
    source: str
    judged_on: str
    n: int
    difference: tuple[float, float, float]
    p_value: float | None
    cost: float | None
    when: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    family: str = ""
    question: str = ""
    planned: int = 0
    looked: int = 0
    z: float | None = None
    openings: str = ""

    @property
    def measure(self) -> str:
        """What the difference is of: games head to head with the baseline, win rates, or positions."""
        kinds = {_DUELS: "head to head", _SHARED: "win rate"}
        return next((kind for start, kind in kinds.items() if self.family.startswith(start)), "positions")


_TRY = TypeAdapter(Try)
_OLD_GAMES = re.compile(r"openings (\S+) with seed \d+ on (\S+)")


def family_of_games(baseline: str, is_duel: bool, openings: str, board: str, limit: str | None) -> str:
    """Return the family of comparisons by games, in words."""
    return f"{_DUELS if is_duel else _SHARED} {baseline}, {openings} openings on {board}{f', {limit}' if limit else ''}"


def held_out_positions(suite: str) -> str:
    """Return the beginning of the families of comparisons on held-out positions, in words."""
    return f"held-out positions of suite {suite}"


def questions_to(positions: str, tries: Iterable[Try]) -> int:
    """Return how many questions certain positions were asked, whatever the baseline."""
    return len({(each.family, each.question) for each in tries if each.family.startswith(positions)})


def pack_ids(ids: Iterable[int]) -> str:
    """Return ids of openings as a text."""
    return base64.b64encode(zlib.compress(np.array(sorted(ids), "<i8").tobytes(), 9)).decode()


def unpack_ids(text: str) -> set[int]:
    """Return the ids of openings in a text."""
    return set(np.frombuffer(zlib.decompress(base64.b64decode(text)), "<i8").tolist()) if text else set()


def _lifted(record: dict[str, Any]) -> Try:
    """Return a try, with what versions before families and looks did not write."""
    # Their openings are not known, so each question is one of its own.
    if "family" not in record:
        held_out, judged_on, p_value = record.pop("held_out", ""), record["judged_on"], record["p_value"]
        games = _OLD_GAMES.fullmatch(judged_on)
        record["family"] = held_out or f"{judged_on}, compared with {record['baseline']}"
        record["question"] = f"{record['code']} on {judged_on}"
        if games:
            is_duel, (openings, board) = record["command"] not in ("tournament", "analyse"), games.groups()
            limit = record["spec"].partition("@")[2]
            record["family"] = family_of_games(record["baseline"], is_duel, openings, board, limit)
            deviate = None if p_value is None else -float(scipy.special.ndtri(p_value / 2))
            record["z"] = deviate and math.copysign(min(deviate, 9.0), record["difference"][0])
            record["planned"] = record["looked"] = record["n"]
    return _TRY.validate_python(record)


def add_tries(tries: Iterable[Try], home: Path = HOME) -> None:
    """Append tries to the log, after those of other processes that write at the same time; durable on return."""
    if keeps_tries():
        append_lines(home / TRIES, map(asdict, tries))


def read_tries(home: Path = HOME) -> list[Try]:
    """Return all tries, the oldest first; see `read_lines`."""
    remedy = "restore the file from a backup, or delete the line, whose try is then not counted"
    return read_lines(home / TRIES, _lifted, remedy)


def known_tries(home: Path = HOME) -> Sequence[Try]:
    """Return all tries of a project like `read_tries`, read again only if the log has changed; none if it is off."""
    try:
        status = (home / TRIES).stat()
    except OSError:
        return ()
    return _tries_of(home.resolve(), status.st_mtime_ns, status.st_size) if keeps_tries() else ()


@lru_cache(maxsize=2)
def _tries_of(home: Path, changed: int, size: int) -> Sequence[Try]:
    return tuple(read_tries(home))


def source_path(source: str, home: Path = HOME) -> Path:
    """Return where the text of a source is kept."""
    return home / SOURCES / f"{source}.py"


def source_diff(tries: list[Try], first: int, second: int, home: Path) -> str:
    """Return how the sources of two tries differ, by their numbers; ValueError if there is no such try or source."""
    texts: list[list[str]] = []
    names = []
    for number in (first, second):
        if not 1 <= number <= len(tries):
            raise ValueError(f"diff: there is no try {number}; isolation tried lists them")
        tried = tries[number - 1]
        if not tried.source:
            raise ValueError(f"diff: try {number}, {tried.agent}, has no file of yours")
        texts.append(source_path(tried.source, home).read_text(encoding="utf-8").splitlines(keepends=True))
        names.append(f"{number} {tried.agent}")
    return "".join(unified_diff(texts[0], texts[1], names[0], names[1]))


def code_of(text: str) -> str:
    """Return the hash of a source, by which it is kept, or of an agent's settings as `run.json` has them."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
