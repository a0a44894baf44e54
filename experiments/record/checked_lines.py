"""Append-only records of checksummed JSON, a line each, written under a lock.

A record's first key marks it as sealed, and its last is a CRC-32 of all bytes before that key. Lines with neither key,
from older versions or other programs, are read without verification. A last line that a kill or a power cut left
incomplete is skipped by readers, and removed by the next writer.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from knights_isolation.isolation.files.received import DamagedFileError

from .checked_json import CHECKSUM, SEALED

_START = f'{{"{SEALED}": true'.encode()
_END = re.compile(rf', "{CHECKSUM}": "([0-9a-f]{{8}})"\}}'.encode())


T = TypeVar("T")


@dataclass(frozen=True)
class Lines:
    """The records of a file by line number, without their checksums, and the numbers of damaged lines.

    `unsealed` lines have no checksum, being of older versions. `is_torn`: the last line is incomplete, as after a kill.
    """

    records: dict[int, dict[str, Any]]
    damaged: list[int]
    unsealed: int
    is_torn: bool


def append_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Append records, after those of other processes that write at the same time; durable on return.

    If OSError is raised, as when the disk is full, nothing of them is left.
    """
    lines = b"".join(map(_sealed, records))
    if not lines:
        return
    import fcntl  # here, so that records can be read on systems without it

    from knights_isolation.isolation.files.atomic_write import make_folder, sync_folder  # and without what writes

    make_folder(path.parent)
    with path.open("ab+", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        if file.read(1) not in (b"", b"\n"):
            tail = path.read_bytes().rpartition(b"\n")[2]
            end, lines = (end - len(tail), lines) if _is_torn(tail) else (end, b"\n" + lines)
            file.truncate(end)
        try:
            written = 0
            while written < len(lines):
                written += file.write(lines[written:])
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise
    if not end:
        sync_folder(path.parent)


def read_lines(path: Path, read: Callable[[dict[str, Any]], T], remedy: str) -> list[T]:
    """Return what `read` makes of the records, the oldest first; nothing if there is no file.

    DamagedFileError names a line that was damaged or edited, and the `remedy`.
    """
    try:
        lines = inspect_lines(path)
    except FileNotFoundError:
        return []
    return _read_all(path, lines, read, remedy)


def open_journal(path: Path, question: Mapping[str, Any], read: Callable[[dict[str, Any]], T]) -> list[T]:
    """Return what `read` makes of the records of a journal, whose first line is the question that they belong to.

    If there is none, begin it. Raises ValueError if it belongs to another question or is damaged.
    """
    if not path.exists() or _sealed(question)[:-2].startswith(path.read_bytes()):  # its first line is incomplete
        append_lines(path, [question])
        return []
    lines = inspect_lines(path)
    remedy = "restore the file from a backup, or delete the line and rerun, which repeats only what it recorded"
    if lines.damaged and 1 not in lines.records:
        return _read_all(path, lines, read, "restore the file from a backup, or choose another --out")
    first, expected = lines.records.pop(1, {}), json.loads(json.dumps(question))
    differing = sorted(key for key in {**expected, **first} if first.get(key) != expected.get(key))
    if differing:
        raise ValueError(f"{path} has other settings ({', '.join(differing)}): choose another --out, or remove it")
    return _read_all(path, lines, read, remedy)


def inspect_lines(path: Path) -> Lines:
    """Read a file of records, whatever is damaged in it."""
    *lines, tail = path.read_bytes().split(b"\n")
    is_torn = _is_torn(tail)
    records: dict[int, dict[str, Any]] = {}
    damaged, unsealed = [], 0
    for number, line in enumerate(lines if is_torn else [*lines, tail], start=1):
        if not line.strip():
            continue
        try:
            record = _unsealed(line)
        except (ValueError, RecursionError):
            damaged.append(number)
            continue
        unsealed += SEALED not in record
        records[number] = {key: value for key, value in record.items() if key not in (SEALED, CHECKSUM)}
    return Lines(records, damaged, unsealed, is_torn)


def _read_all(path: Path, lines: Lines, read: Callable[[dict[str, Any]], T], remedy: str) -> list[T]:
    values, damaged = [], list(lines.damaged)
    for number, record in lines.records.items():
        try:
            values.append(read(record))
        except (ValueError, TypeError, KeyError):  # of an older version: a line with a checksum is as it was written
            damaged.append(number)
    if damaged:
        others = f" and {len(damaged) - 1} others" if damaged[1:] else ""
        raise DamagedFileError(f"{path}, line {min(damaged)}{others}: damaged or edited by hand; {remedy}")
    return values


def _sealed(record: Mapping[str, Any]) -> bytes:
    text = json.dumps({SEALED: True, **record}, ensure_ascii=False).encode()[:-1]
    return text + f', "{CHECKSUM}": "{zlib.crc32(text):08x}"}}\n'.encode()


def _unsealed(line: bytes) -> dict[str, Any]:
    """Return the object of a line, with its checksum if it has one; ValueError if it is damaged, or none."""
    size = len(f', "{CHECKSUM}": "01234567"}}')
    end = _END.fullmatch(line[-size:])
    # Both ends mark a sealed line: a character changed in one of them cannot make it look unsealed.
    if (end or line.startswith(_START)) and not (end and zlib.crc32(line[:-size]) == int(end[1], 16)):
        raise ValueError("checksum mismatch")
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError("no object")
    return record


def _is_torn(tail: bytes) -> bool:
    """Return whether what follows the last line break is the beginning of a record."""
    try:
        json.JSONDecoder().raw_decode(tail.decode(errors="replace"))
    except (ValueError, RecursionError):
        return bool(tail)
    return False
