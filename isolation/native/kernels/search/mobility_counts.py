"""Mobility of all cells at once: blank cells a knight's move from each.

Each count is a binary number whose digits lie in sets of cells, one set a digit, so that eight sets of cells are added
up in some thirty operations, and the best of a set of cells is found in three, without a branch.
"""

from __future__ import annotations

from typing import Any

from knights_isolation.isolation.native.bitboards import common, exclusive, is_empty, union
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.position import each_step


@inner
def sum_and_carry(a: Any, b: Any, c: Any) -> Any:
    """The digits of how many of three sets each cell is in: ones, twos."""
    sum_ = exclusive(a, b)
    return exclusive(sum_, c), union(common(a, b), common(sum_, c))


@inner
def mobility(position: Any) -> Any:
    """The digits of the mobility of each cell that has at most seven blank cells around it: ones, twos, fours.

    Eight blank cells are none here. What stands in the digits of cells off the board means nothing.
    """
    a, b, c, d, e, f, g, h = each_step(position)
    one_1, two_1 = sum_and_carry(a, b, c)
    one_2, two_2 = sum_and_carry(d, e, f)
    ones, two_3 = sum_and_carry(one_1, one_2, exclusive(g, h))
    two_4, four_1 = sum_and_carry(two_1, two_2, common(g, h))
    return ones, exclusive(two_3, two_4), exclusive(four_1, common(two_3, two_4))


@inner
def one_more(digits: Any, cells: Any) -> Any:
    """The digits with one added for some cells, up to seven."""
    ones, twos, fours = digits
    two, four = common(ones, cells), common(common(ones, twos), cells)
    eight = common(four, fours)
    ones, twos, fours = exclusive(ones, cells), exclusive(twos, two), union(fours, four)
    return union(ones, eight), union(twos, eight), fours


@inner
def largest(digits: Any, cells: Any) -> Any:
    """Return those of some cells, at least one, with the largest number."""
    ones, twos, fours = digits
    return among(among(among(cells, fours), twos), ones)


@inner
def among(cells: Any, wanted: Any) -> Any:
    """The cells that are wanted, or all if none are."""
    both = common(cells, wanted)
    return cells if is_empty(both) else both
