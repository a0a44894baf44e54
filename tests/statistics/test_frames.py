"""Grouped counts, added up batch by batch, equal those counted at once."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation.experiments.statistics.move_statistics import GroupedCounts, count_groups, merge_counts

ROWS = st.lists(st.tuples(st.integers(-2, 2), st.sampled_from([-1.5, 0.0, 0.25]), st.integers(0, 5)))
NOTHING = GroupedCounts((np.zeros(0, np.int64), np.zeros(0)), (np.zeros(0, np.int64),) * 2)


def counted(rows: list[tuple[int, float, int]]) -> GroupedCounts:
    """How often each two keys occur, and the sum of what stands beside them."""
    whole, real, worth = (np.array(column) for column in zip(*rows, strict=True))
    return count_groups(
        [whole.astype(np.int64), real.astype(float)], [np.ones(len(rows), np.int64), worth.astype(np.int64)]
    )


@given(parts=st.lists(ROWS, max_size=6))
def test_parts_together_hold_each_pair_of_keys_once_in_order_with_all_its_counts(parts):
    games, worth = Counter(), Counter()
    for whole, real, own in (row for part in parts for row in part):
        games[whole, real] += 1
        worth[whole, real] += own
    counts = merge_counts((counted(part) if part else NOTHING for part in parts), NOTHING)
    keys = sorted(games)
    assert list(zip(*(key.tolist() for key in counts.keys), strict=True)) == keys
    assert [count.tolist() for count in counts.counts] == [[games[key] for key in keys], [worth[key] for key in keys]]
