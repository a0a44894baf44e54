"""Local pool of loky worker processes."""

from __future__ import annotations

import itertools
import os
import pickle
import queue
import re
import resource
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor
from numpy.typing import NDArray

from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.files.folders import temporary_folder
from knights_isolation.isolation.usercode.output_capture import printing_into
from knights_isolation.isolation.usercode.process_lifetime import die_with_parent

from ...plan.schedule import Ids
from .game_worker import COMPILED, MARKER, GameWorker, PlayedBatch, Task
from .pool import Answered, Died, Event, Failed, Finished, Pool, Suspect

LOOKS_ALLOWED = 10
"""Number of consecutive looks, about ten per second, at which a worker may be found stopped before it is killed."""
LONGEST_STEP = 1.0
"""Maximum seconds counted between two looks: if more pass, this process may have been suspended."""
_FILES = 16
"""Open files to allow for each worker: eight, and as many for everything else."""
_SAFE_PATH = "PYTHONSAFEPATH"
_INTERRUPT = {signal.SIGINT}


class StallDetector:
    """Measures from a worker's marker how long compiled code has been at the same move, at no cost to the worker.

    Interpreted user code is not watched: it plays in a child process, which the worker itself ends.
    """

    def __init__(self, marker: NDArray[np.int64], clock: Callable[[], float] = time.monotonic) -> None:
        self._marker = marker
        self._clock = clock
        self._looked = clock()
        self._silent = 0.0
        self._seen: list[int] = []

    def look(self) -> float:
        """Return the seconds that the current move has taken so far; 0 if no compiled code plays."""
        now = self._clock()
        step, self._looked = min(now - self._looked, LONGEST_STEP), now
        seen = self._marker.tolist()
        self._silent = self._silent + step if self._seen == seen and seen[COMPILED] else 0.0
        self._seen = seen
        return self._silent


@dataclass(frozen=True)
class _Work:
    """A batch, or a call if it has no ids."""

    number: int
    call: tuple[Any, ...]
    ids: tuple[int, ...] = ()
    is_alone: bool = False


class LokyPool(Pool):
    """Worker processes, each with an executor of its own: loky ends a whole executor when one of its processes dies.

    They are started on demand, and again after they have died. A worker that is done gets what waits longest at once,
    in loky's thread; everything else happens in the caller's.
    """

    def __init__(self, jobs: int) -> None:
        _allow_files(_FILES * jobs)
        self._folder = temporary_folder("workers")
        self._workers = [_Worker(self._folder.path / f"marker-{index}") for index in range(jobs)]
        self._task: Task | None = None
        self._task_file: Path | None = None
        self._numbers = itertools.count(1)
        self._out: dict[int, _Work] = {}
        self._waiting: deque[_Work] = deque()
        self._handing_out = threading.RLock()
        self._ended: queue.SimpleQueue[tuple[Event, _Worker | None]] = queue.SimpleQueue()

    def assign(self, task: Task) -> None:
        """See `Pool.assign`. The task is passed to the workers in a file, which each reads once."""
        self._drop(lambda worker: not worker.is_free)
        if self._task_file:
            self._task_file.unlink()
        self._task, self._task_file = task, self._folder.path / f"task-{next(self._numbers)}"
        self._task_file.write_bytes(pickle.dumps(task))

    @property
    def has_room(self) -> bool:
        return sum(bool(work.ids) for work in self._out.values()) < 2 * len(self._workers)

    @property
    def calls_at_once(self) -> int:
        return 2 * len(self._workers)

    @property
    def is_busy(self) -> bool:
        return bool(self._out)

    def submit(self, ids: Ids, interpreted: bool = False) -> int:
        return self._put((_play_batch, ids, interpreted), tuple(ids.tolist()), interpreted)

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        return self._put((function, *arguments))

    def finished(self, timeout: float) -> list[Event]:
        self._hand_out()
        for worker in self._workers:
            worker.end_if_stuck(self._task)
        ended: list[tuple[Event, _Worker | None]] = []
        with suppress(queue.Empty):
            if self._out:
                ended.append(self._ended.get(timeout=timeout))
            while True:
                ended.append(self._ended.get_nowait())
        for event, over in ended:
            del self._out[event.number]
            if over:
                over.end()
        events = [event for event, _ in ended]
        return sorted(events, key=lambda event: (isinstance(event, Failed), isinstance(event, Died)))

    def close(self) -> None:
        self._drop(lambda worker: True)
        self._folder.remove()

    def _put(self, call: tuple[Any, ...], ids: tuple[int, ...] = (), is_alone: bool = False) -> int:
        number = next(self._numbers)
        work = self._out[number] = _Work(number, call, ids, is_alone)
        (self._waiting.appendleft if is_alone else self._waiting.append)(work)
        self._hand_out()
        return number

    def _hand_out(self) -> None:
        for worker in self._workers:
            if worker.is_free and self._waiting:
                if self._waiting[0].is_alone:
                    worker.end()
                self._give(worker, is_new=True)

    def _give(self, worker: _Worker, is_new: bool = False) -> None:
        """Give a worker that has nothing to do what waits longest; what is to be played alone only to a new one."""
        with self._handing_out:
            worker.is_free = not self._waiting or (self._waiting[0].is_alone and not is_new)
            if not worker.is_free:
                work = self._waiting.popleft()
                future = worker.start(self._task_file, *work.call)
                future.add_done_callback(lambda future: self._end(worker, work, future))

    def _end(self, worker: _Worker, work: _Work, future: Future[Any]) -> None:
        event = worker.event(work, future)
        is_over = work.is_alone or isinstance(event, Died)
        self._ended.put((event, worker if is_over else None))
        if not is_over:
            self._give(worker)

    def _drop(self, is_ended: Callable[[_Worker], bool]) -> None:
        """Forget all work, and end workers."""
        with self._handing_out:
            self._waiting.clear()
        for worker in filter(is_ended, self._workers):
            worker.end()
        self._out.clear()
        self._ended = queue.SimpleQueue()


class _Worker:
    """A process that does one thing at a time, or is free."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._marker = np.memmap(file, np.int64, "w+", shape=MARKER)
        self._executor: ProcessPoolExecutor | None = None
        self._future: Future[Any] | None = None
        self._stalls = StallDetector(self._marker)
        self._looks = 0
        self.is_free = True

    def end(self) -> None:
        """End the process; the next call starts another."""
        if self._executor is not None:
            # Loky's own thread fails on a call that it has not passed on yet when the worker is killed.
            while self._future and not (self._future.running() or self._future.done()):
                time.sleep(0.001)
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None
        self.is_free = True

    def start(self, *call: object) -> Future[Any]:
        """Start a call; it fails if the process has died meanwhile."""
        self._marker[:] = (-1, 0, 0, 0)
        try:
            with nullcontext() if self._pid else _starting():
                self._future = self._running().submit(_call, *call)
        except BrokenProcessPool as death:
            self._future = Future()
            self._future.set_exception(death)
        except OSError as error:
            raise ValueError(f"no worker process can be started: {error.strerror or error}") from error
        return self._future

    def event(self, work: _Work, future: Future[Any]) -> Event:
        """Return what has become of a call."""
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            game, mover, _, _ = self._marker.tolist()
            how = re.search(r"\{(.+?)\}", str(error))
            suspect = Suspect(game, mover + 1) if game in work.ids else None
            return Died(work.number, work.ids, suspect, how[1] if how else "")
        if error:
            return Failed(work.number, error)
        return (Finished if work.ids else Answered)(work.number, future.result())

    def end_if_stuck(self, task: Task | None) -> None:
        """Kill the process if it was stopped, as by SIGSTOP, or compiled code is at a move for longer than allowed."""
        # Not at the first look: after the whole run was stopped, as by Ctrl-Z, its processes continue one after
        # another.
        self._looks = self._looks + 1 if self._is_stopped() else 0
        silent = self._stalls.look()
        game, mover, _, _ = self._marker.tolist()
        is_stalled = silent and task and silent > task.patience[task.schedule.players(np.array([game]))[0][mover]]
        if (self._looks > LOOKS_ALLOWED or is_stalled) and (pid := self._pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @property
    def _pid(self) -> int | None:
        return next(iter(self._executor._processes), None) if self._executor else None

    def _is_stopped(self) -> bool:
        try:
            return bool(self._pid and psutil.Process(self._pid).status() == psutil.STATUS_STOPPED)
        except psutil.Error:
            return False

    def _running(self) -> ProcessPoolExecutor:
        if self._executor is None:
            # One thread per worker: the games run in parallel. All share one cache of compiled code.
            environment = {
                "OMP_NUM_THREADS": "1",
                "NUMBA_NUM_THREADS": "1",
                code_cache.ENVIRONMENT_VARIABLE: str(code_cache.folder()),
            }
            setup = self._file, os.getpid()
            self._executor = ProcessPoolExecutor(1, initializer=_start, initargs=setup, env=environment)
        return self._executor


def _allow_files(count: int) -> None:
    """Raise the soft limit of open files to this number, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        with suppress(ValueError, OSError):
            limit = count if hard == resource.RLIM_INFINITY else min(count, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


@contextmanager
def _starting() -> Iterator[None]:
    """Start processes that inherit a blocked SIGINT, import nothing from the working directory, and print nothing."""
    # Ctrl-C is delivered to this process afterwards. The workers must not import a user's `random.py` instead of
    # Python's. They print a traceback if their parent ends while they start, and loky's resource tracker prints what it
    # removes after processes were killed.
    with ExitStack() as stack:
        stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT))
        if not os.environ.get(_SAFE_PATH):
            os.environ[_SAFE_PATH] = "1"
            stack.callback(os.environ.pop, _SAFE_PATH)
        nowhere = stack.enter_context(open(os.devnull, "wb"))
        stack.enter_context(printing_into(nowhere.fileno()))
        # Started on demand, Python's resource tracker would unblock SIGINT for all processes that are started after it.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
        yield


# Functions that run in the worker process


@dataclass
class _PoolProcess:
    marker: NDArray[np.int64]
    task_file: Path | None = None
    worker: GameWorker | None = None


_process: _PoolProcess


def _start(marker: Path, parent: int) -> None:
    """Initialise a process of the pool: it prints nothing, ignores Ctrl-C and ends with its parent."""
    global _process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.pop(_SAFE_PATH, None)  # must not affect programs that agents start
    with open(os.devnull, "wb") as nowhere:  # the terminal belongs to the parent's display
        for descriptor in (1, 2):
            os.dup2(nowhere.fileno(), descriptor)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _process = _PoolProcess(np.memmap(marker, np.int64, "r+", shape=MARKER))


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, even by kill -9: an orphan would wait for work forever."""
    die_with_parent()
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _call(task_file: Path | None, function: Callable[..., object], *arguments: object) -> object:
    if _process.task_file != task_file:
        _process.worker = GameWorker(pickle.loads(task_file.read_bytes())) if task_file else None
        _process.task_file = task_file
    return function(_process.worker, *arguments)


def _play_batch(worker: GameWorker, ids: Ids, interpreted: bool) -> PlayedBatch:
    return worker.play_batch(ids, _process.marker, interpreted)
