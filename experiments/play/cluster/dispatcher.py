"""The pool of a cluster's machines, each of which works with its own pool (client side).

A separate thread talks to dask. A new machine is asked for its versions, and refused if its log would differ. It is
given work as long as it has room, and returns events. What a lost machine has not finished is done by another. A lost
connection is recreated, and all unfinished work is sent again; each piece of work appears in one event.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np

from ...plan.schedule import Ids
from ..pools.batch_feed import BatchPace
from ..pools.game_worker import Task
from ..pools.pool import (
    Answered,
    Died,
    Event,
    Failed,
    Finished,
    Fleet,
    Machine,
    Pool,
    UnreachableError,
)
from ..pools.recovery import DEATHS_ALLOWED
from . import remote_worker
from .cluster_access import bundle_of, check_certificates, check_installed, exposure, scheduler_address
from .remote_worker import Exchanged, MachineInfo, MachineUnsuitableError, Returned, Work

if TYPE_CHECKING:
    from distributed import Client

LOSSES_ALLOWED = 8
"""Number of machines that may be lost while doing a piece of work; then it is not sent again."""
PATIENCE = 60.0
"""Seconds to wait for a scheduler that does not answer."""
_CONNECT = 10.0
_LOOK_EVERY = 0.5
_ANSWER = 30.0
_GOODBYE = 1.0
_ALONE = 5.0
_GATHER = 0.02
"""Seconds that a machine waits for more work before it takes what there is: the caller sends one after another."""
_FULL, _WITH_ROOM = 5.0, 0.3
"""Maximum seconds until a machine that has enough work, or could do more, comes back; and as long it waits for more."""
_AHEAD = 0.5
"""Seconds of calls that a machine is given at a time, or two for each core."""


@contextmanager
def connected(cluster: str) -> Iterator[DaskPool]:
    """Connect to a cluster for the duration of the context.

    Raises:
        ValueError: dask is not installed, or the cluster cannot be reached; in one line.
    """
    check_installed()
    silence_dask()
    address = scheduler_address(cluster)
    check_certificates(address)
    with closing(Dispatcher(address)) as dispatcher:
        yield DaskPool(dispatcher)


@dataclass
class ConnectedMachine:
    """A machine in use, and its unfinished work.

    Attributes:
        since, games: when it was given its first work of the current task, and the games it has played since.
        session: key of its session for the current task, once it is open.
        out, unsent: its unfinished work by number, and what of it has not been sent yet.
    """

    address: str
    hello: MachineInfo
    since: float = field(default_factory=time.monotonic)
    games: int = 0
    session: remote_worker.Key | None = None
    out: dict[int, Work] = field(default_factory=dict)
    unsent: list[Work] = field(default_factory=list)

    def drop(self) -> None:
        """Forget all work, and the session."""
        self.since, self.games, self.session, self.out, self.unsent = time.monotonic(), 0, None, {}, []

    def settle(self, returned: Returned) -> None:
        """Note that work is unfinished no more.

        Raises:
            MachineUnsuitableError: it is not the work of this machine, or other games were played.
        """
        work = [self.out.pop(number) for number in returned.numbers if number in self.out]
        if isinstance(returned.event, Finished):
            ids = returned.event.batch.played.ids
            requested = np.concatenate([ids[:0], *(item.ids for item in work if item.ids is not None)])
            if not np.array_equal(np.sort(requested), np.sort(ids)):
                self.out |= {item.number: item for item in work}
                raise MachineUnsuitableError("it sent games that were not requested, which were discarded")
            self.games += len(ids)


class Dispatcher:
    """See the module. Used by one thread; `close` ends the connection.

    Attributes:
        began: when the current task was begun.
        interpreted: reasons why agents run interpreted on any machine, by their indices in the plan.
    """

    def __init__(self, address: str) -> None:
        """Connect to the scheduler.

        Raises:
            ValueError: it cannot be reached.
        """
        self.address = address
        self.began = time.monotonic()
        self.interpreted: dict[int, str] = {}
        self._client_id = token_hex(8)
        self._numbers = itertools.count(1)
        self._bundle = b""
        self._answered = 0
        self._is_gone = False
        self._alone_since = time.monotonic()
        self._present: set[str] = set()
        self._known: dict[str, ConnectedMachine] = {}
        self._names: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self._failures: Counter[str] = Counter()
        self._waiting: list[Work] = []
        self._inbox: queue.SimpleQueue[Returned | None] = queue.SimpleQueue()
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
    def cores(self) -> int:
        """Number of games that all machines play at a time; 1 without machines."""
        return max(1, sum(machine.hello.cores for machine in self.machines))

    @property
    def depth(self) -> int:
        """Number of batches or calls that a machine is given for each core: more than two only of short calls."""
        a_second = self._answered / (time.monotonic() - self.began) / self.cores
        return 2 if self._bundle else 2 + round(_AHEAD * a_second)

    def notes(self) -> tuple[str, ...]:
        """Return notes for the user: which machines do not play, and who else can use the cluster."""
        refused = sorted(dict(self._refused).items())
        left_out = [f"{self._named(address)} does not play: {why}" for address, why in refused]
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
        refused = dict(self._refused)
        if self._present and self._present <= refused.keys() and self._is_alone():
            address = min(self._present)
            raise UnreachableError(f"no machine of {self.address} can play; {self._named(address)}: {refused[address]}")

    def _named(self, address: str) -> str:
        return f"{self._names[address]} ({address})" if address in self._names else address

    def _is_alone(self) -> bool:
        now = time.monotonic()
        self._alone_since = now if self.machines else self._alone_since
        return now - self._alone_since > _ALONE

    def begin(self, bundle: bytes = b"") -> None:
        """Drop all work; from now on work is for this task, or without one."""
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._begin(bundle), self._loop).result(_GOODBYE)

    def send(self, work: Work) -> int:
        """Give work a number, and keep it for the next machine that has room."""
        work = replace(work, number=next(self._numbers))
        self._loop.call_soon_threadsafe(self._put, work)
        return work.number

    def received(self, timeout: float) -> list[Returned]:
        """Return the events since the last call, waiting up to `timeout` seconds for the first one."""
        messages: list[Returned | None] = []
        with suppress(queue.Empty):
            messages.append(self._inbox.get(timeout=timeout) if timeout > 0 else self._inbox.get_nowait())
            while True:
                messages.append(self._inbox.get_nowait())
        return [returned for returned in messages if returned]

    def close(self) -> None:
        """End the connection, and all work."""
        self.begin()
        self._loop.call_soon_threadsafe(self._life.cancel)
        self._thread.join(_GOODBYE)

    # Methods that run in the dask thread

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._arrived = asyncio.Event()
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
                for address in [name for name, task in attended.items() if task.done() and name not in self._refused]:
                    del attended[address]
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
        """Give a machine work until it fails or is refused; if it stays, it is attended to again."""
        try:
            hello = await _greeted(client, address)
            if isinstance(hello, MachineInfo):
                self._names[address] = hello.name
            if why_not := _refusal(hello):
                raise MachineUnsuitableError(why_not)
            assert isinstance(hello, MachineInfo)
            machine = self._known[address] = ConnectedMachine(address, hello)
            while True:
                await self._fill(machine)
                await self._exchange(client, machine)
        except MachineUnsuitableError as error:
            self._refused[address] = str(error)
        except Exception as error:  # raised by the machine or by dask
            self._failures[address] += client.status == "running"
            if self._failures[address] == DEATHS_ALLOWED:
                self._refused[address] = in_one_line(error)
        finally:
            if left := self._known.pop(address, None):
                is_lost = client.status == "running" and address not in self._refused
                self._put_back(left.out.values(), is_lost=is_lost)

    async def _fill(self, machine: ConnectedMachine) -> None:
        """Give a machine waiting work, as much as it has room for; one that has nothing to do waits for some."""
        while True:
            if not self._waiting and self._room(machine) > 0:
                self._arrived.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_WITH_ROOM if machine.out else None):
                        await self._arrived.wait()
            if len(self._waiting) < self._room(machine):
                await asyncio.sleep(_GATHER)
            while self._waiting and self._room(machine) > 0:
                work = heapq.heappop(self._waiting)
                machine.out[work.number] = work
                machine.unsent.append(work)
            if machine.out:
                return

    def _room(self, machine: ConnectedMachine) -> int:
        """Return how much more work to give a machine: no other one may be idle while work waits for this one."""
        is_any_idle = any(not other.out for other in self.machines if other is not machine)
        return machine.hello.cores * (1 if is_any_idle else self.depth) - len(machine.out)

    async def _exchange(self, client: Client, machine: ConnectedMachine) -> None:
        """Send a machine its work, and take its events."""
        work, machine.unsent = machine.unsent, []
        if not (key := machine.session):
            key = machine.session = (self._client_id, next(self._numbers))
            await client.run(remote_worker.begin, key, self._bundle, workers=[machine.address])
        low, patience = self.depth * machine.hello.cores // 2, _WITH_ROOM if self._room(machine) > 0 else _FULL
        exchanged = await _exchanged(client, machine.address, key, work, low, patience)
        if machine.session == key:  # else all work was dropped meanwhile
            for returned in exchanged.returned:
                machine.settle(returned)
                self._failures[machine.address] = 0
                self._answered += isinstance(returned.event, Answered)
                self._inbox.put(returned)
            self.interpreted |= exchanged.interpreted

    async def _begin(self, bundle: bytes) -> None:
        self._bundle, self._answered, self.began, self.interpreted = bundle, 0, time.monotonic(), {}
        self._waiting.clear()
        self._failures.clear()
        busy = [machine.address for machine in self.machines if machine.out]
        for machine in self.machines:
            machine.drop()
        with suppress(Exception):
            if busy:
                await self._client.run(remote_worker.forget, self._client_id, workers=busy, on_error="ignore")

    def _put(self, work: Work) -> None:
        heapq.heappush(self._waiting, work)
        self._arrived.set()

    def _put_back(self, left: Iterable[Work], is_lost: bool) -> None:
        for work in left:
            work.losses += is_lost
            if work.losses < LOSSES_ALLOWED:
                self._put(work)
                continue
            why = f"lost repeatedly: {work.losses} machines were lost while running it"
            error = (
                ChildProcessError(f"the same work was {why}")
                if work.ids is None
                else ValueError(f"the same games were {why}")
            )
            self._inbox.put(Returned((work.number,), Failed(work.number, error)))


def silence_dask() -> None:
    """Silence dask's logging: lost connections are reported by our own messages."""
    import distributed  # noqa: F401

    parts = ("client", "worker", "scheduler")
    for name in ("distributed", *(f"distributed.{part}" for part in parts), "tornado", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


async def _greeted(client: Client, address: str) -> MachineInfo | Exception:
    answers = await client.run(remote_worker.greet, workers=[address], on_error="return")
    if isinstance(answers[address], (MachineInfo, ImportError, AttributeError, TypeError)):
        answer: MachineInfo | Exception = answers[address]
        return answer
    raise answers[address]


async def _exchanged(client: Client, address: str, *arguments: Any) -> Exchanged:
    future = client.submit(
        remote_worker.exchange,
        *arguments,
        key=f"isolation-{token_hex(8)}",
        workers=[address],
        allow_other_workers=False,
        pure=False,
    )
    try:
        exchanged: Exchanged = await future
        return exchanged
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
"""Target seconds of a batch on a core: of its first batch, of the last ones, and of any other."""
LONGEST_LATE = 60.0
"""Upper limit of the batch duration in long runs, where longer batches keep the number of log files small."""
_SHARE = 0.01


class DaskPool(Pool):
    """Pool of all machines of a cluster, which may come and go. Without any, work waits in the dispatcher.

    It can be assigned again after it was closed.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._out: set[int] = set()

    def assign(self, task: Task) -> None:
        self._drop(bundle_of(task))

    @property
    def has_room(self) -> bool:
        return len(self._out) < 2 * self._dispatcher.cores

    @property
    def calls_at_once(self) -> int:
        return self._dispatcher.depth * self._dispatcher.cores

    @property
    def is_busy(self) -> bool:
        return bool(self._out)

    @property
    def fleet(self) -> Fleet:
        machines = tuple(map(self._machine, self._dispatcher.machines))
        longest = min(LONGEST_LATE, max(LONGEST, _SHARE * (time.monotonic() - self._dispatcher.began)))
        pace = BatchPace(self._dispatcher.cores, FIRST, SHORTEST, longest)
        return Fleet(machines, pace, self._dispatcher.notes(), dict(self._dispatcher.interpreted))

    def submit(self, ids: Ids, interpreted: bool = False) -> int:
        return self._send(Work(0, ids, is_alone=interpreted))

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        return self._send(Work(0, call=(function, *arguments)))

    def finished(self, timeout: float) -> list[Event]:
        self._dispatcher.check()
        events: list[Event] = []
        for returned in self._dispatcher.received(timeout if self._out else 0):
            if self._out.issuperset(returned.numbers):
                self._out -= set(returned.numbers)
                events.append(returned.event)
        return sorted(events, key=lambda event: (isinstance(event, Failed), isinstance(event, Died)))

    def close(self) -> None:
        """See `Pool.close`. The dispatcher is kept for the next pool."""
        if self._out:
            self._drop()

    def _send(self, work: Work) -> int:
        number = self._dispatcher.send(work)
        self._out.add(number)
        return number

    def _drop(self, bundle: bytes = b"") -> None:
        self._dispatcher.begin(bundle)
        self._out.clear()

    def _machine(self, known: ConnectedMachine) -> Machine:
        port = known.address.rpartition(":")[2]
        seconds = time.monotonic() - known.since
        rate = known.games / seconds if seconds > 0 else 0.0
        return Machine(f"{known.hello.name}:{port}", known.hello.cores, known.hello.processor, rate, len(known.out))
