"""Functions that run on a cluster machine, in its own worker processes.

The process keeps its workers, and the code they have loaded, from one remote task to the next. Remote tasks are done
one at a time; all other functions here return immediately, even during a task.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import platform
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import joblib
import numpy as np
from loky import get_reusable_executor
from numpy.typing import NDArray

from knights_isolation.isolation.rules.outcome import Reason
from knights_isolation.isolation.usercode.user_exceptions import format_exception

from ...plan.schedule import Ids, record_points
from ...record import log_parts
from ..finished_games import FinishedGames, GameEndings, LogPart, games_table, joined
from ..pools.batch_feed import BatchFeed
from ..pools.game_worker import Task
from ..pools.interrupts import Interrupted
from ..pools.loky_pool import LokyPool
from ..pools.pool import TICK, Answered, Died, Failed
from ..pools.preparation import prepare
from ..pools.process_map import Result, run, starting_silently
from ..pools.recovery import FORFEITED, play_missing
from .cluster_access import unpack_task

_PARCELS_KEPT = 16
_IDLE = 60
"""Seconds of idleness after which worker processes end."""


@dataclass(frozen=True)
class MachineInfo:
    """Description of a machine.

    Attributes:
        name: host name.
        cores: number of games it plays at a time.
        processor: model of its processor.
        versions: versions of everything that must be equal on all machines.
        why_not: why it cannot play at all; empty if it can.
    """

    name: str
    cores: int
    processor: str
    versions: dict[str, str]
    why_not: str = ""


@dataclass(frozen=True)
class PlayedPart:
    """A finished batch: its part of the log, and durations for `BatchFeed`.

    `interpreted` has the reasons why agents run interpreted on this machine, by their indices in the plan.
    """

    part: LogPart
    matches: Ids
    seconds: NDArray[np.float64]
    interpreted: dict[int, str]


@dataclass(frozen=True)
class Computed:
    """Return values and output of calls, and the mean seconds of one on a core."""

    results: list[Result[Any]]
    seconds: float


@dataclass(frozen=True)
class MachineUnsuitable:
    """This machine cannot do a task, and why; other machines may."""

    why: str


@dataclass(frozen=True)
class Cancelled:
    """The task was cancelled because the machine leaves or its result is not needed any more."""


Answer = PlayedPart | Computed | Answered | Failed | Died | MachineUnsuitable | Cancelled
"""Result of a remote task. The numbers of calls in it are this machine's own."""


# Functions that may be called at any time


def greet(dask_worker: Any) -> MachineInfo:
    """Describe this machine."""
    daemon = multiprocessing.current_process().daemon
    why_not = (
        "its dask worker runs under a nanny and cannot start processes: start it with --no-nanny, or set "
        "distributed.worker.daemon to false"
    )
    return MachineInfo(socket.gethostname(), _cores(dask_worker), _processor(), versions(), why_not if daemon else "")


def receive(key: str, bundle: bytes) -> None:
    """Store a task bundle until it is needed."""
    _bundles[key] = bundle
    while len(_bundles) > _PARCELS_KEPT:
        _bundles.popitem(last=False)


def forget(key: str) -> None:
    """Cancel the work for a task bundle, and ignore later tasks for it."""
    _forgotten.add(key)


def leave() -> None:
    """Cancel all work: this process is about to end."""
    _leaving.set()


@cache
def versions() -> dict[str, str]:
    """Return the versions that must be equal on all machines: relevant libraries, and a hash of the toolkit's files."""
    import distributed

    packages = {name: version for name, version in log_parts.versions().items() if name != "machine"}
    digest = hashlib.sha256()
    root = Path(__file__).parents[3]
    for path in sorted(
        path for room in ("isolation", "heuristics", "experiments") for path in (root / room).rglob("*.py")
    ):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return {**packages, "distributed": distributed.__version__, "sources": digest.hexdigest()[:12]}


# Remote tasks


def play(key: str, ids: Ids) -> Answer:
    """Play games of the task received under this key, and encode them as a part of the log.

    If dask has a second thread, the part is encoded while the worker processes do the next remote task.
    """
    answer = _do(key, lambda session: _play_batch(session, ids))
    try:
        return answer() if callable(answer) else answer
    except Exception as error:
        return _unfit(error)


def call(key: str, function: Callable[..., object], *arguments: object) -> Answer:
    """Call `function(worker, *arguments)` in a worker process."""
    return _do(key, lambda session: _answer_of(session, session.pool.call(function, *arguments)))


def compute(function: Callable[..., object], calls: Sequence[tuple[Any, ...]]) -> Answer:
    """Call `function(*call)` for every call, each in a worker process."""
    worker, interrupted = _interruption("")
    with _one_at_a_time:
        executor = get_reusable_executor(_cores(worker), timeout=_IDLE)
        began, results = time.monotonic(), []
        # The first call runs alone: it may compile code that the others use.
        first = [] if function in _called_before else calls[:1]
        _called_before.add(function)
        try:
            for some in filter(None, (first, calls[len(first) :])):
                with starting_silently():
                    left = {executor.submit(run, os.getpid(), function, call) for call in some}
                while left:
                    done, left = wait(left, TICK, FIRST_COMPLETED)
                    results += [future.result() for future in done]
                    if interrupted():
                        executor.shutdown(kill_workers=True)
                        return Cancelled()
        except OSError as error:
            return _unfit(error)
        except Exception as error:
            return Failed(_portable(error), None)
    return Computed(results, (time.monotonic() - began) * min(len(calls), _cores(worker)) / len(calls))


def end() -> None:
    """End the worker processes of this machine."""
    leave()
    with _one_at_a_time:
        _close()


@dataclass
class _Session:
    """The worker processes and their current task.

    Attributes:
        seconds: duration of a game, by match; NaN if unknown.
        given_up: agents that kill their process repeatedly.
    """

    pool: LokyPool
    jobs: int
    key: str
    task: Task
    interrupted: Interrupted
    seconds: NDArray[np.float64]
    interpreted: dict[int, str] = field(default_factory=dict)
    given_up: set[int] = field(default_factory=set)


_Result = TypeVar("_Result")

_jobs = 0
_say: Callable[[str], None] = lambda line: None  # noqa: E731
_bundles: OrderedDict[str, bytes] = OrderedDict()
_forgotten: set[str] = set()
_called_before: set[Callable[..., object]] = set()
_leaving = threading.Event()
_one_at_a_time = threading.Lock()
_session: _Session | None = None


def use(jobs: int, say: Callable[[str], None]) -> None:
    """Set the number of games to play at a time (0: one per core), and the function that prints messages."""
    global _jobs, _say
    _jobs, _say = jobs, say


def jobs() -> int:
    """Return the number of jobs that `use` has set."""
    return _jobs


def _do(key: str, remote_task: Callable[[_Session], _Result]) -> _Result | MachineUnsuitable | Cancelled:
    worker, interrupted = _interruption(key)
    with _one_at_a_time:
        answer: _Result | MachineUnsuitable | Cancelled
        try:
            answer = remote_task(_session_for(key, _cores(worker), interrupted))
        except Exception as error:
            answer = _unfit(error)
        if interrupted():
            answer = Cancelled()
        if isinstance(answer, MachineUnsuitable | Cancelled):
            _close()  # including its processes' unfinished work, which the next task must not receive
        return answer


def _unfit(error: Exception) -> MachineUnsuitable:
    """Report an error here and return that this machine is unsuitable because of it."""
    why = str(error) if isinstance(error, ValueError) else format_exception(error)
    _say(f"This machine stops playing in this run: {why}")
    return MachineUnsuitable(why)


def _interruption(key: str) -> tuple[Any, Interrupted]:
    """Return dask's worker of this thread, and a function that returns whether the current task was cancelled."""
    from distributed import get_worker
    from distributed.core import Status

    worker = get_worker()

    def interrupted() -> bool:
        return _leaving.is_set() or key in _forgotten or worker.status not in (Status.running, Status.paused)

    return worker, interrupted


def _cores(worker: Any) -> int:
    """Return the number of games to play at a time: as set, or the number of dask's threads, or one per core."""
    return _jobs or (worker.state.nthreads if worker.state.nthreads > 1 else int(joblib.cpu_count()))


def _session_for(key: str, jobs: int, interrupted: Interrupted) -> _Session:
    global _session
    if _session is None or _session.key != key:
        task = unpack_task(_bundles[key])
        pool = _session.pool if _session else LokyPool(jobs)
        pool.assign(task)
        _session = _Session(pool, jobs, key, task, interrupted, np.full(len(task.schedule.matches), np.nan))
        _session.interpreted = prepare(pool, task, jobs, interrupted, lambda sharers, interpreted: None)
    _session.interrupted = interrupted
    return _session


def _close() -> None:
    global _session
    if _session is not None:
        _session.pool.close()
        _session = None


def _play_batch(session: _Session, ids: Ids) -> Callable[[], PlayedPart] | Cancelled:
    """Play games; return a function that encodes them as a part of the log, for when the session is free again."""
    schedule = session.task.schedule
    # All other games count as played.
    points = np.zeros((schedule.rounds, len(schedule.matches), 2), np.int8)
    points.reshape(-1)[ids] = -1
    feed = BatchFeed(schedule, points, session.jobs)
    feed.seconds = session.seconds
    batches: list[FinishedGames] = []

    def record(played: FinishedGames | LogPart) -> None:
        assert isinstance(played, FinishedGames)
        record_points(points, played.ids, played.games.winner)
        batches.append(played)

    play_missing(
        session.pool, feed, record, session.interrupted, lambda: None,
        users=session.task.users, given_up=session.given_up,
    )  # fmt: skip
    if session.interrupted():
        return Cancelled()
    played = joined(batches)
    games = played.games
    forfeits = [game for game in np.flatnonzero(games.reason == Reason.ERROR) if games.detail[game] == FORFEITED]
    players = schedule.players(played.ids)
    session.given_up |= {int(players[game, 2 - games.winner[game]]) for game in forfeits}
    matches = np.unique(schedule.match_of(ids))
    return partial(_encoded, session.task, played, matches, session.seconds[matches], session.interpreted)


def _encoded(task: Task, played: FinishedGames, *facts: Any) -> PlayedPart:
    games, data = played.games, log_parts.encode_part(games_table(task.schedule, task.settings, played))
    return PlayedPart(LogPart(played.ids, GameEndings(games.winner, games.reason, games.detail), data), *facts)


def _answer_of(session: _Session, number: int) -> Answer:
    while not session.interrupted():
        for event in session.pool.finished(TICK):
            match event:
                case Failed(OSError() as error):  # for example a full disk
                    raise error
                case Failed(error, call):
                    return Failed(_portable(error), call)
                case Answered() | Died():
                    return event
    return Cancelled()


def _portable(error: BaseException) -> BaseException:
    """Return an exception, or one that describes it if it cannot be sent."""
    with suppress(Exception):
        if isinstance(pickle.loads(pickle.dumps(error)), Exception):
            return error
    return RuntimeError(format_exception(error))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
