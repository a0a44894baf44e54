"""What commands say: corrections of mistyped names, what to do next, how far they are, and why they failed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path


def did_you_mean(name: str, known: Iterable[str], most: int = 1) -> str:
    """Return a question with the nearest known names and a trailing space, or "" if none is near.

    >>> did_you_mean("forrest", ["forest", "heatmap"]), did_you_mean("x", ["forest"])
    ('did you mean forest? ', '')
    """
    near = get_close_matches(name, list(known), n=most)
    return f"did you mean {' or '.join(near)}? " if near else ""


def file_meant(path: str | Path) -> str:
    """Return a question with the most similar file name in a missing file's folder, after a semicolon, or ""."""
    path = Path(path)
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    meant = f"{path.name}.py" if f"{path.name}.py" in names else next(iter(get_close_matches(path.name, names, 1)), "")
    return f"; did you mean {path.with_name(meant)}?" if meant else ""


COMMAND_LINE = "knights_isolation.command_line"


def command(*words: object) -> str:
    """Return an `isolation` command as typed in a shell, with paths quoted where necessary.

    >>> command("results", "runs/my run")
    "isolation results 'runs/my run'"
    """
    return shlex.join(["isolation", *map(str, words)])


def advice(command: str, call: str) -> str:
    """Return what a message names: the command if the command line is running, else the call, for Python users."""
    return command if COMMAND_LINE in sys.modules else call


stderr_of_a_child: list[int] = []


def write_real_stderr(line: str) -> bool:
    """Write a line to stderr, bypassing captured output; returns whether this is such a child process."""
    for descriptor in stderr_of_a_child:
        with suppress(OSError):  # user code has closed it, or its reader has ended
            os.write(descriptor, f"{line}\n".encode())
    return bool(stderr_of_a_child)


COMMAND: ContextVar[str] = ContextVar("command", default="")
"""The command that runs on the command line; empty in Python."""


TYPED: ContextVar[str] = ContextVar("typed", default="")
"""The command line that runs, as it was typed; empty in Python."""


def tell(line: str) -> None:
    """Say how far a command is, on the command line's standard error; nothing in Python, and no empty line.

    It is seen even while output of user code is captured.
    """
    if line and TYPED.get() and not write_real_stderr(line):
        print(line, file=sys.stderr, flush=True)


@contextmanager
def called_as(name: str = "") -> Iterator[None]:
    """Call functions of commands as the command `name` of the command line, or by default as in Python."""
    token = COMMAND.set(name)
    try:
        yield
    finally:
        COMMAND.reset(token)


class CompilerFault(RuntimeError):
    """The compiler failed by a fault of the toolkit, for example with a new numba release; asks for a report."""


class Failed(Exception):
    """A command could not do what it should; the message is one line for people, and the exit code 1."""
