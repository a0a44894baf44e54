"""A cluster machine: what it is, and its pool, which works for one client at a time.

A client opens a session for a task (`begin`), and exchanges work for events in it (`exchange`), which occupies a thread
of dask's; all other functions here return immediately. When a session of another client gets work, that of the one
before is finished first, and its events are kept for it. The process keeps its workers, and the code they have loaded.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import platform
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from knights_isolation.isolation.usercode.user_exceptions import format_exception

from ...plan.schedule import Ids
from ...record import log_parts
from ..finished_games import FinishedGames, GameEndings, LogPart, games_table, joined
from ..pools.game_worker import PlayedBatch, Task
from ..pools.interrupts import Interrupted
from ..pools.loky_pool import LokyPool
from ..pools.pool import TICK, Died, Event, Failed, Finished, Pool
from ..pools.recovery import prepare
from .cluster_access import unpack_task

SESSIONS_KEPT = 16
"""Maximum number of open sessions; the oldest is dropped, and its client opens another."""

Key = tuple[str, int]
"""Identifies a session: its client, and a number."""


@dataclass(frozen=True)
class MachineInfo:
    """Description of a machine.

    Attributes:
        name: host name.
        cores: number of games it plays at a time.
        processor: model of its processor.
        versions: versions of everything that must be equal on all machines.
        why_not: why it cannot play at all; empty if it can.
    """

    name: str
    cores: int
    processor: str
    versions: dict[str, str]
    why_not: str = ""


@dataclass(order=True)
class Work:
    """A batch of games, or a call: its function and arguments. Lower numbers are sent first.

    Attributes:
        is_alone: the games may kill their worker.
        losses: number of machines that were lost with it.
    """

    number: int
    ids: Ids | None = field(compare=False, default=None)
    call: tuple[Any, ...] = field(compare=False, default=())
    is_alone: bool = field(compare=False, default=False)
    losses: int = field(compare=False, default=0)


@dataclass(frozen=True)
class Returned:
    """An event, and the numbers of the work that is unfinished no more."""

    numbers: tuple[int, ...]
    event: Event


@dataclass(frozen=True)
class Exchanged:
    """Events of a session; all games that it has finished are one part of the log.

    `interpreted` has the reasons why agents run interpreted on this machine, by their indices in the plan.
    """

    returned: tuple[Returned, ...]
    interpreted: dict[int, str]


class MachineUnsuitableError(RuntimeError):
    """This machine cannot work in a session; the message says why. Other machines may."""


class _Session:
    """Work of a client: what is unfinished, and the events that it has not fetched yet.

    Attributes:
        task: the task, once it is unpacked; None if there are only calls.
        error: why it cannot go on here, if it cannot.
    """

    def __init__(self, bundle: bytes) -> None:
        self.bundle = bundle
        self.task: Task | None = None
        self.interpreted: dict[int, str] = {}
        self.error: Exception | None = None
        self._returned: list[Returned] = []
        self._out: dict[int, Work] = {}  # by the pool's number

    def needs_client(self, low: int) -> bool:
        """Return whether there are events, and at most `low` batches and calls are left, or something has died."""
        is_urgent = any(isinstance(returned.event, Died) for returned in self._returned)
        return bool(self._returned) and (is_urgent or len(self._out) <= low)

    def start(self, pool: Pool, work: Work) -> None:
        if work.ids is None:
            self._out[pool.call(*work.call)] = work
        else:
            self._out[pool.submit(work.ids, interpreted=work.is_alone)] = work

    def collect(self, pool: Pool) -> None:
        """Wait for events for a tick.

        Raises:
            Exception: a batch has failed, which is due to this machine, or a call by an error of the system.
        """
        self._returned += map(self._settled, pool.finished(TICK))

    def finish(self, pool: Pool, interrupted: Interrupted) -> None:
        while pool.is_busy and not interrupted():
            self.collect(pool)

    def fetch(self) -> Exchanged:
        """Return the events since the last call."""
        if self.error:
            raise self.error
        returned, self._returned = self._returned, []
        batches: dict[int, PlayedBatch] = {}
        others: list[Returned] = []
        for item in returned:
            if isinstance(item.event, Finished) and isinstance(item.event.batch.played, FinishedGames):
                batches[item.event.number] = item.event.batch
            else:
                others.append(item)
        if batches:
            assert self.task
            numbers = tuple(batches)
            others.append(Returned(numbers, Finished(numbers[0], _encoded(self.task, list(batches.values())))))
        return Exchanged(tuple(others), self.interpreted)

    def _settled(self, event: Event) -> Returned:
        work = self._out.pop(event.number)
        match event:
            case Failed(error=error) if work.ids is not None or isinstance(error, OSError):  # for example a full disk
                raise error
            case Died(suspect=None) if work.ids is not None and not work.is_alone:
                raise InterruptedError("worker processes die before playing a game")
            case Finished(batch=batch) if work.is_alone and self.task:  # its event is waited for by its number
                event = replace(event, batch=_encoded(self.task, [batch]))
        return Returned((work.number,), replace(event, number=work.number))


_jobs = 0
_say: Callable[[str], None] = lambda line: None  # noqa: E731
_sessions: OrderedDict[Key, _Session] = OrderedDict()
_leaving = threading.Event()
_one_at_a_time = threading.Lock()
_pool: LokyPool | None = None
_current: _Session | None = None


# Functions that may be called at any time


def use(jobs: int, say: Callable[[str], None]) -> None:
    """Set the number of games to play at a time (0: one per core), and the function that prints messages."""
    global _jobs, _say
    _jobs, _say = jobs, say


def greet(dask_worker: Any) -> MachineInfo:
    """Describe this machine."""
    daemon = multiprocessing.current_process().daemon
    why_not = (
        "its dask worker runs under a nanny and cannot start processes: start it with --no-nanny, or set "
        "distributed.worker.daemon to false"
    )
    return MachineInfo(socket.gethostname(), _cores(dask_worker), _processor(), versions(), why_not if daemon else "")


def begin(key: Key, bundle: bytes) -> None:
    """Open a session in place of all others of its client, for a task, or for calls if there is none."""
    forget(key[0])
    _sessions[key] = _Session(bundle)
    while len(_sessions) > SESSIONS_KEPT:
        _sessions.popitem(last=False)


def forget(client: str) -> None:
    """Close a client's sessions, and cancel their work."""
    for key in [key for key in _sessions if key[0] == client]:
        del _sessions[key]
    if _one_at_a_time.acquire(blocking=False):  # else `exchange` notices
        if _current not in _sessions.values() and _pool and _pool.is_busy:
            _close()
        _one_at_a_time.release()


def leave() -> None:
    """Cancel all work: this process is about to end."""
    _leaving.set()


@cache
def versions() -> dict[str, str]:
    """Return the versions that must be equal on all machines: relevant libraries, and a hash of the toolkit's files."""
    import distributed

    packages = {name: version for name, version in log_parts.versions().items() if name != "machine"}
    digest = hashlib.sha256()
    root = Path(__file__).parents[3]
    for path in sorted(
        path for room in ("isolation", "heuristics", "experiments") for path in (root / room).rglob("*.py")
    ):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return {**packages, "distributed": distributed.__version__, "sources": digest.hexdigest()[:12]}


# Functions that wait for the pool


def exchange(key: Key, work: Sequence[Work], low: int, patience: float) -> Exchanged:
    """Start work, and return events of the session, once at most `low` pieces are left or after `patience` seconds.

    Raises:
        InterruptedError: there is no such session any more, the machine leaves, or all its workers have ended for a
            reason that no game can be; unfinished work is lost.
        MachineUnsuitableError: the machine cannot go on in this session.
    """
    session = _sessions.get(key)
    worker, interrupted = _interruption(key)
    with _one_at_a_time:
        try:
            if session is None or interrupted():
                raise InterruptedError
            if work:
                _give_turn(session, _cores(worker), interrupted)
            exchanged = _worked(session, work, low, patience, interrupted)
            if interrupted():
                raise InterruptedError
            return exchanged
        except Exception as error:
            if session is _current:
                _close()  # including its processes' unfinished work, which nobody waits for
            if isinstance(error, InterruptedError):
                raise
            raise MachineUnsuitableError(_reported(error)) from None


def end() -> None:
    """End the worker processes of this machine."""
    leave()
    with _one_at_a_time:
        _close()


def _worked(session: _Session, work: Sequence[Work], low: int, patience: float, interrupted: Interrupted) -> Exchanged:
    if session is _current and _pool:
        for item in work:
            session.start(_pool, item)
        deadline = time.monotonic() + patience
        while not (session.needs_client(low) or interrupted()) and time.monotonic() < deadline:
            session.collect(_pool)
    return session.fetch()


def _give_turn(session: _Session, jobs: int, interrupted: Interrupted) -> None:
    """Let the pool work for a session, after finishing what it does for another; compile what it needs."""
    global _current, _pool
    if _current is session:
        return
    if _pool and _current and _current in _sessions.values():
        try:
            _current.finish(_pool, interrupted)
        except Exception as error:
            _current.error = error
    if interrupted():
        return
    is_new = session.task is None
    session.task = unpack_task(session.bundle) if session.bundle else None
    if session.task is None:
        _close()
    _pool, _current = _pool or LokyPool(jobs), session
    if session.task:
        _pool.assign(session.task)
        if is_new:
            session.interpreted = prepare(_pool, session.task, jobs, interrupted, lambda sharers, interpreted: None)


def _reported(error: Exception) -> str:
    """Print an error here, and return what it says."""
    why = str(error) if isinstance(error, ValueError) else format_exception(error)
    _say(f"This machine stops playing in this run: {why}")
    return why


def _interruption(key: Key) -> tuple[Any, Interrupted]:
    """Return dask's worker of this thread, and a function that returns whether a session was cancelled."""
    from distributed import get_worker
    from distributed.core import Status

    worker = get_worker()

    def interrupted() -> bool:
        return _leaving.is_set() or key not in _sessions or worker.status not in (Status.running, Status.paused)

    return worker, interrupted


def _cores(worker: Any) -> int:
    """Return the number of games to play at a time: as set, or the number of dask's threads, or one per core."""
    return _jobs or (worker.state.nthreads if worker.state.nthreads > 1 else int(joblib.cpu_count()))


def _close() -> None:
    global _pool, _current
    if _pool is not None:
        _pool.close()
    _pool = _current = None


def _encoded(task: Task, batches: Sequence[PlayedBatch]) -> PlayedBatch:
    """Return batches as one, encoded as a part of the log."""
    played = joined([batch.played for batch in batches if isinstance(batch.played, FinishedGames)])
    data = log_parts.encode_part(games_table(task.schedule, task.settings, played))
    endings = GameEndings(played.games.winner, played.games.reason, played.games.detail)
    matches, places = np.unique(np.concatenate([batch.matches for batch in batches]), return_inverse=True)
    seconds = np.bincount(places, np.concatenate([batch.seconds for batch in batches])) / np.bincount(places)
    return PlayedBatch(LogPart(played.ids, endings, data), matches, seconds)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
