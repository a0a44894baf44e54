"""Timeouts for user code."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TypeVar

T = TypeVar("T")
_TICK = 1.0
_WAITING = 10
_SHORTEST = 0.01


class UserCodeTimeout(Exception):
    """A function did not return in time."""


class _Alarm:
    """Signal handler that raises `UserCodeTimeout` once at most, and only while armed.

    A second exception, raised while the first one leaves the timeout, would keep timers from being stopped.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds, self._is_armed = seconds, True

    def ring(self, number: int, frame: FrameType | None) -> None:
        if self._is_armed:
            self._is_armed = False
            raise UserCodeTimeout(f"takes longer than {self._seconds:g} s")

    @contextmanager
    def armed(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._is_armed = False


@contextmanager
def wall_timeout(seconds: float, meanwhile: tuple[float, Callable[[], None]] | None = None) -> Iterator[None]:
    """Interrupt Python code after a wall time. Outside the main thread, which receives no signals, wait for its end.

    Args:
        seconds: the timeout.
        meanwhile: seconds after which a function is called before the timeout, and the function.

    Raises:
        UserCodeTimeout: the code took longer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def remind(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, alarm.ring)
        signal.setitimer(signal.ITIMER_REAL, seconds - first)
        if say:
            say()

    alarm = _Alarm(seconds)
    first, say = meanwhile if meanwhile and meanwhile[0] < seconds else (seconds, None)
    before = signal.signal(signal.SIGALRM, remind if say else alarm.ring)
    try:
        with alarm.armed():
            signal.setitimer(signal.ITIMER_REAL, first)
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def cpu_timeout(seconds: float) -> Iterator[None]:
    """Interrupt Python code after `seconds` in which it computes or sleeps.

    Time in which the machine is too busy to run this process does not count, up to ten times `seconds` of wall time in
    all. Where the system does not report it, code that sleeps has all of that. As with `wall_timeout`, this works only
    in the main thread.

    Raises:
        UserCodeTimeout: the code took longer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    started, before, alarm = time.monotonic(), _queued(), _Alarm(seconds)

    def ring_unless_kept(number: int, frame: FrameType | None) -> None:
        taken = time.monotonic() - started
        left = min(seconds - taken + _kept_waiting(before, taken), _WAITING * seconds - taken)
        if left <= 0:
            alarm.ring(number, frame)
        signal.setitimer(signal.ITIMER_REAL, max(left, _SHORTEST))

    handlers = signal.signal(signal.SIGPROF, alarm.ring), signal.signal(signal.SIGALRM, ring_unless_kept)
    try:
        with alarm.armed():
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGPROF, handlers[0])
        signal.signal(signal.SIGALRM, handlers[1])


def _queued() -> dict[Path, float]:
    """Return for each thread of this process the seconds that it was ready to run but was not run; Linux only."""
    queued = {}
    for thread in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError, IndexError, ValueError):  # the thread has ended
            queued[thread] = int(thread.read_text().split()[1]) / 1e9
    return queued


def _kept_waiting(before: Mapping[Path, float], taken: float) -> float:
    """Return the seconds since `before` in which the machine was too busy to run a thread; `taken` if unknown."""
    if not before:
        return taken
    return sum(seconds - before.get(thread, 0.0) for thread, seconds in _queued().items())


def run_with_watchdog(work: Callable[[], T], sign: Callable[[], object], seconds: float) -> T:
    """Return the result of `work()`, which runs in a thread that is abandoned if it makes no progress.

    This also works for compiled code, which cannot be interrupted and does not hold Python's lock.

    Args:
        work: the function to run; it may never return.
        sign: returns a new value after progress, or None while no progress is expected.
        seconds: timeout without progress; time during which this process was stopped does not count.

    Raises:
        UserCodeTimeout: no progress in time.
        BaseException: any exception of `work()`.
    """
    returned: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    silent, seen, tick = 0.0, sign(), min(_TICK, seconds)
    while thread.is_alive():
        thread.join(tick)
        now = sign()
        silent = silent + tick if now == seen and now is not None else 0.0
        seen = now
        if silent > seconds:
            raise UserCodeTimeout(f"takes longer than {seconds:g} s")
    if raised:
        raise raised[0]
    return returned[0]
