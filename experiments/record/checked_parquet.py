"""Checksummed Parquet files, written atomically.

The format has page checksums, which are written for other readers, but none for the metadata that locate and describe
the pages. Therefore a seal is placed between the pages and the footer, where other readers ignore it: `SEAL`, the
CRC-32 of everything before it, and the CRC-32 of everything after it. The file's metadata state that it exists. Reading
columns verifies both checksums, which takes a second for some gigabytes; counting rows verifies the second one. Files
without a seal, from older versions or other programs, are read without verification. Functions that read raise
FileNotFoundError if there is no such file, and DamagedFileError if it is damaged or contains something else.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from knights_isolation.isolation.files.received import DamagedFileError

from .schema import lift

SEAL = b"ISOLATION"
_SEALED = b"sealed by"
_TAIL = 8
"""Number of bytes after the footer: its length, and `_MAGIC`."""
_MAGIC = b"PAR1"
_CHECKSUM = 4
"""Bytes per checksum."""
_SEAL_BYTES = len(SEAL) + 2 * _CHECKSUM


def save_table(path: Path, table: pa.Table | bytes, level: int | None = None) -> None:
    """Write a table, or the output of `encode_checked`, compressed by zstd: on return it is synced to the disk.

    Raises OSError if the disk is full, or the folder cannot be written.
    """
    from knights_isolation.isolation.files.atomic_write import write_atomic  # here, since reading needs none of it

    data = table if isinstance(table, bytes) else encode_checked(table, level)
    write_atomic(path, lambda file: file.write(data))


def encode_checked(table: pa.Table, level: int | None = None) -> bytes:
    """Encode a table as the file that `save_table` writes."""
    sink = pa.BufferOutputStream()
    described = table.replace_schema_metadata({**(table.schema.metadata or {}), _SEALED: SEAL})
    pq.write_table(described, sink, compression="zstd", compression_level=level, write_page_checksum=True)
    data = sink.getvalue().to_pybytes()
    start = len(data) - _TAIL - int.from_bytes(data[-_TAIL : -len(_MAGIC)], "little")
    pages, footer = data[:start], data[start:]
    return b"".join((pages, SEAL, _checksum(pages), _checksum(footer), footer))


def write_parquet(path: Path, table: pa.Table, level: int | None = None) -> None:
    """Call `save_table` after creating the parent folder; raise ValueError if that is impossible."""
    from knights_isolation.isolation.files.atomic_write import make_folder, writing_to

    with writing_to(path):
        make_folder(path.parent)
        save_table(path, table, level)


def read_parquet(path: Path, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a table with the columns of `schema`, or with some of them; its metadata are the file's."""
    wanted = schema.names if columns is None else list(columns)
    with _opened(path, schema) as parquet:
        return lift(parquet.read(columns=wanted).select(wanted), schema)


def read_batches(path: Path, schema: pa.Schema, columns: Sequence[str], rows: int) -> Iterator[pa.Table]:
    """Yield some columns in batches of `rows` rows; the memory of one batch is reused, which saves allocating it."""
    with _opened(path, schema) as parquet:
        for batch in parquet.iter_batches(rows, columns=list(columns), use_threads=False):
            yield lift(pa.Table.from_batches([batch]).select(columns), schema)


@contextmanager
def _opened(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetFile]:
    data = _bytes_of(path)
    with _told_of(path):
        end = _checked_end(pa.BufferReader(data))
        if end and _checksum(memoryview(data)[: len(data) - len(end)]) != end[len(SEAL) : len(SEAL) + _CHECKSUM]:
            raise pa.ArrowInvalid("checksum mismatch in its pages")
        with pq.ParquetFile(pa.BufferReader(data)) as parquet:
            missing = [name for name in schema.names if name not in parquet.schema_arrow.names]
            if missing:
                raise pa.ArrowInvalid(f"it has no column {missing[0]}")
            yield parquet


def _bytes_of(path: Path) -> pa.Buffer:
    # Memory owned by Python would be released by the last Arrow thread that uses it, perhaps while the program ends. A
    # thread that requests Python's lock then aborts it with "terminate called without an active exception"
    # (https://github.com/apache/arrow/issues/34314).
    with path.open("rb") as file:
        data = pa.allocate_buffer(os.fstat(file.fileno()).st_size)
        return data.slice(0, file.readinto(memoryview(data)))


def count_rows(path: Path) -> int:
    """Count the rows of a file, from its footer."""
    with path.open("rb") as file, _told_of(path):
        _checked_end(file)
        return int(pq.read_metadata(file).num_rows)


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        why = str(error).partition("\n")[0].rstrip(".")
        raise DamagedFileError(f"{path} is damaged or not a log file: {why}") from None


def _checked_end(file: IO[bytes]) -> bytes:
    """Return the seal, if there is one, and the footer, which ends the file; empty if the file is not sealed."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _TAIL, 0))
    tail = file.read()
    before = size - _TAIL - int.from_bytes(tail[: -len(_MAGIC)], "little") - _SEAL_BYTES
    if tail[-len(_MAGIC) :] != _MAGIC or before < 0:
        raise pa.ArrowInvalid("not a complete Parquet file")
    file.seek(before)
    end = file.read()
    footer = end[_SEAL_BYTES:]
    # Both places mark a sealed file: a bit flipped in one of them cannot make it look unsealed.
    is_whole = end.startswith(SEAL) and _checksum(footer) == end[_SEAL_BYTES - _CHECKSUM : _SEAL_BYTES]
    if not is_whole and (end.startswith(SEAL) or _SEALED in footer):
        raise pa.ArrowInvalid("checksum mismatch in its footer")
    return end if is_whole else b""


def _checksum(data: bytes | memoryview) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "little")
