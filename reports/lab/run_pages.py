"""Pages of runs: the list, a run live or as its report, differences of two, and leagues; and the frame of all pages.

The status of a run that is played is read from its log alone, and sent to the pages that watch it (server-sent events).
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from markupsafe import escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from knights_isolation.experiments.record.run_directory import LEAGUE, is_run, state_of
from knights_isolation.experiments.statistics.run_results import RunResults, load_findings
from knights_isolation.experiments.statistics.sprt import live_rate
from knights_isolation.isolation.files.received import read_plain

from ..board.board_api import api_route
from ..board.board_processes import BoardAnswer, Processes, Question, succeeded
from ..board.resources import Resources, run_of
from ..charts.chart import fit_axis, plain, role_of, signed
from ..charts.interval_charts import Estimates, band, estimates
from ..league import INDEX, SCRIPTS
from ..pages.templates import PAGE, SCRIPT, kept_pages, page_template, policy_of, with_pages
from ..replay import bundle
from ..text.cell_values import Points, Range, Share, speed_words, time_words
from ..text.wording import caveats, forfeit_sentences
from .lab_answers import diff, finding, league, report
from .run_lines import Archiving, RunLine, RunLines, archived, damaged, set_archived, signature, thumbnail

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="[^"]*">\n')
_SHOWN = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_BOXED = f"sandbox allow-downloads; {_SHOWN}; frame-ancestors 'self'"


_OTHER_PAGES = ("heuristics", "board", "openings", "class", "try")
"""Keys of pages in the navigation, the first words of their addresses; all other pages belong to the runs."""


class PageError(Exception):
    """Why there is no page: the status, a title, and what is wrong."""


async def problem_page(request: Request, error: Exception) -> Response:
    """Return the page that says why there is none."""
    status, title, problem = error.args
    return lab_page(request, "problem.html", status, title=title, problem=problem)


def frame_of(request: Request) -> dict[str, str]:
    """Return what surrounds a page: its key in the navigation, the folder of the runs, and the chosen theme."""
    word, theme = request.url.path.split("/")[1], request.cookies.get("theme", "")
    page = word if word in _OTHER_PAGES else "runs"
    return {"page": page, "folder": request.app.state.folder, "theme": theme if theme in ("light", "dark") else ""}


def lab_page(request: Request, name: str, status: int = 200, **values: object) -> Response:
    """Return a page of the lab itself, from its template."""
    return HTMLResponse(page_template(name).render(frame=frame_of(request), **values), status)


def framed(request: Request, page: str, crumb: str = "") -> Response:
    """Return a page that is complete by itself with the lab's navigation, and above its heading the name of its run.

    The page is made by this version of the toolkit. Its policy is the server's, whatever the page says: the toolkit's
    own scripts, and requests to the lab.
    """
    page, frame = themed(request, _POLICY.sub("", page, count=1)), frame_of(request)
    page = page.replace("</head>", '<script type="module" src="/lab/frame.js"></script>\n</head>', 1)
    page = page.replace("<body>", f"<body>\n{page_template('frame.html').render(frame=frame)}", 1)
    if crumb:
        above = f'<p class="crumb"><a href="/">Runs</a> / {escape(crumb)}</p>'
        page = page.replace('<main id="main">', f'<main id="main">\n{above}', 1)
    return HTMLResponse(page, headers={"content-security-policy": _policy_of_framed()})


def themed(request: Request, page: str) -> str:
    """Return a page in the chosen theme."""
    theme = frame_of(request)["theme"]
    return page.replace('<html lang="en">', f'<html lang="en" data-theme="{theme}">', 1) if theme else page


@cache
def _policy_of_framed() -> str:
    """Return the policy of our own pages that are complete by themselves; it names their inline scripts."""
    report, league = policy_of(SCRIPT.read_text(encoding="utf-8")), policy_of(bundle(SCRIPTS))
    return f"{_SHOWN}; script-src 'self' '{report}' '{league}'; connect-src 'self'; frame-ancestors 'none'"


_REPORTS_KEPT = 4
_SHARE_OF_TIME = 10
"""Pause after the finding of a run that is played, as a multiple of its duration."""


class RunPages:
    """Routes of all pages about runs; what takes long is computed in `processes`. Belongs to one event loop."""

    def __init__(self, resources: Resources, processes: Processes, lines: RunLines) -> None:
        self._resources, self._processes, self._lines = resources, processes, lines
        self._followers: dict[Path, RunFollower] = {}
        self._reports: dict[tuple[str, ...], str] = {}
        self._is_read = asyncio.Event()
        self._finding: asyncio.Task[None] | None = None

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/", self._list),
            Route("/runs/{run}", self._run),
            Route("/runs/{run}/report", self._report),
            Route("/runs/{run}/events", self._events),
            api_route("/api/archive", Archiving, self._archive),
            Route("/runs/{run}/analysis", self._analysis),
            Route("/runs/{run}/analysis/page", self._analysis),
            Route("/report", self._report),
            Route("/diff", self._diff),
            Route("/class", self._classes),
            Route("/class/{run}/{page}", self._class),
        ]

    def start(self) -> None:
        """Begin to read the findings of runs, whenever somebody looks at the list."""
        self._finding = asyncio.create_task(self._find())

    def close(self) -> None:
        """Stop reading, and end all event streams."""
        if self._finding:
            self._finding.cancel()
        for follower in self._followers.values():
            follower.close()

    async def _archive(self, asked: Archiving, request: Request) -> BoardAnswer:
        if self._resources.home is None:
            raise ValueError("these runs were named one by one: there is no folder to keep an archive in")
        for name in asked.runs:
            run_of(self._resources, name)
        await asyncio.to_thread(set_archived, self._resources.home, asked.runs, asked.is_archived)
        return succeeded({})

    async def _list(self, request: Request) -> Response:
        lines = await asyncio.to_thread(self._read_lines)
        names = await asyncio.to_thread(archived, self._resources.home)
        kept = await asyncio.to_thread(lambda: kept_pages(self._with_pages()))
        self._is_read.set()
        is_archive = "archive" in request.query_params
        runs = [line for line in lines if (line.name in names) == is_archive]
        playing = sum(run.state == "running" for run in runs)
        return lab_page(
            request,
            "runs.html",
            title=f"Archive: {_title(len(runs), 0).lower()}" if is_archive else _title(len(runs), playing),
            runs=runs,
            analyses=[page for page in kept if (page.run in names) == is_archive],
            is_archive=is_archive,
            hidden=sum(line.name in names for line in lines),
            is_moving=bool(playing) or any(run.finding is None for run in runs),
            thumbnail=thumbnail,
            time_words=time_words,
            date=_date,
        )

    def _read_lines(self) -> list[RunLine]:
        lines = [self._lines.line(name, run) for name, run in self._resources.named_runs().items()]
        lines.sort(key=lambda line: line.begun, reverse=True)
        strange = self._resources.strange_runs().items()
        return lines + [
            damaged(run.name, f"{entry} is not a file, and links are not followed") for run, entry in strange
        ]

    async def _find(self) -> None:
        """Read findings that are not known, one at a time, as long as somebody looks at the list."""
        rest: dict[Path, float] = {}
        while True:
            await self._is_read.wait()
            self._is_read.clear()
            for name, run in self._resources.named_runs().items():
                seen = self._lines.waiting().get(run)
                if seen is None or rest.get(run, 0.0) > time.monotonic():
                    continue
                started = time.monotonic()
                answer = await self._processes.answer(partial(finding, run=name), "findings")
                rest[run] = time.monotonic() + _SHARE_OF_TIME * (time.monotonic() - started)
                content = json.loads(answer.body)
                if answer.status == 503:  # too busy now: the next look at the list tries again
                    continue
                sentence, bars = content.get("finding") or content["error"], content.get("bars", [])
                await asyncio.to_thread(self._lines.found, run, seen, sentence, bars)

    async def _run(self, request: Request) -> Response:
        name = request.path_params["run"]
        run = self._resources.named_runs().get(name)
        if run is not None and state_of(run) != "finished":
            return lab_page(request, "live.html", title=name, address=quote(name))
        return await self._report(request)

    async def _report(self, request: Request) -> Response:
        """Return the report of a run, or of several; it is kept until one of their logs changes."""
        name = request.path_params.get("run")
        names = [name] if name else request.query_params.getlist("run")
        runs = self._resources.named_runs()
        if missing := [name for name in names if name not in runs]:
            raise PageError(404, "No such run", f"There is no run {missing[0]} in {request.app.state.folder}.")
        if not names:
            raise PageError(400, "No run chosen", "Choose runs in the list of runs.")
        key = (*names, *(signature(runs[name]) for name in names))
        if key not in self._reports:
            asker = request.headers.get("x-page", "")
            page = await self._page(partial(report, runs=names), 409, ", ".join(names), asker)
            if len(self._reports) >= _REPORTS_KEPT:
                self._reports.pop(next(iter(self._reports)))
            self._reports[key] = page
        return framed(request, self._reports[key], ", ".join(names))

    async def _analysis(self, request: Request) -> Response:
        """Return the page of an analysis or a discovery, which may come from anywhere, or what shows it in a box."""
        name = request.path_params["run"]
        try:
            page = await asyncio.to_thread(lambda: read_plain(self._with_pages()[name] / PAGE))
        except (KeyError, OSError, ValueError):
            problem = f"There is no page of an analysis in {name}."
            raise PageError(404, "No such analysis", problem) from None
        if not request.url.path.endswith("/analysis/page"):
            return lab_page(request, "kept.html", title=name)
        # without scripts, in an origin of its own
        return HTMLResponse(themed(request, page), headers={"content-security-policy": _BOXED})

    def _with_pages(self) -> dict[str, Path]:
        return with_pages(self._resources.named_runs(), self._resources.home)

    async def _events(self, request: Request) -> Response:
        name = request.path_params["run"]
        run = self._resources.named_runs().get(name)
        if run is None:
            return JSONResponse({"error": f"no run {name}"}, status_code=404)
        return self._followers.setdefault(run, RunFollower(run)).events()

    async def _diff(self, request: Request) -> Response:
        before, after = (request.query_params.get(word, "") for word in ("before", "after"))
        if not (before and after):
            raise PageError(400, "Compare two runs", "Select two runs in the list of runs.")
        page = await self._page(partial(diff, names=(before, after)), 409, f"{before} and {after}")
        return framed(request, page, f"{before}, {after}")

    async def _page(self, question: Question, status: int, title: str, asker: str = "") -> str:
        """Return the page that answers a question; the reason why there is none is a `PageError` with this title."""
        content = json.loads((await self._processes.answer(question, asker)).body)
        if "error" in content:
            raise PageError(status, title, content["error"])
        return str(content["page"])

    async def _classes(self, request: Request) -> Response:
        leagues = [name for name, run in self._resources.named_runs().items() if (run / LEAGUE).is_file()]
        if len(leagues) == 1:
            return RedirectResponse(f"/class/{quote(leagues[0])}/{INDEX}")
        return lab_page(request, "classes.html", title="Class", leagues=leagues)

    async def _class(self, request: Request) -> Response:
        name, page = request.path_params["run"], request.path_params["page"]
        question = partial(league, name=name, page=page)
        return framed(request, await self._page(question, 404, f"No page of the league {name}"))


def _title(runs: int, playing: int) -> str:
    count = "No runs yet" if not runs else "One run" if runs == 1 else f"{runs} runs"
    return f"{count}, {'one' if playing == 1 else playing} still playing" if playing else count


def _date(moment: str | float) -> str:
    """Return a time, ISO 8601 or in seconds since 1970, in this machine's time zone; empty if it is malformed."""
    try:
        when = datetime.fromisoformat(moment) if isinstance(moment, str) else datetime.fromtimestamp(moment)
    except ValueError:
        return ""
    return when.astimezone().strftime("%-d %b %Y, %H:%M")


SHORTEST = 1.0
"""Seconds between two looks at the log."""
_COURSE_POINTS = 60
"""Points of the line that a row of the race has had so far."""
_SHARE_OF_LOOKS = 20
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
                now = await asyncio.to_thread(signature, self._run)
                if self._state["total"] and not is_run(self._run):
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
            await asyncio.sleep(max(SHORTEST, _SHARE_OF_LOOKS * (time.monotonic() - started)))

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
    nothing: dict[str, Any] = {"caveat": "", "standings": [], "race": None, "forfeits": [], "games": []}
    return {"run": run.name, "played": 0, "total": 0, "state": "running", **nothing}


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
    """Return the anytime-valid differences to the baseline, or win rates without one; None before there are any.

    Positions are in per cent of two axes: a row's interval now over one, its course so far over the other. A row is
    better or worse once its interval excludes no difference, as in the report of a run that has not finished.
    """
    found = estimates(findings, together=True)
    names = sorted(found.sequences, key=lambda name: -float(found.sequences[name].mean[-1]))
    if not names:
        return None
    label, text = "games won, per cent", plain
    if found.is_difference:
        label, text = "difference to the baseline in percentage points", signed
    intervals = {name: _interval_now(found, name) for name in names}
    axis = fit_axis(label, [found.null, *(end for interval in intervals.values() for end in interval)], text)
    height, kind = found.axis, Points if found.is_difference else Share
    rows = []
    for name, interval in intervals.items():
        course = band(name, found, _COURSE_POINTS)
        rows.append(
            {
                "name": name,
                "role": role_of(*found.sequences[name].last, 0.5) if findings.baseline is not None else "",
                "text": kind(interval[1] / 100).text,
                "units": found.sequences[name].values.size,
                "at": [axis.percent(value) for value in interval],
                "course": [[height.within(value) for value in line] for line in (course.low, course.y, course.high)],
            }
        )
    return {
        "rows": rows,
        "ticks": [[axis.percent(value), text] for value, text in axis.ticks],
        "zero": axis.percent(found.null),
        "level": height.within(found.null),
        "label": axis.label,
        "unit": found.unit,
        "is_judged": findings.baseline is not None,
    }


def _interval_now(found: Estimates, name: str) -> list[float]:
    """Return the lower end, the estimate and the upper end, in per cent."""
    low, high = found.sequences[name].last
    values: list[float] = found.percent(np.array([low, found.sequences[name].mean[-1], high])).tolist()
    return values


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
