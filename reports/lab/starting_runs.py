"""Start runs from the lab: each in a process of its own, one at a time; code from files only in a sandbox."""

from __future__ import annotations

import asyncio
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field
from starlette.requests import Request

from knights_isolation.experiments.play.run_extension import extended_config
from knights_isolation.experiments.play.sandboxed_run import setup_of, user_files
from knights_isolation.experiments.record.log import games_folder
from knights_isolation.experiments.record.run_directory import is_finished, is_run
from knights_isolation.isolation.compiling.code_cache import copy_engine
from knights_isolation.isolation.processes.child import Child, NoAnswer

from ..board.board_processes import BoardAnswer, failed, succeeded
from ..board.resources import Name, Resources, StrictModel, run_of

_LOOKS_EVERY = 0.2
"""Seconds between two looks whether a run has begun."""
_COMMAND = "from knights_isolation.command_line import run; run()"
_NOTE = (
    "import sys, pathlib; from knights_isolation.experiments.studies.noted_tries import note_run; "
    "note_run(sys.argv[1], pathlib.Path(sys.argv[2]))"
)
BUSY = "a run is being played already: wait for its end"
COMPILED = "compiled"
"""Folder, in that of the tries, for code that sandboxed processes compile."""
BEGIN_SECONDS = 60.0
"""Time until a sandboxed run has begun: its code is imported and its directory written."""
SILENT_SECONDS = 180.0
"""Time without a game after which a sandboxed run is ended: compiled code cannot be interrupted."""


class Extending(StrictModel):
    """Request to extend a run by openings for one of its contenders."""

    run: Name
    contender: Name
    pairs: Annotated[int, Field(ge=1, le=10_000)]


class RunStarter:
    """Starts runs, and extends those there are; what commands print is kept in `folder`."""

    def __init__(self, folder: Path, resources: Resources) -> None:
        self._resources = resources
        self._said = folder / "said.txt"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._sandboxed: asyncio.Task[None] | None = None
        self._scratch = folder / COMPILED

    @property
    def is_busy(self) -> bool:
        """Whether a run that was started here is still being played."""
        self._processes = [process for process in self._processes if process.poll() is None]
        return bool(self._processes) or (self._sandboxed is not None and not self._sandboxed.done())

    def close(self) -> None:
        """End a sandboxed run."""
        if self._sandboxed:
            self._sandboxed.cancel()

    async def start_sandboxed(
        self, command: str, keys: Mapping[str, Any], out: Path, files: Sequence[Path], extends: Path | None = None
    ) -> None:
        """Play a run in a sandboxed process, and return when it has begun; `command` is noted with its tries.

        Raises:
            ValueError: its code cannot be imported, or not in time, or the run cannot be played.
        """
        out.mkdir(parents=True)
        await asyncio.to_thread(copy_engine, self._scratch)
        child = Child(setup_of(keys, out.resolve(), self._scratch, files, extends))
        playing = asyncio.create_task(asyncio.to_thread(_outcome, child))
        self._sandboxed = asyncio.create_task(_watch(child, playing, out, command))
        began = time.monotonic()
        while not is_run(out):
            if playing.done() or time.monotonic() - began > BEGIN_SECONDS:
                why = playing.result() if playing.done() else f"its import took longer than {BEGIN_SECONDS:g} s"
                self._sandboxed.cancel()
                shutil.rmtree(out, ignore_errors=True)
                raise ValueError(why or "the run has not begun")
            await asyncio.sleep(_LOOKS_EVERY)

    async def _start(self, words: list[str], out: Path) -> None:
        """Start a command, and return when the run `out` has begun; its last line is the message if it fails before."""
        with self._said.open("wb") as said:
            process = subprocess.Popen([sys.executable, "-c", _COMMAND, *words], stdout=said, stderr=said)
        self._processes.append(process)
        while not is_run(out):
            if process.poll() is not None:
                lines = self._said.read_text(encoding="utf-8", errors="replace").splitlines()
                raise ValueError(lines[-1] if lines else "the run has not begun")
            await asyncio.sleep(_LOOKS_EVERY)

    async def extend(self, asked: Extending, request: Request) -> BoardAnswer:
        """Play a run with more openings for a contender, and return the address of its page."""
        run = run_of(self._resources, asked.run)
        if self.is_busy:
            return failed(503, BUSY)
        out = next(path for number in range(2, 10_000) if not (path := Path(f"{run}-{number}")).exists())
        keys = {"contenders": (asked.contender,), "pairs": asked.pairs}
        if files := user_files(extended_config(run, keys)):
            await self.start_sandboxed("tournament", keys, out, files, run)
        else:
            words = ["tournament", "--extend", str(run), "--contender", asked.contender]
            await self._start([*words, "--pairs", str(asked.pairs), "--out", str(out)], out)
        return succeeded({"address": f"/runs/{quote(out.name)}"})


def _outcome(child: Child) -> str:
    """Return why a process has not played its run to the end; empty if it has."""
    ended = "its code has ended the process"
    try:
        child.start(math.inf)
    except NoAnswer as error:
        return error.described(ended, ended, ended)
    finally:
        child.end()
    return ""


async def _watch(child: Child, playing: asyncio.Task[str], out: Path, command: str) -> None:
    """End a process that adds no game to its run for long; note the tries of a run that is complete."""
    seen, since = -1.0, time.monotonic()
    try:
        while not playing.done():
            if (changed := _changed(out)) != seen:
                seen, since = changed, time.monotonic()
            if time.monotonic() - since > SILENT_SECONDS:
                break
            await asyncio.wait({playing}, timeout=_LOOKS_EVERY)
    finally:
        child.end()
    if is_finished(out):
        words = [sys.executable, "-c", _NOTE, command, str(out)]
        await asyncio.to_thread(subprocess.run, words, capture_output=True, check=False)


def _changed(out: Path) -> float:
    try:
        return max(path.stat().st_mtime for path in (out, games_folder(out)))
    except OSError:
        return -1.0
