"""Timeouts for user code."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from types import CodeType, FrameType
from typing import Any, TypeVar

T = TypeVar("T")
_TICK = 1.0
_WAITING = 10
_SHORTEST, _SOON = 0.01, 0.001
_OWN_FILES = {contextmanager.__code__.co_filename, __file__}
"""Where a timeout is entered and left."""


class UserCodeTimeout(Exception):
    """A function did not return in time."""


@contextmanager
def _interrupted(
    seconds: float, timers: Mapping[int, int], first: float, left: Callable[[int], float]
) -> Iterator[None]:
    """Raise `UserCodeTimeout` once at most in code when a timer, given by its signal, has rung and no seconds are left.

    Outside the main thread, which receives no signals, there are no timers. `first` is when they ring first.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_armed, is_late = True, False
    timeout = UserCodeTimeout(f"takes longer than {seconds:g} s")

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal is_armed, is_late
        if not is_armed:
            return
        # A second exception, or one that is raised while the timeout is being entered or left, would keep timers from
        # being stopped. Then it rings again soon; and if the code ends before that, the timeout is raised below.
        if (more := left(number)) <= 0 and frame is not None and frame.f_code.co_filename in _OWN_FILES:
            is_late, more = True, _SOON
        if more > 0:
            signal.setitimer(timers[number], more)
            return
        is_armed = False
        raise timeout

    before = {number: signal.signal(number, ring) for number in timers}
    try:
        try:
            for timer in timers.values():
                signal.setitimer(timer, first)
            yield
        finally:
            is_armed = False
    finally:
        for timer in timers.values():
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
    if is_late:
        raise timeout


def wall_timeout(
    seconds: float, meanwhile: tuple[float, Callable[[], object]] | None = None
) -> AbstractContextManager[None]:
    """Interrupt Python code after a wall time. Outside the main thread, which receives no signals, wait for its end.

    `meanwhile` is a function that is called before the timeout, after so many seconds.

    Raises:
        UserCodeTimeout: the code took longer.
    """
    waiting = [meanwhile] if meanwhile and meanwhile[0] < seconds else []
    first = waiting[0][0] if waiting else seconds

    def left(number: int) -> float:
        for _, say in waiting:
            waiting.clear()
            say()
            return seconds - first
        return 0.0

    return _interrupted(seconds, {signal.SIGALRM: signal.ITIMER_REAL}, first, left)


def cpu_timeout(seconds: float) -> AbstractContextManager[None]:
    """Interrupt Python code after `seconds` in which it computes or sleeps.

    Time in which the machine is too busy to run this process does not count, up to ten times `seconds` of wall time in
    all. Where the system does not report it, code that sleeps has all of that. As with `wall_timeout`, this works only
    in the main thread.

    Raises:
        UserCodeTimeout: the code took longer.
    """
    started, before = time.monotonic(), _queued()

    def left(number: int) -> float:
        if number == signal.SIGPROF:
            return 0.0
        taken, now = time.monotonic() - started, _queued()
        kept_waiting = taken if before is None or now is None else now - before
        more = min(seconds - taken + kept_waiting, _WAITING * seconds - taken)
        return max(more, _SHORTEST) if more > 0 else 0.0

    timers: dict[int, int] = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
    return _interrupted(seconds, timers, seconds, left)


def _queued() -> float | None:
    """Return the seconds for which this thread was ready to run but was not run; None where Linux does not say it."""
    try:
        with open("/proc/thread-self/schedstat", "rb", buffering=0) as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


class _Overdue(BaseException):
    """Raised inside user code by another thread; user code that catches exceptions does not catch it."""


def raise_in_thread(thread: int, error: type[BaseException] | None) -> None:
    """Raise an exception in a thread's Python code at its next step; None withdraws it."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error) if error else None)


@contextmanager
def call_timeout(function: CodeType, seconds: float, slow: Callable[[dict[str, Any]], str]) -> Iterator[None]:
    """Interrupt a single call of a function within the context, in any thread, if it takes too long.

    Calls cost nothing more: another thread looks now and then whether this one is still in the same call. Python code
    is interrupted, not a call of C code such as `time.sleep`. Time for which this process was stopped does not count.
    `slow` returns the description of a call from the function's local variables.

    Raises:
        UserCodeTimeout: a call took longer.
    """
    caller, is_done, guard, descriptions = threading.get_ident(), threading.Event(), threading.Lock(), list[str]()

    def watch() -> None:
        seen: FrameType | None = None
        taken, tick = 0.0, min(_TICK, seconds)
        while not is_done.wait(tick):
            frame = sys._current_frames().get(caller)
            while frame is not None and frame.f_code is not function:
                frame = frame.f_back
            taken = taken + tick if frame is seen is not None else 0.0
            seen = frame
            if frame is None or taken < seconds:
                continue
            with guard:
                if not is_done.is_set():
                    descriptions[:] = [slow(frame.f_locals)]
                    raise_in_thread(caller, _Overdue)

    threading.Thread(target=watch, daemon=True).start()
    try:
        try:
            yield
        finally:
            with guard:
                is_done.set()
                raise_in_thread(caller, None)
    except _Overdue:
        is_done.set()
        raise UserCodeTimeout(f"{descriptions[0]} takes longer than {seconds:g} s") from None


def run_with_watchdog(work: Callable[[], T], sign: Callable[[], object], seconds: float) -> T:
    """Return the result of `work()`, which runs in a thread that is abandoned if it makes no progress.

    This also works for compiled code, which cannot be interrupted and does not hold Python's lock. `sign` returns a new
    value after progress, or None while none is expected. Time during which this process was stopped does not count.

    Raises:
        UserCodeTimeout: no progress in time.
    """
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

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
    return answer.result()
