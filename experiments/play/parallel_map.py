"""Map calls over local processes or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any, TypeVar

import joblib

from .cluster.cluster_access import chosen
from .pools.process_map import map_unordered

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
    address = chosen(cluster, jobs)
    if not address:
        yield lambda function, calls: map_unordered(function, calls, jobs or joblib.cpu_count())
        return
    with ExitStack() as stack:
        connected = cache(partial(_connected, stack, address))
        yield lambda function, calls: connected()(function, calls)


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


def _connected(stack: ExitStack, address: str) -> Spread:
    from .cluster.cluster_map import as_they_come_from, connection

    return partial(as_they_come_from, stack.enter_context(connection(address)))
