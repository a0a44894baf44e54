"""Tables of their own, such as labels and solved openings, as Parquet files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from isolation.durable import write_whole


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write a table, its folder with it; when this returns it is on the disk for good, and until then nothing changes.

    Raises:
        ValueError: it cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda file: pq.write_table(table, file, compression="zstd"))
    except OSError as error:
        raise ValueError(f"{path}: cannot write there: {error.strerror}") from None
