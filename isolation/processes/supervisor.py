"""Supervise a child process: kill its process group when it or its parent has gone.

A parent killed by SIGKILL cannot end its children, so the supervisor does. It takes no part in the dialogue: the engine
inherits its pipes. Its arguments are the descriptor of a socket, the file for standard error, and the command. It
reports in one line through the socket how the engine ended; when the other end is closed, it kills the engine's group.
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
"""Largest file of standard error in bytes; the rest is discarded."""
_CHUNK = 1 << 16
_LAST_WORDS = 0.5


def keep(notice: socket.socket, errors: str, command: list[str]) -> None:
    """Start the engine; when it has ended, kill its process group, including this process."""
    try:
        engine = subprocess.Popen(command, stderr=subprocess.PIPE)
    except OSError as error:
        notice.sendall(f"could not be started: {error.strerror}".encode())
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1):  # otherwise the engine's end would not be noticed
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
    """Describe how a process ended.

    >>> describe_exit(3), describe_exit(-9)
    ('ended with exit code 3', 'was ended by SIGKILL')
    """
    if status >= 0:
        return f"ended with exit code {status}"
    names = {number.value: number.name for number in signal.Signals}
    return f"was ended by {names.get(-status, f'signal {-status}')}"


def copy(stream: BinaryIO, path: str) -> None:
    """Append a stream to a file, up to `MOST_ERRORS` and as far as the disk allows, and read the stream to its end."""
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
