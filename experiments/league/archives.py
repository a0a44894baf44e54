"""Unpack submissions that were handed in as archives, within limits."""

from __future__ import annotations

import gzip
import re
import shutil
import stat
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from zipfile import ZipFile, ZipInfo

from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.isolation.usercode.user_exceptions import to_one_line

LARGEST_ARCHIVE = 20_000_000
"""Maximum size of an archive in bytes."""
LARGEST_CONTENT = 100_000_000
"""Maximum total size of its files in bytes; opening books of the third edition have tens of millions."""
MOST_MEMBERS = 2_000
"""Maximum number of files and folders in an archive."""
DEEPEST_MEMBER = 10
"""Maximum folder depth in an archive."""

_SUFFIX = re.compile(r"\.(zip|tar|tar\.gz|tgz)$", re.IGNORECASE)
_FOREIGN = re.compile(r"\.(7z|rar|gz|bz2|xz|tbz2?|txz|zst|lz|cab|arj)$", re.IGNORECASE)
_ASK = "ask for another archive"
_TRY_BY_HAND = f"unpack it by hand, or {_ASK}"
_MARK = "archive.sha256"

_Member = tuple[str, int, Callable[[], bytes]]
"""A file in an archive: its path, its size, and the function that reads it."""


class ArchiveError(ValueError):
    """An archive cannot be unpacked; the message contains the reason and the remedy."""


def stem_of(name: str) -> str:
    """Return an archive's name without its suffix; empty if it is no supported archive.

    >>> stem_of("ada.tar.gz"), stem_of("ben.ZIP"), stem_of("cleo.rar"), stem_of("dan")
    ('ada', 'ben', '', '')
    """
    return _SUFFIX.sub("", name) if _SUFFIX.search(name) else ""


def is_foreign(name: str) -> bool:
    """Return whether a file has the name of an unsupported kind of archive."""
    return bool(_FOREIGN.search(name)) and not stem_of(name)


def unpack(archive: Path) -> Path:
    """Unpack an archive into a folder in the cache and return that folder, the same for the same archive path.

    Nothing is written outside that folder. An archive is refused if it exceeds the limits or contains a link, a device,
    or a path that is absolute or leads upwards, which is stricter than the filter "data" of `tarfile`.

    Raises:
        ArchiveError: the archive is refused or damaged.
    """
    data = _content(archive)
    home = code_cache.folder() / "submissions" / sha256(str(archive.absolute()).encode()).hexdigest()[:16]
    digest = sha256(data).hexdigest()
    files, mark = home / "files", home / _MARK
    with suppress(OSError):
        if files.is_dir() and mark.read_text(encoding="utf-8") == digest:
            return files
    fresh = home / f"new-{token_hex(4)}"
    try:
        fresh.mkdir(parents=True)
        _extract(_zip_members(data) if archive.name.lower().endswith(".zip") else _tar_members(data), fresh)
        mark.unlink(missing_ok=True)
        shutil.rmtree(files, ignore_errors=True)
        fresh.rename(files)
        write_text(mark, digest)
    except ArchiveError:
        raise
    except Exception as error:  # readers raise various exceptions on damaged or forged archives
        why = to_one_line(error.strerror if isinstance(error, OSError) and error.strerror else error)
        raise ArchiveError(f"cannot be unpacked ({why or type(error).__name__}): {_TRY_BY_HAND}") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return files


def _content(archive: Path) -> bytes:
    """Return the contents of an archive; a compressed tar is decompressed, so that reading it takes bounded memory."""
    try:
        if archive.stat().st_size > LARGEST_ARCHIVE:
            raise ArchiveError(f"is larger than {LARGEST_ARCHIVE:,} bytes: {_ASK}")
        if not archive.name.lower().endswith(("gz", "tgz")):
            return archive.read_bytes()
        with gzip.open(archive) as stream:
            data = stream.read(LARGEST_CONTENT + 1)
    except (OSError, EOFError, ValueError) as error:
        if isinstance(error, ArchiveError):
            raise
        raise ArchiveError(f"cannot be read ({to_one_line(error)}): {_TRY_BY_HAND}") from None
    if len(data) > LARGEST_CONTENT:
        raise ArchiveError(f"holds more than {LARGEST_CONTENT:,} bytes: {_ASK}")
    return data


def _extract(members: Iterator[_Member], folder: Path) -> None:
    total = 0
    for number, (name, size, read) in enumerate(members, start=1):
        path = folder.joinpath(*_parts(name))
        total += size
        if number > MOST_MEMBERS:
            raise ArchiveError(f"holds more than {MOST_MEMBERS:,} files and folders: {_ASK}")
        if total > LARGEST_CONTENT:
            raise ArchiveError(f"holds more than {LARGEST_CONTENT:,} bytes: {_ASK}")
        if not name.endswith("/"):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(read())


def _parts(name: str) -> tuple[str, ...]:
    """Return the parts of a member's path."""
    # Raises ArchiveError if the path leads out of the archive, or is too deep.
    plain = name.replace("\\", "/")
    parts = tuple(part for part in plain.split("/") if part not in ("", "."))
    if plain.startswith("/") or re.match(r"[A-Za-z]:", plain) or ".." in parts:
        raise ArchiveError(f"holds the path {to_one_line(name)}, which leads out of it: {_ASK}")
    if len(parts) > DEEPEST_MEMBER:
        raise ArchiveError(f"holds folders more than {DEEPEST_MEMBER} deep: {_ASK}")
    return parts


def _zip_members(data: bytes) -> Iterator[_Member]:
    with ZipFile(BytesIO(data)) as archive:
        for info in archive.infolist():
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _special(info.filename)
            if info.flag_bits & 1:
                raise ArchiveError(f"is encrypted: {_TRY_BY_HAND}")
            yield info.filename, info.file_size, partial(_read_zipped, archive, info)


def _read_zipped(archive: ZipFile, info: ZipInfo) -> bytes:
    """Read a file of an archive, up to the size in its table of contents, whatever its data expands to."""
    with archive.open(info) as file:
        return file.read(info.file_size)


def _tar_members(data: bytes) -> Iterator[_Member]:
    with tarfile.open(fileobj=BytesIO(data), mode="r:") as archive:
        for member in archive:
            if not (member.isreg() or member.isdir()):
                raise _special(member.name)
            yield member.name + "/" * member.isdir(), member.size, partial(_read_tarred, archive, member)


def _read_tarred(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return file.read() if file else b""


def _special(name: str) -> ArchiveError:
    return ArchiveError(f"holds {to_one_line(name)}, a link or a device: {_ASK}")


def check_folder(path: Path) -> None:
    """Raise an error if a path is not a folder of submissions; explain what to do with archives.

    Raises:
        ValueError: it is none.
    """
    if path.is_dir():
        return
    if path.exists():
        is_archive = stem_of(path.name) or is_foreign(path.name)
        raise ValueError(
            f"{path} is {'an archive: unpack it' if is_archive else 'a file'}; name a folder of submissions"
        )
    archive = next((other for other in sorted(path.parent.glob("*")) if stem_of(other.name) == path.name), None)
    raise ValueError(f"{path}: no such directory" + (f"; there is {archive}: unpack it" if archive else ""))
