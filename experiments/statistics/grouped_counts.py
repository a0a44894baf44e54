"""Grouped counts that can be merged chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..inference.argument_checks import Ints


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """Columns of equal length: `keys`, by which rows are distinct and sorted lexicographically, and their `counts`."""

    keys: tuple[npt.NDArray[Any], ...]
    counts: tuple[Ints, ...]


def count_groups(keys: Sequence[npt.NDArray[Any]], counts: Sequence[Ints]) -> GroupedCounts:
    """Sum the rows of equal keys."""
    order = np.lexsort(keys[::-1])
    ordered = [key[order] for key in keys]
    is_new = np.zeros(order.size, bool)
    is_new[:1] = True
    for key in ordered:
        is_new[1:] |= key[1:] != key[:-1]
    starts = np.flatnonzero(is_new)
    sums = (np.add.reduceat(count[order], starts) if starts.size else count for count in counts)
    return GroupedCounts(tuple(key[starts] for key in ordered), tuple(sums))


def merge_counts(parts: Iterable[GroupedCounts], nothing: GroupedCounts) -> GroupedCounts:
    """Merge the rows of all parts; `nothing` is a part without rows.

    Parts of similar size are merged first, so that a row is sorted only a few times however many parts there are.
    """
    waiting = [nothing]
    for part in parts:
        waiting.append(part)
        while len(waiting) > 1 and waiting[-2].counts[0].size <= 2 * waiting[-1].counts[0].size:
            waiting[-2:] = [_joined(waiting[-2:])]
    return _joined(waiting)


def _joined(parts: Sequence[GroupedCounts]) -> GroupedCounts:
    if len(parts) == 1:
        return parts[0]
    keys = [np.concatenate(columns) for columns in zip(*(part.keys for part in parts), strict=True)]
    return count_groups(
        keys, [np.concatenate(columns) for columns in zip(*(part.counts for part in parts), strict=True)]
    )
