"""Child processes under a supervisor: engines, and user code with timeouts that allow for a busy machine.

Lines go to them and come from them by deadlines, and idle processes are kept for later games.
"""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import psutil

from ..usercode.user_exceptions import LONGEST_LINE, to_one_line
from .child import Setup, SetupError, decode_answer, encode, recipe

KEEPER = Path(__file__).with_name("supervisor.py")
_CHUNK = 1 << 16
_LONGEST_WAIT_MS = 1 << 30
MOST_IDLE = 8
"""Default number of idle processes kept."""
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
_SCHEDULED = 2
"""Lowest bits of the id of another process's CPU clock on Linux; see clock_getcpuclockid(3)."""


class TransportTimeout(Exception):
    """The other side has not received or not sent a line in time."""


class TransportClosed(Exception):
    """The other side has ended or closed its ends of the pipes."""


class LineTooLong(Exception):
    """The other side sends a line beyond the maximum length."""


class Transport(Protocol):
    """Lines to and from another process, for use by one thread."""

    def send(self, line: bytes, seconds: float) -> None:
        """Send a line, given without its newline, within `seconds`.

        Raises:
            TransportTimeout: the other side does not receive it in time; part of it may have been sent.
            TransportClosed: the other side has ended.
        """

    def receive(self, seconds: float) -> bytes:
        """Return the next line without its newline, within `seconds`.

        Raises:
            TransportTimeout: no line arrives in time.
            TransportClosed: no more lines will arrive.
            LineTooLong: the line exceeds the maximum length, if there is one.
        """

    def end(self) -> None:
        """End the other side immediately. Repeated calls do nothing."""


class EngineTransport:
    """Lines to the standard input and from the standard output of an engine, an external program.

    The process is a new program, never a fork, so that this process may have threads. It inherits no pipe, socket or
    file but its own. It leads a process group and is ended with the group: by its supervisor, which is its parent, even
    if this process is killed. Its standard error goes to a file.
    """

    def __init__(
        self,
        command: Sequence[str],
        directory: str | None,
        errors: str,
        longest: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the engine. If it cannot be started, the transport is closed.

        Args:
            directory: its working directory; None for that of this process.
            errors: the file to which standard error is appended.
            longest: maximum length of the lines it sends, in bytes.
            environment: its environment variables; by default those of this process.

        Raises:
            OSError: the directory does not exist, or no process can be started.
        """
        self._notice, theirs = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(KEEPER), str(theirs.fileno()), errors, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
                cwd=directory,
                pass_fds=(theirs.fileno(),),
                env=environment,
            )
        except OSError:
            self._notice.close()
            raise
        finally:
            theirs.close()
        self._longest = longest
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        self._received = bytearray()
        self._is_over = False

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._process.pid

    def send(self, line: bytes, seconds: float) -> None:
        """Write a line; see `Transport.send`."""
        deadline = time.monotonic() + seconds
        left = memoryview(line + b"\n")
        while left:
            _await(self._fileno(self._input), select.POLLOUT, deadline)
            try:
                left = left[os.write(self._input.fileno(), left) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise TransportClosed from None

    def receive(self, seconds: float) -> bytes:
        """Read a line; see `Transport.receive`."""
        deadline = time.monotonic() + seconds
        seen = 0
        while (at := self._received.find(b"\n", seen)) < 0:
            seen = len(self._received)
            if seen > self._longest:
                raise LineTooLong
            _await(self._fileno(self._output), select.POLLIN, deadline)
            chunk = os.read(self._output.fileno(), _CHUNK)
            if not chunk:
                raise TransportClosed
            self._received += chunk
        line = bytes(self._received[:at])
        del self._received[: at + 1]
        return line

    def ending(self, seconds: float) -> str:
        """Return how the engine ended, in words, if that is known within `seconds`; else ""."""
        if self._is_over:
            return ""
        self._notice.settimeout(seconds)
        try:
            return self._notice.recv(1000).decode(errors="replace")
        except OSError:
            return ""

    def kill(self) -> None:
        """Kill the group. A thread that waits for a line finds the transport closed, and must `end` it."""
        if not self._is_over:
            with suppress(ProcessLookupError, PermissionError):  # macOS raises it for a group with only a zombie left
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End the engine and its group, and wait for its supervisor to end."""
        if self._is_over:
            return
        self.kill()
        self._is_over = True
        self._process.kill()
        self._process.wait()
        self._input.close()
        self._output.close()
        self._notice.close()

    def _fileno(self, pipe: object) -> int:
        if self._is_over:
            raise TransportClosed
        return pipe.fileno()  # type: ignore[attr-defined,no-any-return]


def _await(file: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(file, event)
    if not poll.poll(min(max(0.0, 1e3 * (deadline - time.monotonic())), _LONGEST_WAIT_MS)):
        raise TransportTimeout


class Endable(Protocol):
    """An object that can be ended."""

    def end(self) -> None:
        """End it immediately."""


Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept", bound=Endable)


class Idle(Generic[Key, Kept]):
    """Cache of idle processes by their setup; when full, the one that has waited longest is ended."""

    def __init__(self, most: int = MOST_IDLE) -> None:
        self._most = most
        self._waiting: list[tuple[int, Key, Kept]] = []
        self._lock = threading.Lock()

    def take(self, order: Key) -> Kept | None:
        """Return a process with this setup that this process has started, or None."""
        with self._lock:
            for index, (owner, known, kept) in enumerate(self._waiting):
                if owner == os.getpid() and known == order:
                    del self._waiting[index]
                    return kept
        return None

    def put(self, order: Key, kept: Kept) -> None:
        """Add a process to the cache."""
        with self._lock:
            self._waiting.append((os.getpid(), order, kept))
            surplus = self._waiting.pop(0) if len(self._waiting) > self._most else None
        if surplus is not None:
            surplus[2].end()


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
