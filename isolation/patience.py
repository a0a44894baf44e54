"""An end to waiting for a user's function."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TookTooLong(Exception):
    """A function did not return in time."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Break off Python code that takes longer; outside the main thread, where no alarm can be heard, wait for it.

    Raises:
        TookTooLong: it did.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
