"""Interface of pools: methods in, events out; and the pool that is this process.

`loky_pool` is the implementation for the processors of one machine, `cluster` has that for several machines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import count
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Self

from ...plan.config import check_jobs

if TYPE_CHECKING:
    from ...plan.schedule import Ids
    from .batch_feed import BatchPace
    from .game_worker import GameWorker, Task

TICK = 0.1
"""Seconds that callers wait for workers before they do other work."""


@dataclass(frozen=True)
class Suspect:
    """A game that was being played when its worker died, and the player (1 or 2) that was to move."""

    game_id: int
    mover: int


@dataclass(frozen=True)
class Finished:
    """A batch has been played, or a call has returned.

    Attributes:
        number: as in all events, what `Pool.submit` or `Pool.call` returned.
        value: the `PlayedBatch`, or what the call returned.
    """

    number: int
    value: Any


@dataclass(frozen=True)
class Failed:
    """A batch or a call has raised an exception."""

    number: int
    error: BaseException


@dataclass(frozen=True)
class Died:
    """A worker has died, and its batch or call will not return.

    Attributes:
        lost: ids of the games of the batch.
        suspect: the game that was being played, which may be the cause. None if none was, or if it is unknown.
        how: how the worker ended, such as SIGKILL(-9), as far as known.
    """

    number: int
    lost: tuple[int, ...] = ()
    suspect: Suspect | None = None
    how: str = field(default="", compare=False)


Event = Finished | Failed | Died


@dataclass(frozen=True)
class Machine:
    """A machine that plays: name, cores, processor model, games per second, unfinished batches."""

    name: str
    cores: int
    processor: str
    rate: float = 0.0
    out: int = 0


@dataclass(frozen=True)
class ClusterState:
    """Machines of a pool that spans several.

    Attributes:
        machines: those that play now.
        pace: batch sizes for them.
        notes: messages for the user: which machines were excluded and why, and other remarks.
        interpreted: reasons why agents run interpreted on any machine, by their indices in the plan.
    """

    machines: tuple[Machine, ...]
    pace: BatchPace
    notes: tuple[str, ...] = ()
    interpreted: Mapping[int, str] = field(default_factory=dict)


class UnreachableError(ConnectionError):
    """The workers of a pool cannot be reached any more; their unfinished games must be played again."""


@dataclass(frozen=True)
class Work:
    """A batch of these games, or a call if there are none: a function of the worker, and its other arguments."""

    number: int
    function: Callable[..., Any]
    arguments: tuple[object, ...] = ()
    ids: tuple[int, ...] = ()
    is_alone: bool = False

    def done_by(self, worker: GameWorker | None) -> Finished | Failed:
        """Do the work in this process, and return its event."""
        try:
            return Finished(self.number, self.function(worker, *self.arguments))
        except Exception as error:
            return Failed(self.number, error)


class Pool(ABC):
    """Workers that play batches of a task, and make calls. The caller decides on retries, blame and giving up.

    Implementations do what is in `_waiting`, and promise:

    - Each worker has a `GameWorker` of the current task, if there is one, and does one batch or call at a time. What
      `GameWorker.compile_agents` has compiled is available wherever batches of the task are played.
    - Output of agents is discarded, Ctrl-C reaches the caller only, and no worker outlives the process that made the
      pool, even if that is killed.
    - Everything that was submitted or called appears in exactly one event, in any order. A worker's death costs what
      that worker was doing and nothing else. Work that was lost with a machine or a network may be done again
      elsewhere, but not a game that may have killed a worker.
    - One thread uses a pool. `submit`, `call`, and `finished` with a timeout of zero do not wait for a worker; they
      raise ValueError if none can be started.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._numbers = count(1)
        self._unfinished: dict[int, Work] = {}
        self._waiting: deque[Work] = deque()

    @abstractmethod
    def assign(self, task: Task) -> None:
        """Work on this task from now on; unfinished work is dropped and appears in no event.

        Workers, and the code they have loaded, are kept.
        """

    @property
    def has_room(self) -> bool:
        """Return whether to submit another batch, so that no worker waits for the caller. It may change any time."""
        return sum(bool(work.ids) for work in self._unfinished.values()) < self.calls_at_once

    @property
    def calls_at_once(self) -> int:
        """Number of calls to have unfinished, so that no worker waits for the caller. It may change any time."""
        return 2 * self._jobs

    @property
    def is_busy(self) -> bool:
        """Return whether any batch or call is unfinished, that is, has not appeared in an event."""
        return bool(self._unfinished)

    @property
    def cluster_state(self) -> ClusterState | None:
        """Machines of a pool that spans several, which compiles the agents of its task by itself; else None."""
        return None

    def submit(self, ids: Ids, interpreted: bool = False) -> int:
        """Let a worker play these games of the task; return a number that identifies the batch in its event.

        Args:
            interpreted: play them in the interpreted loop, in a worker that has just been started and does nothing
                else, before what else waits: they may kill it.
        """
        play = methodcaller("play_batch", ids, interpreted)
        return self._put(Work(next(self._numbers), play, (), tuple(ids.tolist()), interpreted))

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        """Call `function(worker, *arguments)` in a worker; return a number that identifies the call in its event.

        `worker` is the `GameWorker` of the pool's task, or None if it has none.

        Args:
            function: defined at the top level of a module or a class, such as `GameWorker.measure_costs`.
        """
        return self._put(Work(next(self._numbers), function, arguments))

    def finished(self, timeout: float) -> list[Event]:
        """Return the events since the last call, waiting up to `timeout` seconds for one if anything is unfinished.

        Results precede failures, and failures precede deaths.

        Raises:
            UnreachableError: the workers are on other machines, and cannot be reached any more.
        """
        events = self._events(timeout)
        for event in events:
            del self._unfinished[event.number]
        return sorted(events, key=lambda event: (isinstance(event, Failed), isinstance(event, Died)))

    @abstractmethod
    def _events(self, timeout: float) -> list[Event]:
        """Return the events since the last call; see `finished`."""

    @abstractmethod
    def close(self) -> None:
        """End all workers immediately; unfinished work is dropped. The pool cannot be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _put(self, work: Work) -> int:
        self._unfinished[work.number] = work
        (self._waiting.appendleft if work.is_alone else self._waiting.append)(work)
        return work.number

    def _drop(self) -> None:
        self._unfinished.clear()
        self._waiting.clear()


class HerePool(Pool):
    """One worker in this process, which works while somebody waits for it. Its death is this process's."""

    def __init__(self, jobs: int = 1) -> None:
        super().__init__(jobs)
        self._worker: GameWorker | None = None

    @property
    def calls_at_once(self) -> int:
        return 1

    def assign(self, task: Task) -> None:
        from .game_worker import GameWorker  # calls need none of what games do

        self._worker = GameWorker(task)
        self._drop()

    def _events(self, timeout: float) -> list[Event]:
        return [self._waiting.popleft().done_by(self._worker)] if self._waiting else []

    def close(self) -> None:
        self._drop()


def worker_count(jobs: int) -> int:
    """Return the number of workers for so many jobs; 0: one per core. ValueError if there are too many."""
    from joblib import cpu_count

    try:
        return check_jobs(jobs) or cpu_count()
    except ValueError as error:
        raise ValueError(f"{jobs} jobs: {error}") from None


MakePool = Callable[[int], AbstractContextManager[Pool]]
"""Makes a pool with a number of workers. A pool that is to outlive a run comes in a `nullcontext`."""
