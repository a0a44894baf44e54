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
"""Name of the file in a folder that its owner keeps locked while it runs."""
YOUNG = 60.0
"""Seconds for which a new folder is not removed, since its owner may not have locked it yet."""


@dataclass(frozen=True)
class TemporaryFolder:
    """A folder and the function that removes it; it is also removed when the process ends."""

    path: Path
    remove: Callable[[], None]


def temporary_folder(kind: str) -> TemporaryFolder:
    """Create a folder `isolation-KIND-*`, and remove those left by killed processes of the same user.

    The owner holds a lock, which is released however the process ends.
    """
    prefix = f"isolation-{kind}-"
    _sweep(Path(tempfile.gettempdir()), prefix)
    path = Path(tempfile.mkdtemp(prefix=prefix))
    lock = _lock(path / LOCK)
    maker = os.getpid()

    def remove() -> None:
        if os.getpid() == maker:  # not in a forked child
            atexit.unregister(remove)
            shutil.rmtree(path, ignore_errors=True)
            if lock is not None:
                os.close(lock)

    atexit.register(remove)
    return TemporaryFolder(path, remove)


def _sweep(home: Path, prefix: str) -> None:
    """Remove old folders of this user whose lock is not held."""
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
    """Lock a file and return its descriptor; None if another process holds the lock, or locks are not supported."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl  # here, so that reading runs works on platforms without it

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        os.close(descriptor)
        return None
    return descriptor
