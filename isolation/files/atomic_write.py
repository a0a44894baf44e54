"""Atomic, durable file writes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Report a file or folder that cannot be written as a ValueError that names it."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"{path}: cannot write there: {error.strerror}") from None


def write_atomic(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically and durably; if this or `write` raises, no part of the file is left behind.

    The old contents remain until the new ones are complete, and these then survive a power cut. Meanwhile the new file
    is called `.NAME.RANDOM`, in the same folder; kill -9 may leave it behind. If threads or processes write the same
    file at once, their contents do not mix, and the last one wins.
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
    sync_folder(path.parent)


@contextmanager
def written_often(write: Callable[[], object], seconds: float = 5.0) -> Iterator[Callable[[], None]]:
    """Give a function that calls `write` if that was not called for so long; call it once more in the end.

    So little is lost with a process that is killed, and nothing to an exception or Ctrl-C.
    """
    last = time.monotonic()

    def look() -> None:
        nonlocal last
        if time.monotonic() - last > seconds:
            write()
            last = time.monotonic()

    try:
        yield look
    finally:
        write()


def sweep(path: Path) -> None:
    """Remove temporary files that killed processes have left of a file. No process may be writing it meanwhile."""
    for leftover in leftovers(path):
        with suppress(OSError):
            leftover.unlink()


def leftovers(path: Path) -> list[Path]:
    """Return the temporary files of a file, of processes that are writing it or were killed while writing."""
    return list(path.parent.glob(f".{path.name}.????????"))


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents durably; do nothing if it exists."""
    missing = [folder for folder in (path, *path.parents) if not folder.is_dir()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        with suppress(PermissionError):  # a folder may be writable but not readable
            sync_folder(folder.parent)


def write_text(path: Path, text: str) -> None:
    """Write a small text file atomically, in UTF-8; see `write_atomic`."""
    write_atomic(path, lambda file: file.write(text.encode()))


def check_output(path: Path, suffixes: Sequence[str] = (), *, makes_folders: bool = False) -> None:
    """Raise ValueError if a file, or with `makes_folders` a folder, cannot be written or has none of the suffixes.

    To be called before what it will hold is computed.
    """
    if path.is_dir() and not makes_folders:
        raise ValueError(f"{path} is a directory: name a file")
    if suffixes and path.suffix not in suffixes:
        raise ValueError(f"{path}: unknown format {path.suffix!r}: use {' or '.join(suffixes)}")
    folder = path.parent
    while makes_folders and not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such directory")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ValueError(f"{path}: cannot write there: permission denied")


def write_new(path: Path, pieces: Iterable[str]) -> None:
    """Write the pieces of a text into a file; raise ValueError if it exists."""
    try:
        with path.open("x", encoding="utf-8") as new:
            new.writelines(pieces)
    except FileExistsError:
        raise ValueError(f"{path} already exists: choose another name, or remove it") from None


def sync_folder(folder: Path) -> None:
    """Sync a folder, which makes renames in it durable."""
    if os.name == "nt":  # folders cannot be opened on Windows
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
