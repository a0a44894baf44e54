"""Plain Python functions that stand in for the standard library's, compared with these."""

import ast
import bisect
import collections
import heapq
import itertools
import math
import operator
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation.isolation.compiling.source import stand_ins
from knights_isolation.isolation.compiling.source.stand_ins import OF_LENGTHS, is_numpys, is_of_library, stand_in

NUMBERS = st.lists(st.integers(-9, 9), max_size=12)
PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=8)


def standing_in(function: Any) -> Any:
    found = stand_in(function)
    assert found is not None
    return found


@given(st.integers(-9, 9), st.integers(-9, 9).filter(bool))
def test_operators_compute_what_the_module_does(a: int, b: int) -> None:
    of_two = ("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "lt", "le", "gt", "ge", "eq", "ne")
    for name in of_two:
        function = getattr(operator, name)
        assert standing_in(function)(a, b) == function(a, b)
    assert standing_in(operator.neg)(a) == -a
    assert standing_in(operator.contains)([a], b) == (a == b)


@given(NUMBERS, NUMBERS)
def test_heaps_are_the_lists_that_heapq_makes(items: list[int], others: list[int]) -> None:
    ours, theirs = list(items), list(items)
    standing_in(heapq.heapify)(ours)
    heapq.heapify(theirs)
    assert ours == theirs
    for item in others:
        standing_in(heapq.heappush)(ours, item)
        heapq.heappush(theirs, item)
        assert ours == theirs
    while theirs:
        assert standing_in(heapq.heappop)(ours) == heapq.heappop(theirs)
        assert ours == theirs
    with pytest.raises(IndexError):
        standing_in(heapq.heappop)(ours)


@given(PAIRS, st.integers(-2, 9))
def test_the_largest_and_the_smallest_come_in_the_same_order(items: list[tuple[int, int]], n: int) -> None:
    for function in (heapq.nlargest, heapq.nsmallest):
        assert standing_in(function)(n, items, key=sum) == function(n, items, key=sum)


@given(NUMBERS, st.integers(-9, 9))
def test_places_are_found_as_bisect_finds_them(items: list[int], wanted: int) -> None:
    for ordered in (sorted(items), items):
        assert standing_in(bisect.bisect_left)(ordered, wanted) == bisect.bisect_left(ordered, wanted)
        assert standing_in(bisect.bisect_right)(ordered, wanted) == bisect.bisect_right(ordered, wanted)


@given(NUMBERS, NUMBERS, st.integers(0, 5))
def test_iterators_yield_what_itertools_yields(items: list[int], others: list[int], start: int) -> None:
    for key in (None, lambda item: item % 3):
        assert standing_in(itertools.groupby)(items, key) == [(k, list(g)) for k, g in itertools.groupby(items, key)]
    for function in (itertools.takewhile, itertools.dropwhile):
        assert standing_in(function)(lambda item: item < start, items) == list(
            function(lambda item: item < start, items)
        )
    assert standing_in(itertools.accumulate)(items) == list(itertools.accumulate(items))
    assert standing_in(itertools.accumulate)(items, max) == list(itertools.accumulate(items, max))
    assert standing_in(itertools.pairwise)(items) == list(itertools.pairwise(items))
    longest = standing_in(itertools.zip_longest)(items, others, fillvalue=7)
    assert longest == list(itertools.zip_longest(items, others, fillvalue=7))
    for function, lengths in OF_LENGTHS.items():
        for length, found in lengths.items():
            assert found(items) == list(function(items, length))


@given(PAIRS)
def test_columns_are_those_of_zip(rows: list[tuple[int, int]]) -> None:
    assert stand_ins.columns(rows) == [list(column) for column in zip(*rows, strict=True)]
    three = [(*row, sum(row)) for row in rows]
    if not rows:
        for function in (stand_ins.two_columns, stand_ins.three_columns):
            with pytest.raises(ValueError, match="not enough values"):
                function(rows)
        return
    assert stand_ins.two_columns(rows) == tuple(map(list, zip(*rows, strict=True)))
    assert stand_ins.three_columns(three) == tuple(map(list, zip(*three, strict=True)))


@given(PAIRS, st.integers(-1, 4))
def test_counts_are_those_of_a_counter(items: list[tuple[int, int]], n: int) -> None:
    counts = collections.Counter(items)
    assert list(stand_ins.counted(items).items()) == list(counts.items())
    assert stand_ins.most_common(counts, n) == counts.most_common(n)
    assert stand_ins.most_common(counts) == counts.most_common()


@given(PAIRS, PAIRS, st.integers(0, 2))
def test_counters_meet_as_in_python(items: list[tuple[int, int]], others: list[tuple[int, int]], fewer: int) -> None:
    a, b = collections.Counter(items), collections.Counter(others)
    a.subtract(items[:fewer] * 2)
    for symbol, result in [(ast.Add, a + b), (ast.Sub, a - b), (ast.BitAnd, a & b), (ast.BitOr, a | b)]:
        assert list(stand_ins.counts_joined[symbol](a, b).items()) == list(result.items())
    assert stand_ins.counted_elements(a) == list(a.elements())


@given(NUMBERS)
def test_products_and_medians_are_the_same(items: list[int]) -> None:
    assert standing_in(math.prod)(items) == math.prod(items)
    if items:
        assert standing_in(statistics.median)(items) == statistics.median(items)
    else:
        with pytest.raises(ValueError, match="no median"):
            standing_in(statistics.median)(items)


@given(st.integers(0, 30), st.integers(0, 30))
def test_whole_numbers_are_counted_as_in_math(n: int, k: int) -> None:
    for function in (math.comb, math.perm):
        assert standing_in(function)(n, k) == function(n, k)
        with pytest.raises(ValueError, match="negative"):
            standing_in(function)(n, -1 - k)
    assert standing_in(math.perm)(n) == standing_in(math.factorial)(n) == math.factorial(n)
    assert standing_in(math.isqrt)(n * n + k) == math.isqrt(n * n + k)
    with pytest.raises(ValueError, match="negative"):
        standing_in(math.isqrt)(-1 - n)


def test_several_arguments_are_not_one() -> None:
    assert max(stand_ins.two_or_more([1, 5, 2])) == 5
    with pytest.raises(TypeError):
        stand_ins.two_or_more([3])
    assert stand_ins.joined_sets([[1, 2], [2, 3]]) == {1, 2, 3}


def test_functions_of_libraries_are_recognised() -> None:
    assert is_of_library(stand_ins.columns)
    assert is_of_library(statistics.mean)
    assert not is_of_library(standing_in)
    assert is_numpys(pytest.importorskip("numpy").full)
    assert stand_in(standing_in) is None
