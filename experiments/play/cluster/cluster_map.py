"""Map calls over the worker processes of a cluster."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..pools.pool import TICK, Failed
from ..pools.process_map import Result, values_of
from . import remote_worker
from .dispatcher import TASKS_A_MACHINE, Dispatcher, RemoteTask, Returned, connected, mean_cores
from .remote_worker import Computed

T = TypeVar("T")

SECONDS = 5.0
"""Target duration of the work that a machine is sent at a time."""


@dataclass
class Connection:
    """A cluster that calls are sent to, and what is known about it; later maps reuse this knowledge.

    Attributes:
        dispatcher: dispatcher to its machines.
        numbers: numbers of remote tasks, each used once.
        reported: notes that have been shown as warnings.
        seconds: mean time of a call on one core; 0 if unknown.
    """

    dispatcher: Dispatcher
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    reported: set[str] = field(default_factory=set)
    seconds: float = 0.0


@contextmanager
def connection(cluster: str) -> Iterator[Connection]:
    """Connect to a cluster for the duration of the context; see `connected`."""
    with connected(cluster) as dispatcher:
        yield Connection(dispatcher)


def as_they_come_from(cluster: Connection, function: Callable[..., T], calls: Iterable[tuple[Any, ...]]) -> Iterator[T]:
    """Yield the results of `function(*call)` for all calls, in any order, computed by the machines of a cluster.

    Output of the calls is not shown; a warning reports its amount, and other warnings report problems of machines.

    Raises:
        ChildProcessError: several machines in a row were lost while running the same calls.
        UnreachableError: the cluster cannot be reached any more, or none of its machines can be used.
        Exception: any exception of a call.
    """
    yield from values_of(_results(cluster, function, iter(calls)))


def _results(cluster: Connection, function: Callable[..., T], left: Iterator[tuple[Any, ...]]) -> Iterator[Result[T]]:
    dispatcher, out = cluster.dispatcher, set[int]()
    while True:
        while len(out) < TASKS_A_MACHINE * max(1, len(dispatcher.machines)):
            chunk = tuple(itertools.islice(left, _how_many(cluster)))
            if not chunk:
                break
            number = next(cluster.numbers)
            out.add(number)
            dispatcher.send(RemoteTask(number, remote_worker.compute, (function, chunk), None))
        if not out:
            return
        dispatcher.check()
        for note in dispatcher.notes():
            if note not in cluster.reported:
                warnings.warn(note, stacklevel=2)
            cluster.reported.add(note)
        for returned in dispatcher.received(TICK):
            out.discard(returned.number)
            computed = _computed(returned)
            seconds = computed.seconds if cluster.seconds == 0 else (cluster.seconds + computed.seconds) / 2
            cluster.seconds = seconds
            yield from computed.results


def _how_many(cluster: Connection) -> int:
    cores = mean_cores(cluster.dispatcher.machines)
    return max(1, round(cores * (SECONDS / cluster.seconds if cluster.seconds else 1)))


def _computed(returned: Returned) -> Computed:
    match returned.answer:
        case Computed() as computed:
            return computed
        case Failed(error):
            raise error
        case other:
            raise ChildProcessError(f"the same work was lost repeatedly: {other}")
