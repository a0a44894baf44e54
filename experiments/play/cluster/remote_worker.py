"""A cluster machine: what it is, and how its threads do a client's work, one batch or group of calls each at a time.

A thread has a worker process of its own, in a `LokyPool`, which stays until its work is not wanted any more.
"""

from __future__ import annotations

import hashlib
import platform
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from knights_isolation.isolation.usercode.user_exceptions import format_exception

from ...record import log_parts
from ..pools.game_worker import GameWorker, Sharers, Task
from ..pools.interrupts import Interrupted
from ..pools.loky_pool import LokyPool
from ..pools.pool import TICK, Died, Event, Failed, Finished, Machine, Work
from ..pools.recovery import DEATHS_ALLOWED, prepare
from .cluster_access import unpack_task

TASKS_KEPT = 16
"""Maximum number of tasks that a machine knows; it forgets the oldest, and is told again if there is more to do."""


@dataclass(frozen=True)
class Done:
    """Events of work; the seconds that its calls took; why agents run interpreted here, by their index in the plan."""

    events: list[Event]
    seconds: float
    interpreted: Mapping[int, str]


class MachineUnsuitableError(RuntimeError):
    """This machine cannot do a client's work; the message says why. Other machines may."""


@dataclass
class _KnownTask:
    """A task, what of it waits to be compiled and what is, and why agents run interpreted."""

    task: Task
    left: list[Sharers]
    compiled: list[Sharers] = field(default_factory=list)
    interpreted: dict[int, str] = field(default_factory=dict)


class _ThreadsOwn(threading.local):
    pool: LokyPool | None = None
    known: _KnownTask | None = None


_own = _ThreadsOwn()
_tasks: dict[str, _KnownTask] = {}


def greet(ours: Mapping[str, str], key: str, bundle: bytes, dask_worker: Any) -> tuple[Machine, str]:
    """Describe this machine, and get to know a client's task, if the key names one; say why it cannot do it, if so.

    `ours` are the client's versions.
    """
    why_not = _why_not(ours)
    if key and not (why_not or key in _tasks):
        try:
            task = unpack_task(bundle)
            _tasks[key] = _KnownTask(task, list(task.sharers))
        except Exception as error:
            why_not = _report(error)
    for oldest in list(_tasks)[:-TASKS_KEPT]:
        del _tasks[oldest]
    return Machine(socket.gethostname(), dask_worker.state.nthreads, _processor()), why_not


def _why_not(ours: Mapping[str, str]) -> str:
    theirs = versions()
    differing = [f"{name} {theirs.get(name)}, not {ours[name]}" for name in ours if theirs.get(name) != ours[name]]
    if differing:
        return f"it has {', '.join(differing)}, so its games would differ: install the versions of this machine"
    return ""


@cache
def versions() -> dict[str, str]:
    """Return the versions that must be equal on all machines: relevant libraries, and a hash of the toolkit's files."""
    import distributed

    packages = {name: version for name, version in log_parts.versions().items() if name != "machine"}
    digest = hashlib.sha256()
    root = Path(__file__).parents[3]
    for folder in ("isolation", "heuristics", "experiments"):
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return {**packages, "distributed": distributed.__version__, "sources": digest.hexdigest()[:12]}


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def do(key: str, works: Sequence[Work]) -> Done:
    """Play a batch or make calls, for a known task, or of none if the key is empty; in a thread of dask's.

    Raises:
        LookupError: the machine has forgotten the task.
        InterruptedError: the work is not wanted any more, or the machine leaves.
        MachineUnsuitableError: the machine cannot do this.
    """
    known, interrupted = _tasks[key] if key else None, _interruption()
    try:
        pool = _own.pool = _own.pool or LokyPool(1)
        if known:
            if known is not _own.known:
                pool.assign(known.task)
            _own.known = known
            _compile(known, pool, interrupted)
        began = time.monotonic()
        events = _events(pool, works, known is not None, interrupted)
        return Done(events, time.monotonic() - began, known.interpreted if known else {})
    except Exception as error:
        if _own.pool:
            _own.pool.close()
        _own.pool = _own.known = None
        raise error if isinstance(error, InterruptedError) else MachineUnsuitableError(_report(error)) from None


def _events(pool: LokyPool, works: Sequence[Work], has_task: bool, interrupted: Interrupted) -> list[Event]:
    """Do work in the process of this thread, and again if that dies for a reason that no game can be.

    Raises:
        Exception: a batch has failed, which is due to this machine, or a call by an error of the system.
    """
    batch = works[0] if works[0].ids else None
    for _ in range(DEATHS_ALLOWED):
        if batch:
            pool.submit(np.array(batch.ids), batch.is_alone)
        else:
            pool.call(_answers, has_task, works)
        match _next_event(pool, interrupted):
            case Finished(value=events) if not batch:
                return list(events)
            case Failed(error=error) if batch or isinstance(error, OSError):
                raise error  # for example a full disk, or a user's file that needs what is not installed here
            case Died(suspect=None) if batch and not batch.is_alone:
                continue
            case event:
                return [replace(event, number=work.number) for work in works]
    raise ValueError("worker processes die before playing a game")


def _next_event(pool: LokyPool, interrupted: Interrupted) -> Event:
    while not interrupted():
        for event in pool.finished(TICK):
            return event
    raise InterruptedError


def _compile(known: _KnownTask, pool: LokyPool, interrupted: Interrupted) -> None:
    """Compile a task's agents, together with other threads."""
    while len(known.compiled) < len(known.task.sharers) and not interrupted():
        try:
            sharers = known.left.pop(0)
        except IndexError:  # others compile what is left
            time.sleep(TICK)
            continue
        goes_to = known.left
        try:
            task = replace(known.task, sharers=(sharers,))
            known.interpreted |= prepare(pool, task, 1, interrupted, lambda sharers, interpreted: None)
            goes_to = known.left if interrupted() else known.compiled
        finally:
            goes_to.append(sharers)


def _answers(worker: GameWorker | None, has_task: bool, works: Sequence[Work]) -> list[Event]:
    """Make calls one after another in a worker process, which may have a task from before."""
    events: list[Event] = []
    for work in works:
        event = work.done_by(worker if has_task else None)
        if isinstance(event, Failed) and isinstance(event.error, OSError):
            raise event.error
        events.append(event)
    return events


def _interruption() -> Interrupted:
    """Return a function that returns whether what this thread of dask's does is not wanted any more."""
    from distributed import get_worker
    from distributed.core import Status

    worker = get_worker()
    task, running = worker.state.tasks[worker.get_current_task()], (Status.running, Status.paused)
    return lambda: task.state != "executing" or worker.status not in running


def _report(error: Exception) -> str:
    """Print an error here, and return what it says."""
    why = str(error) if isinstance(error, ValueError) else format_exception(error)
    _say(why)
    return why


@cache
def _say(why: str) -> None:
    """Print that this machine stops playing, once for each reason: many threads have the same."""
    print(f"This machine stops playing in this run: {why}", flush=True)
