"""Shell commands quoted in messages."""

from __future__ import annotations

import shlex


def command(*words: object) -> str:
    """Return an `isolation` command as typed in a shell, with paths quoted where necessary.

    >>> command("summary", "runs/my run")
    "isolation summary 'runs/my run'"
    """
    return shlex.join(["isolation", *map(str, words)])
