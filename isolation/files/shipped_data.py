"""Shipped data files, verified against their checksums when read.

Every folder `data` has a file `SHA256SUMS`, in the format that `sha256sum` writes and checks, and a README with the
version of its tables and what makes them again.
"""

from __future__ import annotations

import errno
from hashlib import sha256
from pathlib import Path

from isolation.files.atomic_write import write_text

CHECKSUMS = "SHA256SUMS"


def read_shipped(path: Path) -> bytes:
    """Read a shipped table.

    Raises:
        OSError: it cannot be read, or its checksum is not the one beside it.
    """
    data = path.read_bytes()
    if _checksums(path.parent).get(path.name) != sha256(data).hexdigest():
        why = f"checksum mismatch with {CHECKSUMS}: the file was damaged or changed; reinstall the package"
        raise OSError(errno.EIO, why, str(path))
    return data


def write_shipped(path: Path, text: str) -> None:
    """Write a table, and its checksum beside it.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    write_text(path, text)
    checksums = {**_checksums(path.parent), path.name: sha256(text.encode()).hexdigest()}
    lines = (f"{checksum}  {name}\n" for name, checksum in sorted(checksums.items()))
    write_text(path.with_name(CHECKSUMS), "".join(lines))


def _checksums(folder: Path) -> dict[str, str]:
    """The checksums in a folder, by the names of its files; none if there is no such file."""
    path = folder / CHECKSUMS
    lines = path.read_bytes().decode(errors="replace").splitlines() if path.exists() else []
    pairs = (line.partition("  ") for line in lines)
    return {name: checksum for checksum, _, name in pairs}
