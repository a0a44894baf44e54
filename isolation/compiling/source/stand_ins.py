"""Plain Python functions that stand in for functions of the standard library, which compiled code lacks.

They compute what those compute, and are rewritten and compiled as if the user had written them. Iterators become
lists: what a heuristic runs over is short.
"""

from __future__ import annotations

import ast
import bisect
import heapq
import itertools
import math
import operator
import statistics
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

# --- operators ------------------------------------------------------------------------------------------------------


def _add(a: Any, b: Any) -> Any:
    return a + b


def _sub(a: Any, b: Any) -> Any:
    return a - b


def _mul(a: Any, b: Any) -> Any:
    return a * b


def _truediv(a: Any, b: Any) -> Any:
    return a / b


def _floordiv(a: Any, b: Any) -> Any:
    return a // b


def _mod(a: Any, b: Any) -> Any:
    return a % b


def _neg(a: Any) -> Any:
    return -a


def _and(a: Any, b: Any) -> Any:
    return a & b


def _or(a: Any, b: Any) -> Any:
    return a | b


def _lt(a: Any, b: Any) -> Any:
    return a < b


def _le(a: Any, b: Any) -> Any:
    return a <= b


def _gt(a: Any, b: Any) -> Any:
    return a > b


def _ge(a: Any, b: Any) -> Any:
    return a >= b


def _eq(a: Any, b: Any) -> Any:
    return a == b


def _ne(a: Any, b: Any) -> Any:
    return a != b


def _contains(a: Any, b: Any) -> Any:
    return b in a


# --- heaps, in the steps of heapq, so that the list is in its order ---------------------------------------------------


def _heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    _raise_item(heap, 0, len(heap) - 1)


def _heappop(heap: Any) -> Any:
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    _lower_item(heap, 0)
    return first


def _heapify(heap: Any) -> None:
    for place in range(len(heap) // 2 - 1, -1, -1):
        _lower_item(heap, place)


def _raise_item(heap: Any, start: int, place: int) -> None:
    item = heap[place]
    while place > start:
        parent = (place - 1) // 2
        if not item < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def _lower_item(heap: Any, start: int) -> None:
    place = start
    item = heap[place]
    child = 2 * place + 1
    while child < len(heap):
        if child + 1 < len(heap) and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _raise_item(heap, start, place)


def _nlargest(n: int, items: Any, key: Any = None) -> Any:
    return sorted(items, key=key, reverse=True)[:n] if n > 0 else sorted(items, key=key)[:0]


def _nsmallest(n: int, items: Any, key: Any = None) -> Any:
    return sorted(items, key=key)[:n] if n > 0 else sorted(items, key=key)[:0]


def _bisect_left(items: Any, wanted: Any) -> int:
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def _bisect_right(items: Any, wanted: Any) -> int:
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if wanted < items[middle]:
            high = middle
        else:
            low = middle + 1
    return low


# --- iterators ------------------------------------------------------------------------------------------------------


def _takewhile(test: Any, items: Any) -> Any:
    found = [item for item in items]  # noqa: C416
    return found[: _length_while(test, found)]


def _dropwhile(test: Any, items: Any) -> Any:
    found = [item for item in items]  # noqa: C416
    return found[_length_while(test, found) :]


def _length_while(test: Any, found: Any) -> int:
    count = 0
    for item in found:
        if not test(item):
            break
        count += 1
    return count


def _accumulate(items: Any, func: Any = None) -> Any:
    found = [item for item in items]  # noqa: C416
    for place in range(1, len(found)):
        found[place] = found[place - 1] + found[place] if func is None else func(found[place - 1], found[place])
    return found


def _pairwise(items: Any) -> Any:
    found = [item for item in items]  # noqa: C416
    return [(found[place], found[place + 1]) for place in range(len(found) - 1)]


def _groupby(items: Any, key: Any = None) -> Any:
    groups: Any = []
    for item in items:
        own = item if key is None else key(item)
        if len(groups) == 0 or groups[-1][0] != own:
            groups.append((own, [item]))
        else:
            groups[-1][1].append(item)
    return groups


def _zip_longest(a: Any, b: Any, fillvalue: Any = None) -> Any:
    first, second = [item for item in a], [item for item in b]  # noqa: C416
    return [
        (first[place] if place < len(first) else fillvalue, second[place] if place < len(second) else fillvalue)
        for place in range(max(len(first), len(second)))
    ]


def combinations_of_two(items: Any) -> Any:
    """Return itertools.combinations(items, 2)."""
    found = [item for item in items]  # noqa: C416
    return [(found[i], found[j]) for i in range(len(found)) for j in range(i + 1, len(found))]


def combinations_of_three(items: Any) -> Any:
    """Return itertools.combinations(items, 3)."""
    found = [item for item in items]  # noqa: C416
    rest = range(len(found))
    return [(found[i], found[j], found[k]) for i in rest for j in rest if i < j for k in rest if j < k]


def permutations_of_two(items: Any) -> Any:
    """Return itertools.permutations(items, 2)."""
    found = [item for item in items]  # noqa: C416
    return [(found[i], found[j]) for i in range(len(found)) for j in range(len(found)) if i != j]


def columns(rows: Any) -> Any:
    """Return list(zip(*rows)), of rows of one length: a list of lists."""
    found = [row for row in rows]  # noqa: C416
    return [[row[place] for row in found] for place in range(len(found[0]) if found else 0)]


def two_columns(rows: Any) -> Any:
    """Return what `a, b = zip(*rows)` gives."""
    found = [row for row in rows]  # noqa: C416
    if len(found) == 0:
        raise ValueError("not enough values to unpack")
    return [a for a, b in found], [b for a, b in found]


def three_columns(rows: Any) -> Any:
    """Return what `a, b, c = zip(*rows)` gives."""
    found = [row for row in rows]  # noqa: C416
    if len(found) == 0:
        raise ValueError("not enough values to unpack")
    return [a for a, b, c in found], [b for a, b, c in found], [c for a, b, c in found]


def two_or_more(items: Any) -> Any:
    """Return the arguments of a `max(*items)`, which one alone is not."""
    found = [item for item in items]  # noqa: C416
    if len(found) < 2:
        raise TypeError("a number is not iterable")
    return found


def joined_sets(sets: Any) -> Any:
    """Return set().union(*sets)."""
    return {element for elements in sets for element in elements}


# --- counts and numbers ---------------------------------------------------------------------------------------------


def counted(items: Any) -> Any:
    """Return the counts that `Counter(items)` holds, by the items in the order in which they first come."""
    counts: Any = {}
    for item in items:
        if item in counts:
            counts[item] += 1
        else:
            counts[item] = 1
    return counts


def most_common(counts: Any, n: Any = None) -> Any:
    """Return Counter.most_common(n)."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    if n is None:
        return ordered
    return ordered[: max(n, 0)]


def counted_elements(counts: Any) -> Any:
    """Return list(Counter.elements())."""
    return [item for item, count in counts.items() for _ in range(count)]


def _counts_added(a: Any, b: Any) -> Any:
    counts: Any = {item: count + b.get(item, 0) for item, count in a.items()}
    for item, count in b.items():
        if item not in a:
            counts[item] = count
    return _only_positive(counts)


def _counts_subtracted(a: Any, b: Any) -> Any:
    counts: Any = {item: count - b.get(item, 0) for item, count in a.items()}
    for item, count in b.items():
        if item not in a:
            counts[item] = -count
    return _only_positive(counts)


def _smaller_counts(a: Any, b: Any) -> Any:
    return _only_positive({item: min(count, b.get(item, 0)) for item, count in a.items()})


def _larger_counts(a: Any, b: Any) -> Any:
    counts: Any = {item: max(count, b.get(item, 0)) for item, count in a.items()}
    for item, count in b.items():
        if item not in a:
            counts[item] = count
    return _only_positive(counts)


def _only_positive(counts: Any) -> Any:
    return {item: count for item, count in counts.items() if count > 0}


counts_joined: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: _counts_added,
    ast.Sub: _counts_subtracted,
    ast.BitAnd: _smaller_counts,
    ast.BitOr: _larger_counts,
}
"""What the operators of two counters return."""


def _prod(items: Any, start: Any = 1) -> Any:
    total = start
    for item in items:
        total = total * item
    return total


def _factorial(n: Any) -> Any:
    return _product_down(n, n)


def _perm(n: Any, k: Any = None) -> Any:
    return _product_down(n, n if k is None else k)


def _product_down(n: Any, k: Any) -> Any:
    """Return n · (n − 1) · …, of k factors."""
    if n < 0 or k < 0:
        raise ValueError("must be a non-negative integer")
    product = 1
    for place in range(k):
        product = product * (n - place)
    return product


def _comb(n: Any, k: Any) -> Any:
    if n < 0 or k < 0:
        raise ValueError("must be a non-negative integer")
    count = 1
    for place in range(min(k, n - k)):
        count = count * (n - place) // (place + 1)
    return count if k <= n else 0


def _isqrt(n: Any) -> Any:
    if n < 0:
        raise ValueError("must be nonnegative")
    root = int(math.sqrt(n))
    while root * root > n:
        root -= 1
    while (root + 1) * (root + 1) <= n:
        root += 1
    return root


def _fsum(items: Any) -> Any:
    """Return math.fsum: the partial sums do not overlap, and the last step rounds half to even."""
    partials = [0.0 for item in range(0)]
    for item in items:
        x = item * 1.0
        count = 0
        for place in range(len(partials)):
            y = partials[place]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                partials[count] = low
                count += 1
            x = high
        while len(partials) > count:
            partials.pop()
        partials.append(x)
    return _rounded_once(partials)


def _rounded_once(partials: Any) -> Any:
    place = len(partials) - 1
    if place < 0:
        return 0.0
    high = partials[place]
    low = 0.0
    while place > 0 and low == 0.0:
        place -= 1
        before = high
        high = before + partials[place]
        low = partials[place] - (high - before)
    if place > 0 and ((low < 0.0 and partials[place - 1] < 0.0) or (low > 0.0 and partials[place - 1] > 0.0)):
        doubled = low * 2.0
        away = high + doubled
        if doubled == away - high:
            high = away
    return high


def _fmean(items: Any) -> Any:
    found = [item for item in items]  # noqa: C416
    if len(found) == 0:
        raise ValueError("fmean requires at least one data point")
    return _fsum(found) / len(found)


def _median(items: Any) -> Any:
    ordered = sorted(items)
    half = len(ordered) // 2
    if len(ordered) == 0:
        raise ValueError("no median for empty data")
    return ordered[half] * 1.0 if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _union(items: Any, others: Any) -> Any:
    return items | others


def _intersection(items: Any, others: Any) -> Any:
    return items & others


def _difference(items: Any, others: Any) -> Any:
    return items - others


_PAIRS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (operator.add, _add), (operator.sub, _sub), (operator.mul, _mul), (operator.truediv, _truediv),
    (operator.floordiv, _floordiv), (operator.mod, _mod), (operator.neg, _neg), (operator.and_, _and),
    (operator.or_, _or), (operator.lt, _lt), (operator.le, _le), (operator.gt, _gt), (operator.ge, _ge),
    (operator.eq, _eq), (operator.ne, _ne), (operator.contains, _contains),
    (heapq.heappush, _heappush), (heapq.heappop, _heappop), (heapq.heapify, _heapify),
    (heapq.nlargest, _nlargest), (heapq.nsmallest, _nsmallest),
    (bisect.bisect_left, _bisect_left), (bisect.bisect_right, _bisect_right),
    (itertools.takewhile, _takewhile), (itertools.dropwhile, _dropwhile),
    (itertools.accumulate, _accumulate), (itertools.groupby, _groupby), (itertools.pairwise, _pairwise),
    (itertools.zip_longest, _zip_longest), (math.prod, _prod), (math.fsum, _fsum),
    (math.factorial, _factorial), (math.perm, _perm), (math.comb, _comb), (math.isqrt, _isqrt),
    *((kind.union, _union) for kind in (set, frozenset)),
    *((kind.intersection, _intersection) for kind in (set, frozenset)),
    *((kind.difference, _difference) for kind in (set, frozenset)),
    (statistics.fmean, _fmean), (statistics.median, _median)
]  # fmt: skip
_STAND_INS: dict[int, Any] = {id(function): stand_in for function, stand_in in _PAIRS}

_LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy"} - {"__main__"}

OF_LENGTHS: dict[Any, dict[int, Any]] = {
    itertools.combinations: {2: combinations_of_two, 3: combinations_of_three},
    itertools.permutations: {2: permutations_of_two},
}
"""Stand-ins for functions of items and a length, by that length."""


def stand_in(value: object) -> FunctionType | None:
    """Return the function that stands in for one of the library; None if none does."""
    return _STAND_INS.get(id(value))


def is_of_library(function: object) -> bool:
    """Whether a function is one of these, or one of a library's own in Python, which no user has written."""
    home = getattr(function, "__module__", None) or ""
    return is_stand_in(function) or (isinstance(function, FunctionType) and home.partition(".")[0] in _LIBRARIES)


def is_stand_in(function: object) -> bool:
    """Whether a function is one of these."""
    return getattr(function, "__module__", None) == __name__


def is_numpys(function: object) -> bool:
    """Whether a function is one of NumPy's, which numba has versions of its own of."""
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy"
