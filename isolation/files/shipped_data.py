"""Shipped data files, verified against their checksums when read.

Every folder `data` has a file `SHA256SUMS`, in the format of `sha256sum`, and a README with the version of its tables
and the commands that generate them.
"""

from __future__ import annotations

import errno
from hashlib import sha256
from pathlib import Path

from .atomic_write import write_atomic, write_text

CHECKSUMS = "SHA256SUMS"


def read_shipped(path: Path) -> bytes:
    """Read a shipped table and verify its checksum.

    Raises:
        OSError: the file cannot be read, or its checksum is wrong.
    """
    data = path.read_bytes()
    if _checksums(path.parent).get(path.name) != sha256(data).hexdigest():
        why = f"checksum mismatch with {CHECKSUMS}: the file was damaged or changed; reinstall the package"
        raise OSError(errno.EIO, why, str(path))
    return data


def write_shipped(path: Path, contents: str | bytes) -> None:
    """Write a table, and update its checksum.

    Raises:
        OSError: the disk is full, or the folder is not writable.
    """
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
