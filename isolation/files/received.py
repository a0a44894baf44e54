"""Folders that others may have filled: links, pipes and devices in them are neither followed nor opened."""

from __future__ import annotations

import os
import stat
from pathlib import Path

LARGEST_TEXT = 1 << 26
"""Largest text that is read as a whole, in bytes: a sparse file takes no place on the disk, but all of the memory."""


def strange_entry(folder: Path) -> str:
    """Return the first entry below a folder that is neither file nor folder, or cannot be listed; empty if none is."""
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif not entry.is_file(follow_symlinks=False):
                        return os.path.relpath(entry.path, folder)
        except FileNotFoundError:  # removed meanwhile
            continue
        except OSError as error:
            return os.path.relpath(error.filename, folder)
    return ""


def read_plain(path: Path) -> str:
    """Return the text of a file in UTF-8.

    Raises:
        OSError: there is none, or it is a link, a pipe or a device.
        ValueError: it is not UTF-8, or too large.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is not a file")
        check_size(file.fileno())
        return file.read(LARGEST_TEXT).decode()


def check_size(file: Path | int) -> None:
    """Check that a file, or a descriptor's, has at most `LARGEST_TEXT` bytes.

    Raises:
        OSError: there is no such file.
        ValueError: it is larger.
    """
    if (size := os.stat(file).st_size) > LARGEST_TEXT:
        raise ValueError(f"too large: {size:,} bytes, at most {LARGEST_TEXT:,} are read")
