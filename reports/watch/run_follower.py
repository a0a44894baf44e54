"""The status of a run, read from its log alone, and sent to the pages that watch it (server-sent events)."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from knights_isolation.experiments.record.log import count_games
from knights_isolation.experiments.record.run_directory import FACTS, State, is_run, state_of
from knights_isolation.experiments.statistics.run_results import RunResults, load_findings
from knights_isolation.experiments.statistics.sequential_tests import live_rate

from ..charts.chart import Axis
from ..charts.interval_charts import race
from ..text.cell_values import Range, Share, speed_words, time_words
from ..text.wording import caveats, forfeit_sentences

SHORTEST = 1.0
"""Seconds between two looks at the log."""
_SHARE_OF_TIME = 20
"""Pause after a look, as a multiple of its duration: playing needs the processors more."""
_PING = 15.0
_LISTENERS = 16
"""Maximum number of pages that receive updates of a run at a time; the log is read once for all of them."""


_WINDOW = 60.0
"""Seconds over which games are counted."""


class Pace:
    """Games played over the last minute, noted whenever somebody looks."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def words(self, now: float, played: int, total: int) -> str:
        """Note the games played at `now`, in seconds; return speed and time left, empty while no game is added.

        >>> pace = Pace()
        >>> pace.words(0.0, 10, 1000), pace.words(10.0, 110, 1000)
        ('', '10 games/s, about 89 s left')
        """
        if self._seen and played < self._seen[-1][1]:  # another run took the place
            self._seen.clear()
        self._seen.append((now, played))
        while len(self._seen) > 2 and now - self._seen[1][0] >= _WINDOW:
            self._seen.popleft()
        then, before = self._seen[0]
        if played == before or now == then:
            return ""
        rate = (played - before) / (now - then)
        left = f", about {time_words((total - played) / rate)} left" if total > played else ""
        return speed_words(rate) + left


class RunFollower:
    """The state of a run, read whenever its log has grown while a page listens; belongs to one event loop."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._state: dict[str, Any] = _lined(blank_state(run))
        self._version = 0
        self._changed = asyncio.Condition()
        self._pace = Pace()
        self._looking: asyncio.Task[None] | None = None
        self._listeners = 0
        self._is_closed = False

    def events(self) -> Response:
        """Return the stream of states for one page, or a refusal if there are too many."""
        if self._listeners >= _LISTENERS:
            return JSONResponse({"error": f"{_LISTENERS} pages watch this run already"}, status_code=503)
        self._listeners += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return _Listening(self._stream(), self._leave)

    def close(self) -> None:
        """End all event streams."""
        self._is_closed = True
        if self._looking:
            self._looking.cancel()

    def _leave(self) -> None:
        self._listeners -= 1
        if not self._listeners and self._looking:
            self._looking.cancel()

    async def _look(self) -> None:
        """Read the run whenever its log has grown, or its path contains another run."""
        seen: object = None
        while True:
            started = time.monotonic()
            try:
                now = await asyncio.to_thread(_signature, self._run)
                if now[0] is None and self._state["total"]:
                    raise ValueError(f"{self._run} has been moved or deleted; this is its last known state")
                state = self._state if now == seen else _lined(await asyncio.to_thread(run_state, self._run))
                seen = now
                pace = self._pace.words(time.monotonic(), state["played"], state["total"])
                state = {**state, "pace": pace if state["state"] == "running" else ""}
            except (ValueError, OSError) as error:
                seen, state = None, {**self._state, "state": "", "problem": str(error).partition("\n")[0]}
            if state != self._state or not self._version:
                self._state = state
                async with self._changed:
                    self._version += 1
                    self._changed.notify_all()
            await asyncio.sleep(max(SHORTEST, _SHARE_OF_TIME * (time.monotonic() - started)))

    async def _stream(self) -> AsyncIterator[str]:
        """Yield the state now and after each change, and a comment now and then to keep the connection open."""
        known = 0
        while not self._is_closed:
            if self._version > known:
                known = self._version
                yield f"data: {json.dumps(self._state, allow_nan=False)}\n\n"
                continue
            try:
                async with self._changed:
                    await asyncio.wait_for(self._changed.wait(), _PING)
            except TimeoutError:
                yield ": still here\n\n"


class _Listening(StreamingResponse):
    """Event stream of a page, and a callback for its end."""

    def __init__(self, news: AsyncIterator[str], leave: Callable[[], None]) -> None:
        super().__init__(news, media_type="text/event-stream")
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


def _signature(run: Path) -> tuple[tuple[int, int] | None, int, State]:
    """Return the identity of `run.json` (None without a run), the number of games, and the state."""
    facts = (run / FACTS).stat() if is_run(run) else None
    return (facts.st_ino, facts.st_mtime_ns) if facts else None, count_games(run), state_of(run)


def _lined(state: dict[str, Any]) -> dict[str, Any]:
    return {**state, "line": line_of(state), "pace": ""}


LATEST = 12
"""Number of games shown, the latest first."""


def run_state(run: Path) -> dict[str, Any]:
    """Return games played and planned, standings, forfeits and the latest games, as JSON values.

    Raises:
        ValueError: the path is not a run, or it is damaged.
    """
    if not is_run(run):  # the page may be served before the run starts
        return blank_state(run)
    findings = load_findings([run])
    return {
        "run": run.name,
        "played": findings.played,
        "total": findings.planned,
        "state": findings.state,
        "caveat": " ".join(caveats(findings)),
        "standings": standings(findings),
        "race": race_state(findings),
        "forfeits": forfeit_sentences(findings),
        "games": latest_games(findings),
    }


def blank_state(run: Path) -> dict[str, Any]:
    """Return the state of a run that has not started."""
    return {
        "run": run.name,
        "played": 0,
        "total": 0,
        "state": "running",
        "caveat": "",
        "standings": [],
        "race": None,
        "forfeits": [],
        "games": [],
    }


def standings(findings: RunResults) -> list[dict[str, Any]]:
    """Return the standings of measured agents, best first, with anytime-valid 95 % intervals."""
    rows = []
    for name in findings.measured:
        found = live_rate(findings, name)
        low, high = found.last
        rate = Share(found.values.mean()) if found.values.size else None
        rows.append(
            {
                "name": name,
                "role": ", ".join(findings.agents[name].roles),
                "openings": found.values.size,
                "rate": rate,
                "shown": "–" if rate is None else rate.text,
                "interval": Range(Share(low), Share(high)).text,
                "low": float(low),
                "high": float(high),
            }
        )
    return sorted(rows, key=lambda row: -1.0 if row["rate"] is None else -row["rate"])


def race_state(findings: RunResults) -> dict[str, Any] | None:
    """Return the race as JSON values: positions in per cent of its axes, and words; None before it has begun."""
    found = race(findings)
    if found is None:
        return None
    axis, zero = found.chart.axis, found.chart.zero or 0.0
    rows = [
        {
            "name": row.name,
            "role": row.role,
            "text": row.text,
            "units": units,
            "at": [axis.percent(value) for value in (row.low, row.value, row.high)],
            "course": [[_share(found.height, value) for value in line] for line in (course.low, course.y, course.high)],
        }
        for row, course, units in zip(found.chart.rows, found.courses, found.units, strict=True)
    ]
    ticks = [[axis.percent(value), text] for value, text in axis.ticks]
    return {
        "rows": rows,
        "ticks": ticks,
        "zero": axis.percent(zero),
        "level": _share(found.height, zero),
        "label": axis.label,
        "unit": found.unit,
        "is_judged": findings.baseline is not None,
    }


def _share(axis: Axis, value: float) -> float:
    """Return the position of a value in per cent of an axis, at an edge if it is outside."""
    return min(max(axis.percent(value), 0.0), 100.0)


def latest_games(findings: RunResults) -> list[dict[str, Any]]:
    """Return the games most recently added to the log, the latest first."""
    columns = ["own_id", "agent_1", "agent_2", "winner", "reason", "plies"]
    latest = findings.games[columns].tail(LATEST).iloc[::-1].astype(object)
    return [dict(zip(("id", *columns[1:]), row, strict=True)) for row in latest.itertuples(index=False)]


def line_of(state: dict[str, Any]) -> str:
    """Summarise a run's progress in a few words.

    >>> line_of({"played": 50, "total": 200, "state": "stopped"})
    '50 of 200 games, 25.0 %, stopped'
    """
    share = Share(state["played"] / state["total"]).text if state["total"] else "not started"
    ended = "" if state["state"] == "running" else f", {state['state']}"
    return f"{state['played']:,} of {state['total']:,} games, {share}{ended}"
