"""Start runs from the lab: each in a process of its own, one at a time."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from experiments.record.run_directory import is_run
from reports.board.request_models import Name, StrictModel, parse
from reports.board.resources import Resources, run_of

_LOOKS_EVERY = 0.2
"""Seconds between two looks whether a run has begun."""
_COMMAND = "from knights_isolation_command import run; run()"


class Extending(StrictModel):
    """Request to extend a run by openings for one of its contenders."""

    run: Name
    contender: Name
    pairs: Annotated[int, Field(ge=1, le=10_000)]


class RunStarter:
    """Starts commands that play a run; what they print is kept in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._said = folder / "said.txt"
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def is_busy(self) -> bool:
        """Whether a run that was started here is still being played."""
        self._processes = [process for process in self._processes if process.poll() is None]
        return bool(self._processes)

    async def start(self, words: list[str], out: Path) -> None:
        """Start a command, and return when the run `out` that it plays has begun.

        Raises:
            ValueError: the command has failed before; the message is its last line.
        """
        with self._said.open("wb") as said:
            process = subprocess.Popen([sys.executable, "-c", _COMMAND, *words], stdout=said, stderr=said)
        self._processes.append(process)
        while not is_run(out):
            if process.poll() is not None:
                lines = self._said.read_text(encoding="utf-8", errors="replace").splitlines()
                raise ValueError(lines[-1] if lines else "the run has not begun")
            await asyncio.sleep(_LOOKS_EVERY)


class ExtensionPages:
    """Route that extends a run of the shelf by openings."""

    def __init__(self, shelf: Resources, starter: RunStarter) -> None:
        self._shelf = shelf
        self._starter = starter

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [Route("/api/extend", self._extend, methods=["POST"])]

    async def _extend(self, request: Request) -> Response:
        try:
            asked = parse(Extending, await request.body())
            run = run_of(self._shelf, asked.run)
            if self._starter.is_busy:
                return JSONResponse({"error": "a run is being played already: wait for its end"}, status_code=503)
            out = next(path for number in range(2, 10_000) if not (path := Path(f"{run}-{number}")).exists())
            words = ["tournament", "--extend", str(run), "--contender", asked.contender, "--pairs", str(asked.pairs)]
            await self._starter.start([*words, "--out", str(out)], out)
        except ValueError as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        return JSONResponse({"address": f"/runs/{quote(out.name)}"})
