"""Ctrl-C, heard once and never lost.

A KeyboardInterrupt may come while a file is being written, and Python drops whatever is raised while it deletes an
object, as happens thousands of times while code is compiled. So while there is something to lose, Ctrl-C is noted, and
the loops ask. A request to end the process (SIGTERM) counts as Ctrl-C.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Interrupted = Callable[[], bool]
"""Says whether Ctrl-C was pressed."""

PATIENCE = 5.0
"""Seconds after which another Ctrl-C is more than impatience: the first one has had no effect."""


@dataclass
class _Ear:
    """When Ctrl-C was pressed, and whether somebody asks, so that it need not be raised."""

    pressed: list[float] = field(default_factory=list)
    is_asked: bool = False

    def hear(self, number: int, frame: object) -> None:
        self.pressed.append(time.monotonic())
        is_first = len(self.pressed) == 1
        if (is_first and not self.is_asked) or self.pressed[-1] - self.pressed[0] > PATIENCE:
            raise KeyboardInterrupt


_ear: _Ear | None = None


@contextmanager
def heard_once() -> Iterator[None]:
    """Raise KeyboardInterrupt for the first Ctrl-C, and not for others right behind it, which would cut short the end.

    Outside the main thread, where no signal is heard, nothing is changed.
    """
    global _ear
    if _ear or threading.current_thread() is not threading.main_thread():
        yield
        return
    _ear = _Ear()
    before = {number: signal.signal(number, _ear.hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        _ear = None
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def asked() -> Iterator[Interrupted]:
    """Raise nothing: gives a function that says whether Ctrl-C was pressed."""
    with heard_once():
        ear = _ear if threading.current_thread() is threading.main_thread() else None
        if ear is None:
            yield lambda: False
            return
        ear.is_asked = True
        try:
            yield lambda: bool(ear.pressed)
        finally:
            ear.is_asked = False
