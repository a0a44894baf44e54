"""What messages tell users to do next: a command of the shell, or a call in Python."""

from __future__ import annotations

import shlex
import sys

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
