"""Interface of pools: methods in, events out; and the pool that is this process.

`loky_pool` is the implementation for the processors of one machine, `cluster` has that for several machines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from ...plan.schedule import Ids
    from .batch_feed import BatchPace
    from .game_worker import GameWorker, PlayedBatch, Task

TICK = 0.1
"""Seconds that callers wait for workers before they do other work."""


@dataclass(frozen=True)
class Suspect:
    """A game that was being played when its worker died, and the player (1 or 2) that was to move."""

    game_id: int
    mover: int


@dataclass(frozen=True)
class Finished:
    """A batch has been played. `number`, as in all events, is what `Pool.submit` or `Pool.call` returned."""

    number: int
    batch: PlayedBatch


@dataclass(frozen=True)
class Answered:
    """A call has returned `value`."""

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


Event = Finished | Answered | Failed | Died


@dataclass(frozen=True)
class Machine:
    """A machine that plays: name, cores, processor model, games per second, unfinished batches."""

    name: str
    cores: int
    processor: str
    rate: float
    out: int


@dataclass(frozen=True)
class Fleet:
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

    def returned(self, value: Any) -> Finished | Answered:
        """Return the event for what the function has returned."""
        return (Finished if self.ids else Answered)(self.number, value)


class Pool(ABC):
    """Workers that play batches of a task, and make calls. The caller decides on retries, blame and giving up.

    For implementers, who start what is in `_waiting`, and remove from `_unfinished` what appears in an event:

    **Threads.** One thread makes a pool, calls it and closes it. `submit`, `call`, and `finished` with a timeout of
    zero return at once, without waiting for a worker.

    **Workers.** Each has a `game_worker.GameWorker` made of its current task, and does one batch or call at a time.
    Without a task, before the first `assign`, they make calls only.
    Output of agents is discarded, Ctrl-C reaches the caller only, and no worker outlives the process that made the
    pool, even if that is killed. What `GameWorker.compile_agents` has compiled is available wherever batches of the
    same task are played; a pool that spans machines ensures that on each of them, before its first batch.

    **Order.** Batches return in any order. Everything that was submitted or called appears in exactly one event. In
    each list that `finished` returns, results precede failures, and failures precede deaths.

    **Death.** A worker's death is reported by `finished` only. It costs what that worker was doing and nothing else:
    the others go on, and the pool can be used further. `submit`, `call` and `finished` raise ValueError if no worker
    can be started. A pool that spans machines may do elsewhere what was lost with a machine or a network, but not play
    a game that may have killed a worker.

    **Persistence.** A pool may outlive a run: `assign` gives it another task, and workers and the code they have loaded
    are kept.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._count = 0
        self._unfinished: dict[int, Work] = {}
        self._waiting: deque[Work] = deque()

    @abstractmethod
    def assign(self, task: Task) -> None:
        """Work on this task from now on; unfinished work of an earlier one is dropped and appears in no event."""

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
    def fleet(self) -> Fleet | None:
        """Machines of a pool that spans several, which compiles the agents of its task by itself; else None."""
        return None

    def submit(self, ids: Ids, interpreted: bool = False) -> int:
        """Let a worker play these games of the task; return a number that identifies the batch in its event.

        Args:
            interpreted: play them in the interpreted loop, in a worker that has just been started and does nothing
                else, before what else waits: they may kill it.
        """
        play = methodcaller("play_batch", ids, interpreted)
        return self._put(Work(self._next_number(), play, (), tuple(ids.tolist()), interpreted))

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        """Call `function(worker, *arguments)` in a worker; return a number that identifies the call in its event.

        `worker` is the `GameWorker` of the pool's task, or None if it has none.

        Args:
            function: defined at the top level of a module or a class, such as `GameWorker.measure_costs`.
        """
        return self._put(Work(self._next_number(), function, arguments))

    @abstractmethod
    def finished(self, timeout: float) -> list[Event]:
        """Return the events since the last call, waiting up to `timeout` seconds for one if anything is unfinished.

        Raises:
            UnreachableError: the workers are on other machines, and cannot be reached any more.
        """

    @abstractmethod
    def close(self) -> None:
        """End all workers immediately; unfinished work is dropped. The pool cannot be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next_number(self) -> int:
        self._count += 1
        return self._count

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

    def finished(self, timeout: float) -> list[Event]:
        """See `Pool.finished`; it takes as long as a batch or a call does."""
        if not self._waiting:
            return []
        work = self._waiting.popleft()
        del self._unfinished[work.number]
        try:
            return [work.returned(work.function(self._worker, *work.arguments))]
        except Exception as error:
            return [Failed(work.number, error)]

    def close(self) -> None:
        self._drop()


MakePool = Callable[[int], AbstractContextManager[Pool]]
"""Makes a pool with a number of workers. A pool that is to outlive a run comes in a `nullcontext`."""
