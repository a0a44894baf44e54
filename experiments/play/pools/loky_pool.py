"""Local pool of loky worker processes.

Loky ends all workers when one has died. The markers show which games were being played. To identify the worker that
died first, the pool checks which processes still exist before loky ends the others.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import psutil
from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.files.temp_folders import temporary_folder
from knights_isolation.isolation.usercode.output_capture import printing_into
from knights_isolation.isolation.usercode.process_lifetime import die_with_parent

from ...plan.schedule import Ids
from .game_worker import (
    GAME,
    MOVER,
    PID,
    GameWorker,
    Markers,
    PlayedBatch,
    StallDetector,
    Task,
    create_markers,
    dead_among,
    find_suspects,
    open_markers,
)
from .pool import Answered, Died, Event, Failed, Finished, Pool

LOOKS_ALLOWED = 10
"""Number of consecutive looks, about ten per second, at which a worker may be found stopped before it is killed."""
_SAFE_PATH = "PYTHONSAFEPATH"
_INTERRUPT = {signal.SIGINT}


@dataclass(frozen=True)
class _SentBatch:
    """An unfinished batch, and the slot of its marker; an unfinished call is kept as its number."""

    ids: Ids
    slot: int


class LokyPool(Pool):
    """Worker processes that are started on demand, and restarted after one has died.

    Two batches per worker may be unfinished, so that no worker waits for the parent.
    """

    def __init__(self, jobs: int) -> None:
        self._folder = temporary_folder("workers")
        self._markers = create_markers(self._folder.path / "markers", 2 * jobs)
        self._jobs = jobs
        self._task: Task | None = None
        self._task_file: Path | None = None
        self._tasks = 0
        self._executor: ProcessPoolExecutor | None = None
        self._out: dict[Future[Any], _SentBatch | int] = {}
        self._calls = 0
        self._dead: set[int] = set()
        self._watch = StallDetector(self._markers)
        self._stopped: dict[int, int] = {}

    def assign(self, task: Task) -> None:
        """See `Pool.assign`. The task is passed to the workers in a file, which each reads once."""
        if self._out:
            self._end_workers()
        if self._task_file:
            self._task_file.unlink()
        self._tasks += 1
        self._task, self._task_file = task, self._folder.path / f"task-{self._tasks}"
        self._task_file.write_bytes(pickle.dumps(task))

    @property
    def has_room(self) -> bool:
        return len(self._batches()) < len(self._markers)

    @property
    def calls_at_once(self) -> int:
        return 2 * self._jobs

    @property
    def is_busy(self) -> bool:
        return bool(self._out)

    def submit(self, ids: Ids, interpreted: bool = False) -> None:
        slot = min(set(range(len(self._markers))) - {sent.slot for sent in self._batches()})
        self._markers[slot] = 0
        self._watch.forget(slot)
        self._send(_SentBatch(ids, slot), _play_batch, ids, slot, interpreted)

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        self._calls += 1
        self._send(self._calls, function, *arguments)
        return self._calls

    def finished(self, timeout: float) -> list[Event]:
        done = wait(self._out, timeout, FIRST_COMPLETED).done
        self._end_stopped()
        self._end_silent()
        has_died = any(map(_is_lost, done))
        if has_died:  # loky has given up all unfinished work; results that arrived before still count
            done = {future for future in wait(self._out).done if not _is_lost(future)}
        events = sorted(
            (_event(self._out.pop(future), future) for future in done), key=lambda event: isinstance(event, Failed)
        )
        return [*events, self._bury()] if has_died else events

    def alone(self) -> LokyPool:
        assert self._task
        pool = LokyPool(1)
        pool.assign(self._task)
        return pool

    def close(self) -> None:
        self._end_workers()
        self._folder.remove()

    def _processes(self) -> list[int]:
        return list((self._executor and self._executor._processes) or ())

    def _batches(self) -> list[_SentBatch]:
        return [sent for sent in self._out.values() if isinstance(sent, _SentBatch)]

    def _send(self, sent: _SentBatch | int, function: Callable[..., object], *arguments: object) -> None:
        future: Future[Any]
        try:
            with nullcontext() if len(self._processes()) == self._jobs else _starting():
                future = self._running().submit(_call, self._task_file, function, *arguments)
            future.add_done_callback(self._note_death)
        except BrokenProcessPool as death:
            future = Future()
            future.set_exception(death)
        except OSError as error:
            raise ValueError(f"no worker process can be started: {error.strerror or error}") from error
        self._out[future] = sent

    def _running(self) -> ProcessPoolExecutor:
        if self._executor is None:
            # One thread per worker: the games run in parallel. All share one cache of compiled code.
            environment = {
                "OMP_NUM_THREADS": "1",
                "NUMBA_NUM_THREADS": "1",
                code_cache.ENVIRONMENT_VARIABLE: str(code_cache.folder()),
            }
            setup = self._folder.path / "markers", len(self._markers), os.getpid()
            self._executor = ProcessPoolExecutor(self._jobs, initializer=_start, initargs=setup, env=environment)
        return self._executor

    def _end_stopped(self) -> None:
        """Kill workers that were stopped, for example by SIGSTOP: they count as dead."""
        # Not at the first look: after the whole run was stopped, as by Ctrl-Z, its processes continue one after
        # another.
        self._stopped = {pid: self._stopped.get(pid, 0) + 1 for pid in self._processes() if _is_stopped(pid)}
        for pid, looks in self._stopped.items():
            if looks > LOOKS_ALLOWED:
                _kill(pid)

    def _end_silent(self) -> None:
        """Kill workers in which compiled code has been at a move for longer than the mover's timeout."""
        for slot, seconds in self._watch.look([batch.slot for batch in self._batches()]).items():
            assert self._task
            marker = self._markers[slot].copy()
            mover = self._task.schedule.players(marker[GAME : GAME + 1])[0][marker[MOVER]]
            if seconds > self._task.patience[mover]:
                _kill(int(marker[PID]))

    def _note_death(self, future: Future[Any]) -> None:
        """Callback for a worker's death, before loky kills the others: only then can the dead worker be identified."""
        if _is_lost(future) and not self._dead:
            self._dead = dead_among(self._markers)

    def _bury(self) -> Died:
        self._join()  # loky's thread may not have reported the death yet
        sent = self._batches()
        died = Died(
            lost=tuple(id_ for batch in sent for id_ in batch.ids.tolist()),
            suspects=tuple(find_suspects(self._markers, [batch.slot for batch in sent], self._dead)),
            calls=tuple(call for call in self._out.values() if isinstance(call, int)),
            how=_exit_codes(self._out),
        )
        self._end_workers()
        return died

    def _end_workers(self) -> None:
        self._join()
        self._out.clear()
        self._dead = set()
        self._markers[:] = 0

    def _join(self) -> None:
        if self._executor is not None:
            # Loky's own thread fails on calls that it has not passed on yet when the workers are killed.
            while any(not (future.running() or future.done()) for future in self._out):
                time.sleep(0.001)
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _is_stopped(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except psutil.Error:
        return False


def _is_lost(future: Future[Any]) -> bool:
    """Return whether a call was lost because its worker died, or another one and loky ended them all."""
    return future.done() and isinstance(future.exception(), BrokenProcessPool)


def _exit_codes(futures: Iterable[Future[Any]]) -> str:
    """Return how workers ended, as loky says it in its errors."""
    codes = (re.search(r"\{(.+?)\}", str(future.exception())) for future in futures)
    return next((found[1] for found in codes if found), "")


def _event(sent: _SentBatch | int, future: Future[Any]) -> Event:
    error = future.exception()
    if isinstance(sent, _SentBatch):
        return Failed(error, None) if error else Finished(future.result())
    return Failed(error, sent) if error else Answered(sent, future.result())


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
    markers: Markers
    task_file: Path | None = None
    worker: GameWorker | None = None


_process: _PoolProcess


def _start(markers: Path, slots: int, parent: int) -> None:
    """Initialise a process of the pool: it prints nothing, ignores Ctrl-C and ends with its parent."""
    global _process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.pop(_SAFE_PATH, None)  # must not affect programs that agents start
    with open(os.devnull, "wb") as nowhere:  # the terminal belongs to the parent's display
        for descriptor in (1, 2):
            os.dup2(nowhere.fileno(), descriptor)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _process = _PoolProcess(open_markers(markers, slots))


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


def _play_batch(worker: GameWorker, ids: Ids, slot: int, interpreted: bool) -> PlayedBatch:
    return worker.play_batch(ids, _process.markers[slot], interpreted)
