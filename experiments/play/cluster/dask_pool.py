"""Cluster pool: large batches, each played on one machine by all its processes.

Each machine handles deaths of its own workers and attributes them; so this pool reports no deaths and no suspects.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import token_hex

import numpy as np

from ...plan.schedule import Ids
from ..pools.game_worker import PlayedBatch, Task
from ..pools.pool import Answered, BatchPace, Died, Event, Failed, Finished, Fleet, Machine, MakePool, Pool
from . import remote_worker
from .cluster_access import bundle_of
from .dispatcher import (
    TASKS_A_MACHINE,
    ConnectedMachine,
    Dispatcher,
    LostError,
    RemoteTask,
    Returned,
    connected,
    mean_cores,
)
from .remote_worker import PlayedPart

FIRST, SHORTEST, LONGEST = 0.5, 0.5, 7.0
"""Target seconds of a batch on a machine: of its first batch, of the last ones, and of any other."""
LONGEST_LATE = 60.0
"""Upper limit of the batch duration in long runs, where longer batches keep the number of log files small."""
_SHARE = 0.01


@contextmanager
def reached(cluster: str) -> Iterator[MakePool]:
    """Return a factory of pools on a cluster's machines, for the duration of the connection; see `connected`."""
    numbers = itertools.count(1)
    with connected(cluster) as dispatcher:
        yield lambda jobs: DaskPool(dispatcher, numbers)


class DaskPool(Pool):
    """Pool of all machines of a cluster, which may come and go. Without any, tasks wait in the dispatcher."""

    def __init__(self, dispatcher: Dispatcher, numbers: Iterator[int]) -> None:
        self._dispatcher = dispatcher
        self._numbers = numbers
        self._bundle = ("", b"")
        self._batches: dict[int, Ids] = {}
        self._calls: set[int] = set()
        self._games: Counter[str] = Counter()
        self._interpreted: dict[int, str] = {}
        self._began = time.monotonic()

    def assign(self, task: Task) -> None:
        """See `Pool.assign`."""
        self._drop()
        self._interpreted = {}
        self._bundle = (token_hex(8), bundle_of(task))

    @property
    def has_room(self) -> bool:
        """See `Pool.has_room`."""
        return len(self._batches) < TASKS_A_MACHINE * max(1, len(self._dispatcher.machines))

    @property
    def is_busy(self) -> bool:
        """See `Pool.is_busy`."""
        return bool(self._batches or self._calls)

    @property
    def fleet(self) -> Fleet:
        """See `Pool.fleet`."""
        machines = tuple(map(self._machine, self._dispatcher.machines))
        return Fleet(machines, self._pace(), self._dispatcher.notes(), dict(self._interpreted))

    def submit(self, ids: Ids, interpreted: bool = False) -> None:
        """See `Pool.submit`."""
        assert not interpreted, "machines replay by themselves what has killed a worker"
        number = self._send(remote_worker.play, ids)
        self._batches[number] = ids

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        """See `Pool.call`."""
        number = self._send(remote_worker.call, function, *arguments)
        self._calls.add(number)
        return number

    def finished(self, timeout: float) -> list[Event]:
        """See `Pool.finished`."""
        self._dispatcher.check()
        returned = self._dispatcher.received(timeout if self.is_busy else 0)
        events = [event for event in map(self._event, returned) if event]
        return sorted(events, key=lambda event: (isinstance(event, Failed), isinstance(event, Died)))

    def alone(self) -> Pool:
        """Never called: this pool reports no deaths, and so no suspects."""
        raise NotImplementedError

    def close(self) -> None:
        """See `Pool.close`. The dispatcher is kept for the next pool."""
        self._drop()

    def _machine(self, known: ConnectedMachine) -> Machine:
        port = known.address.rpartition(":")[2]
        seconds = time.monotonic() - max(known.since, self._began)
        rate = self._games[known.address] / seconds if seconds > 0 else 0.0
        return Machine(f"{known.hello.name}:{port}", known.hello.cores, known.hello.processor, rate, known.out)

    def _drop(self) -> None:
        if self.is_busy:
            self._dispatcher.drop(next(self._numbers), self._bundle[0])
        self._batches.clear()
        self._calls.clear()

    def _send(self, function: Callable[..., remote_worker.Answer], *arguments: object) -> int:
        number = next(self._numbers)
        self._dispatcher.send(RemoteTask(number, function, (self._bundle[0], *arguments), self._bundle))
        return number

    def _event(self, returned: Returned) -> Event | None:
        number, answer = returned.number, returned.answer
        ids = self._batches.pop(number, None)
        self._calls.discard(number)
        call = number if ids is None else None
        match answer:
            case PlayedPart(part, matches, seconds, interpreted):
                if ids is None or not np.array_equal(np.sort(part.ids), np.sort(ids)):
                    self._discard(returned.address, ids)
                    return None
                self._interpreted |= interpreted
                self._games[returned.address] += len(part.ids)
                return Finished(PlayedBatch(part, matches, seconds))
            case Answered(_, value):
                return Answered(number, value)
            case Failed(error):
                return Failed(error, call)
            case LostError():
                return Failed(ValueError(f"the same games were lost repeatedly: {answer}"), call)
            case Died():
                return Died((), (), (number,))
            case _:
                raise AssertionError(f"unexpected answer: {answer}")

    def _discard(self, address: str, ids: Ids | None) -> None:
        """Stop using a machine that returned games it was not asked for, and submit the requested games again."""
        self._dispatcher.refuse(address, "it sent games that were not requested, which were discarded")
        if ids is not None:
            self.submit(ids)

    def _pace(self) -> BatchPace:
        cores = mean_cores(self._dispatcher.machines)
        longest = min(LONGEST_LATE, max(LONGEST, _SHARE * (time.monotonic() - self._began)))
        return BatchPace(max(1, len(self._dispatcher.machines)), FIRST * cores, SHORTEST * cores, longest * cores)
