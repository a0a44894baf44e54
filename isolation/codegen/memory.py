"""Lists in memory: their elements lie in a block that belongs to one call, and is gone after it."""

from __future__ import annotations

from collections.abc import Hashable

from llvmlite import ir

from .flow import Flow
from .kinds import has_same_layout, in_memory, join, joined_elements
from .values import (
    BOOL,
    FLOAT,
    INT,
    POINTER,
    Items,
    ListInMemory,
    Number,
    Signal,
    UnsupportedError,
    Value,
    of_kind,
    signals_of,
    whole,
)

BLOCK_WORDS = 3072
"""The words that one call has; what needs more is left to Python."""
_LENGTH, _CAPACITY, _ELEMENTS = range(3)
_FIRST_CAPACITY = 8
ALLOCATE = "allocate"


def define_allocate(flow: Flow) -> None:
    """Define the function that hands out words of a block, and null once there are no more."""
    function = flow.module.globals[ALLOCATE]
    build = ir.IRBuilder(function.append_basic_block())
    block, words = function.args
    used = build.load(block)
    after = build.add(used, words)
    with build.if_then(build.icmp_unsigned(">", after, whole(BLOCK_WORDS)), likely=False):
        build.ret(ir.Constant(POINTER, None))
    build.store(after, block)
    build.ret(build.gep(block, [used]))
    function.linkage = "internal"


def _allocated(flow: Flow, words: Signal) -> Signal:
    function = flow.module.globals.get(ALLOCATE)
    if function is None:
        function = ir.Function(flow.module, ir.FunctionType(POINTER, [POINTER, INT]), ALLOCATE)
    address = flow.build.call(function, [flow.memory, words])
    flow.give_up_if(flow.build.icmp_unsigned("==", flow.build.ptrtoint(address, INT), whole(0)))
    return address


def _read(flow: Flow, address: Signal, index: Signal, kind: ir.Type = INT) -> Signal:
    """A word of memory, as a signal of an LLVM type."""
    word = flow.build.load(flow.build.gep(address, [index]))
    if kind == FLOAT:
        return flow.build.bitcast(word, FLOAT)
    if kind == BOOL:
        return flow.build.trunc(word, BOOL)
    return flow.build.inttoptr(word, kind) if isinstance(kind, ir.PointerType) else word


def _write(flow: Flow, signal: Signal, address: Signal, index: Signal) -> None:
    if signal.type == FLOAT:
        signal = flow.build.bitcast(signal, INT)
    elif signal.type == BOOL:
        signal = flow.build.zext(signal, INT)
    elif isinstance(signal.type, ir.PointerType):
        signal = flow.build.ptrtoint(signal, INT)
    elif signal.type != INT:
        raise UnsupportedError("a list of sets of cells on a board of more than 64 cells")
    flow.build.store(signal, flow.build.gep(address, [index]))


def _words(element: Value | None) -> int:
    """How many words an element takes; what is not known yet gets enough for most."""
    return max(1, len(signals_of(element))) if element is not None else 4


def new_list(flow: Flow, element: Value | None) -> ListInMemory:
    """An empty list of elements of a kind."""
    capacity = _FIRST_CAPACITY * _words(element)
    header = _allocated(flow, whole(3))
    elements = _allocated(flow, whole(capacity))
    for index, signal in ((_LENGTH, whole(0)), (_CAPACITY, whole(capacity)), (_ELEMENTS, elements)):
        _write(flow, signal, header, whole(index))
    return ListInMemory(header, element)


def length_of(flow: Flow, content: ListInMemory) -> Number:
    """The length of a list."""
    return Number("int", _read(flow, content.signal, whole(_LENGTH)), 0, BLOCK_WORDS)


def set_length(flow: Flow, content: ListInMemory, length: Signal) -> None:
    """Cut a list off."""
    _write(flow, length, content.signal, whole(_LENGTH))


def element_kind(flow: Flow, value: Value) -> Value:
    """The kind of a value as an element of a list."""
    return in_memory(flow.deep_kind(value, flow.here()))


def _element(flow: Flow, element: Value | None, value: Value, where: Hashable) -> tuple[Value, list[Signal]]:
    """The kind of a list's elements with one more, and that element's signals."""
    kind = element_kind(flow, value)
    if element is not None:
        kind = in_memory(join(element, kind, True))
        if not has_same_layout(element, kind):
            flow.doubts.append((flow.build.block, "a list holds elements of several kinds"))
    converted = flow.operations.convert(flow, value, kind, where)
    return kind, signals_of(flow.exposed(converted, kind))


def append(flow: Flow, content: ListInMemory, value: Value) -> ListInMemory:
    """Add an element to a list; what it holds from now on."""
    kind, signals = _element(flow, content.element, value, None)
    count = len(signals)
    length = _read(flow, content.signal, whole(_LENGTH))
    if count:
        offset = flow.build.mul(length, whole(count))
        capacity = _read(flow, content.signal, whole(_CAPACITY))
        is_full = flow.build.icmp_unsigned(">", flow.build.add(offset, whole(count)), capacity)
        yes, no = flow.split(is_full)
        flow.enter(yes)
        _grow(flow, content, capacity)
        flow.merge([flow.edge(), no])
        elements = _read(flow, content.signal, whole(_ELEMENTS), POINTER)
        for index, signal in enumerate(signals):
            _write(flow, signal, elements, flow.build.add(offset, whole(index)))
    set_length(flow, content, flow.build.add(length, whole(1)))
    return ListInMemory(content.signal, kind)


def _grow(flow: Flow, content: ListInMemory, capacity: Signal) -> None:
    doubled = flow.build.mul(capacity, whole(2))
    elements = _allocated(flow, doubled)
    name = "llvm.memcpy.p0.p0.i64"
    kind = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, INT, BOOL])
    copy = flow.module.globals.get(name) or ir.Function(flow.module, kind, name)
    size = flow.build.mul(capacity, whole(8))
    old = _read(flow, content.signal, whole(_ELEMENTS), POINTER)
    flow.build.call(copy, [elements, old, size, ir.Constant(BOOL, 0)])
    _write(flow, elements, content.signal, whole(_ELEMENTS))
    _write(flow, doubled, content.signal, whole(_CAPACITY))


def element_at(flow: Flow, content: ListInMemory, index: Signal) -> Value:
    """The element of a list at an index that it has."""
    if content.element is None:
        raise UnsupportedError("an element of a list that has had none")
    kinds = signals_of(content.element)
    elements = _read(flow, content.signal, whole(_ELEMENTS), POINTER)
    offset = flow.build.mul(index, whole(len(kinds)))
    words = [_read(flow, elements, flow.build.add(offset, whole(place)), kind) for place, kind in enumerate(kinds)]
    return flow.settled(of_kind(content.element, iter(words)))


def set_element(flow: Flow, content: ListInMemory, index: Signal, value: Value) -> ListInMemory:
    """Put a value at an index that a list has."""
    kind, signals = _element(flow, content.element, value, None)
    elements = _read(flow, content.signal, whole(_ELEMENTS), POINTER)
    offset = flow.build.mul(index, whole(len(signals)))
    for place, signal in enumerate(signals):
        _write(flow, signal, elements, flow.build.add(offset, whole(place)))
    return ListInMemory(content.signal, kind)


def drop_first(flow: Flow, content: ListInMemory) -> None:
    """Take the first element off a list that has one."""
    count = len(signals_of(content.element)) if content.element is not None else 0
    elements = _read(flow, content.signal, whole(_ELEMENTS), POINTER)
    capacity = _read(flow, content.signal, whole(_CAPACITY))
    length = _read(flow, content.signal, whole(_LENGTH))
    _write(flow, flow.build.gep(elements, [whole(count)]), content.signal, whole(_ELEMENTS))
    _write(flow, flow.build.sub(capacity, whole(count)), content.signal, whole(_CAPACITY))
    set_length(flow, content, flow.build.sub(length, whole(1)))


def in_memory_list(flow: Flow, items: Items, element: Value | None) -> ListInMemory:
    """A list of known length as one in memory."""
    joined = joined_elements([flow.deep_kind(items, flow.here()), ListInMemory(POINTER, element)])
    content = new_list(flow, joined)
    for item in items.items:
        content = append(flow, content, item)
    return ListInMemory(content.signal, joined)
