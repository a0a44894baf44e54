"""Child processes for user code: started under a supervisor, asked, and awaited as far as the machine lets them run."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil

from isolation.processes.agent_pickling import recipe
from isolation.processes.child import Setup, SetupError, decode_answer, encode
from isolation.processes.transport import EngineTransport, Transport, TransportClosed, TransportTimeout
from isolation.usercode.user_exceptions import LONGEST_LINE, to_one_line

START = "import sys; sys.path[:] = sys.argv[1:]; from isolation.processes.child import serve; serve()"
"""The program of a child process; its arguments are the folders that modules are looked for in."""
START_SECONDS = 70.0
"""What a process may take to start, to load a user's file with all it imports, and to load compiled code."""
MOST_WAITS = 10
"""How often a process is waited for on a machine that is too busy to let it run."""
LONGEST_ANSWER = 1 << 20
"""Bytes of an answer; longer ones are none of ours."""
SPARING = {
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")},
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""The environment that keeps libraries in a child from using more than one processor, with a stack for each, and Arrow
from setting a gigabyte aside as soon as it reads a file: both would count as memory that the process has."""


class ChildProcess(EngineTransport):
    """A process of which seconds count only as far as the machine lets it run: busy with others, it is waited for.

    Its parent is a supervisor, so that it does no harm to us, and ends itself, where it ends its parent.
    """

    def __init__(self, program: str = START, longest: int = LONGEST_ANSWER) -> None:
        """Start a Python process with our modules.

        Args:
            program: its code.
            longest: bytes of an answer.
        """
        super().__init__(_python_program(program), None, os.devnull, longest, {**os.environ, **SPARING})
        self._child: psutil.Process | None = None

    def receive(self, seconds: float) -> bytes:
        """Read a line; see `Transport.receive`.

        A process that would run, and did not get half of the time, has so many seconds again, `MOST_WAITS` times.
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
        """Seconds of processor time that the process has used, by the system's clock; 0 if it is gone."""
        with suppress(psutil.Error, OSError):
            if child := self._found():
                if sys.platform == "linux":
                    return time.clock_gettime(~child.pid << 3 | _SCHEDULED)
                times = child.cpu_times()
                return float(times.user + times.system)
        return 0.0

    def _continue_supervisor(self) -> None:
        """Let the supervisor go on, which would not notice our end if user code has stopped it."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)

    def _would_run(self) -> bool:
        """Whether the process neither sleeps nor waits for anything but a processor or the disk."""
        with suppress(psutil.Error):
            child = self._found()
            return child is None or child.status() in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
        return False

    def _found(self) -> psutil.Process | None:
        """The process below its supervisor, once it has been started."""
        if self._child is None:
            self._child = next(iter(psutil.Process(self.pid).children()), None)
        return self._child


_SCHEDULED = 2
"""The lowest bits of the number of another process's clock on Linux; see clock_getcpuclockid(3)."""


def _python_program(code: str) -> list[str]:
    """The command of a Python process that runs some code with our modules, wherever it works."""
    folders = (folder for folder in sys.path if isinstance(folder, str))
    whole = (os.path.abspath(folder) if os.path.isdir(folder or ".") else folder for folder in folders)
    return [sys.executable, "-P", "-c", code, *whole]


def exchange(process: Transport, question: Setup | tuple[Any, ...], seconds: float) -> Any:
    """What a child answers a setup or a question.

    Raises:
        TransportTimeout: nothing, within so many seconds.
        TransportClosed: it is gone.
        Exception: what it has sent is no answer.
    """
    process.send(encode(question), seconds)
    return decode_answer(process.receive(seconds))


def call_in_child(function: Callable[..., object], *arguments: object) -> Any:
    """What a function returns, called in a process of its own, as it runs user code: text, numbers, and tuples of them.

    Raises:
        ValueError: it raised something, which the message says in a line, or ended its process, or takes too long.
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
