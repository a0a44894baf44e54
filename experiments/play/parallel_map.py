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
"""The results of a function for every call, in no order."""


@contextmanager
def parallel_mapper(jobs: int, cluster: str | None) -> Iterator[Spread]:
    """What spreads calls, again and again; a cluster is connected to once, when there is something for it.

    Args:
        jobs: processes on this machine; 0 is one a core, or the cluster that the environment names.
        cluster: the cluster to use instead.

    What is called raises what `parallel.as_they_come` or `cluster.calls.as_they_come_from` raise, and ValueError where
    the cluster cannot be reached.
    """
    if address := chosen(cluster, jobs):
        with ExitStack() as stack:
            yield partial(_spread_there, cache(partial(_connected, stack, address)))
    else:
        yield partial(_spread_here, jobs or joblib.cpu_count())


def parallel_map(
    function: Callable[..., T], calls: Iterable[tuple[Any, ...]], jobs: int, cluster: str | None
) -> Iterator[T]:
    """The results of `function(*call)` for every call, in no order, where one batch of calls is all there is.

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
