"""Map calls over the workers of a pool: processes of this machine, or a cluster."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from typing import Any, TypeVar

from knights_isolation.isolation.usercode.output_capture import CapturedOutput, capture_output

from .cluster.cluster_access import chosen
from .pools.interrupts import deferred_interrupts
from .pools.pool import TICK, Died, Failed, Finished, HerePool, Pool, worker_count

T = TypeVar("T")

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
    reported: set[str] = set()
    with ExitStack() as stack:
        pool = cache(lambda: stack.enter_context(_pool(jobs, address)))
        yield lambda function, calls: map_over(pool(), function, calls, reported)


def _pool(jobs: int, cluster: str | None) -> AbstractContextManager[Pool]:
    if cluster:
        from .cluster.dispatcher import connected

        return connected(cluster)
    workers = worker_count(jobs)
    if workers == 1:
        return HerePool()
    from .pools.loky_pool import LokyPool

    return LokyPool(workers)


def parallel_map(
    function: Callable[..., T], calls: Iterable[tuple[Any, ...]], jobs: int, cluster: str | None
) -> Iterator[T]:
    """Yield the results of `function(*call)` for all calls, in any order; see `parallel_mapper`."""
    with parallel_mapper(jobs, cluster) as spread_out:
        yield from spread_out(function, calls)


def map_over(
    pool: Pool, function: Callable[..., T], calls: Iterable[tuple[Any, ...]], reported: set[str] | None = None
) -> Iterator[T]:
    """Yield the results of `function(*call)` for all calls, in any order, computed by the workers of a pool.

    Calls are taken from the iterable as workers become free. Warnings report the amount of their output, which is not
    shown, and the notes of a pool of several machines, unless they are `reported`.

    Raises:
        ChildProcessError: a worker has died, or several machines in a row were lost while running the same call.
        UnreachableError: the workers of the pool cannot be reached any more.
        Exception: any exception of a call.
    """
    left, out, all_printed = iter(calls), set[int](), CapturedOutput()
    reported = set() if reported is None else reported
    while True:
        for call in itertools.islice(left, max(0, pool.calls_at_once - len(out))):
            with deferred_interrupts() as interrupted:
                out.add(pool.call(_captured, function, call))
            if interrupted():
                raise KeyboardInterrupt
        if not out:
            break
        for note in set(pool.cluster_state.notes if pool.cluster_state else ()) - reported:
            warnings.warn(note, stacklevel=2)
            reported.add(note)
        for event in pool.finished(TICK):
            if event.number not in out:  # of an earlier map that was left
                continue
            out.remove(event.number)
            match event:
                case Finished(value=(value, printed)):
                    all_printed += printed
                    yield value
                case Failed(error=error):
                    raise error
                case Died(how=how):
                    raise ChildProcessError(
                        f"a worker process has died{f' by {how}' if how else ''}: it was ended by the code it ran, or "
                        f"from outside (for example out of memory)"
                    )
    if sentence := all_printed.sentence("the code"):
        warnings.warn(sentence, stacklevel=2)


def _captured(worker: object, function: Callable[..., T], call: tuple[Any, ...]) -> tuple[T, CapturedOutput]:
    with capture_output() as printed:
        return function(*call), printed
