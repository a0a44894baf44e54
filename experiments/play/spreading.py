"""Many calls at once, on this machine or on those of a cluster; the results as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import joblib

from experiments.play.cluster.addresses import chosen
from experiments.play.parallel import as_they_come

T = TypeVar("T")


def spread(function: Callable[..., T], calls: Iterable[tuple[Any, ...]], jobs: int, cluster: str | None) -> Iterator[T]:
    """The results of `function(*call)` for every call, in no order; see `parallel` and `cluster.calls`.

    Args:
        jobs: processes on this machine; 0 is one a core, or the cluster that the environment names.
        cluster: the cluster to use instead.

    Raises:
        ValueError: there are too many jobs, or the cluster cannot be reached.
    """
    if address := chosen(cluster, jobs):
        from experiments.play.cluster.calls import as_they_come_from

        yield from as_they_come_from(address, function, calls)
    else:
        yield from as_they_come(function, calls, jobs or joblib.cpu_count())
