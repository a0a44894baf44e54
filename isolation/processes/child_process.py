"""Child processes for user code, started under a supervisor, with timeouts that allow for a busy machine."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil

from ..usercode.user_exceptions import LONGEST_LINE, to_one_line
from .agent_pickling import recipe
from .child import Setup, SetupError, decode_answer, encode
from .transport import EngineTransport, Transport, TransportClosed, TransportTimeout

START = "import sys; sys.path[:] = sys.argv[1:]; from knights_isolation.isolation.processes.child import serve; serve()"
"""The program of a child process; its arguments are the folders of `sys.path`."""
START_SECONDS = 70.0
"""Timeout of starting a process, including the import of a user's file and the loading of compiled code."""
MOST_WAITS = 10
"""Number of timeouts allowed on a machine that is too busy to run the process."""
LONGEST_ANSWER = 1 << 20
"""Largest answer in bytes; longer ones are not from the toolkit."""
SPARING = {
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")},
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Environment variables that limit a child's memory: libraries use one thread, since each has a stack, and Arrow does
not reserve a gigabyte when it reads a file."""

_HARMLESS = re.compile(
    r"PATH|HOME|LANG|LANGUAGE|LC_\w+|TZ|TZDIR|TMPDIR|(DY)?LD_LIBRARY_PATH|PYTHON\w*|VIRTUAL_ENV|\w+_NUM_THREADS|NUMBA_\w+"
    r"|ISOLATION_\w+|XDG_CACHE_HOME"
)
"""Environment variables of the user that a sandboxed process has; others may be secrets."""


class ChildProcess(EngineTransport):
    """A child process whose timeouts are extended while the machine is too busy to run it.

    Its parent is a supervisor, so that user code that kills its parent ends only itself.
    """

    def __init__(self, program: str = START, longest: int = LONGEST_ANSWER, *, is_sandboxed: bool = False) -> None:
        """Start a Python process with the same module path.

        Args:
            program: its code.
            longest: largest answer in bytes.
            is_sandboxed: whether it will be sandboxed: of the environment it gets only what tells nothing of the user.
        """
        own = {name: value for name, value in os.environ.items() if not is_sandboxed or _HARMLESS.fullmatch(name)}
        super().__init__(_python_program(program), None, os.devnull, longest, {**own, **SPARING})
        self._child: psutil.Process | None = None

    def receive(self, seconds: float) -> bytes:
        """Read a line; see `Transport.receive`.

        A process that is ready to run, but got less than half of the time, is given `seconds` more, `MOST_WAITS` times.
        """
        used = self.used()
        for _ in range(MOST_WAITS):
            try:
                answer = super().receive(seconds)
                self._continue_supervisor()
                return answer
            except TransportTimeout:
                if not self._would_run() or self.used() - used > seconds / 2:
                    raise
        raise TransportTimeout

    def used(self) -> float:
        """Return the CPU time that the process has used, in seconds; 0 if it has ended."""
        with suppress(psutil.Error, OSError):
            if child := self._found():
                if sys.platform == "linux":
                    return time.clock_gettime(~child.pid << 3 | _SCHEDULED)
                times = child.cpu_times()
                return float(times.user + times.system)
        return 0.0

    def _continue_supervisor(self) -> None:
        """Resume the supervisor, which would not notice this process's end if user code has stopped it."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)

    def _would_run(self) -> bool:
        """Return whether the process is ready to run or waits for the disk."""
        with suppress(psutil.Error):
            child = self._found()
            return child is None or child.status() in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
        return False

    def _found(self) -> psutil.Process | None:
        """Return the process below its supervisor, or None if it has not been started yet."""
        if self._child is None:
            self._child = next(iter(psutil.Process(self.pid).children()), None)
        return self._child


_SCHEDULED = 2
"""Lowest bits of the id of another process's CPU clock on Linux; see clock_getcpuclockid(3)."""


def _python_program(code: str) -> list[str]:
    """Return the command of a Python process that runs code with this process's module path, in any directory."""
    folders = (folder for folder in sys.path if isinstance(folder, str))
    whole = (os.path.abspath(folder) if os.path.isdir(folder or ".") else folder for folder in folders)
    return [sys.executable, "-P", "-c", code, *whole]


def exchange(process: Transport, question: Setup | tuple[Any, ...], seconds: float) -> Any:
    """Send a setup or a question to a child and return its answer.

    Raises:
        TransportTimeout: no answer within `seconds`.
        TransportClosed: the child has ended.
        Exception: the child sent something that is not an answer.
    """
    process.send(encode(question), seconds)
    return decode_answer(process.receive(seconds))


def call_in_child(function: Callable[..., object], *arguments: object) -> Any:
    """Call a function that runs user code in a child process; return its result: text, numbers, or tuples of these.

    Raises:
        ValueError: the function raised an exception, ended its process or took too long; the message is one line.
    """
    process = ChildProcess()
    try:
        answer = exchange(process, Setup(recipe(function, *arguments)), START_SECONDS)
    except TransportTimeout:
        raise ValueError(f"takes longer than {START_SECONDS:g} s") from None
    except TransportClosed:
        raise ValueError("ends its process") from None
    except Exception:
        raise ValueError("tampered with its own result") from None
    finally:
        process.end()
    if isinstance(answer, SetupError):
        raise ValueError(to_one_line(answer.why, LONGEST_LINE))
    return answer
