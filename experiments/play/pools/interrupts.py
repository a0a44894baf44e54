"""Deferred Ctrl-C, and what is said when it ends a command.

A KeyboardInterrupt may be raised while a file is being written, and Python drops exceptions that are raised while it
deletes an object, as happens thousands of times during compilation. So during critical work Ctrl-C is only recorded,
and the loops check for it. A request to end the process (SIGTERM) counts as Ctrl-C.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

Interrupted = Callable[[], bool]
"""Returns whether Ctrl-C was pressed."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C has ended a command, which says what was kept, and the command to resume if it is not the same one."""

    def __init__(self, kept: str = "", goes_on: str = "") -> None:
        super().__init__(f"{kept or 'nothing was saved'}; the same call resumes")
        self.kept, self.goes_on = kept, goes_on


@contextmanager
def keeping(kept: str, path: Path | None = None, goes_on: str = "") -> Iterator[None]:
    """Say on Ctrl-C what was kept, at `path` if that exists, and how to go on if not by the same command.

    Raises:
        Stopped: on Ctrl-C.
    """
    try:
        yield
    except Stopped:
        raise
    except KeyboardInterrupt:
        if path:
            kept = f"{kept} is in {path}" if kept and path.exists() else ""
        raise Stopped(kept, goes_on) from None


PATIENCE = 5.0
"""Seconds after which another Ctrl-C shows that the first one has had no effect."""
_REMIND_EVERY = 0.5
_IMPORTS = "<frozen importlib._bootstrap>"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass
class _Ear:
    """State of Ctrl-C: when it was pressed, whether it is polled instead of raised, whether it took effect.

    The exception may be swallowed, for example by a library that tries an import and continues without it. It is
    therefore raised repeatedly until the code that ends the program has caught it.
    """

    pressed: list[float] = field(default_factory=list)
    is_asked: bool = False
    is_raised: bool = False
    has_arrived: bool = False
    reminds: bool = False

    def hear(self, number: int, frame: FrameType | None) -> None:
        self.pressed.append(time.monotonic())
        is_first = len(self.pressed) == 1 and not self.is_asked
        is_lost = self.is_raised and not self.has_arrived and self.reminds and not _is_under_way()
        if not (is_first or is_lost or self.pressed[-1] - self.pressed[0] > PATIENCE):
            return
        if self.reminds and not self.is_raised:
            _thread.start_new_thread(self._remind, (number,))  # `threading` takes locks that may be held here
        self.is_raised = True
        if self.reminds and frame and frame.f_code.co_filename == _IMPORTS and frame.f_code.co_name == "cb":
            return  # Python would print and drop an exception here, where a lock of an import is cleared away
        raise KeyboardInterrupt

    def _remind(self, number: int) -> None:
        while not self.has_arrived:
            time.sleep(_REMIND_EVERY)
            signal.pthread_kill(threading.main_thread().ident or 0, number)


def _is_under_way() -> bool:
    """Return whether the exception being handled is a KeyboardInterrupt, or was raised while one was handled."""
    error = sys.exc_info()[1]
    while error and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


_ear: _Ear | None = None


def listen() -> None:
    """Raise KeyboardInterrupt for the first Ctrl-C or SIGTERM, and again until `arrived`; for a whole program."""
    _hear_with(_Ear(reminds=True))


def arrived() -> None:
    """Stop raising KeyboardInterrupt: the code that caught it ends the program."""
    if _ear:
        _ear.has_arrived = True


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Suppress KeyboardInterrupt at the end of a block that Ctrl-C may end."""
    try:
        yield
    except KeyboardInterrupt:
        arrived()


def _hear_with(ear: _Ear) -> None:
    global _ear
    _ear = ear
    for number in _SIGNALS:
        signal.signal(number, ear.hear)


@contextmanager
def single_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt for the first Ctrl-C only.

    Further ones in quick succession would interrupt the cleanup.

    Outside the main thread, which receives no signals, nothing is changed.
    """
    global _ear
    if _ear or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    _hear_with(_Ear())
    try:
        yield
    finally:
        _ear = None
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def deferred_interrupts() -> Iterator[Interrupted]:
    """Record Ctrl-C instead of raising KeyboardInterrupt; yield a function that returns whether it was pressed."""
    with single_interrupt():
        ear = _ear if threading.current_thread() is threading.main_thread() else None
        if ear is None:
            yield lambda: False
            return
        was_asked, ear.is_asked = ear.is_asked, True
        try:
            yield lambda: bool(ear.pressed)
        finally:
            ear.is_asked = was_asked
