"""Columns of Arrow tables as NumPy arrays, and back: numbers, codes of names, lists a ply laid end to end.

Whoever reads files of a run sees tables through these functions. Those that read load neither pandas, which Arrow's own
conversions of NumPy arrays do, nor pyarrow.compute, which takes a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from knights_isolation.isolation.rules.game import Size

Table: TypeAlias = pa.Table
"""An Arrow table: some columns of some rows of a file."""
ArrowColumn: TypeAlias = pa.Array | pa.ChunkedArray


def numbers(table: Table, name: str) -> NDArray[Any]:
    """Return a column of numbers or truth values; one of a single chunk is not copied."""
    return to_numpy(table[name])


def texts(table: Table, name: str) -> NDArray[np.str_]:
    """Return a column of texts."""
    return np.array(table[name].to_pylist(), str)


def codes(table: Table, name: str, words: Sequence[str]) -> NDArray[np.int64]:
    """Return the indices in `words` of the values of a column of names; −1 for others and for missing values."""
    index = {word: code for code, word in enumerate(words)}
    parts = []
    for chunk in table[name].chunks:
        of_dictionary = np.array([*(index.get(word, -1) for word in chunk.dictionary.to_pylist()), -1], np.int64)
        indices = chunk.indices.fill_null(-1) if chunk.null_count else chunk.indices
        parts.append(of_dictionary[to_numpy(indices)])
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def lists(table: Table, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the values of a column of lists, one list after another, and where each list starts and the last ends."""
    values, starts = [], [np.zeros(1, np.int64)]
    for chunk in filter(len, table[name].chunks):
        offsets = to_numpy(chunk.offsets).astype(np.int64)
        values.append(to_numpy(chunk.flatten()))
        starts.append(offsets[1:] - offsets[0] + starts[-1][-1])
    if len(values) == 1:
        return values[0], np.concatenate(starts)
    kind = table.schema.field(name).type.value_type.to_pandas_dtype()
    return np.concatenate(values) if values else np.empty(0, kind), np.concatenate(starts)


def lengths(table: Table, name: str) -> NDArray[np.int64]:
    """Return the length of each list of a column."""
    parts = [np.diff(to_numpy(chunk.offsets)).astype(np.int64) for chunk in table[name].chunks if len(chunk)]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def distinct(values: ArrowColumn | NDArray[Any]) -> tuple[NDArray[np.integer[Any]], NDArray[Any]]:
    """Return numbers from 0 for the distinct values, and these values.

    They are in order of appearance, but for names, whose dictionary may also have names that do not occur.
    """
    if isinstance(values, np.ndarray):
        values = pa.chunked_array([pa.array(values) if values.dtype == object else to_arrow(values)])
    coded = values.unify_dictionaries() if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    kinds = np.array(coded.chunk(0).dictionary.to_pylist() if coded.num_chunks else [])
    indices = [to_numpy(chunk.indices) for chunk in coded.chunks]
    return np.concatenate(indices) if indices else np.empty(0, np.int64), kinds


def where(table: Table, mask: NDArray[np.bool_]) -> Table:
    """Return the rows where the mask is true."""
    return table.filter(to_arrow(mask))


def on_board(table: Table, size: Size) -> Table:
    """Return the games of a log that were played on boards of a size."""
    return where(table, (numbers(table, "rows") == size.rows) & (numbers(table, "columns") == size.columns))


def take(table: Table, order: NDArray[np.integer[Any]]) -> Table:
    """Return the rows with these indices, in this order."""
    return table.take(to_arrow(order))


def among(table: Table, ids: NDArray[np.integer[Any]], name: str = "game_id") -> Table:
    """Return the rows of which a column, by default the game's id, is one of `ids`."""
    return where(table, np.isin(numbers(table, name), ids))


def with_columns(table: Table, columns: Mapping[str, NDArray[Any] | ArrowColumn]) -> Table:
    """Return a table with other columns in place of those of the same names, and new ones behind them."""
    arrow = {name: to_arrow(values) if isinstance(values, np.ndarray) else values for name, values in columns.items()}
    return pa.table({**dict(zip(table.column_names, table.columns, strict=True)), **arrow})


def with_plain_texts(table: Table) -> Table:
    """Return a table whose names are plain texts: dictionaries differ from file to file."""
    kinds = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True))))


def table_of(columns: Mapping[str, Any], schema: pa.Schema) -> Table:
    """Return a table with the columns of the schema: of its types, or in any form that Arrow converts to them."""

    def column(name: str) -> ArrowColumn:
        values = columns[name]
        is_arrow = isinstance(values, pa.Array | pa.ChunkedArray)  # converted anew, its names would be numbered anew
        return values if is_arrow else pa.array(values, schema.field(name).type)

    return pa.table([column(name) for name in schema.names], schema=schema)


def table_of_rows(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> Table:
    """Return a table of rows, given as a mapping from columns to values each."""
    return pa.Table.from_pylist(rows, schema)


def concatenate(tables: Iterable[Table], schema: pa.Schema) -> Table:
    """Return the rows of tables, one after another; a table of the schema without rows if there are none."""
    parts = list(tables)
    return pa.concat_tables(parts) if parts else schema.empty_table()


def to_numpy(values: ArrowColumn) -> NDArray[Any]:
    """Convert an array or a column to NumPy; a single numeric array without missing values is not copied."""
    if isinstance(values, pa.ChunkedArray):
        parts = [to_numpy(chunk) for chunk in values.chunks if len(chunk)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty(0, values.type.to_pandas_dtype())
    kind = values.type
    if pa.types.is_boolean(kind) and not values.null_count:
        return to_numpy(values.cast(pa.uint8())).view(np.bool_)
    is_plain = (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and not values.null_count
    array: NDArray[Any] = np.from_dlpack(values) if is_plain else values.to_numpy(zero_copy_only=False)
    return array


def to_arrow(values: NDArray[Any]) -> pa.Array:
    """Convert a NumPy array of numbers or truth values to an Arrow array."""
    if values.dtype == np.bool_:
        return to_arrow(values.view(np.uint8)).cast(pa.bool_())
    data = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(data.dtype), len(data), [None, pa.py_buffer(data)])


def to_lists(starts: NDArray[np.integer[Any]], values: NDArray[Any]) -> pa.ListArray:
    """Return a column of lists, given their values, one list after another, and where each starts and the last ends."""
    return pa.ListArray.from_arrays(to_arrow(starts.astype(np.int32)), to_arrow(values))


def to_names(codes: NDArray[np.integer[Any]], names: Sequence[str]) -> pa.DictionaryArray:
    """Return a column of names, given their indices in `names`."""
    builder = pa.lib.StringBuilder()
    builder.append_values(names)
    return pa.DictionaryArray.from_arrays(to_arrow(codes), builder.finish())
