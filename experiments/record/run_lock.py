"""One writer at a time: the lock of a run's directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = "lock"


class RunLockedError(ValueError):
    """Another process is writing to the run."""


def lock_file(run: Path) -> tuple[int, int] | None:
    """Which file the lock of a run is, whatever its path; None if there is none. Another run has another one."""
    try:
        found = (run / LOCK).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Keep other processes from writing to a run meanwhile. The lock dies with the process.

    Raises:
        RunLockedError: another process holds it.
    """
    import fcntl  # here, so that what only reads runs works where there is none

    with (run / LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise RunLockedError(f"{run}: process {file.read().strip() or '?'} is writing to this run") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
