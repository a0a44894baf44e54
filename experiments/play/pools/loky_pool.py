"""Local pool of loky worker processes."""

from __future__ import annotations

import math
import os
import pickle
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import lru_cache
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

from .game_worker import MARKER, GameWorker, Task
from .pool import Died, Event, Failed, Finished, Pool, Suspect, Work

STOPPED_ALLOWED = 2.0
"""Seconds that a worker may be found stopped before it is killed: after the whole run was stopped, as by Ctrl-Z, its
processes continue one after another."""
LONGEST_STEP = 1.0
"""Maximum seconds counted between two looks: if more pass, this process may have been suspended."""
_SAFE_PATH = "PYTHONSAFEPATH"
_INTERRUPT = {signal.SIGINT}
_one_starts = threading.Lock()


class StallDetector:
    """Measures how long a state has not changed, as far as somebody looked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looked = clock()
        self._still = 0.0
        self._seen: object = None

    def look(self, state: object) -> float:
        """Return the seconds that the state has lasted so far."""
        now = self._clock()
        self._still = self._still + min(now - self._looked, LONGEST_STEP) if state == self._seen else 0.0
        self._looked, self._seen = now, state
        return self._still


class LokyPool(Pool):
    """Worker processes, each with an executor of its own: loky ends a whole executor when one of its processes dies.

    They are started on demand, and again after they have died.
    """

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs)
        _allow_files(16 * jobs)  # eight for each worker, and as many for everything else
        self._folder = temporary_folder("workers")
        self._workers = [_Worker(self._folder.path / f"marker-{index}") for index in range(jobs)]
        self._task: Task | None = None
        self._task_file: Path | None = None

    def assign(self, task: Task) -> None:
        self._end(worker for worker in self._workers if worker.work)
        if self._task_file:
            self._task_file.unlink()
        # The task is passed to the workers in a file, which each reads once.
        self._task, self._task_file = task, self._folder.path / f"task-{next(self._numbers)}"
        self._task_file.write_bytes(pickle.dumps(task))

    def close(self) -> None:
        self._end(self._workers)
        self._folder.remove()

    def _put(self, work: Work) -> int:
        super()._put(work)
        self._start_waiting()
        return work.number

    def _start_waiting(self) -> None:
        for worker in self._workers:
            if self._waiting and not worker.work:
                worker.start(self._waiting.popleft(), self._task_file)

    def _events(self, timeout: float) -> list[Event]:
        self._start_waiting()
        busy = {worker.future: worker for worker in self._workers if worker.work}
        done = wait(busy, timeout, FIRST_COMPLETED).done
        events = [busy.pop(future).event() for future in done]
        self._start_waiting()
        for worker in busy.values():
            worker.kill_if_stuck(self._task)
        return events

    def _end(self, workers: Iterable[_Worker]) -> None:
        self._drop()
        for worker in workers:
            worker.end()


class _Worker:
    """A process that does one thing at a time: `work`, whose result `future` has."""

    def __init__(self, file: Path) -> None:
        self.work: Work | None = None
        self.future: Future[Any] = Future()
        self._file = file
        self._marker = np.memmap(file, np.int64, "w+", shape=MARKER)
        self._executor: ProcessPoolExecutor | None = None
        self._stalls = StallDetector()

    def start(self, work: Work, task_file: Path | None) -> None:
        """Start work, which fails if the process has died meanwhile."""
        if work.is_alone:
            self.end()
        self._marker[:] = (-1, 0, 0, 0)
        try:
            with nullcontext() if self._pid else _starting():
                self._executor = self._executor or _executor(self._file)
                self.future = self._executor.submit(_do, task_file, work.function, work.arguments)
        except BrokenProcessPool as death:
            self.future = Future()
            self.future.set_exception(death)
        except OSError as error:
            raise ValueError(f"no worker process can be started: {error.strerror or error}") from error
        self.work = work

    def event(self) -> Event:
        """Return what has become of the work; the worker is ended if it has died, or the work was to be done alone."""
        assert self.work
        work, self.work, error = self.work, None, self.future.exception()
        if work.is_alone or isinstance(error, BrokenProcessPool):
            self.end()
        if isinstance(error, BrokenProcessPool):
            game, mover, _, _ = self._marker.tolist()
            how = re.search(r"\{(.+?)\}", str(error))
            suspect = Suspect(game, mover + 1) if game in work.ids else None
            return Died(work.number, work.ids, suspect, how[1] if how else "")
        return Failed(work.number, error) if error else Finished(work.number, self.future.result())

    def kill_if_stuck(self, task: Task | None) -> None:
        """Kill the process if it was stopped, as by SIGSTOP, or compiled code is at a move for longer than allowed.

        Interpreted user code is not watched: it plays in a child process, which the worker itself ends.
        """
        if not (pid := self._pid):
            return
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            is_stopped, marker = process.status() == psutil.STATUS_STOPPED, self._marker.tolist()
            still = self._stalls.look((is_stopped, marker))
            if still > (STOPPED_ALLOWED if is_stopped else _patience(task, *marker)):
                process.kill()

    def end(self) -> None:
        """End the process; what is started next gets another."""
        if self._executor is not None:
            # Loky's own thread fails on a call that it has not passed on yet when the worker is killed.
            while self.work and not (self.future.running() or self.future.done()):
                time.sleep(0.001)
            self._executor.shutdown(wait=True, kill_workers=True)
        self.work = self._executor = None

    @property
    def _pid(self) -> int | None:
        return next(iter(self._executor._processes), None) if self._executor else None


def _executor(marker: Path) -> ProcessPoolExecutor:
    # One thread per worker: the games run in parallel. All share one cache of compiled code.
    environment = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    environment[code_cache.ENVIRONMENT_VARIABLE] = str(code_cache.folder())
    return ProcessPoolExecutor(1, initializer=_begin, initargs=(marker, os.getpid()), env=environment)


def _patience(task: Task | None, game: int, mover: int, ply: int, is_compiled: int) -> float:
    return task.patience[task.schedule.players(np.array([game]))[0][mover]] if task and is_compiled else math.inf


def _allow_files(count: int) -> None:
    import resource  # which Windows has not, where runs are read

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


@contextmanager
def _starting() -> Iterator[None]:
    """Start processes that inherit a blocked SIGINT, import nothing from the working directory, and print nothing."""
    # Ctrl-C is delivered to this process afterwards. The workers must not import a user's `random.py` instead of
    # Python's. They print a traceback if their parent ends while they start, and loky's resource tracker prints what it
    # removes after processes were killed. Pools of several threads start theirs one after another, since all of this is
    # done to the whole process.
    with _one_starts, ExitStack() as stack:
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


_marker: NDArray[np.int64]


def _begin(marker: Path, parent: int) -> None:
    """Initialise a process of the pool: it prints nothing, ignores Ctrl-C and ends with its parent."""
    global _marker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.pop(_SAFE_PATH, None)  # must not affect programs that agents start
    with open(os.devnull, "wb") as nowhere:  # the terminal belongs to the parent's display
        for descriptor in (1, 2):
            os.dup2(nowhere.fileno(), descriptor)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _marker = np.memmap(marker, np.int64, "r+", shape=MARKER)


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, even by kill -9: an orphan would wait for work forever."""
    die_with_parent()
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


@lru_cache(maxsize=1)
def _worker_for(task_file: Path) -> GameWorker:
    return GameWorker(pickle.loads(task_file.read_bytes()), _marker)


def _do(task_file: Path | None, function: Callable[..., object], arguments: tuple[object, ...]) -> object:
    return function(_worker_for(task_file) if task_file else None, *arguments)
