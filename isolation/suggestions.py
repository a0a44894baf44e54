"""What messages suggest: corrections of mistyped names, and what to do next in a shell or in Python."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
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
