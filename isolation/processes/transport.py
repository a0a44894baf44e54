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
    """The other side has not taken or not sent a line in time."""


class TransportClosed(Exception):
    """The other side is gone, or has closed its ends of the pipes."""


class LineTooLong(Exception):
    """The other side sends a line that is longer than any it has reason to send."""


class Transport(Protocol):
    """Lines to and from another side. One thread uses it."""

    def send(self, line: bytes, seconds: float) -> None:
        """Send a line, given without its newline, within so many seconds.

        Raises:
            TransportTimeout: the other side does not take it in time; part of it may be sent.
            TransportClosed: there is nobody to take it.
        """

    def receive(self, seconds: float) -> bytes:
        """The next line, without its newline, within so many seconds.

        Raises:
            TransportTimeout: there is none in time.
            TransportClosed: there will be none any more.
            LineTooLong: the line is longer than what was agreed upon, if anything was.
        """

    def end(self) -> None:
        """End the other side, at once and for good; ending it again does nothing."""


class ProcessTransport:
    """Lines to the standard input and from the standard output of a process that is started here.

    The process is a new program, never a fork of this one, so that this one may have threads; it has no pipe, socket or
    file of this one but its own two, and what it writes to standard error is not shown. It leads a group of processes
    and is ended with all of it. When this process dies, the other's standard input comes to its end: what runs there
    must end then.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        directory: str | None = None,
        passed: Sequence[int] = (),
        longest: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the process.

        Args:
            directory: where it works; without one, where this process does.
            passed: descriptors that it gets as well.
            longest: how many bytes a line may have that it sends; any number without it.
            environment: its environment variables; without them, those of this process.

        Raises:
            OSError: there is no such program or directory, or no process can be had.
        """
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
            cwd=directory,
            pass_fds=passed,
            env=environment,
        )
        self._longest = longest
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        self._received = bytearray()
        self._is_over = False

    @property
    def pid(self) -> int:
        """The process's id, and its group's."""
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
            if self._longest is not None and seen > self._longest:
                raise LineTooLong
            _await(self._fileno(self._output), select.POLLIN, deadline)
            chunk = os.read(self._output.fileno(), _CHUNK)
            if not chunk:
                raise TransportClosed
            self._received += chunk
        line = bytes(self._received[:at])
        del self._received[: at + 1]
        return line

    def kill(self) -> None:
        """Kill the group, whichever thread waits for a line: it finds the transport closed, and is to `end` it."""
        if not self._is_over:
            with suppress(ProcessLookupError, PermissionError):  # macOS refuses a group of which only a zombie is left
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill the group, and wait until the process is gone."""
        if self._is_over:
            return
        self.kill()
        self._is_over = True
        self._process.kill()
        self._process.wait()
        self._input.close()
        self._output.close()

    def _fileno(self, pipe: object) -> int:
        if self._is_over:
            raise TransportClosed
        return pipe.fileno()  # type: ignore[attr-defined,no-any-return]


class EngineTransport(ProcessTransport):
    """Lines to and from an engine, somebody else's program, which is ended with its process group also when this
    process is killed: a keeper of its own sees to that. What it writes to standard error goes to a file.
    """

    def __init__(
        self,
        command: Sequence[str],
        directory: str | None,
        errors: str,
        longest: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the engine; that it cannot be started is noticed as its end.

        Args:
            errors: the file that standard error is appended to.

        Raises:
            OSError: there is no such directory, or no process can be had.
        """
        self._notice, theirs = socket.socketpair()
        keeper = [sys.executable, "-I", "-S", str(KEEPER), str(theirs.fileno()), errors, *command]
        try:
            super().__init__(
                keeper, directory=directory, passed=(theirs.fileno(),), longest=longest, environment=environment
            )
        except OSError:
            self._notice.close()
            raise
        finally:
            theirs.close()

    def ending(self, seconds: float) -> str:
        """How the engine ended, in words, if that is known within so many seconds; otherwise empty."""
        if self._is_over:
            return ""
        self._notice.settimeout(seconds)
        try:
            return self._notice.recv(1000).decode(errors="replace")
        except OSError:
            return ""

    def end(self) -> None:
        """End the engine with its group."""
        super().end()
        self._notice.close()


def _await(file: int, event: int, deadline: float) -> None:
    """Wait until a file is ready, or at its end."""
    poll = select.poll()
    poll.register(file, event)
    if not poll.poll(min(max(0.0, 1e3 * (deadline - time.monotonic())), _LONGEST_WAIT_MS)):
        raise TransportTimeout


MOST_IDLE = 8
"""How many of a kind are kept once nobody plays with them, unless another number is given."""


class Endable(Protocol):
    """What has an end."""

    def end(self) -> None:
        """End it at once and for good."""


Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept", bound=Endable)


class Idle(Generic[Key, Kept]):
    """Processes without a game, by what was ordered of them; of too many the one that waits longest is ended."""

    def __init__(self, most: int = MOST_IDLE) -> None:
        self._most = most
        self._waiting: list[tuple[int, Key, Kept]] = []
        self._lock = threading.Lock()

    def take(self, order: Key) -> Kept | None:
        """A process of this very order that this process has started."""
        with self._lock:
            for index, (owner, known, kept) in enumerate(self._waiting):
                if owner == os.getpid() and known == order:
                    del self._waiting[index]
                    return kept
        return None

    def put(self, order: Key, kept: Kept) -> None:
        """Keep a process."""
        with self._lock:
            self._waiting.append((os.getpid(), order, kept))
            surplus = self._waiting.pop(0) if len(self._waiting) > self._most else None
        if surplus is not None:
            surplus[2].end()
