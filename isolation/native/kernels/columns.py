"""The columns that trees in memory are made of: they grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from isolation.native.kernels.inner import inner


@inner
def grown(column: Any) -> Any:
    """The same column with twice the room."""
    larger = np.zeros(2 * len(column), column.dtype)
    larger[: len(column)] = column
    return larger
