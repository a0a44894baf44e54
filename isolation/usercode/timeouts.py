"""Timeouts for user code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")
_TICK = 1.0
_WAITING = 10


class UserCodeTimeout(Exception):
    """A function did not return in time."""


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
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds - first)
        if say:
            say()

    def ring(number: int, frame: FrameType | None) -> None:
        raise UserCodeTimeout(f"takes longer than {seconds:g} s")

    first, say = meanwhile if meanwhile and meanwhile[0] < seconds else (seconds, None)
    before = signal.signal(signal.SIGALRM, remind if say else ring)
    signal.setitimer(signal.ITIMER_REAL, first)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def cpu_timeout(seconds: float) -> Iterator[None]:
    """Interrupt Python code after `seconds` of CPU time, or ten times as much wall time.

    So a busy machine does not shorten the timeout. As with `wall_timeout`, this works only in the main thread.

    Raises:
        UserCodeTimeout: the code took longer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise UserCodeTimeout(f"takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with wall_timeout(_WAITING * seconds):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


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
