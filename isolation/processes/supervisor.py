"""Supervise a child process: kill its process group when it or its parent has gone.

It stands between the two because a process killed by SIGKILL cannot end anything itself. It has no part in their
dialogue: the engine reads and writes the pipes that the keeper was given. Its arguments are the descriptor of a socket,
the file that standard error goes to, and the command. Through the socket it says in one line how the engine ended;
when the other end is closed, the engine's group is killed.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from typing import BinaryIO

MOST_ERRORS = 1_000_000
"""Bytes of standard error that are kept; the rest is read and dropped."""
_CHUNK = 1 << 16
_LAST_WORDS = 0.5


def keep(notice: socket.socket, errors: str, command: list[str]) -> None:
    """Start the engine, and kill its group, this process with it, when it is over."""
    try:
        engine = subprocess.Popen(command, stderr=subprocess.PIPE)
    except OSError as error:
        notice.sendall(f"could not be started: {error.strerror}".encode())
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1):  # or its end would not be noticed
        os.dup2(nothing, pipe)
    assert engine.stderr is not None
    copying = threading.Thread(target=copy, args=(engine.stderr, errors), daemon=True)
    copying.start()
    threading.Thread(target=_until_left, args=(notice,), daemon=True).start()
    status = engine.wait()
    copying.join(_LAST_WORDS)
    try:
        notice.sendall(describe_exit(status).encode())
    finally:
        _end_group()


def describe_exit(status: int) -> str:
    """How a process ended, in words.

    >>> describe_exit(3), describe_exit(-9)
    ('ended with exit code 3', 'was ended by SIGKILL')
    """
    if status >= 0:
        return f"ended with exit code {status}"
    names = {number.value: number.name for number in signal.Signals}
    return f"was ended by {names.get(-status, f'signal {-status}')}"


def copy(stream: BinaryIO, path: str) -> None:
    """Append what a stream says to a file, as far as `MOST_ERRORS` and the disk allow, and read all of it."""
    left = MOST_ERRORS
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError:
        left, file = 0, -1
    while chunk := os.read(stream.fileno(), _CHUNK):
        try:
            left -= os.write(file, chunk[:left]) if left else 0
        except OSError:
            left = 0


def _until_left(notice: socket.socket) -> None:
    while notice.recv(1):
        pass
    _end_group()


def _end_group() -> None:
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    keep(socket.socket(fileno=int(sys.argv[1])), sys.argv[2], sys.argv[3:])
