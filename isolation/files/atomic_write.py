"""Atomic, durable file writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import IO


def write_atomic(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Have `write` fill a file; when this returns it is on the disk for good, and until then what was there stays.

    Meanwhile the file is called `.NAME.RANDOM`, beside its place: that is what kill -9 may leave behind. Threads and
    processes that write the same file do not mix; the last one's stays.

    Raises:
        OSError: the disk is full, or the folder cannot be written; there is no trace of the file.
        Exception: whatever `write` raises; there is no trace of the file either.
    """
    temporary = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def sweep(path: Path) -> None:
    """Remove what processes that were killed left of a file they were writing. Nobody may be writing it meanwhile."""
    for leftover in leftovers(path):
        with suppress(OSError):
            leftover.unlink()


def leftovers(path: Path) -> list[Path]:
    """What processes that write a file, or were killed while they wrote it, have beside it."""
    return list(path.parent.glob(f".{path.name}.????????"))


def make_folder(path: Path) -> None:
    """Make a folder, and those it lies in, unless they are there; when this returns they are on the disk for good.

    Raises:
        OSError: it cannot be made.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.is_dir()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        with suppress(PermissionError):  # one may be allowed to write where one may not read
            _sync_folder(folder.parent)


def write_text(path: Path, text: str) -> None:
    """Write a small file whole or not at all, in UTF-8; see `write_atomic`."""
    write_atomic(path, lambda file: file.write(text.encode()))


def _sync_folder(folder: Path) -> None:
    """A rename is on the disk once its folder is."""
    if os.name == "nt":  # where nobody can open a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
