"""Arrow/NumPy conversion without pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def to_numpy(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
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
    array: npt.NDArray[Any] = np.from_dlpack(values) if is_plain else values.to_numpy(zero_copy_only=False)
    return array


def to_arrow(values: npt.NDArray[Any]) -> pa.Array:
    """Convert a NumPy array of numbers or truth values to an Arrow array."""
    if values.dtype == np.bool_:
        return to_arrow(values.view(np.uint8)).cast(pa.bool_())
    data = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(data.dtype), len(data), [None, pa.py_buffer(data)])


def to_names(codes: npt.NDArray[np.int16], names: Sequence[str]) -> pa.DictionaryArray:
    """Return a dictionary column of names, given their indices in `names`."""
    builder = pa.lib.StringBuilder()
    builder.append_values(names)
    return pa.DictionaryArray.from_arrays(to_arrow(codes), builder.finish())
