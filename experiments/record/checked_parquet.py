"""Checksummed Parquet files, written atomically.

The format has checksums of pages, which we write for other readers, and none for what says where and what the pages
are. So a seal of ours stands between the pages and the footer, where other readers do not look: `SEAL`, the CRC-32 of
all that comes before it, and the CRC-32 of all that comes behind; the file's metadata say that it is there. Whoever
reads columns verifies both, which takes a second for some gigabytes, and whoever counts rows the second one. Files
without a seal, from before there was one or written by others, are read as they are.
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

from isolation.files.atomic_write import make_folder, write_atomic

SEAL = b"ISOLATION"
_SEALED = b"sealed by"
_TAIL = 8
"""Bytes behind the footer: its length, and `_MAGIC`."""
_MAGIC = b"PAR1"
_CHECKSUM = 4
"""Bytes of each checksum."""
_SEAL_BYTES = len(SEAL) + 2 * _CHECKSUM


class DamagedFileError(ValueError):
    """A file is not what was written."""


def save_table(path: Path, table: pa.Table, level: int | None = None) -> None:
    """Write a table, compressed by zstd; when this returns it is on the disk for good, and until then nothing changes.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    save_sealed(path, encode_checked(table, level))


def save_sealed(path: Path, data: bytes) -> None:
    """Write what `encode_checked` made, here or on another machine; see `save_table`.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    write_atomic(path, lambda file: file.write(data))


def encode_checked(table: pa.Table, level: int | None = None) -> bytes:
    """A table as the file that `save_table` writes."""
    sink = pa.BufferOutputStream()
    described = table.replace_schema_metadata({**(table.schema.metadata or {}), _SEALED: SEAL})
    pq.write_table(described, sink, compression="zstd", compression_level=level, write_page_checksum=True)
    data = sink.getvalue().to_pybytes()
    start = len(data) - _TAIL - int.from_bytes(data[-_TAIL : -len(_MAGIC)], "little")
    pages, footer = data[:start], data[start:]
    return b"".join((pages, SEAL, _checksum(pages), _checksum(footer), footer))


def write_parquet(path: Path, table: pa.Table, level: int | None = None) -> None:
    """`save_table`, with the folder the file lies in.

    Raises:
        ValueError: it cannot be written there.
    """
    try:
        make_folder(path.parent)
        save_table(path, table, level)
    except OSError as error:
        raise ValueError(f"{path}: cannot write there: {error.strerror}") from None


def read_parquet(path: Path, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """A table with the columns of `schema`, or with some of them; its metadata are the file's.

    Raises:
        FileNotFoundError: there is no such file.
        DamagedFileError: it is damaged, or holds something else.
    """
    wanted = schema.names if columns is None else list(columns)
    with _opened(path, schema) as parquet:
        return _as_in(schema, parquet.read(columns=wanted).select(wanted))


def read_batches(path: Path, schema: pa.Schema, columns: Sequence[str], rows: int) -> Iterator[pa.Table]:
    """The same, of some columns and so many rows at a time: memory for a few serves for all, and is quicker to come by.

    Raises:
        FileNotFoundError: there is no such file.
        DamagedFileError: it is damaged, or holds something else.
    """
    with _opened(path, schema) as parquet:
        for batch in parquet.iter_batches(rows, columns=list(columns), use_threads=False):
            yield _as_in(schema, pa.Table.from_batches([batch]).select(columns))


@contextmanager
def _opened(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetFile]:
    """The file, found to be whole and to have the columns of `schema`."""
    data = _bytes_of(path)
    with _told_of(path):
        _check_pages(data, _checked_end(pa.BufferReader(data)))
        with pq.ParquetFile(pa.BufferReader(data)) as parquet:
            missing = [name for name in schema.names if name not in parquet.schema_arrow.names]
            if missing:
                raise pa.ArrowInvalid(f"it has no column {missing[0]}")
            yield parquet


def _bytes_of(path: Path) -> pa.Buffer:
    """The bytes of a file, in memory of Arrow's.

    Python's would be given back by whichever thread of Arrow's is done with them last, perhaps while the program ends;
    a thread that asks for Python's lock then ends it with "terminate called without an active exception"
    (https://github.com/apache/arrow/issues/34314).
    """
    with path.open("rb") as file:
        data = pa.allocate_buffer(os.fstat(file.fileno()).st_size)
        return data.slice(0, file.readinto(memoryview(data)))


def _as_in(schema: pa.Schema, table: pa.Table) -> pa.Table:
    fields = pa.schema([schema.field(name) for name in table.column_names], table.schema.metadata)
    return table if table.schema.equals(fields) else table.cast(fields)


def count_rows(path: Path) -> int:
    """How many rows a file has, by its footer.

    Raises:
        FileNotFoundError: there is no such file.
        DamagedFileError: its footer is damaged.
    """
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
    """The seal, if there is one, and the footer, which ends the file; empty if the file is not sealed."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _TAIL, 0))
    tail = file.read()
    before = size - _TAIL - int.from_bytes(tail[: -len(_MAGIC)], "little") - _SEAL_BYTES
    if tail[-len(_MAGIC) :] != _MAGIC or before < 0:
        raise pa.ArrowInvalid("not a complete Parquet file")
    file.seek(before)
    end = file.read()
    footer = end[_SEAL_BYTES:]
    # The two places that say so keep each other: a bit flipped in one does not unseal a file.
    is_whole = end.startswith(SEAL) and _checksum(footer) == end[_SEAL_BYTES - _CHECKSUM : _SEAL_BYTES]
    if not is_whole and (end.startswith(SEAL) or _SEALED in footer):
        raise pa.ArrowInvalid("checksum mismatch in its footer")
    return end if is_whole else b""


def _check_pages(data: bytes | pa.Buffer, end: bytes) -> None:
    if end and _checksum(memoryview(data)[: len(data) - len(end)]) != end[len(SEAL) : len(SEAL) + _CHECKSUM]:
        raise pa.ArrowInvalid("checksum mismatch in its pages")


def _checksum(data: bytes | memoryview) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "little")
