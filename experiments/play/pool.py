"""Worker processes: joblib's loky executor, with a note of what each batch is at, and a verdict when a worker dies."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from experiments.play.crash import Suspect, create_notes, dead_among, find_suspects
from experiments.play.worker import Batch, Task, play_batch, start
from experiments.schedule import Ids, groups
from isolation.compiling import library

T = TypeVar("T")

TICK = 0.1
"""How many seconds to wait for workers before seeing to the rest."""


class WorkerDiedError(Exception):
    """A worker has died, and the pool with it: which games were lost, and which of them may have killed it."""

    def __init__(self, lost: list[int], suspects: list[Suspect]) -> None:
        super().__init__(f"a worker died; {len(lost)} games are to be played again")
        self.lost = lost
        self.suspects = suspects


@dataclass(frozen=True)
class _Out:
    """A batch that is being played, and where its note stands."""

    ids: Ids
    slot: int


class Pool:
    """Workers that play batches of one task. Two batches a worker may be out, so that none waits for the parent."""

    def __init__(self, task: Task, jobs: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="isolation-notes-")
        self._notes_file = Path(self._folder.name) / "notes"
        self._notes = create_notes(self._notes_file, 2 * jobs)
        self._task = task
        self._jobs = jobs
        self._executor: ProcessPoolExecutor | None = None
        self._calls: set[Future[Any]] = set()
        self._out: dict[Future[Batch], _Out] = {}
        self._dead: set[int] = set()

    @property
    def has_room(self) -> bool:
        """Whether another batch may be submitted."""
        return len(self._out) < len(self._notes)

    @property
    def is_busy(self) -> bool:
        """Whether any batch is out."""
        return bool(self._out)

    def submit(self, ids: Ids, interpreted: bool = False) -> None:
        """Send a batch to the workers."""
        slot = min(set(range(len(self._notes))) - {out.slot for out in self._out.values()})
        future = self.call(play_batch, ids, slot, interpreted)
        future.add_done_callback(self._note_death)
        self._out[future] = _Out(ids, slot)

    def call(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        """Have a worker call a function; if it dies, the future raises BrokenProcessPool, and `close` makes all new."""
        with _interrupts_blocked():
            future: Future[T] = self._running().submit(function, *arguments)
        self._calls.add(future)
        future.add_done_callback(self._calls.discard)
        return future

    def finished(self, timeout: float) -> Iterator[Batch]:
        """The batches that have been finished, waiting for one up to `timeout` seconds.

        Raises:
            WorkerDiedError: a worker has died; the finished batches come first, all others are lost.
            Exception: what a batch raised.
        """
        done = wait(self._out, timeout, FIRST_COMPLETED).done
        cause = None
        for future in done:
            if isinstance(future.exception(), BrokenProcessPool):
                cause = future.exception()
            else:
                del self._out[future]
                yield future.result()
        if cause:
            raise self._bury() from cause

    def close(self) -> None:
        """End all workers at once."""
        if self._executor is not None:
            # Loky's own thread stumbles over calls that it has not passed on yet when the workers are killed.
            while any(not (future.running() or future.done()) for future in self._calls.copy()):
                time.sleep(0.001)
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None
        self._calls.clear()
        self._out.clear()
        self._notes[:] = 0

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._folder.cleanup()

    def _running(self) -> ProcessPoolExecutor:
        if self._executor is None:
            # One thread a worker: the games are the parallelism. All share one cache of compiled code.
            environment = {
                "OMP_NUM_THREADS": "1",
                "NUMBA_NUM_THREADS": "1",
                library.ENVIRONMENT_VARIABLE: str(library.folder()),
            }
            self._executor = ProcessPoolExecutor(
                self._jobs,
                initializer=start,
                initargs=(self._task, self._notes_file, len(self._notes), os.getpid()),
                env=environment,
            )
        return self._executor

    def _note_death(self, future: Future[Batch]) -> None:
        """Called by loky when a worker has died, and before it kills the others: only now can they be told apart."""
        if isinstance(future.exception(), BrokenProcessPool) and not self._dead:
            self._dead = dead_among(self._notes)

    def _bury(self) -> WorkerDiedError:
        wait(self._out)
        batches = {out.slot: groups(self._task.schedule, out.ids) for out in self._out.values()}
        suspects = find_suspects(self._notes, batches, self._dead)
        lost = np.concatenate([out.ids for out in self._out.values()]).tolist()
        self._dead = set()
        self.close()
        return WorkerDiedError(lost, suspects)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Let processes that are started meanwhile inherit deafness to Ctrl-C; ours is delivered afterwards."""
    # Started on demand, Python's resource tracker would end the deafness of all processes that are started after it.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
