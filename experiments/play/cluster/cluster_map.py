"""Map calls over the worker processes of a cluster."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, TypeVar

from experiments.play.cluster import remote_worker
from experiments.play.cluster.dispatcher import ERRANDS_A_MACHINE, Dispatcher, Known, RemoteTask, Returned, connected
from experiments.play.cluster.remote_worker import Computed, Raised
from experiments.play.pools.pool import TICK
from experiments.play.pools.process_map import Result, values_of

T = TypeVar("T")

SECONDS = 5.0
"""How long a machine is to be at what it is sent at a time."""


@dataclass
class Connection:
    """A cluster that calls are sent to, and what has been learned of it: whoever calls again goes on with that.

    Attributes:
        hub: its machines.
        numbers: of errands, never used twice.
        told: notes that have been warned of.
        seconds: a core needs for a call; 0 stands for unknown.
    """

    hub: Dispatcher
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    reported: set[str] = field(default_factory=set)
    seconds: float = 0.0


@contextmanager
def connection(cluster: str) -> Iterator[Connection]:
    """A connection for as long as it is needed.

    Raises:
        ValueError: the cluster cannot be reached.
    """
    with connected(cluster) as hub:
        yield Connection(hub)


def as_they_come_from(cluster: Connection, function: Callable[..., T], calls: Iterable[tuple[Any, ...]]) -> Iterator[T]:
    """The results of `function(*call)` for every call, in no order, from the machines of a cluster.

    What the calls print is not shown; a warning says how much it was, and others say what should be known of machines.

    Raises:
        ChildProcessError: machine after machine has gone while it was at it.
        UnreachableError: the cluster cannot be reached any more, or no machine of it may do anything.
        Exception: whatever a call raises.
    """
    yield from values_of(_results(cluster, function, iter(calls)))


def _results(cluster: Connection, function: Callable[..., T], left: Iterator[tuple[Any, ...]]) -> Iterator[Result[T]]:
    hub, out = cluster.hub, set[int]()
    while True:
        while len(out) < ERRANDS_A_MACHINE * max(1, len(hub.machines)):
            chunk = tuple(itertools.islice(left, _how_many(hub.machines, cluster.seconds)))
            if not chunk:
                break
            number = next(cluster.numbers)
            out.add(number)
            hub.send(RemoteTask(number, remote_worker.compute, (function, chunk), None))
        if not out:
            return
        hub.check()
        for note in hub.notes():
            if note not in cluster.reported:
                warnings.warn(note, stacklevel=2)
            cluster.reported.add(note)
        for returned in hub.received(TICK):
            out.discard(returned.number)
            computed = _computed(returned)
            seconds = computed.seconds if cluster.seconds == 0 else (cluster.seconds + computed.seconds) / 2
            cluster.seconds = seconds
            yield from computed.results


def _how_many(machines: Sequence[Known], seconds: float) -> int:
    """How many calls a machine is sent at a time, if one takes so many seconds of a core; 0 stands for unknown."""
    cores = fmean(known.hello.cores for known in machines) if machines else 1.0
    return max(1, round(cores * (SECONDS / seconds if seconds else 1)))


def _computed(returned: Returned) -> Computed:
    match returned.answer:
        case Computed() as computed:
            return computed
        case Raised(error):
            raise error
        case other:
            raise ChildProcessError(f"the same work was lost repeatedly: {other}")
