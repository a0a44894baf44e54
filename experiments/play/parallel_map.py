"""Map calls over local processes or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any, TypeVar

import joblib

from experiments.play.cluster.cluster_address import chosen
from experiments.play.pools.process_map import map_unordered

T = TypeVar("T")


Spread = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]
"""Yields the results of a function for all calls, in any order."""


@contextmanager
def parallel_mapper(jobs: int, cluster: str | None) -> Iterator[Spread]:
    """Return a map function that can be used repeatedly; a cluster is connected to once, on first use.

    Args:
        jobs: processes on this machine; 0: one per core, or the cluster that the environment names.
        cluster: the cluster to use instead.

    The map function raises the exceptions of `process_map.map_unordered` or `cluster_map.as_they_come_from`, and
    ValueError if the cluster cannot be reached.
    """
    if address := chosen(cluster, jobs):
        with ExitStack() as stack:
            yield partial(_spread_there, cache(partial(_connected, stack, address)))
    else:
        yield partial(_spread_here, jobs or joblib.cpu_count())


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


def _connected(stack: ExitStack, address: str) -> Any:
    from experiments.play.cluster.cluster_map import connection

    return stack.enter_context(connection(address))


def _spread_there(
    connected: Callable[[], Any], function: Callable[..., T], calls: Iterable[tuple[Any, ...]]
) -> Iterator[T]:
    from experiments.play.cluster.cluster_map import as_they_come_from

    return as_they_come_from(connected(), function, calls)


def _spread_here(jobs: int, function: Callable[..., T], calls: Iterable[tuple[Any, ...]]) -> Iterator[T]:
    return map_unordered(function, calls, jobs)
