"""HTTP server of a live run, with server-sent events."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from experiments.record.log import count_games
from experiments.record.run_directory import FACTS, is_finished, is_run
from experiments.statistics.run_results import load_findings
from reports.board.request_guard import Guarded
from reports.board.server import LOOPBACK, listen
from reports.board.server import STATIC as BOARD_STATIC
from reports.pages.report_page import report_page
from reports.pages.templates import script_of
from reports.watch.run_status import blank_state, line_of, run_state

STATIC = Path(__file__).parent / "static"
SHORTEST = 1.0
"""Seconds between two looks at the log."""
_SHARE_OF_TIME = 20
"""Pause after a look, as a multiple of its duration: playing needs the processors more."""
_PING = 15.0
_LISTENERS = 16
"""Maximum number of pages that receive updates at a time; the log is read once for all of them."""


class RunServer(uvicorn.Server):
    """Server of a run's page at http://127.0.0.1:`port`; it only reads the run."""

    def __init__(self, run: Path, port: int) -> None:
        self._run = run
        self._state: dict[str, Any] = _lined(blank_state(run))
        self._version = 0
        self._changed: asyncio.Condition | None = None
        self._looking: asyncio.Task[None] | None = None
        self._listeners = 0
        self._report = ""
        self._reported: _Seen | None = None
        routes = [
            Route("/", self._page),
            Route("/events", self._events),
            Route("/report", self._report_page),
            Route("/style.css", self._style),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        app = Guarded(Starlette(routes=routes), port)
        super().__init__(uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=1))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, and watching the log."""
        await super().startup(sockets)
        self._changed = asyncio.Condition()
        self._looking = asyncio.create_task(self._look())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all event streams."""
        if self._looking:
            self._looking.cancel()
        await super().shutdown(sockets)

    async def _look(self) -> None:
        """Read the run whenever its log has grown, or its path contains another run."""
        seen: _Seen | None = None
        while True:
            started = time.monotonic()
            try:
                now = await asyncio.to_thread(_seen, self._run)
                if now.run is None and self._state["total"]:
                    raise ValueError(f"{self._run} has been moved or deleted; this is its last known state")
                state = self._state if now == seen else await asyncio.to_thread(_status, self._run)
                seen = now
            except (ValueError, OSError) as error:
                seen, state = None, {**self._state, "finished": False, "problem": str(error).partition("\n")[0]}
            if state != self._state or not self._version:
                self._state = state
                await self._tell()
            await asyncio.sleep(max(SHORTEST, _SHARE_OF_TIME * (time.monotonic() - started)))

    async def _tell(self) -> None:
        if self._changed:
            async with self._changed:
                self._version += 1
                self._changed.notify_all()

    async def _page(self, request: Request) -> Response:
        return FileResponse(STATIC / "watch.html")

    async def _style(self, request: Request) -> Response:
        return FileResponse(BOARD_STATIC / "style.css")

    async def _events(self, request: Request) -> Response:
        if self._listeners >= _LISTENERS:
            return JSONResponse({"error": f"{_LISTENERS} pages watch this run already"}, status_code=503)
        self._listeners += 1
        return _Listening(self._stream(), self._leave)

    def _leave(self) -> None:
        self._listeners -= 1

    async def _stream(self) -> AsyncIterator[str]:
        """Yield the state now and after each change, and a comment now and then to keep the connection open."""
        known = 0
        while not self.should_exit and self._changed:
            if self._version > known:
                known = self._version
                yield f"data: {json.dumps(self._state, allow_nan=False)}\n\n"
                continue
            try:
                async with self._changed:
                    await asyncio.wait_for(self._changed.wait(), _PING)
            except TimeoutError:
                yield ": still here\n\n"

    async def _report_page(self, request: Request) -> Response:
        try:
            now = await asyncio.to_thread(_seen, self._run)
            if not now.is_finished:
                return JSONResponse({"error": "the report is available when the run has ended"}, status_code=404)
            if now != self._reported:
                self._report = await asyncio.to_thread(lambda: report_page(load_findings([self._run])))
                self._reported = now
        except (ValueError, OSError) as error:
            return JSONResponse({"error": str(error).partition("\n")[0]}, status_code=409)
        _, script_hash = script_of("report.js")
        policy = (
            f"default-src 'none'; style-src 'unsafe-inline'; script-src '{script_hash}'; img-src data:; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return HTMLResponse(self._report, headers={"content-security-policy": policy})


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


@dataclass(frozen=True)
class _Seen:
    """Signature of a run's state: the identity of `run.json`, the games, and whether it is finished."""

    run: tuple[int, int] | None
    games: int
    is_finished: bool


def _seen(run: Path) -> _Seen:
    facts = (run / FACTS).stat() if is_run(run) else None
    return _Seen((facts.st_ino, facts.st_mtime_ns) if facts else None, count_games(run), is_finished(run))


def _status(run: Path) -> dict[str, Any]:
    return _lined(run_state(run))


def _lined(state: dict[str, Any]) -> dict[str, Any]:
    return {**state, "line": line_of(state)}


def watch(run: Path, port: int, announce: Callable[[str], None], open_browser: bool = True) -> None:
    """Serve the page of a run until Ctrl-C; port 0 takes any free one. `announce` is called with the address.

    Raises:
        ValueError: the port is taken.
    """
    with listen(port) as listener:
        address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
        announce(address)
        if open_browser:
            _open_soon(address)
        RunServer(run, listener.getsockname()[1]).run(sockets=[listener])


@contextmanager
def serve_in_background(
    run: Path, announce: Callable[[str], None], open_browser: bool = True
) -> Iterator[Callable[[], None]]:
    """Serve the page of a run during the context; yield a function that waits until the page is no longer needed."""
    with listen(0) as listener:
        port = listener.getsockname()[1]
        server = RunServer(run, port)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        address = f"http://{LOOPBACK}:{port}/"
        announce(address)
        if open_browser:
            _open_soon(address)
        try:
            yield thread.join
        finally:
            server.should_exit = True
            thread.join(timeout=5)


def _open_soon(address: str) -> None:
    opening = threading.Timer(0.5, webbrowser.open, [address])
    opening.daemon = True
    opening.start()
