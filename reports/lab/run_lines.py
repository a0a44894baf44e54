"""The list of runs: one line each, kept by the size and time of the run's files, with a small forest plot.

Runs in the archive are hidden; nothing is moved or deleted.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field, TypeAdapter

from knights_isolation.experiments.plan import parse_spec
from knights_isolation.experiments.record.checked_json import read_json, write_json
from knights_isolation.experiments.record.log import count_games, games_folder
from knights_isolation.experiments.record.run_directory import END, FACTS, is_imported, load_run, state_of
from knights_isolation.experiments.record.schema import RunInfo
from knights_isolation.isolation.compiling.code_cache import folder
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.isolation.files.received import read_plain

from ..board.resources import Name, Resources, StrictModel
from ..pages.next_steps import seconds_of
from ..text.cell_values import Estimate, Points, join_names, pluralise

Bar = tuple[float, float, float, str, str]
"""Low, estimate and high in percentage points, the verdict and the name, of a contender."""
_MOST_NAMED = 2
_VERSION = 4
"""Increased when lines are made otherwise, so that kept ones are made anew."""


@dataclass(frozen=True)
class RunLine:
    """A run in one line.

    Attributes:
        name: name of the run in addresses.
        question: what the run asks.
        limit: the limit of most of its agents; empty if none has one.
        played, planned: numbers of games.
        begun: when it was planned, ISO 8601.
        seconds: from its start to its end; None if it has not ended.
        state: running, stopped, finished or damaged.
        finding: what it found in one sentence; None if that is not known yet.
        bars: one for each contender.
        targets: what each agent plays, in the syntax of specs.
        seen: signature of the files that the line was made of.
    """

    name: str
    question: str
    seen: str
    board: str = ""
    limit: str = ""
    agents: tuple[str, ...] = ()
    played: int = 0
    planned: int = 0
    begun: str = ""
    seconds: float | None = None
    state: str = ""
    finding: str | None = None
    bars: tuple[Bar, ...] = ()
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class InRun:
    """An agent's difference to the baseline of a run."""

    run: str
    address: str
    agent: str
    interval: str
    verdict: str


class RunLines:
    """Lines of runs, kept in memory and in the cache folder, so that a run is read again only if it has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, RunLine] = {}
        self._waiting: dict[Path, str] = {}

    def line(self, name: str, run: Path) -> RunLine:
        """Return the line of a run."""
        seen = signature(run)
        known = self._known.get(run) or _kept(run)
        if known is None or known.seen != seen:
            fresh = _read(name, run, seen)
            # A run that goes on keeps the finding of its games so far until there is a newer one.
            has_finding = known is not None and known.played > 0 and bool(fresh.agents)
            known = replace(fresh, finding=known.finding, bars=known.bars) if known and has_finding else fresh
            self._waiting[run] = seen
        self._known[run] = known
        return replace(known, name=name, state=known.state or state_of(run))

    def of_heuristic(self, reference: str, resources: Resources) -> list[InRun]:
        """Return how a heuristic did beside the baselines of all runs whose findings are known, the latest first."""
        found = []
        for name, run in resources.named_runs().items():
            line = self.line(name, run)
            targets = dict(zip(line.agents, line.targets, strict=True))
            for low, estimate, high, verdict, agent in line.bars:
                if verdict and targets.get(agent, "").rpartition("/")[2] == reference:
                    interval = Estimate(*(Points(value / 100) for value in (estimate, low, high))).text
                    found.append(InRun(name, f"/runs/{quote(name)}", agent, interval, verdict))
        return found

    def waiting(self) -> dict[Path, str]:
        """Return the runs whose finding is not known or older than their log, with the signatures of their files."""
        return {run: seen for run, seen in self._waiting.items() if self._known[run].played}

    def found(self, run: Path, seen: str, finding: str, bars: list[list[Any]]) -> None:
        """Add the finding of a run whose files had the signature `seen`, and keep the line."""
        self._waiting.pop(run, None)
        known = self._known[run]
        self._known[run] = replace(known, finding=finding, bars=tuple(tuple(bar) for bar in bars))
        if known.seen == seen:
            write_json(_file(run), asdict(self._known[run]))


def signature(run: Path) -> str:
    """Return a text that changes whenever the files of a run or its state do."""
    facts = []
    for path in [run / FACTS, run / END, *sorted(games_folder(run).glob("games-*.parquet"))]:
        with suppress(OSError):
            status = path.stat()
            facts.append(f"{path.name} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join([str(_VERSION), state_of(run), *facts]).encode()).hexdigest()[:16]


def question_of(info: RunInfo) -> str:
    """Return what a run asks, in a sentence."""
    requested = info.requested
    contenders = [name for name, entry in info.agents.items() if "contender" in entry.roles]
    where = f"on {requested['board']}"
    if is_imported(info):
        return f"Games played elsewhere, {where}"
    if info.baseline is None:
        return f"Which of {pluralise(len(info.agents), 'agent')} is strongest {where}?"
    cost = ", at equal cost" if requested.get("equal_cost") else ""
    verb = "win more than" if requested["format"] == "gauntlet" else "beat"
    if len(contenders) > _MOST_NAMED:
        return f"Which of {len(contenders)} contenders {verb} {info.baseline} {where}{cost}?"
    asked = "Does" if len(contenders) == 1 else "Do"
    return f"{asked} {join_names(contenders)} {verb} {info.baseline} {where}{cost}?"


def _read(name: str, run: Path, seen: str) -> RunLine:
    try:
        info = load_run(run)
        line = RunLine(
            name=name,
            question=question_of(info),
            board=info.requested["board"],
            limit=_limit(info),
            agents=tuple(info.agents),
            played=count_games(run),
            planned=info.games,
            begun=info.created_at,
            seconds=seconds_of(info),
            targets=tuple(target_of(entry.spec) for entry in info.agents.values()),
            seen=seen,
        )
    except (ValueError, OSError) as error:
        return damaged(name, str(error).partition("\n")[0], seen)
    return line if line.played else replace(line, finding="No games yet")


def damaged(name: str, why: str, seen: str = "") -> RunLine:
    """Return the line of a run that cannot be read."""
    return RunLine(name, why, seen, state="damaged", finding="Cannot be read")


def _limit(info: RunInfo) -> str:
    limits = (entry.limit_text for entry in info.agents.values())
    return max(Counter(filter(None, limits)).items(), key=lambda counted: counted[1], default=("", 0))[0]


def target_of(spec: str) -> str:
    """Return what a spec plays; empty if this version does not know it."""
    try:
        return parse_spec(spec).target
    except ValueError:
        return ""


def _file(run: Path) -> Path:
    findings = folder() / "findings"
    findings.mkdir(exist_ok=True)
    return findings / f"{hashlib.sha256(str(run.resolve()).encode()).hexdigest()[:24]}.json"


def _kept(run: Path) -> RunLine | None:
    try:
        return TypeAdapter(RunLine).validate_python(read_json(_file(run)))
    except (OSError, ValueError):
        return None


ARCHIVE = "archive.json"
"""File in the folder of the runs with the names of the archived ones."""


class Archiving(StrictModel):
    """Request to archive runs, or to bring them back."""

    runs: Annotated[list[Name], Field(min_length=1, max_length=1000)]
    is_archived: bool


def archived(home: Path | None) -> frozenset[str]:
    """Return the names of the archived runs of a folder; none if its file cannot be read."""
    try:
        return frozenset(json.loads(read_plain(home / ARCHIVE))) if home else frozenset()
    except (OSError, ValueError, TypeError):
        return frozenset()


def set_archived(home: Path, runs: Sequence[str], is_archived: bool) -> None:
    """Add runs to the archive of a folder, or remove them from it."""
    names = archived(home) | set(runs) if is_archived else archived(home) - set(runs)
    write_text(home / ARCHIVE, json.dumps(sorted(names)))


_SPANS = (5.0, 10.0, 25.0, 50.0)
_MOST = 24


def thumbnail(bars: Sequence[Bar]) -> tuple[Sequence[Bar], float]:
    """Return the intervals of a small forest plot, and the points from its middle to its edge. Many are thinned out."""
    finite = [bar for bar in bars if all(map(math.isfinite, bar[:3]))]
    shown = finite[:: math.ceil(len(finite) / _MOST) or 1]
    widest = max((max(abs(low), abs(high)) for low, _, high, *_ in shown), default=0.0)
    return shown, next((span for span in _SPANS if widest <= span), _SPANS[-1])
