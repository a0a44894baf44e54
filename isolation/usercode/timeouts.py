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
    """Break off Python code that takes longer; outside the main thread, where no alarm can be heard, wait for it.

    Args:
        seconds: how long it may take.
        meanwhile: what is called before, after how many seconds.

    Raises:
        UserCodeTimeout: it did.
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
    """Break off Python code that takes longer by the processor's clock, or, as it waits, ten times that by any.

    What else a machine does is not held against it. As with `wall_timeout`, only in the main thread.

    Raises:
        UserCodeTimeout: it did.
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
    """What `work()` returns; it is left to itself, in a thread of its own, once there is no sign of life.

    That goes for compiled code as well, which nothing can interrupt and which does not keep Python's lock.

    Args:
        work: what may never end.
        sign: a sign of life is that this returns something new, or None, as where nobody is waited for.
        seconds: how long to wait for one; the time that this process was stopped for does not count.

    Raises:
        UserCodeTimeout: there was none.
        BaseException: what `work()` raises.
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
