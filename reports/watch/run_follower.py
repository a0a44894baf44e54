"""Follow a run that is played, and send its state to the pages that watch it (server-sent events)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from knights_isolation.experiments.record.log import count_games
from knights_isolation.experiments.record.run_directory import FACTS, State, is_run, state_of

from .pace import Pace
from .run_status import blank_state, line_of, run_state

SHORTEST = 1.0
"""Seconds between two looks at the log."""
_SHARE_OF_TIME = 20
"""Pause after a look, as a multiple of its duration: playing needs the processors more."""
_PING = 15.0
_LISTENERS = 16
"""Maximum number of pages that receive updates of a run at a time; the log is read once for all of them."""


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
