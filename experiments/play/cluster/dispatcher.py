"""The pool of a cluster's machines (client side). Each batch, and each group of short calls, is one task of dask's.

Dask transports, encrypts, queues, and detects lost machines. What it does not know is decided here: which machines fit,
which of them does what, and how often work has lost its machine. A new machine is asked for its versions, and refused
if its log would differ. A lost connection is made anew, and all unfinished work is sent again.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Any

import numpy as np

from ..pools.batch_feed import BatchPace
from ..pools.game_worker import Task
from ..pools.pool import ClusterState, Event, Failed, Finished, Machine, Pool, UnreachableError, Work
from . import remote_worker
from .cluster_access import bundle_of, check_certificates, check_installed, exposure, scheduler_address
from .remote_worker import Done, MachineUnsuitableError

LOSSES_ALLOWED = 8
"""Number of machines that may be lost while doing a piece of work; then it is not sent again."""
PATIENCE = 60.0
"""Seconds to wait for a scheduler that does not answer."""
FIRST, SHORTEST, LONGEST = 0.5, 0.5, 7.0
"""Target seconds of a batch on a core: of its first batch, of the last ones, and of any other."""
_CONNECT = 10.0
_LOOK_EVERY = 0.5
_ALONE = 5.0
_GROUP = 0.25
"""Seconds of calls that a core is given at a time."""


def connected(cluster: str) -> DaskPool:
    """Connect to a cluster; ValueError if dask is not installed, or the cluster cannot be reached."""
    check_installed()
    silence_dask()
    address = scheduler_address(cluster)
    check_certificates(address)
    return DaskPool(address)


def silence_dask() -> None:
    """Silence dask's logging: lost connections are reported by our own messages."""
    import distributed  # noqa: F401

    parts = ("distributed", "distributed.client", "distributed.worker", "distributed.scheduler")
    for name in (*parts, "tornado", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@dataclass
class _Member:
    """A machine of the cluster in the current task: what it is, why it may not play, and what it does.

    Until it has been greeted it has no cores.
    """

    address: str
    machine: Machine = field(default_factory=lambda: Machine("", 0, ""))
    refused: str = ""
    greeting: asyncio.Task[None] | None = None
    since: float = field(default_factory=time.monotonic)
    games: int = 0
    doing: set[Any] = field(default_factory=set)

    @property
    def cores(self) -> int:
        return self.machine.cores

    @property
    def name(self) -> str:
        return f"{self.machine.name} ({self.address})" if self.cores else self.address

    def shown(self) -> Machine:
        name = f"{self.machine.name}:{self.address.rpartition(':')[2]}"
        rate = self.games / max(time.monotonic() - self.since, 1e-9)
        return replace(self.machine, name=name, rate=rate, out=len(self.doing))

    def leave_off(self) -> None:
        for future in self.doing:
            future.release()  # who waits for it is told


class DaskPool(Pool):
    """Pool of all machines of a cluster, which may come and go; without any, work waits. See the module."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler; ValueError if it cannot be reached."""
        super().__init__(1)
        self.address = address
        self._task = ("", b"")  # a key, and what machines must know
        self._out: set[Future[list[Event]]] = set()
        self._call_seconds = _GROUP
        self._interpreted: dict[int, str] = {}
        self._members: dict[str, _Member] = {}
        self._alone_since = time.monotonic()
        self._is_gone = False
        begun: Future[None] = Future()
        self._thread = threading.Thread(target=self._live, args=(begun,), daemon=True)
        self._thread.start()
        try:
            begun.result()
        except Exception as error:
            raise ValueError(f"the scheduler at {address} cannot be reached: {in_one_line(error)}") from None

    def assign(self, task: Task) -> None:
        """See `Pool.assign`. All machines are greeted anew, as they must know the task."""
        for future in self._out:
            future.cancel()
        self._drop()
        bundle = bundle_of(task)
        self._task = hashlib.sha256(bundle).hexdigest(), bundle
        present, self._members = self._members, {}
        self._out, self._interpreted = set(), {}
        self._loop.call_soon_threadsafe(self._look_at, present)

    @property
    def has_room(self) -> bool:
        return len(self._unfinished) < 2 * self._cores

    @property
    def calls_at_once(self) -> int:
        return 2 * self._cores * self._group

    @property
    def cluster_state(self) -> ClusterState:
        left_out = [f"{member.name} does not play: {member.refused}" for member in self._all if member.refused]
        joining = f"no machine connected: start one with isolation cluster join {self.address}"
        notes = (exposure(self.address), *left_out, joining if self._is_alone else "")
        return ClusterState(
            machines=tuple(member.shown() for member in self._fit),
            pace=BatchPace(self._cores, FIRST, SHORTEST, LONGEST),
            notes=tuple(filter(None, notes)),
            interpreted=dict(self._interpreted),
        )

    def _events(self, timeout: float) -> list[Event]:
        """See `Pool.finished`. What waits is sent here, and as many calls together as take a while."""
        if self._is_gone:
            raise UnreachableError(f"lost the connection to the scheduler at {self.address}")
        if (members := self._all) and all(member.refused for member in members) and self._is_alone:
            first = members[0]
            raise UnreachableError(f"no machine of {self.address} can play; {first.name}: {first.refused}")
        while self._waiting:
            works = [self._waiting.popleft()]
            while self._waiting and len(works) < self._group and not (works[0].ids or self._waiting[0].ids):
                works.append(self._waiting.popleft())
            self._out.add(asyncio.run_coroutine_threadsafe(self._finish(self._task[0], works), self._loop))
        done = wait(self._out, timeout, FIRST_COMPLETED).done
        self._out -= done
        return [event for future in done for event in future.result()]

    def close(self) -> None:
        """End the connection, and all work."""
        if self._life:
            self._loop.call_soon_threadsafe(self._life.cancel)
        self._thread.join(1.0)

    @property
    def _all(self) -> list[_Member]:
        return sorted(self._members.copy().values(), key=lambda member: member.address)

    @property
    def _fit(self) -> list[_Member]:
        return [member for member in self._all if member.cores and not member.refused]

    @property
    def _cores(self) -> int:
        return max(1, sum(member.cores for member in self._fit))

    @property
    def _group(self) -> int:
        return max(1, round(_GROUP / self._call_seconds))

    @property
    def _is_alone(self) -> bool:
        now = time.monotonic()
        self._alone_since = now if self._fit else self._alone_since
        return now - self._alone_since > _ALONE

    # Methods that run in the dask thread

    def _live(self, begun: Future[None]) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._stay_connected(begun))

    async def _stay_connected(self, begun: Future[None]) -> None:
        """Keep the connection until this is cancelled; then end all that runs in this thread."""
        from distributed import Client

        self._loop, self._life = asyncio.get_running_loop(), asyncio.current_task()
        seen = time.monotonic()
        while time.monotonic() - seen < PATIENCE:
            try:
                async with Client(self.address, asynchronous=True, timeout=_CONNECT, set_as_default=False) as client:
                    self._client = client
                    if not begun.done():
                        begun.set_result(None)
                    while client.status == "running":
                        self._look_at(await asyncio.wait_for(client.scheduler.ncores(workers=None), 30.0))
                        seen = time.monotonic()
                        await asyncio.sleep(_LOOK_EVERY)
            except Exception as error:  # dask has many for a connection that is lost
                if not begun.done():
                    begun.set_exception(error)
                    return
            self._look_at({})
            await asyncio.sleep(_LOOK_EVERY)
        self._is_gone = True
        await asyncio.Event().wait()

    def _look_at(self, present: Mapping[str, object]) -> None:
        """Give up machines that have gone, and greet those that have come."""
        for address in self._members.keys() - present.keys():
            self._give_up(self._members[address])
        for address in present.keys() - self._members.keys():
            member = self._members[address] = _Member(address)
            member.greeting = asyncio.create_task(self._greet(member))

    def _give_up(self, member: _Member) -> None:
        if self._members.get(member.address) is member:
            del self._members[member.address]
        member.leave_off()

    async def _greet(self, member: _Member) -> None:
        greeting = (remote_worker.versions(), *self._task)
        try:
            answers = await self._client.run(remote_worker.greet, *greeting, workers=[member.address])
            member.machine, member.refused = answers[member.address]
        except OSError as error:
            member.refused = in_one_line(error)
        except Exception as error:
            why = in_one_line(error)
            member.refused = f"it has another version of knights-isolation, or none ({why}): install the same"

    async def _finish(self, key: str, works: Sequence[Work]) -> list[Event]:
        """Have work done by one machine after the other, until it is done."""
        losses = 0
        while losses < LOSSES_ALLOWED:
            member, client = await self._member_with_room(), self._client
            where = {"workers": [member.address], "allow_other_workers": False}
            future = client.submit(remote_worker.do, key, works, key=f"isolation-{token_hex(8)}", **where)
            member.doing.add(future)
            try:
                return self._settled(member, works, await future)
            except MachineUnsuitableError as error:
                member.refused = in_one_line(error)
                member.leave_off()
            except Exception:  # the machine is lost, or has forgotten the task; if it is there, it is greeted again
                losses += client.status == "running" and not member.refused
                self._give_up(member)
            finally:
                member.doing.remove(future)
                future.release()
        error_type, what = (ValueError, "games were") if works[0].ids else (ChildProcessError, "work was")
        lost = error_type(f"the same {what} lost repeatedly: {losses} machines were lost while running it")
        return [Failed(work.number, lost) for work in works]

    async def _member_with_room(self) -> _Member:
        while True:
            fit = [member for member in self._fit if len(member.doing) < 2 * member.cores]
            if fit and self._client.status == "running":
                return min(fit, key=lambda member: len(member.doing) / member.cores)
            await asyncio.sleep(0.05)

    def _settled(self, member: _Member, works: Sequence[Work], done: Done) -> list[Event]:
        for work, event in zip(works, done.events, strict=True):
            if isinstance(event, Finished) and work.ids:
                if not np.array_equal(event.value.played.ids, work.ids):
                    raise MachineUnsuitableError("it sent games that were not requested, which were discarded")
                member.games += len(work.ids)
        self._interpreted |= done.interpreted
        if not works[0].ids:
            self._call_seconds = (self._call_seconds + done.seconds / len(works)) / 2
        return done.events


def in_one_line(error: BaseException) -> str:
    """Return the message of an exception in one line, or its type if it has none."""
    return " ".join(str(error).split()) or type(error).__name__
