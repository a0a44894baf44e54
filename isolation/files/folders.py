"""Folders: temporary ones, of which those of killed processes are removed later; and the files of a git commit."""

from __future__ import annotations

import atexit
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .atomic_write import make_folder

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


@dataclass(frozen=True)
class Revision:
    """A commit of a repository, given by its top folder: the user's name for it, and its hash, shortened by git."""

    repository: Path
    name: str
    commit: str

    def unpack(self, home: Path) -> Path:
        """Return a folder below `home` with the files of the commit, laid out as in the repository; it is kept."""
        folder = home / self.commit
        if not folder.exists():
            make_folder(home)
            packed = _git(self.repository, "archive", "--format=tar", self.commit)
            with tempfile.TemporaryDirectory(dir=home) as new, tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(new, filter="data")
                Path(new).rename(folder)
                Path(new).mkdir()  # which is removed now
        return folder


def revision_named(name: str, file: Path) -> Revision:
    """Return the commit called `name` of the repository that a file is in.

    Raises:
        ValueError: the file is in no repository, it has no such commit, or git is missing.
    """
    repository = Path(_text(file.resolve().parent, "rev-parse", "--show-toplevel"))
    try:
        commit = _text(repository, "rev-parse", "--short", "--verify", "--end-of-options", f"{name}^{{commit}}")
    except ValueError:
        raise ValueError(f"{repository} has no commit called {name}: fetch it, or name another one") from None
    return Revision(repository, name, commit)


def _text(folder: Path, *words: str) -> str:
    return _git(folder, *words).decode().strip()


def _git(folder: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    except FileNotFoundError:
        raise ValueError("git is not installed, which compares commits") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise ValueError(f"{folder}: {said[-1] if said else f'git ended with code {done.returncode}'}")
    return done.stdout
