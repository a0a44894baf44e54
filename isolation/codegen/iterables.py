"""Functions of Python's library that iterate: folds, `itertools`, and what `for` takes."""

from __future__ import annotations

import ast
import bisect
import functools
import heapq
import itertools
import math
import operator
import statistics
import sys
from collections.abc import Callable, Hashable
from typing import Any

from . import library, standard, tables
from .flow import Flow
from .functions import _OF_PYTHON, Arguments, Compiled, Keywords, compiles, in_library, known_items
from .iteration import Body, each, each_of_range, items_of, length
from .kinds import number_kind
from .methods import call_method
from .numbers import lifted, to_int
from .operations import binary, compare, element, truth_of
from .values import Cells, Fields, Lazy, Number, Static, Tuple, UnsupportedError, Value

# --- folds


_function: Any


@compiles(sum)
def _sum(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", Static(0))
    total = ("hidden", (flow.path, site, "total"))
    flow.here()[total] = start
    took, flow.took_any_order = flow.took_any_order, False

    def add(item: Value) -> None:
        so_far = flow.here().get(total)
        if so_far is None:
            raise UnsupportedError(flow.reasons.get(total, "a sum of different things"))
        flow.here()[total] = binary(flow, ast.Add, so_far, item)

    flow.any_order, flow.additive = True, {total}
    each(flow, arguments[0], add, (flow.path, site, "sum"))
    took_any_order, flow.took_any_order = flow.took_any_order, took
    if flow.is_dead:
        return Static(None)
    result = flow.here().pop(total, None)
    if result is None:
        raise UnsupportedError(flow.reasons.get(total, "a sum of different things"))
    if isinstance(result, Number) and result.name == "float":
        if took_any_order:
            flow.demand_order()
        if sys.version_info >= (3, 12):
            return in_library(flow, standard.sum_of_floats, [arguments[0], start], site)
    return result


@compiles(math.fsum)
def _fsum(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return in_library(flow, standard.exact_sum, arguments, site)


@compiles(statistics.mean, statistics.fmean)
def _mean(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    made = in_list(flow, arguments[0], site)
    total = _sum(flow, [made], {}, (site, "total"))
    if flow.is_dead:
        return Static(None)
    if not (isinstance(total, Number) and total.name == "int") and not isinstance(total, Static):
        raise UnsupportedError("a mean of floats")
    count = length(flow, made)
    flow.fail_if(compare_to_zero(flow, count), statistics.StatisticsError)
    return binary(flow, ast.Div, total, count)


def compare_to_zero(flow: Flow, count: Value) -> Any:
    """Whether a count is 0."""
    return truth_of(flow, compare(flow, ast.Eq, count, Static(0)))


@compiles(statistics.median)
def _median(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return in_library(flow, standard.median, [in_list(flow, arguments[0], site)], site)


@compiles(itertools.zip_longest)
def _zip_longest(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if len(arguments) != 2:
        raise UnsupportedError("zip_longest of other than two iterables")
    lists = [in_list(flow, argument, (site, place)) for place, argument in enumerate(arguments)]
    return in_library(flow, standard.zipped_to_longest, [*lists, keywords.get("fillvalue", Static(None))], site)


for _function, _in_python in (
    (heapq.heappush, standard.heappush), (heapq.heappop, standard.heappop), (heapq.heapify, standard.heapify),
    (heapq.heappushpop, standard.heappushpop), (heapq.nsmallest, standard.nsmallest),
    (heapq.nlargest, standard.nlargest),
    (bisect.bisect_left, standard.bisect_left), (bisect.bisect_right, standard.bisect_right),
    (bisect.bisect, standard.bisect_right), (bisect.insort, standard.insort),
):  # fmt: skip
    _OF_PYTHON[_function] = functools.partial(
        lambda flow, arguments, keywords, site, written: flow.operations.call(
            flow, Static(written), arguments, keywords, site
        ),
        written=_in_python,
    )


@compiles(math.prod)
def _product_of(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    start = keywords.get("start", Static(1))
    return in_library(flow, standard.folded, [Static(operator.mul), arguments[0], start], site)


def in_any_order(flow: Flow, value: Value) -> Value:
    """An iterable whose order cannot be seen."""

    def each_item(body: Body, key: Hashable) -> None:
        flow.any_order = True
        each(flow, value, body, (key, "any"))

    return Lazy(each_item) if isinstance(flow.content(value), Cells | Lazy) else value


@compiles(any)
def _any(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return in_library(flow, library.any_of, [in_any_order(flow, arguments[0])], site)


@compiles(all)
def _all(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return in_library(flow, library.all_of, [in_any_order(flow, arguments[0])], site)


def _extreme(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable, is_least: bool) -> Value:
    items = arguments[0] if len(arguments) == 1 else Tuple(tuple(arguments))
    key = keywords.get("key", Static(None))
    if isinstance(key, Static) and key.value is None:
        items = in_any_order(flow, items)
    known = known_items(flow, items)
    if known is not None and isinstance(key, Static) and key.value is None and "default" not in keywords:
        chosen = _extreme_of_ints(flow, known, is_least)
        if chosen is not None:
            return chosen
    if "default" in keywords:
        function: Any = library.least_or if is_least else library.greatest_or
        return in_library(flow, function, [items, key, keywords["default"]], site)
    return in_library(flow, library.least if is_least else library.greatest, [items, key], site)


def _extreme_of_ints(flow: Flow, items: list[Value], is_least: bool) -> Value | None:
    """The least or greatest of some ints, of which it does not matter which of equal ones it is."""
    kinds = [number_kind(item) for item in items]
    if not items or any(kind is None or kind.name == "float" for kind in kinds):
        return None
    choose = min if is_least else max
    known = lifted(flow, lambda *options: choose(options), *items)
    if known is not None:
        return known
    if any(kind is not None and kind.name == "bool" for kind in kinds):
        return None
    best = to_int(flow, items[0])
    for item in items[1:]:
        other = to_int(flow, item)
        is_better = flow.build.icmp_signed("<" if is_least else ">", other.signal, best.signal)
        signal = flow.build.select(is_better, other.signal, best.signal)
        best = Number("int", signal, choose(best.low, other.low), choose(best.high, other.high))
    return best


_OF_PYTHON[min] = functools.partial(_extreme, is_least=True)
_OF_PYTHON[max] = functools.partial(_extreme, is_least=False)


_MOST_FOLDED = 12
"""How many values are folded one after another, without a loop."""


@compiles(functools.reduce)
def _reduce(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    known = known_items(flow, arguments[1])
    if known is None or len(known) > _MOST_FOLDED:
        return in_library(flow, standard.reduced if len(arguments) < 3 else standard.folded, arguments, site)
    items = [*arguments[2:], *known]
    if not items:
        flow.fail(TypeError)
        return Static(None)
    value = items[0]
    for place, item in enumerate(items[1:]):
        value = flow.operations.call(flow, arguments[0], [value, item], {}, (site, place))
    return value


# --- iterables


@compiles(range)
def _range(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    start, stop, step = (Static(0), *arguments, Static(1)) if len(arguments) == 1 else (*arguments, Static(1))[:3]
    return Lazy(lambda body, key: each_of_range(flow, start, stop, step, body, (key, "range")), True)


@compiles(enumerate)
def _enumerate(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", Static(0))
    items = known_items(flow, arguments[0])
    if items is not None:
        numbers = [binary(flow, ast.Add, start, Static(place)) for place in range(len(items))]
        return Tuple(tuple(Tuple(pair) for pair in zip(numbers, items, strict=True)))

    def numbered(body: Body, key: Hashable) -> None:
        flow.any_order, flow.additive = False, set()
        place = ("hidden", (key, "number"))
        flow.here()[place] = start

        def one(item: Value) -> None:
            now = flow.here()[place]
            flow.here()[place] = binary(flow, ast.Add, now, Static(1))
            body(Tuple((now, item)))

        each(flow, arguments[0], one, (key, "enumerate"))

    return Lazy(numbered)


@compiles(map)
def _map(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    function, *iterables = arguments
    together = iterables[0] if len(iterables) == 1 else _zip(flow, iterables, {}, (site, "zip"))

    def mapped(body: Body, key: Hashable) -> None:
        def one(item: Value) -> None:
            given = [item] if len(iterables) == 1 else list(item.items)  # type: ignore[attr-defined]
            result = flow.operations.call(flow, function, given, {}, (site, "map"))
            if not flow.is_dead:
                body(result)

        each(flow, together, one, (key, "map"))

    return Lazy(mapped)


@compiles(itertools.starmap)
def _starmap(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    def mapped(body: Body, key: Hashable) -> None:
        def one(item: Value) -> None:
            given = items_of(flow, item)
            if given is None:
                raise UnsupportedError("arguments of which there may be any number")
            result = flow.operations.call(flow, arguments[0], given, {}, (site, "starmap"))
            if not flow.is_dead:
                body(result)

        each(flow, arguments[1], one, (key, "starmap"))

    return Lazy(mapped)


@compiles(filter)
def _filter(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    function, iterable = arguments
    is_plain = isinstance(function, Static) and function.value is None

    def filtered(body: Body, key: Hashable) -> None:
        def one(item: Value) -> None:
            found = item if is_plain else flow.operations.call(flow, function, [item], {}, (site, "filter"))
            if flow.is_dead:
                return
            yes, no = flow.ways(truth_of(flow, found))
            left = flow.collect()
            left.extend(no)
            flow.merge(yes)
            if not flow.is_dead:
                body(item)
            flow.merge_pending(left)

        each(flow, iterable, one, (key, "filter"))

    return Lazy(filtered)


@compiles(zip)
def _zip(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    columns = [known_items(flow, argument) for argument in arguments]
    if all(column is not None for column in columns):
        return Tuple(tuple(Tuple(items) for items in zip(*columns, strict=False)))
    is_one = [isinstance(flow.content(argument), Lazy) for argument in arguments]
    lists = [
        flow.operations.call(flow, Static(list), [argument], {}, (site, place)) if is_one[place] else argument
        for place, argument in enumerate(arguments)
    ]
    return Lazy(lambda body, key: _together(flow, lists, body, key))


def _together(flow: Flow, lists: list[Value], body: Body, key: Hashable) -> None:
    """Emit a body for the items of several lists, as far as the shortest goes."""
    first = min(lists, key=lambda one: not isinstance(flow.content(one), Cells))
    counts = [to_int(flow, length(flow, one)) for one in lists]
    shortest = functools.reduce(lambda a, b: _smaller(flow, a, b), counts)

    def one(pair: Value) -> None:
        place, item = pair.items  # type: ignore[attr-defined]
        left = flow.collect()
        is_over = compare(flow, ast.GtE, place, shortest)
        yes, no = flow.ways(truth_of(flow, is_over))
        left.extend(yes)
        flow.merge(no)
        if not flow.is_dead:
            body(Tuple(tuple(item if other is first else element(flow, other, place) for other in lists)))
        flow.merge_pending(left)

    each(flow, _enumerate(flow, [first], {}, key), one, (key, "zip"))


def _smaller(flow: Flow, a: Number, b: Number) -> Number:
    is_less = flow.build.icmp_signed("<", a.signal, b.signal)
    return Number("int", flow.build.select(is_less, a.signal, b.signal), min(a.low, b.low), min(a.high, b.high))


@compiles(reversed)
def _reversed(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    items = known_items(flow, arguments[0])
    if items is not None:
        return Tuple(tuple(reversed(items)))
    if isinstance(flow.content(arguments[0]), Lazy):
        arguments = [flow.operations.call(flow, Static(list), arguments, {}, (site, "list"))]
    return in_library(flow, library.backwards, arguments, site)


@compiles(itertools.chain)
def _chain(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    def chained(body: Body, key: Hashable) -> None:
        for place, argument in enumerate(arguments):
            each(flow, argument, body, (key, place))

    return Lazy(chained)


@compiles(itertools.chain.from_iterable)
def _chain_from(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    def chained(body: Body, key: Hashable) -> None:
        each(flow, arguments[0], lambda items: each(flow, items, body, (key, "inner")), (key, "outer"))

    return Lazy(chained)


@compiles(itertools.product)
def _product(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    repeat = keywords.get("repeat", Static(1))
    if not isinstance(repeat, Static):
        raise UnsupportedError("product, repeated so many times")
    lists = [*arguments] * repeat.value

    def crossed(body: Body, key: Hashable) -> None:
        def down(place: int, before: tuple[Value, ...]) -> None:
            if place == len(lists):
                body(Tuple(before))
            else:
                each(flow, lists[place], lambda item: down(place + 1, (*before, item)), (key, place))

        down(0, ())

    return Lazy(crossed)


def _of_lists(function: Callable[..., Any], *arguments: Value) -> Compiled:
    """A function of an iterable, compiled as one of a list that is part of the library."""

    def compiled(flow: Flow, given: Arguments, keywords: Keywords, site: Hashable) -> Value:
        made = in_list(flow, given[0], site)
        return in_library(flow, function, [made, *given[1:], *arguments[len(given) - 1 :]], site)

    return compiled


def in_list(flow: Flow, value: Value, site: Hashable) -> Value:
    """The items of an iterable as a list, or something that has a length and elements."""
    if isinstance(flow.content(value), Lazy | Fields):
        return flow.operations.call(flow, Static(list), [value], {}, (site, "in list"))
    return value


_OF_PYTHON[itertools.pairwise] = _of_lists(standard.neighbours)


for _function, _of_two in ((itertools.combinations, standard.pairs), (itertools.permutations, standard.ordered_pairs)):
    _OF_PYTHON[_function] = functools.partial(
        lambda flow, arguments, keywords, site, function, of_two: _selections(flow, arguments, site, function, of_two),
        function=_function,
        of_two=_of_two,
    )


def _selections(flow: Flow, arguments: Arguments, site: Hashable, function: Any, of_two: Any) -> Value:
    count = arguments[1] if len(arguments) > 1 else Static(None)
    known = known_items(flow, arguments[0])
    if known is not None and isinstance(count, Static):
        return Tuple(tuple(map(Tuple, function(known, count.value))))
    chosen = {2: of_two, 3: standard.triples if of_two is standard.pairs else None}
    written = chosen.get(count.value) if isinstance(count, Static) else None
    if written is None:
        raise UnsupportedError(f"{function.__name__} of such a number of items")
    return in_library(flow, written, [in_list(flow, arguments[0], site)], site)


@compiles(itertools.islice)
def _islice(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    start, stop, step = (Static(0), arguments[1], Static(1)) if len(arguments) == 2 else [*arguments[1:], Static(1)][:3]
    return in_library(flow, standard.every, [arguments[0], start, stop, step], site)


_OF_PYTHON[itertools.takewhile] = lambda flow, arguments, keywords, site: in_library(
    flow, standard.taken_while, arguments, site
)
_OF_PYTHON[itertools.dropwhile] = lambda flow, arguments, keywords, site: in_library(
    flow, standard.dropped_while, arguments, site
)


@compiles(itertools.accumulate)
def _accumulate(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    function = keywords.get("func", arguments[1] if len(arguments) > 1 else Static(operator.add))
    start = keywords.get("initial", Static(None))
    return in_library(flow, standard.accumulated, [arguments[0], function, start], site)


@compiles(itertools.groupby)
def _groupby(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    key = keywords.get("key", arguments[1] if len(arguments) > 1 else Static(None))
    return in_library(flow, standard.grouped, [arguments[0], key], site)


@compiles(itertools.repeat)
def _repeat(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    if len(arguments) < 2:
        raise UnsupportedError("repeat without end")
    item, count = arguments

    def repeated(body: Body, key: Hashable) -> None:
        each_of_range(flow, Static(0), count, Static(1), lambda _: body(item), (key, "repeat"))

    return Lazy(repeated)


@compiles(next)
def _next(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    content = flow.content(arguments[0])
    if isinstance(content, Fields) and content.owner is tables.Iterator:
        if len(arguments) == 1:
            return call_method(flow, arguments[0], "__next__", [], {}, site)
        return in_library(flow, tables.next_or, arguments, site)
    if not isinstance(content, Lazy):
        raise UnsupportedError("next of what is no iterator")
    return in_library(flow, library.first_of if len(arguments) == 1 else library.first_of_or, arguments, site)


@compiles(iter)
def _iter(flow: Flow, arguments: Arguments, keywords: Keywords, site: Hashable) -> Value:
    return Lazy(lambda body, key: each(flow, arguments[0], body, (key, "iter")))
