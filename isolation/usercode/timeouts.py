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
Handler = Callable[[int, FrameType | None], object]
_TICK = 1.0
_WAITING = 10
_SHORTEST, _SOON = 0.01, 0.001
_OWN_FILES = {contextmanager.__code__.co_filename, __file__}
"""Where a timeout is entered and left."""


class UserCodeTimeout(Exception):
    """A function did not return in time."""


class _Alarm:
    """Signal handler that raises `UserCodeTimeout` once at most, and only while armed."""

    # A second exception, or one that is raised while the timeout is being entered or left, would keep timers from being
    # stopped. Then it rings again soon; and if the code ends before that, `check` raises.

    def __init__(self, seconds: float) -> None:
        self._seconds, self.is_armed, self._is_late = seconds, True, False

    def ring(self, number: int, frame: FrameType | None) -> None:
        if not self.is_armed:
            return
        if frame is not None and frame.f_code.co_filename in _OWN_FILES:
            self._is_late = True
            signal.setitimer(signal.ITIMER_PROF if number == signal.SIGPROF else signal.ITIMER_REAL, _SOON)
            return
        self.is_armed = False
        raise self._timeout

    def check(self) -> None:
        """Raise the timeout if it came due where it could not be raised, and the code has ended since."""
        if self._is_late:
            raise self._timeout

    @property
    def _timeout(self) -> UserCodeTimeout:
        return UserCodeTimeout(f"takes longer than {self._seconds:g} s")

    @contextmanager
    def set(self, timers: Mapping[int, tuple[int, float, Handler]]) -> Iterator[None]:
        """Run code with timers, given by their signals: which timer, its seconds, and the signal's handler.

        Outside the main thread, which receives no signals, there are none.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, handler) for number, (_, _, handler) in timers.items()}
        try:
            try:
                for timer, seconds, _ in timers.values():
                    signal.setitimer(timer, seconds)
                yield
            finally:
                self.is_armed = False
        finally:
            for timer, _, _ in timers.values():
                signal.setitimer(timer, 0)
            for number, handler in before.items():
                signal.signal(number, handler)
        self.check()


def wall_timeout(
    seconds: float, meanwhile: tuple[float, Callable[[], None]] | None = None
) -> AbstractContextManager[None]:
    """Interrupt Python code after a wall time. Outside the main thread, which receives no signals, wait for its end.

    Args:
        seconds: the timeout.
        meanwhile: seconds after which a function is called before the timeout, and the function.

    Raises:
        UserCodeTimeout: the code took longer.
    """
    alarm = _Alarm(seconds)
    first, say = meanwhile if meanwhile and meanwhile[0] < seconds else (seconds, None)

    def remind(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, alarm.ring)
        signal.setitimer(signal.ITIMER_REAL, seconds - first)
        if say:
            say()

    return alarm.set({signal.SIGALRM: (signal.ITIMER_REAL, first, remind if say else alarm.ring)})


def cpu_timeout(seconds: float) -> AbstractContextManager[None]:
    """Interrupt Python code after `seconds` in which it computes or sleeps.

    Time in which the machine is too busy to run this process does not count, up to ten times `seconds` of wall time in
    all. Where the system does not report it, code that sleeps has all of that. As with `wall_timeout`, this works only
    in the main thread.

    Raises:
        UserCodeTimeout: the code took longer.
    """
    started, before, alarm = time.monotonic(), _queued(), _Alarm(seconds)

    def ring_unless_kept(number: int, frame: FrameType | None) -> None:
        if not alarm.is_armed:
            return
        taken = time.monotonic() - started
        left = min(seconds - taken + _kept_waiting(before, taken), _WAITING * seconds - taken)
        if left <= 0:
            alarm.ring(number, frame)
            return
        signal.setitimer(signal.ITIMER_REAL, max(left, _SHORTEST))

    computing = signal.ITIMER_PROF, seconds, alarm.ring
    return alarm.set({signal.SIGPROF: computing, signal.SIGALRM: (signal.ITIMER_REAL, seconds, ring_unless_kept)})


def _queued() -> float | None:
    """Return the seconds for which this thread was ready to run but was not run; None where Linux does not say it."""
    try:
        with open("/proc/thread-self/schedstat", "rb", buffering=0) as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


def _kept_waiting(before: float | None, taken: float) -> float:
    """Return the seconds since `before` in which the machine was too busy to run this thread; `taken` if unknown."""
    now = _queued()
    return taken if before is None or now is None else now - before


class _Overdue(BaseException):
    """Raised inside user code by another thread; user code that catches exceptions does not catch it."""


def raise_in_thread(thread: int, error: type[BaseException] | None) -> None:
    """Raise an exception in a thread's Python code at its next step; None withdraws it."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error) if error else None)


@contextmanager
def call_timeout(function: CodeType, seconds: float, slow: Callable[[dict[str, Any]], str]) -> Iterator[None]:
    """Interrupt a single call of a function within the context, in any thread, if it takes too long.

    Calls cost nothing more: another thread looks now and then whether this one is still in the same call. Python code
    is interrupted, not a call of C code such as `time.sleep`.

    Args:
        function: the code of the function.
        seconds: wall time that one call may take; time during which this process was stopped does not count.
        slow: returns the description of a call from the function's local variables.

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

    This also works for compiled code, which cannot be interrupted and does not hold Python's lock.

    Args:
        work: the function to run; it may never return.
        sign: returns a new value after progress, or None while no progress is expected.
        seconds: timeout without progress; time during which this process was stopped does not count.

    Raises:
        UserCodeTimeout: no progress in time.
        BaseException: any exception of `work()`.
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
