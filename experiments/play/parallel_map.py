"""Map calls over the workers of a pool: processes of this machine, or a cluster."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from knights_isolation.isolation.usercode.output_capture import CapturedOutput, capture_output

from ..plan.config import check_jobs
from .cluster import remote_worker
from .cluster.cluster_access import chosen
from .cluster.dispatcher import TASKS_A_MACHINE, Dispatcher, RemoteTask, connected, mean_cores
from .cluster.remote_worker import Computed
from .pools.interrupts import deferred_interrupts
from .pools.loky_pool import LokyPool
from .pools.pool import TICK, Answered, Died, Failed, HerePool, Pool
from .pools.process_map import Result, values_of

T = TypeVar("T")

SECONDS = 5.0
"""Target duration of the work that a machine is sent at a time."""

Spread = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]
"""Yields the results of a function for all calls, in any order. Its maps are used one after another."""


@contextmanager
def parallel_mapper(jobs: int, cluster: str | None) -> Iterator[Spread]:
    """Return a map function that can be used repeatedly; its pool is made once, on first use.

    Args:
        jobs: processes on this machine, where a single one is this process; 0: one per core, or the cluster that the
            environment names.
        cluster: the cluster to use instead.

    The map function raises the exceptions of `map_over`, and ValueError if there are too many jobs, or the cluster
    cannot be reached.
    """
    address = chosen(cluster, jobs)
    with ExitStack() as stack:
        if address:
            connection = cache(lambda: Connection(stack.enter_context(connected(address))))
            yield lambda function, calls: as_they_come_from(connection(), function, calls)
            return
        pool = cache(lambda: stack.enter_context(_pool_here(jobs)))
        yield lambda function, calls: map_over(pool(), function, calls)


def _pool_here(jobs: int) -> AbstractContextManager[Pool]:
    from joblib import cpu_count

    try:
        check_jobs(jobs)
    except ValueError as error:
        raise ValueError(f"{jobs} jobs: {error}") from None
    workers = jobs or cpu_count()
    return HerePool() if workers == 1 else LokyPool(workers)


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


def map_over(pool: Pool, function: Callable[..., T], calls: Iterable[tuple[Any, ...]]) -> Iterator[T]:
    """Yield the results of `function(*call)` for all calls, in any order, computed by the workers of a pool.

    Calls are taken from the iterable as workers become free. Their output is not shown; a warning reports its amount.

    Raises:
        ChildProcessError: a worker has died.
        UnreachableError: the workers of the pool cannot be reached any more.
        Exception: any exception of a call.
    """
    left, out, all_printed = iter(calls), set[int](), CapturedOutput()
    while True:
        for call in itertools.islice(left, max(0, pool.calls_at_once - len(out))):
            with deferred_interrupts() as interrupted:
                out.add(pool.call(_captured, function, call))
            if interrupted():
                raise KeyboardInterrupt
        if not out:
            break
        for event in pool.finished(TICK):
            match event:
                case Answered(number, (value, printed)) if number in out:
                    out.remove(number)
                    all_printed += printed
                    yield value
                case Failed(error, number) if number in out:
                    raise error
                case Died() if out.intersection(event.calls):
                    how = f" by {event.how}" if event.how else ""
                    raise ChildProcessError(
                        f"a worker process has died{how}: it was ended by the code it ran, or from outside (for "
                        f"example out of memory)"
                    )
    if sentence := all_printed.sentence("the code"):
        warnings.warn(sentence, stacklevel=2)


def _captured(worker: object, function: Callable[..., T], call: tuple[Any, ...]) -> tuple[T, CapturedOutput]:
    """Return the result of a call and its output; in a worker of a pool."""
    with capture_output() as printed:
        return function(*call), printed


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
