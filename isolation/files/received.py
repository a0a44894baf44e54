"""Files that are not taken on trust.

In folders that others may have filled, links, pipes and devices are neither followed nor opened. Shipped data are
verified against their checksums: every folder `data` has a file `SHA256SUMS`, in the format of `sha256sum`, and a
README with the version of its tables and the commands that generate them.
"""

from __future__ import annotations

import errno
import os
import stat
from hashlib import sha256
from pathlib import Path

LARGEST_TEXT = 1 << 26
"""Largest text that is read as a whole, in bytes: a sparse file takes no place on the disk, but all of the memory."""


class DamagedFileError(ValueError):
    """A file's contents differ from what was written."""


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
    """Raise ValueError if a file, or a descriptor's, has more than `LARGEST_TEXT` bytes."""
    if (size := os.stat(file).st_size) > LARGEST_TEXT:
        raise ValueError(f"too large: {size:,} bytes, at most {LARGEST_TEXT:,} are read")


CHECKSUMS = "SHA256SUMS"


def read_shipped(path: Path) -> bytes:
    """Read a shipped table; raise OSError if it cannot be read, or its checksum is wrong."""
    data = path.read_bytes()
    if _checksums(path.parent).get(path.name) != sha256(data).hexdigest():
        why = f"checksum mismatch with {CHECKSUMS}: the file was damaged or changed; reinstall the package"
        raise OSError(errno.EIO, why, str(path))
    return data


def write_shipped(path: Path, contents: str | bytes) -> None:
    """Write a table, and update its checksum."""
    from .atomic_write import write_atomic, write_text  # here, since reading needs none of it

    data = contents.encode() if isinstance(contents, str) else contents
    write_atomic(path, lambda file: file.write(data))
    checksums = {**_checksums(path.parent), path.name: sha256(data).hexdigest()}
    lines = (f"{checksum}  {name}\n" for name, checksum in sorted(checksums.items()))
    write_text(path.with_name(CHECKSUMS), "".join(lines))


def _checksums(folder: Path) -> dict[str, str]:
    """Return the checksums of a folder by file name; empty if there is no `SHA256SUMS`."""
    path = folder / CHECKSUMS
    lines = path.read_bytes().decode(errors="replace").splitlines() if path.exists() else []
    pairs = (line.partition("  ") for line in lines)
    return {name: checksum for checksum, _, name in pairs}
