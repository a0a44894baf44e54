"""Shell commands quoted in messages."""

from __future__ import annotations

import shlex


def command(*words: object) -> str:
    """A command of `isolation` as a shell takes it, paths quoted where they must be.

    >>> command("summary", "runs/my run")
    "isolation summary 'runs/my run'"
    """
    return shlex.join(["isolation", *map(str, words)])
