"""Child processes under a supervisor: engines, and user code with timeouts that allow for a busy machine.

Lines go to them and come from them by deadlines, and idle processes are kept for later games.
"""

from __future__ import annotations

import os
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

from ..usercode.inputs import visible_variables
from ..usercode.user_exceptions import LONGEST_LINE, to_one_line
from .child import (
    LONGEST_ANSWER,
    LineReader,
    NoAnswer,
    Setup,
    SetupError,
    Termination,
    decode_answer,
    encode,
    recipe,
    wait_for,
)
from .sandbox import allow_processor

KEEPER = Path(__file__).with_name("supervisor.py")
MOST_IDLE = 8
"""Default number of idle processes kept."""
START = "import sys; sys.path[:] = sys.argv[1:]; from knights_isolation.isolation.processes.child import serve; serve()"
"""The program of a child process; its arguments are the folders of `sys.path`."""
START_SECONDS = 70.0
"""Timeout of starting a process, including the import of a user's file and the loading of compiled code."""
MOST_WAITS = 10
"""Number of timeouts allowed on a machine that is too busy to run the process."""
SPARING = {
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")},
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Environment variables that limit a child's memory: libraries use one thread, since each has a stack, and Arrow does
not reserve a gigabyte when it reads a file."""

_LAST_WORDS = 1.0
"""Seconds in which a supervisor says how a process has ended."""
_SPENT = "was ended by SIGXCPU"
_SCHEDULED = 2
"""Lowest bits of the id of another process's CPU clock on Linux; see clock_getcpuclockid(3)."""


class SupervisedProgram:
    """Lines to the standard input and from the standard output of a program, such as an engine, for one thread.

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
        """Start the program. If it cannot be started, it has ended.

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
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        self._lines = LineReader(self._output.fileno(), longest)
        self.is_over = False

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._process.pid

    def send(self, line: bytes, seconds: float) -> None:
        """Send a line, given without its newline, within `seconds`.

        Raises:
            NoAnswer: it is not received in time, though part of it may be; or the program has ended.
        """
        deadline = time.monotonic() + seconds
        left = memoryview(line + b"\n")
        while left:
            self._check_running()
            wait_for(self._input.fileno(), select.POLLOUT, deadline)
            try:
                left = left[os.write(self._input.fileno(), left) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise NoAnswer(Termination.DIED) from None

    def receive(self, seconds: float) -> bytes:
        """Return the next line; see `LineReader.receive`."""
        self._check_running()
        return self._lines.receive(seconds)

    def ending(self, seconds: float) -> str:
        """Return how the program ended, in words, if that is known within `seconds`; else ""."""
        if self.is_over:
            return ""
        self._notice.settimeout(seconds)
        try:
            return self._notice.recv(1000).decode(errors="replace")
        except OSError:
            return ""

    def kill(self) -> None:
        """Kill the group. A thread that waits for a line hears that it has died, and must `end` it."""
        if not self.is_over:
            with suppress(ProcessLookupError, PermissionError):  # macOS raises it for a group with only a zombie left
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End the program and its group, and wait for its supervisor to end. Repeated calls do nothing."""
        if self.is_over:
            return
        self.kill()
        self.is_over = True
        self._process.kill()
        self._process.wait()
        self._input.close()
        self._output.close()
        self._notice.close()

    def _check_running(self) -> None:
        if self.is_over:
            raise NoAnswer(Termination.DIED)


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


class Child(SupervisedProgram):
    """A child process: set up, asked questions by deadlines, and ended. One thread asks at a time; any may end it.

    Deadlines are extended while the machine is too busy to run it. Its parent is a supervisor, so that user code that
    kills its parent ends only itself. With a sandboxed setup, it gets only harmless variables of the environment.
    """

    def __init__(self, setup: Setup, longest: int = LONGEST_ANSWER, program: str = START) -> None:
        """Start a Python process with the same module path.

        Args:
            longest: largest answer in bytes.
            program: its code.
        """
        own = os.environ if setup.guard in ("none", "contained") else visible_variables()
        super().__init__(_python_program(program), None, os.devnull, longest, {**own, **SPARING})
        self.setup = setup
        self._asking = threading.RLock()
        self._child: psutil.Process | None = None

    def start(self, seconds: float = START_SECONDS) -> Any:
        """Send the setup, and return its only answer, if it makes one; else None.

        Raises:
            NoAnswer: the setup is refused, or the process does not answer; it has been ended.
        """
        answer = self.ask(self.setup, seconds)
        if isinstance(answer, SetupError):
            self.end()
            raise NoAnswer(Termination.REFUSED, to_one_line(answer.why, LONGEST_LINE))
        return answer

    def ask(self, question: Setup | tuple[Any, ...], seconds: float) -> Any:
        """Return the answer to a question. If this is interrupted, the process is ended.

        Raises:
            NoAnswer: there is none within `seconds`; the process has been ended.
        """
        line, is_answered = encode(question), False
        with self._asking:
            try:
                self._renew_processor()
                self.send(line, seconds)
                answer = decode_answer(self.receive(seconds))
                is_answered = True
                return answer
            except NoAnswer as error:
                raise self._explained(error) from None
            except Exception:  # raised by decoding a line that was written by user code
                raise NoAnswer(Termination.NONSENSE) from None
            finally:
                if not is_answered:
                    self.end()

    def end(self) -> None:
        """End the process and its group. If another thread asks it, that hears that it has died."""
        self.kill()
        if self._asking.acquire(blocking=False):
            try:
                super().end()
            finally:
                self._asking.release()

    def receive(self, seconds: float) -> bytes:
        """Read a line; see `SupervisedProgram.receive`.

        A process that is ready to run, but got less than half of the time, is given `seconds` more, `MOST_WAITS` times.
        """
        used, waits = self.used(), MOST_WAITS
        while True:
            try:
                answer = super().receive(seconds)
                self._continue_supervisor()
                return answer
            except NoAnswer as error:
                waits -= 1
                may_wait = error.why is Termination.TIMED_OUT and waits and self._would_run()
                if not may_wait or self.used() - used > seconds / 2:
                    raise

    def memory(self) -> int:
        """Return the bytes that the process and its children hold; 0 if it has ended."""
        try:
            own = psutil.Process(self.pid)
            return sum(process.memory_info().rss for process in (own, *own.children(recursive=True)))
        except psutil.Error:
            return 0

    def used(self) -> float:
        """Return the CPU time that the process has used, in seconds; 0 if it has ended."""
        with suppress(psutil.Error, OSError):
            if child := self._found():
                if sys.platform == "linux":
                    return time.clock_gettime(~child.pid << 3 | _SCHEDULED)
                times = child.cpu_times()
                return float(times.user + times.system)
        return 0.0

    def _explained(self, error: NoAnswer) -> NoAnswer:
        """Return an error with how the process ended, as far as its supervisor says it."""
        how = self.ending(_LAST_WORDS) if error.why is Termination.DIED else ""
        return NoAnswer(Termination.SPENT if how == _SPENT else Termination.DIED, how) if how else error

    def _renew_processor(self) -> None:
        """Let a sandboxed process use processor time for another answer."""
        with suppress(psutil.Error, OSError):
            if self.setup.guard == "sandboxed" and (child := self._found()):
                allow_processor(child.pid, self.used(), self.setup.processor)

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


def call_in_child(function: Callable[..., object], *arguments: object) -> Any:
    """Call a function that runs user code in a child process; return its result: text, numbers, or tuples of these.

    Raises:
        ValueError: the function raised an exception, ended its process or took too long; the message is one line.
    """
    child = Child(Setup(recipe(function, *arguments)))
    try:
        return child.start()
    except NoAnswer as error:
        late = f"takes longer than {START_SECONDS:g} s"
        raise ValueError(error.described(late, "ends its process", "tampered with its own result")) from None
    finally:
        child.end()
