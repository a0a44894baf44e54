"""Interface of pools: verbs in, events out.

`loky_pool` is the implementation for the processors of one machine, `cluster.dask_pool` that for several machines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from experiments.plan.schedule import Ids
from experiments.play.pools.batch_feed import Pace
from experiments.play.pools.crash_markers import Suspect
from experiments.play.pools.worker import Batch, Task

TICK = 0.1
"""How many seconds callers wait for workers before they see to the rest."""


@dataclass(frozen=True)
class Finished:
    """A batch has been played."""

    batch: Batch


@dataclass(frozen=True)
class Answered:
    """A call has returned `value`; `call` is the number that `Pool.call` gave."""

    call: int
    value: Any


@dataclass(frozen=True)
class Failed:
    """A batch, or the call of that number, has raised an exception where it ran."""

    error: BaseException
    call: int | None


@dataclass(frozen=True)
class Died:
    """One worker or several have died.

    Attributes:
        lost: the ids of all games that were out and never come back by themselves.
        suspects: the games of those workers that died by themselves: each may have killed its own. None if they were
            not playing, or nobody knows.
        calls: the numbers of the calls that never return.
    """

    lost: tuple[int, ...]
    suspects: tuple[Suspect, ...]
    calls: tuple[int, ...]


Event = Finished | Answered | Failed | Died


@dataclass(frozen=True)
class Machine:
    """One of the machines that play: its name, its cores, the model of its processor, games a second, batches out."""

    name: str
    cores: int
    processor: str
    rate: float
    out: int


@dataclass(frozen=True)
class Fleet:
    """What is known of the machines of a pool that spans several.

    Attributes:
        machines: those that play now.
        pace: how much they are to be sent at a time.
        notes: for people: who was left out and why, and what else should be known.
        interpreted: for each agent that runs interpreted on any of them, by its place in the plan, why.
    """

    machines: tuple[Machine, ...]
    pace: Pace
    notes: tuple[str, ...] = ()
    interpreted: Mapping[int, str] = field(default_factory=dict)


class UnreachableError(ConnectionError):
    """The workers of a pool cannot be reached any more; what they were at is to be played again."""


class Pool(ABC):
    """Workers that play batches of a task, and nothing else: retrying, blaming and giving up are the runner's.

    For implementers:

    **Threads and ownership.** One thread makes a pool, calls it and closes it, and no method is called while another
    runs. What an implementation does in threads of its own stays inside. The ids handed to `submit` are the pool's from
    then on; what `finished` returns is the caller's. `submit`, `call` and `finished` with no time to wait return at
    once, without waiting for a worker.

    **Workers.** Each has a `worker.Worker` made of the task it works on, one batch or call at a time. What an agent
    prints is seen nowhere, Ctrl-C reaches the caller only, and no worker outlives the process that made the pool, even
    if that is killed. What `Worker.compile_agents` has compiled is ready, wherever batches of the same task are played;
    a pool that spans machines sees to that on each of them, before its first batch.

    **Order.** Batches come back in any order. Everything that was submitted or called appears in exactly one event: it
    is finished, answered or failed, or it is among what a death lost. In what `finished` returns at a time, results
    stand before failures, and failures before deaths.

    **Death.** Whenever a worker's death is noticed, while submitting, calling or waiting, it is told by `finished`, and
    only there: `submit` and `call` never raise because of it; what they were to send is then among what is lost.
    Suspects are the games of the workers that died by themselves, and not of those the pool ended because of it, as far
    as that can be known; where it cannot, all games that were being played. After a death the pool is ready for more,
    and what is out and not lost stays out. Losses that say nothing about the games, as of a machine or a network, need
    not be told: the pool may send such a batch elsewhere. It must not do so with a game that may have killed a worker.

    **What survives.** Nothing but what has been returned. A pool may outlive a run: `assign` gives it another task, and
    processes and the code they have loaded stay.
    """

    @abstractmethod
    def assign(self, task: Task) -> None:
        """Work on this task from now on; what is still out of an earlier one is dropped, and appears in no event."""

    @property
    @abstractmethod
    def has_room(self) -> bool:
        """Whether another batch may be submitted, so that no worker waits for the caller. It may change any time."""

    @property
    @abstractmethod
    def is_busy(self) -> bool:
        """Whether anything is out: batches or calls that no event has told of."""

    @property
    def fleet(self) -> Fleet | None:
        """What there is to say of a pool that spans machines; it compiles the agents of its task by itself.

        None of a pool of this machine alone.
        """
        return None

    @abstractmethod
    def submit(self, ids: Ids, interpreted: bool = False) -> None:
        """Have a worker play these games of the task; see `Worker.play_batch`.

        Raises:
            ValueError: no worker can be started.
        """

    @abstractmethod
    def call(self, function: Callable[..., object], *arguments: object) -> int:
        """Have a worker call `function(worker, *arguments)`, and return a number that the event about it will bear.

        Args:
            function: at the top level of a module or a class, such as `Worker.measure_costs`.

        Raises:
            ValueError: no worker can be started.
        """

    @abstractmethod
    def finished(self, timeout: float) -> list[Event]:
        """What has happened since the last time, waiting for something up to `timeout` seconds if anything is out.

        Raises:
            UnreachableError: the workers are on other machines, and cannot be reached any more.
        """

    @abstractmethod
    def alone(self) -> Pool:
        """Another pool, of one worker and with the same task, for a game that may kill it; the caller closes it.

        A pool that names no suspects is never asked for one.
        """

    @abstractmethod
    def close(self) -> None:
        """End all workers at once, whatever they are at; what is out is dropped. The pool serves no more."""

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


MakePool = Callable[[int], AbstractContextManager[Pool]]
"""Makes a pool of so many workers. A pool that is to outlive a run comes in a `nullcontext`."""
