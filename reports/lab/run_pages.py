"""Pages of runs: the list, a run live or as its report, differences of two, and leagues."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from knights_isolation.experiments.record.run_directory import LEAGUE, state_of
from knights_isolation.isolation.files.received import read_plain

from ..board.board_api import endpoint
from ..board.board_processes import BoardAnswer, Processes, Question, succeeded
from ..board.resources import Resources, run_of
from ..league.league_pages import INDEX
from ..pages.templates import PAGE, kept_pages, with_pages
from ..text.cell_values import time_words
from ..watch.run_follower import RunFollower
from .framing import boxed, frame_of, framed, lab_page, problem_page
from .lab_answers import diff, finding, league, report
from .run_lines import Archiving, RunLine, RunLines, archived, damaged, set_archived, signature, thumbnail

_REPORTS_KEPT = 4
_SHARE_OF_TIME = 10
"""Pause after the finding of a run that is played, as a multiple of its duration."""


@dataclass(eq=False)
class RunPages:
    """Routes of all pages about runs; what takes long is computed in `processes`. Belongs to one event loop."""

    shelf: Resources
    processes: Processes
    lines: RunLines
    _followers: dict[Path, RunFollower] = field(default_factory=dict)
    _reports: dict[tuple[str, ...], str] = field(default_factory=dict)
    _is_read: asyncio.Event = field(default_factory=asyncio.Event)
    _finding: asyncio.Task[None] | None = None

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/", self._list),
            Route("/runs/{run}", self._run),
            Route("/runs/{run}/report", self._report),
            Route("/runs/{run}/events", self._events),
            Route("/api/archive", endpoint(Archiving, self._archive), methods=["POST"]),
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

    # The list

    async def _archive(self, asked: Archiving, request: Request) -> BoardAnswer:
        if self.shelf.home is None:
            raise ValueError("these runs were named one by one: there is no folder to keep an archive in")
        for name in asked.runs:
            run_of(self.shelf, name)
        await asyncio.to_thread(set_archived, self.shelf.home, asked.runs, asked.is_archived)
        return succeeded({})

    async def _list(self, request: Request) -> Response:
        lines = await asyncio.to_thread(self._read_lines)
        names = await asyncio.to_thread(archived, self.shelf.home)
        is_archive = "archive" in request.query_params
        runs = [line for line in lines if (line.name in names) == is_archive]
        kept = await asyncio.to_thread(lambda: kept_pages(self._with_pages()))
        self._is_read.set()
        playing = [run for run in runs if run.state == "running"]
        return lab_page(
            "runs.html",
            frame_of(request, "runs"),
            title=f"Archive: {_title(len(runs), 0).lower()}" if is_archive else _title(len(runs), len(playing)),
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
        lines = [self.lines.line(name, run) for name, run in self.shelf.named_runs().items()]
        lines.sort(key=lambda line: line.begun, reverse=True)
        strange = self.shelf.strange_runs().items()
        return lines + [
            damaged(run.name, f"{entry} is not a file, and links are not followed") for run, entry in strange
        ]

    async def _find(self) -> None:
        """Read findings that are not known, one at a time, as long as somebody looks at the list."""
        rest: dict[Path, float] = {}
        while True:
            await self._is_read.wait()
            self._is_read.clear()
            for name, run in self.shelf.named_runs().items():
                seen = self.lines.waiting().get(run)
                if seen is None or rest.get(run, 0.0) > time.monotonic():
                    continue
                started = time.monotonic()
                answer = await self.processes.answer(partial(finding, run=name), "findings")
                rest[run] = time.monotonic() + _SHARE_OF_TIME * (time.monotonic() - started)
                content = json.loads(answer.body)
                if answer.status == 503:  # too busy now: the next look at the list tries again
                    continue
                await asyncio.to_thread(
                    self.lines.found, run, seen, content.get("finding") or content["error"], content.get("bars", [])
                )

    # A run

    def _named(self, request: Request) -> tuple[str, Path | None]:
        name = request.path_params["run"]
        return name, self.shelf.named_runs().get(name)

    async def _run(self, request: Request) -> Response:
        name, run = self._named(request)
        if run is not None and state_of(run) != "finished":
            return lab_page("live.html", frame_of(request, "runs"), title=name, address=quote(name))
        return await self._report(request)

    async def _report(self, request: Request) -> Response:
        """Return the report of a run, or of several; it is kept until one of their logs changes."""
        name, frame = request.path_params.get("run"), frame_of(request, "runs")
        names = [name] if name else request.query_params.getlist("run")
        runs = self.shelf.named_runs()
        if missing := [name for name in names if name not in runs]:
            return problem_page(frame, 404, "No such run", f"There is no run {missing[0]} in {frame.folder}.")
        if not names:
            return problem_page(frame, 400, "No run chosen", "Choose runs in the list of runs.")
        key = (*names, *(signature(runs[name]) for name in names))
        if key not in self._reports:
            try:
                page = await self._page(partial(report, runs=names), request.headers.get("x-page", ""))
            except ValueError as error:
                return problem_page(frame, 409, ", ".join(names), str(error))
            if len(self._reports) >= _REPORTS_KEPT:
                self._reports.pop(next(iter(self._reports)))
            self._reports[key] = page
        return framed(self._reports[key], frame, ", ".join(names))

    async def _analysis(self, request: Request) -> Response:
        """Return the page of an analysis or a discovery, which may come from anywhere, or what shows it in a box."""
        frame, name = frame_of(request, "runs"), request.path_params["run"]
        try:
            page = await asyncio.to_thread(lambda: read_plain(self._with_pages()[name] / PAGE))
        except (KeyError, OSError, ValueError):
            return problem_page(frame, 404, "No such analysis", f"There is no page of an analysis in {name}.")
        is_boxed = request.url.path.endswith("/analysis/page")
        return boxed(page, frame) if is_boxed else lab_page("kept.html", frame, title=name)

    def _with_pages(self) -> dict[str, Path]:
        return with_pages(self.shelf.named_runs(), self.shelf.home)

    async def _events(self, request: Request) -> Response:
        name, run = self._named(request)
        if run is None:
            return JSONResponse({"error": f"no run {name}"}, status_code=404)
        follower = self._followers.setdefault(run, RunFollower(run))
        return follower.events()

    async def _diff(self, request: Request) -> Response:
        frame = frame_of(request, "runs")
        before, after = (request.query_params.get(word, "") for word in ("before", "after"))
        if not (before and after):
            return problem_page(frame, 400, "Compare two runs", "Select two runs in the list of runs.")
        try:
            return framed(await self._page(partial(diff, names=(before, after))), frame, f"{before}, {after}")
        except ValueError as error:
            return problem_page(frame, 409, f"{before} and {after}", str(error))

    async def _page(self, question: Question, asker: str = "") -> str:
        """Return the page that answers a question, or raise a ValueError with the reason why there is none."""
        content = json.loads((await self.processes.answer(question, asker)).body)
        if "error" in content:
            raise ValueError(content["error"])
        return str(content["page"])

    # Leagues

    async def _classes(self, request: Request) -> Response:
        frame = frame_of(request, "class")
        leagues = [name for name, run in self.shelf.named_runs().items() if (run / LEAGUE).is_file()]
        if len(leagues) == 1:
            return RedirectResponse(f"/class/{quote(leagues[0])}/{INDEX}")
        return lab_page("classes.html", frame, title="Class", leagues=leagues)

    async def _class(self, request: Request) -> Response:
        frame = frame_of(request, "class")
        name, page = request.path_params["run"], request.path_params["page"]
        try:
            return framed(await self._page(partial(league, name=name, page=page)), frame)
        except ValueError as error:
            return problem_page(frame, 404, f"No page of the league {name}", str(error))


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
