"""The columns that trees in memory are made of: they grow, and are known by their addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from isolation.native.decorators import inner
from isolation.native.kernels.workspace import pointer_to

uint8s_at = pointer_to(types.uint8)
int32s_at = pointer_to(types.int32)
int64s_at = pointer_to(types.int64)
float64s_at = pointer_to(types.float64)


@inner
def grown(column: Any) -> Any:
    """The same column with twice the room, in which nothing is written yet."""
    larger = np.empty(2 * len(column), column.dtype)
    for place in range(len(column)):
        larger[place] = column[place]
    return larger
