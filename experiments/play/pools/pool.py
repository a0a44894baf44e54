"""Interface of pools: methods in, events out.

`loky_pool` is the implementation for the processors of one machine, `cluster.dask_pool` that for several machines, and
`here_pool` that for a process which may start no others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...plan.schedule import Ids, Schedule, checkpoints, pair_points
from .game_worker import PlayedBatch, Suspect, Task

Stop = Callable[[NDArray[np.int8]], Collection[int]]
"""Stop rule: maps the pair points of the completed rounds, [round, match], to the decided matches.

It must depend on nothing else; see `schedule.pair_points`.
"""

LONGEST_BATCH = 0.7
SHORTEST_BATCH = 0.05
FIRST_GUESS = 0.2
_WINDOW = 1 << 13


@dataclass(frozen=True)
class BatchPace:
    """Batch sizes: `workers` share the remaining games, and a batch takes this many seconds on one core.

    Attributes:
        first: seconds of a batch while the duration of a game is unknown.
        shortest, longest: seconds of any other batch; towards the end batches become shorter.
    """

    workers: int
    first: float = field(default_factory=lambda: LONGEST_BATCH)
    shortest: float = field(default_factory=lambda: SHORTEST_BATCH)
    longest: float = field(default_factory=lambda: LONGEST_BATCH)


class BatchFeed:
    """Games still to be played. Each game is handed out once; `give_back` returns one that was not played.

    A stop rule is evaluated at fixed checkpoints of the schedule, about every eighth of what has been played, once all
    rounds before the checkpoint are complete. A decision at one checkpoint takes effect at the next, and no game beyond
    that next one is handed out before. So the games that are played depend on results alone, never on timing, and
    workers need not wait for one another.

    `pace` sets the batch sizes and may be changed at any time; `seconds` has the duration of a game by match, as far as
    it is known.
    """

    def __init__(self, schedule: Schedule, points: NDArray[np.int8], jobs: int, stop: Stop | None = None) -> None:
        self.schedule = schedule
        self.points = points
        self.pace = BatchPace(jobs)
        self.stop = stop
        self.ends = schedule.pairs.copy()
        self._checkpoints = checkpoints(schedule.rounds) if stop else iter([schedule.rounds])
        self._decided = 0
        self._next = next(self._checkpoints)
        self._frontier = next(self._checkpoints, schedule.rounds)
        self._cursor = 0
        self._returned: list[int] = []
        self.seconds = np.full(len(schedule.matches), np.nan)

    @property
    def total(self) -> int:
        """Number of games of the run, as far as known: the stop rule may end matches early."""
        return 2 * int(self.ends.sum())

    @property
    def missing(self) -> int:
        """Number of games without a result."""
        return self.total - int(np.count_nonzero(self.points >= 0))

    def learn(self, matches: Ids, seconds: NDArray[np.float64]) -> None:
        """Update the durations of games of these matches."""
        known = np.where(np.isnan(self.seconds[matches]), seconds, self.seconds[matches])
        self.seconds[matches] = (known + seconds) / 2

    def give_back(self, ids: Iterable[int]) -> None:
        """Return games to the feed; they are handed out before all others."""
        self._returned = sorted({*self._returned, *(int(id_) for id_ in ids)})

    def take(self) -> Ids:
        """Return the next games for one worker; empty if there is nothing to do until more results arrive."""
        self._advance()
        ids = np.array(self._returned, np.int64) if self._returned else self._ahead()
        if not len(ids):
            return ids
        costs = self._costs(self.schedule.match_of(ids)).cumsum()
        share = self.missing * float(costs[-1]) / len(ids) / (4 * self.pace.workers)
        longest = self.pace.first if np.isnan(self.seconds).all() else self.pace.longest
        batch = ids[: 1 + np.searchsorted(costs, min(longest, max(self.pace.shortest, share)))]
        if self._returned:
            self._returned = self._returned[len(batch) :]
        else:
            self._cursor = int(batch[-1]) + 1
        return batch

    def _ahead(self) -> Ids:
        last = self._frontier * len(self.schedule.matches) * 2
        while self._cursor < last:
            ids = np.arange(self._cursor, min(self._cursor + _WINDOW, last))
            in_play = self.schedule.round_of(ids) < self.ends[self.schedule.match_of(ids)]
            ids_ahead = ids[in_play & (self.points.reshape(-1)[ids] < 0)]
            if len(ids_ahead):
                return ids_ahead
            self._cursor = int(ids[-1]) + 1
        return np.empty(0, np.int64)

    def _costs(self, matches: Ids) -> NDArray[np.float64]:
        known = self.seconds[~np.isnan(self.seconds)]
        guess = known.mean() if len(known) else FIRST_GUESS
        return np.where(np.isnan(self.seconds), guess, self.seconds)[matches]

    def _advance(self) -> None:
        while self.stop and self._decided < self._next and self._is_complete(self._decided, self._next):
            decided = self.stop(pair_points(self.points[: self._next]))
            for match in decided:
                self.ends[match] = min(self.ends[match], self._frontier)
            self._decided, self._next = self._next, self._frontier
            self._frontier = next(self._checkpoints, self.schedule.rounds)

    def _is_complete(self, first: int, last: int) -> bool:
        rounds = np.arange(first, last)[:, None]
        return bool(((self.points[first:last] >= 0).all(axis=2) | (rounds >= self.ends)).all())


TICK = 0.1
"""Seconds that callers wait for workers before they do other work."""


@dataclass(frozen=True)
class Finished:
    """A batch has been played."""

    batch: PlayedBatch


@dataclass(frozen=True)
class Answered:
    """A call has returned `value`; `call` is its number from `Pool.call`."""

    call: int
    value: Any


@dataclass(frozen=True)
class Failed:
    """A batch, or the call of that number, has raised an exception."""

    error: BaseException
    call: int | None


@dataclass(frozen=True)
class Died:
    """One or more workers have died.

    Attributes:
        lost: ids of all unfinished games that will not be returned.
        suspects: games of the workers that died by themselves, each of which may be the cause. None if they were not
            playing, or if it is unknown.
        calls: numbers of the calls that will not return.
    """

    lost: tuple[int, ...]
    suspects: tuple[Suspect, ...]
    calls: tuple[int, ...]


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
    """Workers that play batches of a task. The runner decides on retries, blame and giving up.

    For implementers:

    **Threads and ownership.** One thread makes a pool, calls it and closes it, and no method is called while another
    runs. Threads of an implementation stay internal. The ids passed to `submit` belong to the pool from then on; what
    `finished` returns belongs to the caller. `submit`, `call`, and `finished` with a timeout of zero return at once,
    without waiting for a worker.

    **Workers.** Each has a `worker.Worker` made of its current task, and does one batch or call at a time. Output of
    agents is discarded, Ctrl-C reaches the caller only, and no worker outlives the process that made the pool, even if
    that is killed. What `Worker.compile_agents` has compiled is available wherever batches of the same task are played;
    a pool that spans machines ensures that on each of them, before its first batch.

    **Order.** Batches return in any order. Everything that was submitted or called appears in exactly one event: it is
    finished, answered or failed, or it is lost by a death. In each list that `finished` returns, results precede
    failures, and failures precede deaths.

    **Death.** A worker's death, whether noticed while submitting, calling or waiting, is reported by `finished` only.
    `submit` and `call` never raise because of it, only ValueError if no worker can be started; what they were to send
    is then among what is lost. Suspects are the games of the workers that died by themselves, not of those the pool
    ended because of it, as far as that can be known; otherwise all games that were being played. After a death the pool
    can be used further, and unfinished work that is not lost stays unfinished. Losses that say nothing about the games,
    as of a machine or a network, need not be reported: the pool may send such a batch elsewhere. It must not do so with
    a game that may have killed a worker.

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
    def submit(self, ids: Ids, interpreted: bool = False) -> None:
        """Send these games of the task to a worker; see `Worker.play_batch`."""

    @abstractmethod
    def call(self, function: Callable[..., object], *arguments: object) -> int:
        """Call `function(worker, *arguments)` in a worker, and return a number that identifies the call in its event.

        Args:
            function: defined at the top level of a module or a class, such as `Worker.measure_costs`.
        """

    @abstractmethod
    def finished(self, timeout: float) -> list[Event]:
        """Return the events since the last call, waiting up to `timeout` seconds for one if anything is unfinished.

        Raises:
            UnreachableError: the workers are on other machines, and cannot be reached any more.
        """

    @abstractmethod
    def alone(self) -> Pool:
        """Return another pool, with one worker and the same task, for a game that may kill it; the caller closes it.

        Not called on a pool that never names suspects.
        """

    @abstractmethod
    def close(self) -> None:
        """End all workers immediately; unfinished work is dropped. The pool cannot be used afterwards."""

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


MakePool = Callable[[int], AbstractContextManager[Pool]]
"""Makes a pool with a number of workers. A pool that is to outlive a run comes in a `nullcontext`."""
