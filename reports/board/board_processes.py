"""Child processes of the analysis board, with limits.

A search in compiled code cannot be interrupted, but its process can be ended. Every question may take a short while;
those that need longer share a few places, and are told so if there is none. So short questions are answered soon,
however many long ones there are, and nobody waits in a line that is too long.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from isolation.processes.subprocess_child import decode, encode
from reports.board.board_child import SPARING, START, BoardAnswer, BoardSetup, failed
from reports.board.resources import Resources, packed

START_SECONDS = 60.0
"""What a process may take to start."""
_LONGEST_LINE = 1 << 26


@dataclass(frozen=True)
class ServerLimits:
    """How much there is for questions.

    Attributes:
        short: seconds that every question may take.
        longest: seconds after which a question is ended.
        short_places: how many questions are in their first seconds at once.
        long_places: how many others there are at once.
        long_places_a_page: how many of them are of one page.
        waiting: how many questions wait for a short place.
        memory: bytes that a question may take, where the system can count them.
    """

    short: float = 2.0
    longest: float = 30.0
    short_places: int = 2
    long_places: int = 3
    long_places_a_page: int = 2
    waiting: int = 8
    memory: int = 1 << 30


ROOM = ServerLimits()


class Processes:
    """Answers questions about what is on a shelf; belongs to one event loop.

    Raises:
        ValueError: something on the shelf cannot be used in another process.
    """

    def __init__(self, shelf: Resources, room: ServerLimits = ROOM) -> None:
        self._order = BoardSetup(packed(shelf), room.memory)
        self._room = room
        self._short = asyncio.Semaphore(room.short_places)
        self._waiting = 0
        self._long: Counter[str] = Counter()
        self._idle: list[_Process] = []
        self._preparing: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def answer(self, question: object, page: str) -> BoardAnswer:
        """What a question of a page is answered. Whoever cancels this ends the question."""
        room = self._room
        if self._waiting >= room.waiting:
            return failed(503, "the board is busy: try again later")
        self._waiting += 1
        try:
            await self._short.acquire()
        finally:
            self._waiting -= 1
        is_short = True
        process: _Process | None = None
        asking: asyncio.Task[BoardAnswer] | None = None
        try:
            process = self._idle.pop() if self._idle else await _Process.start(self._order)
            asking = asyncio.create_task(process.ask(question))
            if not await _is_done(asking, room.short):
                if self._long.total() >= room.long_places or self._long[page] >= room.long_places_a_page:
                    self.prepare()
                    return failed(503, "the board is busy with other long requests: try again later, or request less")
                self._long[page] += 1
                self._short.release()
                is_short = False
                self.prepare()
                if not await _is_done(asking, room.longest - room.short):
                    return failed(503, f"no answer within {room.longest:g} s: request less")
            answer = asking.result()
            self._keep_or_end(process)
            process = None
            return answer
        except _Ended:
            return failed(500, "the process for this request has died")
        finally:
            if is_short:
                self._short.release()
            else:
                self._long[page] -= 1
            if process is not None:
                process.kill()
            if asking is not None:
                asking.cancel()

    def prepare(self) -> None:
        """Have a process ready for the next question; call it in the event loop."""
        preparing = asyncio.create_task(self._prepare())
        self._preparing.add(preparing)
        preparing.add_done_callback(self._preparing.discard)

    async def _prepare(self) -> None:
        with suppress(_Ended):
            process = await _Process.start(self._order)
            self._keep_or_end(process)

    def _keep_or_end(self, process: _Process) -> None:
        if self._is_closed or len(self._idle) >= self._room.short_places:
            process.kill()
        else:
            self._idle.append(process)

    def close(self) -> None:
        """End the processes that answer nothing, and keep none from now on."""
        self._is_closed = True
        for preparing in self._preparing:
            preparing.cancel()
        while self._idle:
            self._idle.pop().kill()


class _Ended(Exception):
    """The process has died."""


class _Process:
    """A process that answers questions, one at a time. It leads a group, and is ended with all it has started."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._input, self._output = process, process.stdin, process.stdout

    @classmethod
    async def start(cls, order: BoardSetup) -> Self:
        """A process that is ready for questions.

        Raises:
            _Ended: it has died.
        """
        folders = [folder for folder in sys.path if isinstance(folder, str)]
        process = cls(
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-c", START, *folders),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=_LONGEST_LINE,
                start_new_session=True,
                env={**os.environ, **SPARING},
            )
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                await process._exchange(order)
        except TimeoutError:
            process.kill()
            raise _Ended from None
        except BaseException:
            process.kill()
            raise
        return process

    async def ask(self, question: object) -> BoardAnswer:
        """Its answer.

        Raises:
            _Ended: it has died.
        """
        answer = await self._exchange(question)
        assert isinstance(answer, BoardAnswer)
        return answer

    def kill(self) -> None:
        """End it and all it has started, at once."""
        self._input.close()
        if self._process.returncode is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    async def _exchange(self, question: object) -> object:
        try:
            self._input.write(encode(question) + b"\n")
            await self._input.drain()
            line = await self._output.readline()
        except OSError:
            raise _Ended from None
        if not line:
            raise _Ended
        answer: object = decode(line)
        return answer


async def _is_done(task: asyncio.Task[BoardAnswer], seconds: float) -> bool:
    """Whether a task ends within so many seconds."""
    return bool((await asyncio.wait({task}, timeout=seconds))[0])
