"""Line transport to child processes with deadlines; a cache of idle processes."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, Protocol, TypeVar

KEEPER = Path(__file__).with_name("supervisor.py")
_CHUNK = 1 << 16
_LONGEST_WAIT_MS = 1 << 30


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


MOST_IDLE = 8
"""Default number of idle processes kept."""


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
