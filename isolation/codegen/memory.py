"""Objects in memory: they lie in a block that belongs to one call, and are gone after it."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from . import groups, library, tables
from .flow import Flow
from .kinds import grow
from .values import (
    BOOL,
    INT,
    POINTER,
    Cells,
    Entries,
    Fields,
    Items,
    ListInMemory,
    Number,
    Pointer,
    Reference,
    Signal,
    Site,
    Static,
    UnsupportedError,
    Value,
    of_kind,
    parts_of,
    signals_of,
    whole,
)

BLOCK_WORDS = 1_024
"""The words of the block that one call has on the stack, which a search holds once for each ply."""
MEMORY_WORDS = 6
"""The words that say how memory is used: see below."""
_USED, _DEPTH, _BLOCKS, _BASE, _LIMIT, _TOTAL = range(MEMORY_WORDS)
"""Words used of the block at hand; how deep functions call each other; the address of the last block that was made,
which holds that of the one before it; the address of the block at hand, its size, and that of all that were made."""
DEPTH = _DEPTH
_LEAST_BLOCK = 8_192
_MOST_WORDS = 1 << 24
"""How many words there may be; what needs more is left to Python."""
_LENGTH, _CAPACITY, _ELEMENTS = range(3)
_FIRST_CAPACITY = 8
ALLOCATE, RESERVE = "allocate", "reserve"


def start(flow: Flow) -> None:
    """Emit what a call begins with: its block, of which nothing is used."""
    flow.memory = flow.build.alloca(INT, MEMORY_WORDS, name="memory")
    block = flow.build.alloca(INT, BLOCK_WORDS, name="block")
    numbers = {_BASE: flow.build.ptrtoint(block, INT), _LIMIT: whole(BLOCK_WORDS)}
    for word in range(MEMORY_WORDS):
        flow.build.store(numbers.get(word, whole(0)), flow.build.gep(flow.memory, [whole(word)]))


def define_functions(flow: Flow) -> Any:
    """Define what the code calls: the function that hands out words, and null once there are no more.

    Returns the function that gives them back.
    """
    if RESERVE in flow.module.globals:
        _define_reserve(flow)
    function = flow.module.globals[ALLOCATE]
    build = ir.IRBuilder(function.append_basic_block())
    memory, words = function.args
    fields = [build.gep(memory, [whole(word)]) for word in range(MEMORY_WORDS)]
    is_full = build.icmp_unsigned(">", build.add(build.load(fields[_USED]), words), build.load(fields[_LIMIT]))
    with build.if_then(is_full, likely=False):
        is_large = build.icmp_unsigned(">", words, whole(_LEAST_BLOCK))
        size = build.select(is_large, words, whole(_LEAST_BLOCK))
        total = build.add(build.load(fields[_TOTAL]), size)
        with build.if_then(build.icmp_unsigned(">", total, whole(_MOST_WORDS)), likely=False):
            build.ret(ir.Constant(POINTER, None))
        length = build.mul(build.add(size, whole(1)), whole(8))
        block = build.call(ir.Function(flow.module, ir.FunctionType(POINTER, [INT]), "malloc"), [length])
        with build.if_then(build.icmp_unsigned("==", block, ir.Constant(POINTER, None)), likely=False):
            build.ret(ir.Constant(POINTER, None))
        build.store(build.load(fields[_BLOCKS]), block)
        known = ((_BLOCKS, block), (_BASE, build.gep(block, [whole(1)])))
        for word, address in known:
            build.store(build.ptrtoint(address, INT), fields[word])
        for word, number in ((_USED, whole(0)), (_LIMIT, size), (_TOTAL, total)):
            build.store(number, fields[word])
    used = build.load(fields[_USED])
    build.store(build.add(used, words), fields[_USED])
    build.ret(build.gep(build.inttoptr(build.load(fields[_BASE]), POINTER), [used]))
    function.linkage = "internal"
    return _define_release(flow)


def _define_release(flow: Flow) -> Any:
    """Define the function that gives back all blocks but the first."""
    function = ir.Function(flow.module, ir.FunctionType(ir.VoidType(), [POINTER]), "release")
    function.linkage = "internal"
    start, head, rest, end = (function.append_basic_block() for _ in range(4))
    build = ir.IRBuilder(start)
    first = build.load(build.gep(function.args[0], [whole(_BLOCKS)]))
    build.branch(head)
    build.position_at_end(head)
    block = build.phi(INT)
    block.add_incoming(first, start)
    build.cbranch(build.icmp_unsigned("==", block, whole(0)), end, rest)
    build.position_at_end(rest)
    address = build.inttoptr(block, POINTER)
    following = build.load(address)
    build.call(ir.Function(flow.module, ir.FunctionType(ir.VoidType(), [POINTER]), "free"), [address])
    block.add_incoming(following, rest)
    build.branch(head)
    build.position_at_end(end)
    build.ret_void()
    return function


def _allocated(flow: Flow, words: Signal) -> Signal:
    address = flow.build.call(_allocator(flow), [flow.memory, words])
    flow.give_up_if(flow.build.icmp_unsigned("==", address, ir.Constant(POINTER, None)))
    return address


def _allocator(flow: Flow) -> Any:
    function = flow.module.globals.get(ALLOCATE)
    return function or ir.Function(flow.module, ir.FunctionType(POINTER, [POINTER, INT]), ALLOCATE)


def _read(flow: Flow, address: Signal, index: Signal, kind: ir.Type = INT) -> Signal:
    """What lies at a word of memory, as a signal of an LLVM type."""
    place = flow.build.gep(address, [index])
    if kind == BOOL:
        return flow.build.trunc(flow.build.load(place), BOOL)
    return flow.build.load(flow.build.bitcast(place, kind.as_pointer()), align=8)


def _write(flow: Flow, signal: Signal, address: Signal, index: Signal) -> None:
    place = flow.build.gep(address, [index])
    if signal.type == BOOL:
        signal = flow.build.zext(signal, INT)
    flow.build.store(signal, flow.build.bitcast(place, signal.type.as_pointer()), align=8)


def _words(kind: ir.Type) -> int:
    """How many words a signal takes."""
    return 2 if isinstance(kind, ir.IntType) and kind.width > INT.width else 1


def words_of(kind: Value | None) -> int:
    """How many words something of a kind takes; what is not known yet gets enough for most."""
    return 4 if kind is None else sum(map(_words, signals_of(kind)))


def load_value(flow: Flow, address: Signal, offset: Signal, kind: Value) -> Value:
    """Something of a kind that lies in memory."""
    signals, place = [], 0
    for each in signals_of(kind):
        signals.append(_read(flow, address, flow.build.add(offset, whole(place)), each))
        place += _words(each)
    return of_kind(kind, iter(signals))


def store_value(flow: Flow, address: Signal, offset: Signal, value: Value) -> None:
    """Put something into memory, which holds no objects that are not there."""
    _store(flow, address, offset, signals_of(value))


def _store(flow: Flow, address: Signal, offset: Signal, signals: list[Signal]) -> None:
    place = 0
    for signal in signals:
        _write(flow, signal, address, flow.build.add(offset, whole(place)))
        place += _words(signal.type)


def _of_site(flow: Flow, site: Site, value: Value) -> tuple[int, list[Signal]]:
    """How many words what a site holds takes, and the signals of one that holds this value, too."""
    kind = grow(site, flow.deep_kind(value, flow.here()))
    return words_of(kind), signals_of(flow.operations.convert(flow, value, kind))


# --- objects


def point(flow: Flow, reference: Reference) -> Pointer:
    """A reference to an object, which lies in memory from here on."""
    content = flow.here()["object", reference.number]
    if isinstance(content, Pointer):
        return content
    site = flow.heap.site(reference.number)
    wanted = site.kind
    if isinstance(content, Cells) and isinstance(wanted, Fields) and wanted.owner is groups.Group:
        if not isinstance(content.signal, ir.Constant):
            flow.demand_order()
        group = flow.operations.call(flow, Static(groups.Group), [], {}, "group")
        content = flow.here()["object", reference.number] = flow.content(group)
        if isinstance(content, Pointer):
            return content
    if isinstance(content, Items) or (isinstance(content, Cells) and content.order != "set"):
        made = _new_list(flow, site)
        _fill(flow, made, content)
        pointer = Pointer(made.signal, site)
    else:
        words, signals = _of_site(flow, site, _as_fields(flow, content))
        address = _allocated(flow, whole(max(1, words)))
        _store(flow, address, whole(0), signals)
        pointer = Pointer(address, site)
    flow.here()["object", reference.number] = pointer
    return pointer


def _as_fields(flow: Flow, content: Value) -> Value:
    return as_table(flow, content) if isinstance(content, Entries) else content


def as_table(flow: Flow, content: Entries) -> Fields:
    """The content of a dictionary whose keys are known as that of one whose keys are not."""
    lists = tuple(map(flow.new, (Items(content.keys), Items(content.items), Items(()))))
    return Fields(tables.Table, tables.Table.PARTS, lists)


def read(flow: Flow, pointer: Pointer) -> Value:
    """What an object in memory holds."""
    site = pointer.site.root
    if site.is_list:
        return ListInMemory(pointer.signal, site)
    if site.kind is None:
        raise UnsupportedError("an object of which nothing is known")
    return load_value(flow, pointer.signal, whole(0), site.kind)


def write(flow: Flow, pointer: Pointer, content: Value) -> None:
    """Let an object in memory hold something else."""
    site = pointer.site.root
    flow.note_write(site)
    if not site.is_list:
        _store(flow, pointer.signal, whole(0), _of_site(flow, site, _as_fields(flow, content))[1])
    elif isinstance(content, ListInMemory):
        grow(site, Pointer(POINTER, content.site)) if content.site != site else None
        for word in range(3):
            _write(flow, _read(flow, content.signal, whole(word)), pointer.signal, whole(word))
    else:
        here = ListInMemory(pointer.signal, site)
        set_length(flow, here, whole(0))
        _fill(flow, here, content)


def _fill(flow: Flow, target: ListInMemory, content: Value) -> None:
    if isinstance(content, Items):
        for item in content.items:
            append(flow, target, item)
    else:
        flow.operations.call(flow, Static(library.fill), [Pointer(target.signal, target.site), content], {}, "fill")


# --- lists


def _new_list(flow: Flow, site: Site) -> ListInMemory:
    """An empty list."""
    site.is_list = True
    capacity = _FIRST_CAPACITY * max(1, words_of(site.kind))
    header = _allocated(flow, whole(3))
    elements = _allocated(flow, whole(capacity))
    for index, signal in ((_LENGTH, whole(0)), (_CAPACITY, whole(capacity)), (_ELEMENTS, elements)):
        _write(flow, signal, header, whole(index))
    return ListInMemory(header, site)


def zeros(flow: Flow, count: Number) -> Reference:
    """A list of zeros."""
    made = flow.new(Items(()))
    site = flow.heap.site(made.number)
    site.is_list = True
    grow(site, Number("int", INT, 0, 0))
    header = _allocated(flow, whole(3))
    elements = _allocated(flow, count.signal)
    name = "llvm.memset.p0.i64"
    kind = ir.FunctionType(ir.VoidType(), [POINTER, ir.IntType(8), INT, BOOL])
    fill = flow.module.globals.get(name) or ir.Function(flow.module, kind, name)
    size = flow.build.mul(count.signal, whole(8))
    flow.build.call(fill, [elements, ir.Constant(ir.IntType(8), 0), size, ir.Constant(BOOL, 0)])
    for index, signal in ((_LENGTH, count.signal), (_CAPACITY, count.signal), (_ELEMENTS, elements)):
        _write(flow, signal, header, whole(index))
    flow.here()["object", made.number] = Pointer(header, site)
    return made


def length_of(flow: Flow, content: ListInMemory) -> Number:
    """The length of a list."""
    return Number("int", _read(flow, content.signal, whole(_LENGTH)), 0, _MOST_WORDS)


def set_length(flow: Flow, content: ListInMemory, length: Signal) -> None:
    """Cut a list off."""
    flow.note_write(content.site)
    _write(flow, length, content.signal, whole(_LENGTH))


def append(flow: Flow, content: ListInMemory, value: Value) -> None:
    """Add an element to a list."""
    flow.note_write(content.site)
    count, signals = _of_site(flow, content.site, value)
    function = flow.module.globals.get(RESERVE)
    if function is None:
        function = ir.Function(flow.module, ir.FunctionType(POINTER, [POINTER, POINTER, INT]), RESERVE)
        _allocator(flow)
    place = flow.build.call(function, [flow.memory, content.signal, whole(count)])
    flow.give_up_if(flow.build.icmp_unsigned("==", place, ir.Constant(POINTER, None)))
    _store(flow, place, whole(0), signals)


def _define_reserve(flow: Flow) -> None:
    """Define the function that makes a list longer by an element of so many words, and gives where it lies."""
    function = flow.module.globals[RESERVE]
    build = ir.IRBuilder(function.append_basic_block())
    block, header, count = function.args
    fields = [build.gep(header, [whole(word)]) for word in range(3)]
    length, capacity = build.load(fields[_LENGTH]), build.load(fields[_CAPACITY])
    place = build.bitcast(fields[_ELEMENTS], POINTER.as_pointer())
    offset = build.mul(length, count)
    is_full = build.icmp_unsigned(">", build.add(offset, count), capacity)
    with build.if_then(is_full, likely=False):
        larger = build.add(build.mul(capacity, whole(2)), count)
        elements = build.call(_allocator(flow), [block, larger])
        with build.if_then(build.icmp_unsigned("==", elements, ir.Constant(POINTER, None)), likely=False):
            build.ret(ir.Constant(POINTER, None))
        kind = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, INT, BOOL])
        copy = ir.Function(flow.module, kind, "llvm.memcpy.p0.p0.i64")
        build.call(copy, [elements, build.load(place), build.mul(capacity, whole(8)), ir.Constant(BOOL, 0)])
        build.store(elements, place)
        build.store(larger, fields[_CAPACITY])
    build.store(build.add(length, whole(1)), fields[_LENGTH])
    build.ret(build.gep(build.load(place), [offset]))
    function.linkage = "internal"


def element_at(flow: Flow, content: ListInMemory, index: Signal) -> Value:
    """The element of a list at an index that it has."""
    site = content.site.root
    if site.kind is None:
        site.was_empty = True
        flow.fail(IndexError)
        return Static(None)
    elements = _read(flow, content.signal, whole(_ELEMENTS), POINTER)
    return load_value(flow, elements, flow.build.mul(index, whole(words_of(site.kind))), site.kind)


def set_element(flow: Flow, content: ListInMemory, index: Signal, value: Value) -> None:
    """Put a value at an index that a list has."""
    flow.note_write(content.site)
    count, signals = _of_site(flow, content.site, value)
    elements = _read(flow, content.signal, whole(_ELEMENTS), POINTER)
    _store(flow, elements, flow.build.mul(index, whole(count)), signals)


def drop_first(flow: Flow, content: ListInMemory) -> None:
    """Take the first element off a list that has one."""
    count = words_of(content.site.root.kind)
    elements = _read(flow, content.signal, whole(_ELEMENTS), POINTER)
    capacity = _read(flow, content.signal, whole(_CAPACITY))
    length = _read(flow, content.signal, whole(_LENGTH))
    _write(flow, flow.build.gep(elements, [whole(count)]), content.signal, whole(_ELEMENTS))
    _write(flow, flow.build.sub(capacity, whole(count)), content.signal, whole(_CAPACITY))
    set_length(flow, content, flow.build.sub(length, whole(1)))


def sites_in(flow: Flow, value: Value) -> set[int]:
    """The sites of all objects in memory that can be reached from a value."""
    found: set[int] = set()
    waiting = list(parts_of(value))
    while waiting:
        part = waiting.pop()
        if isinstance(part, Reference) and ("object", part.number) in flow.here():
            waiting += parts_of(flow.here()["object", part.number])
        if isinstance(part, Pointer | ListInMemory) and id(part.site.root) not in found:
            found.add(id(part.site.root))
            waiting += parts_of(part.site.root.kind) if part.site.root.kind is not None else []
    return found
