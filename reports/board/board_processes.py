"""Child processes of the analysis board, with limits.

A search in compiled code cannot be interrupted, but its process can be ended. Every question may take a short time.
Those that need longer share a few places, and fail with a message if none is free. So short questions are answered soon
regardless of the number of long ones, and the queue is bounded.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple

from knights_isolation.isolation.processes.child import Child, NoAnswer, Setup, recipe
from knights_isolation.isolation.processes.sandbox import limit_memory
from knights_isolation.isolation.usercode.user_exceptions import format_exception

from .resources import Resources, packed

CAN_SEARCH = sys.platform != "win32"
"""Whether searches and child processes are available on this system."""

Question = Callable[[Resources], dict[str, Any]]
"""A function of the resources that can be pickled, such as `partial(values, request)`.

The message of a ValueError is an answer, too: of an illegal position, of a run, heuristic or agent that does not exist
or cannot be loaded, of a damaged file.
"""


class BoardAnswer(NamedTuple):
    """An HTTP status, and the response to the page as JSON."""

    status: int
    body: str


def succeeded(content: dict[str, Any]) -> BoardAnswer:
    """Return an answer with what a page has asked for."""
    return BoardAnswer(200, json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def failed(status: int, why: str) -> BoardAnswer:
    """Return an answer with an error message."""
    return succeeded({"error": why})._replace(status=status)


_LONGEST_ANSWER = 1 << 26
_THREADS = ThreadPoolExecutor(64)
"""Threads that each wait for a process, and end with it."""


@dataclass(frozen=True)
class ServerLimits:
    """Resource limits for questions.

    Attributes:
        short: seconds that every question may take.
        longest: seconds after which a question is cancelled.
        short_places: maximum number of simultaneous questions in their first seconds.
        long_places: maximum number of simultaneous longer questions.
        long_places_a_page: maximum number of these per page.
        waiting: maximum number of questions waiting for a short place.
        memory: bytes that a question may use, on systems that can limit them.
        idle_memory: bytes that a process may hold while it waits for a question; one with more is ended.
    """

    short: float = 2.0
    longest: float = 30.0
    short_places: int = 2
    long_places: int = 3
    long_places_a_page: int = 2
    waiting: int = 8
    memory: int = 1 << 30
    idle_memory: int = 250 << 20


USUAL_LIMITS = ServerLimits()


class Processes:
    """Answers questions about the resources; belongs to one event loop.

    Processes of a `sandbox`, a setup without what it makes, have its limits, and answer only once, since user code may
    have tampered with them.

    Raises:
        ValueError: a resource cannot be used in another process.
    """

    def __init__(self, resources: Resources, limits: ServerLimits = USUAL_LIMITS, sandbox: Setup | None = None) -> None:
        self._resources = packed(resources)
        make = recipe(answering, self._resources, 0 if sandbox else limits.memory)
        self._setup = replace(sandbox or Setup(b"", "none"), make=make)
        self._limits = limits
        self._short = asyncio.Semaphore(limits.short_places)
        self._waiting = asyncio.Semaphore(limits.waiting)
        self._long: Counter[str] = Counter()
        self._idle: list[Child] = []
        self._preparing: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def answer(self, question: Question, page: str) -> BoardAnswer:
        """Answer a question of a page. Cancelling this task cancels the question."""
        if not CAN_SEARCH:
            return await asyncio.to_thread(answer, question, self._resources)
        if self._waiting.locked():
            return failed(503, "the board is busy: try again later")
        async with self._waiting:
            await self._short.acquire()
        with ExitStack() as place, suppress(NoAnswer):
            place.callback(self._short.release)
            return await self._answered(question, page, place)
        return failed(500, "the process for this request has died")

    async def _answered(self, question: Question, page: str, place: ExitStack) -> BoardAnswer:
        """Answer a question within its short place, which it leaves for a long one if it takes longer."""
        limits, is_kept = self._limits, False
        process = self._idle.pop() if self._idle else await self._started()
        asking = _in_thread(process.ask, (question,), math.inf)
        try:
            if not await _is_done(asking, limits.short):
                self.prepare()
                if self._long.total() >= limits.long_places or self._long[page] >= limits.long_places_a_page:
                    return failed(503, "the board is busy with other long requests: try again later, or request less")
                place.close()
                self._long[page] += 1
                place.callback(self._long.subtract, [page])
                if not await _is_done(asking, limits.longest - limits.short):
                    return failed(503, f"no answer within {limits.longest:g} s: request less")
            board_answer = BoardAnswer(*asking.result())
            is_kept = self._setup.guard == "none"
            return board_answer
        finally:
            asking.cancel()
            self._keep_or_end(process, is_kept=is_kept)

    def prepare(self) -> None:
        """Prepare a process for the next question, if none is ready; call it in the event loop."""
        if not CAN_SEARCH or self._idle:
            return
        preparing = asyncio.create_task(self._prepare())
        self._preparing.add(preparing)
        preparing.add_done_callback(self._preparing.discard)

    async def _prepare(self) -> None:
        with suppress(NoAnswer):
            self._keep_or_end(await self._started())

    async def _started(self) -> Child:
        """Start a process that is ready for questions, or raise `NoAnswer`."""
        process = Child(self._setup, _LONGEST_ANSWER)
        try:
            await _in_thread(process.start)
        except BaseException:
            process.end()
            raise
        return process

    def _keep_or_end(self, process: Child, *, is_kept: bool = True) -> None:
        is_full = self._is_closed or len(self._idle) >= self._limits.short_places
        if not is_kept or is_full or process.memory() > self._limits.idle_memory:
            process.end()
        else:
            self._idle.append(process)

    def close(self) -> None:
        """End the idle processes, and keep none from now on."""
        self._is_closed = True
        for preparing in self._preparing:
            preparing.cancel()
        while self._idle:
            self._idle.pop().end()


def _in_thread(function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
    return asyncio.get_running_loop().run_in_executor(_THREADS, function, *arguments)


async def _is_done(asking: asyncio.Future[Any], seconds: float) -> bool:
    return bool((await asyncio.wait({asking}, timeout=seconds))[0])


def answering(resources: Resources, memory: int) -> Callable[[Question], tuple[Any, ...]]:
    """Return a function that answers questions, in a process that may use at most `memory` additional bytes.

    Memory 0 leaves the limit as it is, as a sandboxed process must. What most questions need is loaded before.
    """
    for name in ("game_exchange", "handlers"):
        import_module(f"{__package__}.{name}")
    if memory:
        limit_memory(memory)
    return lambda question: tuple(answer(question, resources))


def answer(question: Question, resources: Resources) -> BoardAnswer:
    """Answer a question; failures become answers too."""
    try:
        return succeeded(question(resources))
    except MemoryError:
        return failed(400, "the request needs too much memory: request less")
    except (ValueError, OSError) as error:
        return failed(400, str(error))
    except BaseException as error:
        return failed(500, f"the board failed: {format_exception(error)}")
