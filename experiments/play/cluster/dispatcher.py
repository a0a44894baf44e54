"""Dispatch tasks to the machines of a cluster (client side), two at a time each; the pool of its machines.

A separate thread talks to dask. A new machine is asked for its versions, and refused if its log would differ. Tasks of
a lost machine are done by another. A lost connection is recreated, and all unfinished tasks are sent again; each task's
result is returned once.

The pool sends large batches, each played on one machine by all its processes. Each machine handles deaths of its own
workers and attributes them; so this pool reports no deaths and no suspects.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from secrets import token_hex
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from ...plan.schedule import Ids
from ..pools.batch_feed import BatchPace
from ..pools.game_worker import PlayedBatch, Task
from ..pools.pool import (
    Answered,
    Died,
    Event,
    Failed,
    Finished,
    Fleet,
    Machine,
    MakePool,
    Pool,
    UnreachableError,
)
from . import remote_worker
from .cluster_access import bundle_of, check_certificates, check_installed, exposure, scheduler_address
from .remote_worker import Answer, Cancelled, MachineInfo, MachineUnsuitable, PlayedPart

if TYPE_CHECKING:
    from distributed import Client

TASKS_A_MACHINE = 2
"""Number of tasks sent to a machine at a time, so that it never waits for the next one."""
LOSSES_ALLOWED = 8
"""Number of machines that may be lost while doing a task; then it is not sent again."""
PATIENCE = 60.0
"""Seconds to wait for a scheduler that does not answer."""
_CONNECT = 10.0
_LOOK_EVERY = 0.5
_ANSWER = 30.0
_GOODBYE = 1.0
_ALONE = 5.0


@contextmanager
def connected(cluster: str) -> Iterator[Dispatcher]:
    """Connect a dispatcher for the duration of the context.

    Raises:
        ValueError: dask is not installed, or the cluster cannot be reached; in one line.
    """
    check_installed()
    silence_dask()
    address = scheduler_address(cluster)
    check_certificates(address)
    dispatcher = Dispatcher(address)
    try:
        yield dispatcher
    finally:
        dispatcher.close()


class LostError(RuntimeError):
    """A task has been lost with several machines in a row."""


@dataclass(order=True)
class RemoteTask:
    """A function of `remote_worker` to call, and the task bundle it needs. Lower numbers are sent first."""

    number: int
    function: Callable[..., Answer] = field(compare=False)
    arguments: tuple[Any, ...] = field(compare=False)
    bundle: tuple[str, bytes] | None = field(compare=False)
    losses: int = field(default=0, compare=False)


@dataclass
class ConnectedMachine:
    """A machine in use: its description, time of arrival, current task bundle, and number of unfinished tasks."""

    address: str
    hello: MachineInfo
    since: float = field(default_factory=time.monotonic)
    bundle: str = ""
    out: int = 0
    equipping: asyncio.Lock = field(default_factory=asyncio.Lock)


def mean_cores(machines: Iterable[ConnectedMachine]) -> float:
    """Return the mean number of games that a machine plays at a time; 1 without machines."""
    return fmean([known.hello.cores for known in machines] or [1.0])


@dataclass(frozen=True)
class Returned:
    """Result of a remote task, and the machine that did it."""

    number: int
    answer: Answer | LostError
    address: str


class Dispatcher:
    """See the module. Used by one thread; `close` ends the connection."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler.

        Raises:
            ValueError: it cannot be reached.
        """
        self.address = address
        self._is_gone = False
        self._alone_since = time.monotonic()
        self._present: set[str] = set()
        self._known: dict[str, ConnectedMachine] = {}
        self._names: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self._inbox: queue.SimpleQueue[Returned | None] = queue.SimpleQueue()
        self._waiting: asyncio.PriorityQueue[RemoteTask] = asyncio.PriorityQueue()
        self._dropped_below = 0
        self._first: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), daemon=True)
        self._thread.start()
        if error := self._first.get():
            raise ValueError(f"the scheduler at {address} cannot be reached: {in_one_line(error)}")

    @property
    def machines(self) -> list[ConnectedMachine]:
        """Machines that are in use now."""
        return [known for known in list(self._known.values()) if known.address not in self._refused]

    @property
    def refused(self) -> dict[str, str]:
        """Reasons why machines are not used, by address."""
        return dict(self._refused)

    def notes(self) -> tuple[str, ...]:
        """Return notes for the user: which machines play, which do not, and who else can use the cluster."""
        left_out = [f"{self._named(address)} does not play: {why}" for address, why in sorted(self.refused.items())]
        joining = f"no machine connected: start one with isolation cluster join {self.address}"
        waiting = joining if self._is_alone() else ""
        return tuple(filter(None, (exposure(self.address), *left_out, waiting)))

    def check(self) -> None:
        """Check that results can still arrive.

        Raises:
            UnreachableError: the scheduler is gone, or no machine may play.
        """
        if self._is_gone:
            raise UnreachableError(f"lost the connection to the scheduler at {self.address}")
        refused = self.refused
        if self._present and self._present <= refused.keys() and self._is_alone():
            address = min(self._present)
            raise UnreachableError(f"no machine of {self.address} can play; {self._named(address)}: {refused[address]}")

    def refuse(self, address: str, why: str) -> None:
        """Stop using a machine until it reconnects; notes contain the reason."""
        self._refused[address] = why

    def _named(self, address: str) -> str:
        return f"{self._names[address]} ({address})" if address in self._names else address

    def _is_alone(self) -> bool:
        now = time.monotonic()
        self._alone_since = now if self.machines else self._alone_since
        return now - self._alone_since > _ALONE

    def send(self, remote_task: RemoteTask) -> None:
        """Queue a task for the next machine that has time."""
        self._loop.call_soon_threadsafe(self._waiting.put_nowait, remote_task)

    def received(self, timeout: float) -> list[Returned]:
        """Return the results since the last call, waiting up to `timeout` seconds for the first one."""
        messages: list[Returned | None] = []
        with suppress(queue.Empty):
            messages.append(self._inbox.get(timeout=timeout) if timeout > 0 else self._inbox.get_nowait())
            while True:
                messages.append(self._inbox.get_nowait())
        return [returned for returned in messages if returned and returned.number >= self._dropped_below]

    def drop(self, below: int, key: str) -> None:
        """Forget all tasks of smaller numbers; machines stop working on those with this bundle."""
        self._dropped_below = below
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._forget(key), self._loop).result(_GOODBYE)

    def close(self) -> None:
        """End the connection."""
        self._loop.call_soon_threadsafe(self._life.cancel)
        self._thread.join(_GOODBYE)

    # Methods that run in the dask thread

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._life = asyncio.create_task(self._stay_connected())
        with suppress(asyncio.CancelledError):
            await self._life

    async def _stay_connected(self) -> None:
        from distributed import Client

        has_begun, seen = False, time.monotonic()
        while time.monotonic() - seen < PATIENCE:
            try:
                async with Client(self.address, asynchronous=True, timeout=_CONNECT, set_as_default=False) as client:
                    self._client = client
                    if not has_begun:
                        self._first.put(None)
                    has_begun = True
                    seen = await self._look_after(client)
            except Exception as error:
                if not has_begun:
                    self._first.put(error)
                    return
            await asyncio.sleep(_LOOK_EVERY)
        self._is_gone = True
        self._inbox.put(None)
        await asyncio.Event().wait()  # for `close`

    async def _look_after(self, client: Client) -> float:
        """Serve all machines until the connection is lost; return the last time at which it worked."""
        attended: dict[str, asyncio.Task[None]] = {}
        seen = time.monotonic()
        try:
            while client.status == "running":
                try:
                    cores = await asyncio.wait_for(client.scheduler.ncores(workers=None), _ANSWER)
                except (OSError, TimeoutError):
                    break
                seen = time.monotonic()
                self._present = set(cores)
                for address in cores.keys() - attended.keys():
                    attended[address] = asyncio.create_task(self._attend(client, address))
                for address in attended.keys() - cores.keys():
                    attended.pop(address).cancel()
                    self._refused.pop(address, None)
                await asyncio.sleep(_LOOK_EVERY)
        finally:
            for task in attended.values():
                task.cancel()
            await asyncio.gather(*attended.values(), return_exceptions=True)
        return seen

    async def _attend(self, client: Client, address: str) -> None:
        hello = await self._greeted(client, address)
        if isinstance(hello, MachineInfo):
            self._names[address] = hello.name
        if why_not := _refusal(hello):
            self._refused[address] = why_not
            return
        assert isinstance(hello, MachineInfo)
        known = self._known[address] = ConnectedMachine(address, hello)
        try:
            await asyncio.gather(*(self._send_on(client, known) for _ in range(TASKS_A_MACHINE)))
        finally:
            del self._known[address]

    async def _greeted(self, client: Client, address: str) -> MachineInfo | Exception:
        while True:
            try:
                answers = await asyncio.wait_for(
                    client.run(remote_worker.greet, workers=[address], on_error="return"), _ANSWER
                )
            except Exception:  # it may be busy, or about to go
                answers = {}
            if isinstance(answers.get(address), (MachineInfo, ImportError, AttributeError, TypeError)):
                answer: MachineInfo | Exception = answers[address]
                return answer
            await asyncio.sleep(_LOOK_EVERY)

    async def _send_on(self, client: Client, known: ConnectedMachine) -> None:
        while known.address not in self._refused:
            remote_task = await self._waiting.get()
            if known.address in self._refused:
                self._waiting.put_nowait(remote_task)
            elif remote_task.number >= self._dropped_below:
                await self._try(client, known, remote_task)

    async def _try(self, client: Client, known: ConnectedMachine, remote_task: RemoteTask) -> None:
        """Let a machine do a task and queue the result; on failure the task is queued again."""
        known.out += 1
        try:
            await self._equip(client, known, remote_task)
            answer = await _done(client, known.address, remote_task)
        except Exception as error:  # raised by the machine or by dask
            self._put_back(remote_task, is_lost=type(error).__name__ == "KilledWorker")
            await asyncio.sleep(_LOOK_EVERY)
            return
        except asyncio.CancelledError:
            self._put_back(remote_task, is_lost=known.address not in self._present)
            raise
        finally:
            known.out -= 1
        if isinstance(answer, MachineUnsuitable):
            self.refuse(known.address, answer.why)
        if isinstance(answer, MachineUnsuitable | Cancelled):
            self._put_back(remote_task, is_lost=False)
            await asyncio.sleep(_LOOK_EVERY)
        else:
            self._inbox.put(Returned(remote_task.number, answer, known.address))

    async def _equip(self, client: Client, known: ConnectedMachine, remote_task: RemoteTask) -> None:
        async with known.equipping:
            if remote_task.bundle and known.bundle != remote_task.bundle[0]:
                await asyncio.wait_for(
                    client.run(remote_worker.receive, *remote_task.bundle, workers=[known.address]), _ANSWER
                )
                known.bundle = remote_task.bundle[0]

    def _put_back(self, remote_task: RemoteTask, is_lost: bool) -> None:
        remote_task.losses += is_lost
        if remote_task.losses < LOSSES_ALLOWED:
            self._waiting.put_nowait(remote_task)
        elif remote_task.number >= self._dropped_below:
            self._inbox.put(
                Returned(remote_task.number, LostError(f"{remote_task.losses} machines were lost while running it"), "")
            )

    async def _forget(self, key: str) -> None:
        addresses = list(self._known)
        with suppress(Exception):
            if addresses:
                await self._client.run(remote_worker.forget, key, workers=addresses, on_error="ignore")


def silence_dask() -> None:
    """Silence dask's logging: lost connections are reported by our own messages."""
    import distributed  # noqa: F401

    parts = ("client", "worker", "scheduler")
    for name in ("distributed", *(f"distributed.{part}" for part in parts), "tornado", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


async def _done(client: Client, address: str, remote_task: RemoteTask) -> Answer:
    future = client.submit(
        remote_task.function,
        *remote_task.arguments,
        key=f"isolation-{remote_task.number}-{token_hex(4)}",
        workers=[address],
        allow_other_workers=False,
        pure=False,
    )
    try:
        answer: Answer = await future
        return answer
    finally:
        future.release()


def _refusal(hello: MachineInfo | Exception) -> str:
    if isinstance(hello, Exception):
        return f"it has another version of knights-isolation, or none ({in_one_line(hello)}): install the same"
    theirs, ours = hello.versions, remote_worker.versions()
    differing = [f"{name} {theirs.get(name)}, not {ours[name]}" for name in ours if theirs.get(name) != ours[name]]
    if differing:
        return f"it has {', '.join(differing)}, so its games would differ: install the versions of this machine"
    return hello.why_not


def in_one_line(error: BaseException) -> str:
    """Return the message of an exception in one line, or its type if it has none."""
    return " ".join(str(error).split()) or type(error).__name__


FIRST, SHORTEST, LONGEST = 0.5, 0.5, 7.0
"""Target seconds of a batch on a machine: of its first batch, of the last ones, and of any other."""
LONGEST_LATE = 60.0
"""Upper limit of the batch duration in long runs, where longer batches keep the number of log files small."""
_SHARE = 0.01


@contextmanager
def reached(cluster: str) -> Iterator[MakePool]:
    """Return a factory of pools on a cluster's machines, for the duration of the connection; see `connected`."""
    numbers = itertools.count(1)
    with connected(cluster) as dispatcher:
        yield lambda jobs: DaskPool(dispatcher, numbers)


class DaskPool(Pool):
    """Pool of all machines of a cluster, which may come and go. Without any, tasks wait in the dispatcher."""

    def __init__(self, dispatcher: Dispatcher, numbers: Iterator[int]) -> None:
        self._dispatcher = dispatcher
        self._numbers = numbers
        self._bundle = ("", b"")
        self._batches: dict[int, Ids] = {}
        self._calls: set[int] = set()
        self._games: Counter[str] = Counter()
        self._interpreted: dict[int, str] = {}
        self._began = time.monotonic()

    def assign(self, task: Task) -> None:
        self._drop()
        self._interpreted = {}
        self._bundle = (token_hex(8), bundle_of(task))

    @property
    def has_room(self) -> bool:
        return len(self._batches) < TASKS_A_MACHINE * max(1, len(self._dispatcher.machines))

    @property
    def is_busy(self) -> bool:
        return bool(self._batches or self._calls)

    @property
    def fleet(self) -> Fleet:
        machines = tuple(map(self._machine, self._dispatcher.machines))
        return Fleet(machines, self._pace(), self._dispatcher.notes(), dict(self._interpreted))

    def submit(self, ids: Ids, interpreted: bool = False) -> None:
        assert not interpreted, "machines replay by themselves what has killed a worker"
        number = self._send(remote_worker.play, ids)
        self._batches[number] = ids

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        number = self._send(remote_worker.call, function, *arguments)
        self._calls.add(number)
        return number

    def finished(self, timeout: float) -> list[Event]:
        self._dispatcher.check()
        returned = self._dispatcher.received(timeout if self.is_busy else 0)
        events = [event for event in map(self._event, returned) if event]
        return sorted(events, key=lambda event: (isinstance(event, Failed), isinstance(event, Died)))

    def alone(self) -> Pool:
        """Never called: this pool reports no deaths, and so no suspects."""
        raise NotImplementedError

    def close(self) -> None:
        """See `Pool.close`. The dispatcher is kept for the next pool."""
        self._drop()

    def _machine(self, known: ConnectedMachine) -> Machine:
        port = known.address.rpartition(":")[2]
        seconds = time.monotonic() - max(known.since, self._began)
        rate = self._games[known.address] / seconds if seconds > 0 else 0.0
        return Machine(f"{known.hello.name}:{port}", known.hello.cores, known.hello.processor, rate, known.out)

    def _drop(self) -> None:
        if self.is_busy:
            self._dispatcher.drop(next(self._numbers), self._bundle[0])
        self._batches.clear()
        self._calls.clear()

    def _send(self, function: Callable[..., remote_worker.Answer], *arguments: object) -> int:
        number = next(self._numbers)
        self._dispatcher.send(RemoteTask(number, function, (self._bundle[0], *arguments), self._bundle))
        return number

    def _event(self, returned: Returned) -> Event | None:
        number, answer = returned.number, returned.answer
        ids = self._batches.pop(number, None)
        self._calls.discard(number)
        call = number if ids is None else None
        match answer:
            case PlayedPart(part, matches, seconds, interpreted):
                if ids is None or not np.array_equal(np.sort(part.ids), np.sort(ids)):
                    self._discard(returned.address, ids)
                    return None
                self._interpreted |= interpreted
                self._games[returned.address] += len(part.ids)
                return Finished(PlayedBatch(part, matches, seconds))
            case Answered(_, value):
                return Answered(number, value)
            case Failed(error):
                return Failed(error, call)
            case LostError():
                return Failed(ValueError(f"the same games were lost repeatedly: {answer}"), call)
            case Died():
                return Died((), (), (number,))
            case _:
                raise AssertionError(f"unexpected answer: {answer}")

    def _discard(self, address: str, ids: Ids | None) -> None:
        """Stop using a machine that returned games it was not asked for, and submit the requested games again."""
        self._dispatcher.refuse(address, "it sent games that were not requested, which were discarded")
        if ids is not None:
            self.submit(ids)

    def _pace(self) -> BatchPace:
        cores = mean_cores(self._dispatcher.machines)
        longest = min(LONGEST_LATE, max(LONGEST, _SHARE * (time.monotonic() - self._began)))
        return BatchPace(max(1, len(self._dispatcher.machines)), FIRST * cores, SHORTEST * cores, longest * cores)
