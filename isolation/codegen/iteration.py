"""Iteration: `each` emits a body for every item of whatever Python iterates over."""

from __future__ import annotations

from collections.abc import Callable, Hashable, ItemsView, KeysView, ValuesView
from typing import Any

from llvmlite import ir

from ..rules.geometry import column_masks
from . import groups, tables
from .board import column_of, count_cells, is_empty, lowest, on_board, row_of, without_lowest
from .flow import Flow
from .memory import element_at, length_of
from .numbers import choice, lifted, look_up, to_int
from .sums import add_up
from .values import (
    INT,
    LEAST,
    MOST,
    Bound,
    Cell,
    Cells,
    Choice,
    Entries,
    Fields,
    Items,
    Lazy,
    ListInMemory,
    Number,
    Optional,
    Reference,
    Signal,
    Static,
    Tuple,
    UnsupportedError,
    Value,
    parts_of,
    whole,
)

Body = Callable[[Value], None]
_MOST_WRITTEN_OUT = 64
"""Up to how many rounds, those of loops around it counted, a loop over known items is written out."""
_LONGEST_WRITTEN_OUT = 16
"""Up to how many items a loop over known items is written out."""


def items_of(flow: Flow, value: Value) -> list[Value] | None:
    """The items of something of known length; None if its length is not known."""
    value = flow.content(value)
    if isinstance(value, Tuple | Items):
        return list(value.items)
    if isinstance(value, Entries):
        return list(value.keys)
    if isinstance(value, Cell):
        return [row_of(flow, value), column_of(flow, value)]
    if isinstance(value, Static):
        return _items_of_object(value.value)
    if isinstance(value, Choice):
        return _items_of_choice(flow, value)
    return None


def _items_of_object(value: Any) -> list[Value] | None:
    if loses_its_order(value):
        raise UnsupportedError("a set whose order changes with every start of Python", is_unrepeatable=True)
    if isinstance(value, str | tuple | list | dict | range | set | frozenset | KeysView | ValuesView | ItemsView):
        return list(map(Static, value))
    return None


def _items_of_choice(flow: Flow, value: Choice) -> list[Value] | None:
    lengths = {len(option) if isinstance(option, tuple | list) else -1 for option in value.values}
    if len(lengths) != 1 or -1 in lengths:
        return None
    columns = zip(*value.values, strict=True)
    return [choice(flow, value.signal, list(column)) for column in columns]


def loses_its_order(value: Any) -> bool:
    """Whether a value is a set whose order is another one each time Python starts: one of more than numbers and cells.

    Texts hash by a seed that is drawn again (see PYTHONHASHSEED), and functions and the like by where they lie.
    """
    return isinstance(value, set | frozenset) and len(value) > 1 and not all(map(_hashes_alike, value))


def _hashes_alike(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_hashes_alike, value))
    return isinstance(value, int | float | complex)


def length(flow: Flow, value: Value) -> Value:
    """What `len` gives."""
    content = flow.content(value)
    if isinstance(content, Fields) and hasattr(content.owner, "__len__"):
        return flow.operations.call(flow, Bound(value, "__len__"), [], {}, "length")
    if isinstance(content, Cells):
        return count_cells(flow, on_board(flow, content).signal)
    if isinstance(content, ListInMemory):
        return length_of(flow, content)
    if isinstance(content, Optional):
        flow.fail_if(content.signal, TypeError)
        return length(flow, content.value)
    if isinstance(content, Static | Choice):
        known = Static(len(content.value)) if isinstance(content, Static) else lifted(flow, len, content)
        if known is not None:
            return known
    items = items_of(flow, content)
    if items is None:
        raise UnsupportedError("the length of what has none that is known")
    return Static(len(items))


def each(flow: Flow, value: Value, body: Body, key: Hashable) -> None:
    """Emit `body(item)` for every item, in order; `key` tells this loop from all others."""
    any_order, flow.any_order = flow.any_order, False
    additive, flow.additive = flow.additive, set()
    if flow.is_dead:
        return
    content = flow.content(value)
    if isinstance(value, Reference) and isinstance(content, Items | Cells):
        flow.any_order, flow.additive = any_order, additive
        each(flow, content, body, key)
        is_list = isinstance(content, Items) or content.order != "set"
        if is_list and not flow.is_dead and flow.here().get(("object", value.number)) not in (None, content):
            flow.demand_memory(value)
        return
    if isinstance(content, Optional):
        flow.fail_if(content.signal, TypeError)
        flow.any_order = any_order
        each(flow, content.value, body, key)
    elif isinstance(content, Lazy):
        flow.any_order, flow.additive = any_order, additive
        content.each(body, key)
        flow.any_order, flow.additive = False, set()
    elif isinstance(content, Cells):
        if content.order in ("set", "any") and not any_order:
            flow.demand_order()
        flow.took_any_order |= content.order in ("set", "any")
        content = on_board(flow, content)
        if not additive or not add_up(flow, content, body, additive):
            _each_cell(flow, content, body, key)
    elif isinstance(content, ListInMemory):
        if content.site.root.is_unordered and not any_order and not flow.heap.keeps_order:
            flow.demand_order()
        _each_element(flow, value, body, key)
    elif isinstance(content, Fields) and issubclass(content.owner, tables.Table):
        flow.any_order = any_order
        each(flow, content.items[content.names.index("names")], body, key)
    elif isinstance(content, Fields) and content.owner is tables.Keys:
        flow.any_order = any_order
        each(flow, content.items[0], body, key)
    elif isinstance(content, Fields) and content.owner in (groups.Group, tables.Iterator):
        emit = _each_member if content.owner is groups.Group else _each_rest
        emit(flow, value, body, key)
    elif isinstance(content, Static) and any_order and loses_its_order(content.value):
        _each_item(flow, list(map(Static, sorted(content.value, key=repr))), body, key)
    else:
        items = items_of(flow, content)
        if items is not None:
            _each_item(flow, items, body, key)
        elif isinstance(content, Choice):
            _each_of_choice(flow, content, body, key)
        else:
            raise UnsupportedError("a loop over what cannot be iterated over")


def _each_of_choice(flow: Flow, content: Choice, body: Body, key: Hashable) -> None:
    """The items of one of several objects of different lengths: a loop for each."""
    ends = flow.collect()
    for place, option in enumerate(content.options):
        is_last = place == len(content.options) - 1
        yes, no = flow.ways(Static(True) if is_last else flow.build.icmp_signed("==", content.signal, whole(place)))
        flow.merge(yes)
        each(flow, option, body, (key, place))
        if not flow.is_dead:
            ends.append(flow.edge())
        flow.merge(no)
    flow.merge_pending(ends)


def _each_item(flow: Flow, items: list[Value], body: Body, key: Hashable) -> None:
    is_short = len(items) <= _LONGEST_WRITTEN_OUT and flow.written_out * len(items) <= _MOST_WRITTEN_OUT
    if len(items) > 1 and not is_short and all(isinstance(item, Static) for item in items):
        values = [item.value for item in items]  # type: ignore[attr-defined]
        count_up(
            flow,
            whole(0),
            whole(len(items)),
            lambda index: body(choice(flow, index.signal, values)),
            key,
            (0, len(items)),
        )
        return
    flow.written_out *= max(1, len(items))
    try:
        for place, item in enumerate(items):
            if flow.is_dead:
                return
            flow.unrolled.append(place)
            body(item)
            flow.unrolled.pop()
    finally:
        flow.written_out //= max(1, len(items))


def _each_cell(flow: Flow, cells: Cells, body: Body, key: Hashable) -> None:
    if flow.is_in_loop:
        flow.spend(count_cells(flow, cells.signal).signal)
    if cells.order != "column":
        each_of_mask(flow, cells.signal, body, key)
        return
    masks = list(column_masks(flow.rows, flow.columns))

    def column(index: Number) -> None:
        here = flow.build.and_(cells.signal, look_up(flow, masks, index.signal, flow.mask))
        each_of_mask(flow, here, body, (key, "cell"))

    count_up(flow, whole(0), whole(flow.columns), column, (key, "column"), (0, flow.columns))


def each_of_mask(flow: Flow, mask: Signal, body: Body, key: Hashable) -> None:
    """Emit `body(cell)` for every cell of a bitboard, in row-major order."""
    location = ("hidden", key)
    flow.here()[location] = Cells(mask, "set")

    def remaining() -> Signal:
        left = flow.here()[location]
        assert isinstance(left, Cells)
        return left.signal

    def one() -> None:
        left = remaining()
        cell = lowest(flow, left)
        flow.here()[location] = Cells(without_lowest(flow, left), "set")
        body(Cell(cell))

    def has_more() -> Signal:
        return flow.build.not_(is_empty(flow, remaining()))

    flow.loop(key, has_more, one, {location: Cells(flow.mask, "set")})
    _drop(flow, location)


def _each_element(flow: Flow, value: Value, body: Body, key: Hashable) -> None:
    """The elements of a list in memory, which may grow and shrink meanwhile, as in Python."""

    if flow.content(value).site.root.kind is None:  # type: ignore[attr-defined]
        flow.content(value).site.root.was_empty = True  # type: ignore[attr-defined]
        return

    def content() -> ListInMemory:
        now = flow.content(value)
        assert isinstance(now, ListInMemory)
        return now

    count_up(
        flow,
        whole(0),
        lambda: length_of(flow, content()).signal,
        lambda index: body(element_at(flow, content(), index.signal)),
        key,
        (0, 1 << 20),
    )


def _each_member(flow: Flow, value: Value, body: Body, key: Hashable) -> None:
    """The items of a set in the order of its hash table."""
    fields = flow.content(value)
    assert isinstance(fields, Fields)
    names, slots = (fields.items[fields.names.index(name)] for name in ("names", "slots"))
    if isinstance(names, Reference):
        names = flow.operations.point(flow, names)
    held = flow.content(names)
    assert isinstance(held, ListInMemory)
    if _holds_texts(held):
        raise UnsupportedError("a set whose order changes with every start of Python", is_unrepeatable=True)

    def one(place: Value) -> None:
        given = to_int(flow, place)
        yes, no = flow.ways(flow.build.icmp_signed(">", given.signal, whole(0)))
        skipped = flow.collect()
        skipped.extend(no)
        flow.merge(yes)
        content = flow.content(names)
        assert isinstance(content, ListInMemory)
        body(element_at(flow, content, flow.build.sub(given.signal, whole(1))))
        flow.merge_pending(skipped)

    each(flow, slots, one, (key, "member"))


def _holds_texts(content: ListInMemory) -> bool:
    kinds = parts_of(content.site.root.kind or Static(None))
    options = [option for kind in kinds for option in (kind.options if isinstance(kind, Choice) else (kind,))]
    return any(isinstance(option, Static) and isinstance(option.value, str) for option in options)


def _each_rest(flow: Flow, value: Value, body: Body, key: Hashable) -> None:
    """What an iterator has not given yet."""

    def has_more() -> Signal:
        fields = flow.content(value)
        assert isinstance(fields, Fields)
        items, place = (fields.items[fields.names.index(name)] for name in ("items", "place"))
        count = to_int(flow, length(flow, items))
        return flow.build.icmp_signed("<", to_int(flow, place).signal, count.signal)

    def one() -> None:
        flow.spend(whole(1))
        body(flow.operations.call(flow, Bound(value, "__next__"), [], {}, (key, "next")))

    flow.loop(key, has_more, one)


def count_up(
    flow: Flow,
    start: Signal,
    end: Signal | Callable[[], Signal],
    body: Callable[[Number], None],
    key: Hashable,
    ends: tuple[int, int],
    step: int = 1,
) -> None:
    """Emit `body(index)` for the indices from `start` to before `end`; all are from `ends[0]` to below `ends[1]`."""
    location = ("hidden", key)
    low, high = max(min(ends[0], ends[1]) - abs(step), LEAST), min(max(ends) + abs(step), MOST)
    flow.here()[location] = Number("int", start, low, high)
    is_bounded = isinstance(end, ir.Constant) and isinstance(start, ir.Constant)

    def index() -> Signal:
        now = flow.here()[location]
        assert isinstance(now, Number)
        return now.signal

    def has_more() -> Signal:
        last = end() if callable(end) else end
        return flow.build.icmp_signed("<" if step > 0 else ">", index(), last)

    def one() -> None:
        now = index()
        if flow.is_in_nested_loop or not is_bounded:
            flow.spend(whole(1))
        flow.here()[location] = Number("int", flow.build.add(now, whole(step), flags=("nsw",)), low, high)
        body(Number("int", now, *((ends[0], ends[1] - 1) if step > 0 else (ends[0], ends[1]))))

    flow.loop(key, has_more, one, {location: Number("int", INT, low, high)})
    _drop(flow, location)


def _drop(flow: Flow, location: Hashable) -> None:
    if not flow.is_dead:
        flow.here().pop(location, None)


def each_of_range(flow: Flow, start: Value, stop: Value, step: Value, body: Body, key: Hashable) -> None:
    """Emit `body(number)` for the numbers of a range of which not all is known."""
    if not (isinstance(step, Static) and step.value):
        raise UnsupportedError("a range whose step is not known")
    first, last = to_int(flow, start), to_int(flow, stop)
    by = step.value
    ends = (first.low, max(last.high, first.low + 1)) if by > 0 else (min(last.low + 1, first.high), first.high)
    if max(map(abs, ends)) + abs(by) > MOST // 2:
        ends = (ends[0] if ends[0] > -MOST // 2 else LEAST, ends[1] if ends[1] < MOST // 2 else MOST)
        flow.give_up_if(flow.build.icmp_signed(">", last.signal, whole(MOST // 2)))
        flow.give_up_if(flow.build.icmp_signed("<", last.signal, whole(-(MOST // 2))))
    count_up(flow, first.signal, last.signal, body, key, ends, by)
