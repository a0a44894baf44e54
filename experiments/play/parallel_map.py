"""Map calls over local processes or a cluster."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import joblib

from .cluster import remote_worker
from .cluster.cluster_access import chosen
from .cluster.dispatcher import TASKS_A_MACHINE, Dispatcher, RemoteTask, connected, mean_cores
from .cluster.remote_worker import Computed
from .pools.pool import TICK, Failed
from .pools.process_map import Result, map_unordered, values_of

T = TypeVar("T")

SECONDS = 5.0
"""Target duration of the work that a machine is sent at a time."""

Spread = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]
"""Yields the results of a function for all calls, in any order."""


@contextmanager
def parallel_mapper(jobs: int, cluster: str | None) -> Iterator[Spread]:
    """Return a map function that can be used repeatedly; a cluster is connected to once, on first use.

    Args:
        jobs: processes on this machine; 0: one per core, or the cluster that the environment names.
        cluster: the cluster to use instead.

    The map function raises the exceptions of `process_map.map_unordered` or `as_they_come_from`, and
    ValueError if the cluster cannot be reached.
    """
    address = chosen(cluster, jobs)
    if not address:
        yield lambda function, calls: map_unordered(function, calls, jobs or joblib.cpu_count())
        return
    with ExitStack() as stack:
        connection = cache(lambda: Connection(stack.enter_context(connected(address))))
        yield lambda function, calls: as_they_come_from(connection(), function, calls)


def parallel_map(
    function: Callable[..., T], calls: Iterable[tuple[Any, ...]], jobs: int, cluster: str | None
) -> Iterator[T]:
    """Yield the results of `function(*call)` for all calls, in any order, for a single batch of calls.

    Args:
        jobs, cluster: see `parallel_mapper`.

    Raises:
        ValueError: there are too many jobs, or the cluster cannot be reached.
    """
    with parallel_mapper(jobs, cluster) as spread_out:
        yield from spread_out(function, calls)


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
            cores = mean_cores(dispatcher.machines)
            size = max(1, round(cores * (SECONDS / cluster.seconds if cluster.seconds else 1)))
            chunk = tuple(itertools.islice(left, size))
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
            match returned.answer:
                case Computed(results, seconds):
                    cluster.seconds = (cluster.seconds + seconds) / 2 if cluster.seconds else seconds
                    yield from results
                case Failed(error):
                    raise error
                case other:
                    raise ChildProcessError(f"the same work was lost repeatedly: {other}")
