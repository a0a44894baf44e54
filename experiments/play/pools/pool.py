"""Interface of pools: methods in, events out; and the pool that is this process.

`loky_pool` is the implementation for the processors of one machine, `cluster.dispatcher` that for several machines, and
`HerePool` that for a process which may start no others, or needs none.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
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
        lost: ids of the games of the batch, none of which is returned.
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


class Pool(ABC):
    """Workers that play batches of a task, and make calls. The caller decides on retries, blame and giving up.

    For implementers:

    **Threads and ownership.** One thread makes a pool, calls it and closes it, and no method is called while another
    runs. Threads of an implementation stay internal. The ids passed to `submit` belong to the pool from then on; what
    `finished` returns belongs to the caller. `submit`, `call`, and `finished` with a timeout of zero return at once,
    without waiting for a worker.

    **Workers.** Each has a `game_worker.GameWorker` made of its current task, and does one batch or call at a time.
    Without a task, before the first `assign`, they make calls only.
    Output of agents is discarded, Ctrl-C reaches the caller only, and no worker outlives the process that made the
    pool, even if that is killed. What `GameWorker.compile_agents` has compiled is available wherever batches of the
    same task are played; a pool that spans machines ensures that on each of them, before its first batch.

    **Order.** Batches return in any order. Everything that was submitted or called appears in exactly one event: it is
    finished, answered or failed, or it is lost by a death. In each list that `finished` returns, results precede
    failures, and failures precede deaths.

    **Death.** A worker's death, whether noticed while submitting, calling or waiting, is reported by `finished` only.
    `submit` and `call` never raise because of it, only ValueError if no worker can be started. It costs what that
    worker was doing and nothing else: other workers go on, and the pool can be used further. Losses that say nothing
    about the games, as of a machine or a network, need not be reported: the pool may send such a batch elsewhere. It
    must not do so with a game that may have killed a worker.

    **Persistence.** Only returned results persist. A pool may outlive a run: `assign` gives it another task, and
    processes and the code they have loaded are kept.
    """

    @abstractmethod
    def assign(self, task: Task) -> None:
        """Work on this task from now on; unfinished work of an earlier one is dropped and appears in no event."""

    @property
    @abstractmethod
    def has_room(self) -> bool:
        """Return whether to submit another batch, so that no worker waits for the caller. It may change any time."""

    @property
    def calls_at_once(self) -> int:
        """Number of calls to have unfinished, so that no worker waits for the caller. It may change any time."""
        return 1

    @property
    @abstractmethod
    def is_busy(self) -> bool:
        """Return whether any batch or call is unfinished, that is, has not appeared in an event."""

    @property
    def fleet(self) -> Fleet | None:
        """Machines of a pool that spans several; such a pool compiles the agents of its task by itself.

        None for a pool of this machine alone.
        """
        return None

    @abstractmethod
    def submit(self, ids: Ids, interpreted: bool = False) -> int:
        """Let a worker play these games of the task; return a number that identifies the batch in its event.

        Args:
            interpreted: play them in the interpreted loop, in a worker that has just been started and does nothing
                else, before what else waits: they may kill it.
        """

    @abstractmethod
    def call(self, function: Callable[..., object], *arguments: object) -> int:
        """Call `function(worker, *arguments)` in a worker; return a number that identifies the call in its event.

        `worker` is the `GameWorker` of the pool's task, or None if it has none.

        Args:
            function: defined at the top level of a module or a class, such as `GameWorker.measure_costs`.
        """

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


class HerePool(Pool):
    """One worker in this process, which works while somebody waits for it. Its death is this process's."""

    def __init__(self, jobs: int = 1) -> None:
        self._worker: GameWorker | None = None
        self._waiting: list[tuple[int, Callable[[], Event]]] = []
        self._numbers = itertools.count(1)

    def assign(self, task: Task) -> None:
        from .game_worker import GameWorker  # calls need none of what games do

        self._worker = GameWorker(task)
        self.close()

    @property
    def has_room(self) -> bool:
        return not self._waiting

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting)

    def submit(self, ids: Ids, interpreted: bool = False) -> int:
        assert self._worker
        number, play = next(self._numbers), partial(self._worker.play_batch, ids, interpreted=interpreted)
        self._waiting.append((number, lambda: Finished(number, play())))
        return number

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        number = next(self._numbers)
        self._waiting.append((number, lambda: Answered(number, function(self._worker, *arguments))))
        return number

    def finished(self, timeout: float) -> list[Event]:
        """See `Pool.finished`; it takes as long as a batch or a call does."""
        if not self._waiting:
            return []
        number, work = self._waiting.pop(0)
        try:
            return [work()]
        except Exception as error:
            return [Failed(number, error)]

    def close(self) -> None:
        self._waiting.clear()


MakePool = Callable[[int], AbstractContextManager[Pool]]
"""Makes a pool with a number of workers. A pool that is to outlive a run comes in a `nullcontext`."""
