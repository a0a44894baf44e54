"""Local pool of worker processes, which are child processes as `processes.child` has them."""

from __future__ import annotations

import math
import pickle
import resource
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np
import psutil

from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.files.folders import temporary_folder
from knights_isolation.isolation.processes.child import (
    START_SECONDS,
    Child,
    Failure,
    NoAnswer,
    Setup,
    Termination,
    decode_answer,
    encode,
    from_bytes,
    recipe,
    to_bytes,
)
from knights_isolation.isolation.usercode.output_capture import discard_output
from knights_isolation.isolation.usercode.process_lifetime import die_with_parent

from .game_worker import MARKER, GameWorker, Task
from .pool import Died, Event, Failed, Pool, Suspect, Work

STOPPED_ALLOWED = 2.0
"""Seconds that a worker may be found stopped, as by SIGSTOP, before it is killed."""
LONGEST_STEP = 1.0
"""Maximum seconds counted between two looks: if more pass, this process may have been suspended."""
_LONGEST_ANSWER = 1 << 32
_FILES = 4
"""Open files of this process for each worker."""


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


class ProcessPool(Pool):
    """Worker processes, which are started on demand, and again after they have died."""

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs)
        _allow_files(2 * _FILES * jobs)  # and as many for everything else
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
        busy = [worker for worker in self._workers if worker.work]
        if busy:
            wait([worker.child.output.fileno() for worker in busy if worker.child], timeout)
        events = [event for worker in busy if (event := worker.event())]
        self._start_waiting()
        for worker in busy:
            worker.kill_if_stuck(self._task)
        return events

    def _end(self, workers: Iterable[_Worker]) -> None:
        self._drop()
        for worker in workers:
            worker.end()


class _Worker:
    """A process that does one thing at a time: `work`."""

    def __init__(self, file: Path) -> None:
        self.work: Work | None = None
        self.child: Child | None = None
        self._file = file
        self._marker = np.memmap(file, np.int64, "w+", shape=MARKER)
        self._stalls = StallDetector()

    def start(self, work: Work, task_file: Path | None) -> None:
        """Start work; if the process has died meanwhile, `event` says so."""
        if work.is_alone:
            self.end()
        self._marker[:] = (-1, 0, 0, 0)
        question = encode((work.number, to_bytes((task_file, work))))
        try:
            with suppress(NoAnswer):
                if not self.child:
                    setup = Setup(recipe(_open_worker, self._file, code_cache.folder()), "none")
                    self.child = Child(setup, _LONGEST_ANSWER)
                    self.child.send(encode(setup), START_SECONDS)
                self.child.send(question, START_SECONDS)
        except OSError as error:
            raise ValueError(f"no worker process can be started: {error.strerror or error}") from error
        self.work = work

    def event(self) -> Event | None:
        """Return what has become of the work, if it is known; if it was to be done alone, the worker is ended."""
        assert self.work
        assert self.child
        work = self.work
        try:
            while (answer := decode_answer(self.child.receive(0.0))) is None:  # the process has been set up
                pass
            failure = RuntimeError(answer.detail) if isinstance(answer, Failure) else None
            event: Event = Failed(work.number, failure) if failure else from_bytes(answer)
        except NoAnswer as error:
            if error.why is Termination.TIMED_OUT:
                return None
            event = self.death_of(work)
        except Exception as error:  # of decoding
            event = Failed(work.number, error)
        self.work = None
        if work.is_alone or isinstance(event, Died):
            self.end()
        return event

    def death_of(self, work: Work) -> Died:
        """Return the event of work during which the process has died."""
        game, mover, _, _ = self._marker.tolist()
        suspect = Suspect(game, mover + 1) if game in work.ids else None
        return Died(work.number, work.ids, suspect, self.child.ending() if self.child else "")

    def kill_if_stuck(self, task: Task | None) -> None:
        """Kill the process if it was stopped, as by SIGSTOP, or compiled code is at a move for longer than allowed.

        Interpreted user code is not watched: it plays in a child process, which the worker itself ends.
        """
        with suppress(psutil.Error):
            if self.child and (process := self.child.process()):
                is_stopped, marker = process.status() == psutil.STATUS_STOPPED, self._marker.tolist()
                still = self._stalls.look((is_stopped, marker))
                if still > (STOPPED_ALLOWED if is_stopped else _patience(task, *marker)):
                    process.kill()

    def end(self) -> None:
        """End the process; what is started next gets another."""
        if self.child:
            self.child.end()
        self.work = self.child = None


def _patience(task: Task | None, game: int, mover: int, ply: int, is_compiled: int) -> float:
    return task.patience[task.schedule.players(np.array([game]))[0][mover]] if task and is_compiled else math.inf


def _allow_files(count: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


# Functions that run in the worker process


def _open_worker(marker: Path, code: Path) -> Callable[[int, bytes], bytes]:
    """Return the function that does work in this process, which prints nothing and keeps compiled code in `code`."""
    die_with_parent()
    discard_output()  # the terminal belongs to the parent's display
    code_cache.move_to(code)
    field = np.memmap(marker, np.int64, "r+", shape=MARKER)

    @lru_cache(maxsize=1)
    def worker_for(task_file: Path) -> GameWorker:
        return GameWorker(pickle.loads(task_file.read_bytes()), field)

    def do(number: int, sent: bytes) -> bytes:
        try:
            task_file, work = from_bytes(sent)
            return to_bytes(work.done_by(worker_for(task_file) if task_file else None))
        except Exception as error:
            return to_bytes(Failed(number, error))

    return do
