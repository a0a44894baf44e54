"""An end to waiting for a user's function."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class TookTooLong(Exception):
    """A function did not return in time."""


@contextmanager
def at_most(seconds: float, meanwhile: tuple[float, Callable[[], None]] | None = None) -> Iterator[None]:
    """Break off Python code that takes longer; outside the main thread, where no alarm can be heard, wait for it.

    Args:
        seconds: how long it may take.
        meanwhile: what is called before, after how many seconds.

    Raises:
        TookTooLong: it did.
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
        raise TookTooLong(f"takes longer than {seconds:g} s")

    first, say = meanwhile if meanwhile and meanwhile[0] < seconds else (seconds, None)
    before = signal.signal(signal.SIGALRM, remind if say else ring)
    signal.setitimer(signal.ITIMER_REAL, first)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
