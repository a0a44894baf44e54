"""Temporary folders; those of killed processes are removed later."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOCK = "in-use"
"""The file in a folder that its maker keeps locked as long as it lives."""
YOUNG = 60.0
"""Seconds for which a folder is left alone: its maker may be about to lock it."""


@dataclass(frozen=True)
class TemporaryFolder:
    """A folder, and what removes it; at the end of the process it goes by itself."""

    path: Path
    remove: Callable[[], None]


def temporary_folder(kind: str) -> TemporaryFolder:
    """A new folder `isolation-KIND-*` of this process; those that killed processes of ours have left are removed.

    Whether a process still has its folder is told by a lock, which ends with it however it ends.
    """
    prefix = f"isolation-{kind}-"
    _sweep(Path(tempfile.gettempdir()), prefix)
    path = Path(tempfile.mkdtemp(prefix=prefix))
    lock = _lock(path / LOCK)
    maker = os.getpid()

    def remove() -> None:
        if os.getpid() == maker:  # not in a fork of it
            atexit.unregister(remove)
            shutil.rmtree(path, ignore_errors=True)
            if lock is not None:
                os.close(lock)

    atexit.register(remove)
    return TemporaryFolder(path, remove)


def _sweep(home: Path, prefix: str) -> None:
    """Remove what is ours, old, and has a lock that nobody holds."""
    for folder in home.glob(f"{prefix}*"):
        if folder.is_symlink():
            continue
        with suppress(OSError):
            status = folder.lstat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < YOUNG or not (folder / LOCK).is_file():
                continue
            lock = _lock(folder / LOCK)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _lock(file: Path) -> int | None:
    """A descriptor that holds the file's lock; None if another process does, or there are no locks here."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl  # here, so that what only reads runs works where there is none

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        os.close(descriptor)
        return None
    return descriptor
