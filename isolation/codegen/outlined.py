"""Functions that are not written in where they are called: those that call themselves, and large ones of the library.

Such a function takes and returns what memory can hold; objects are passed by their addresses. It has one version for
the kinds of all its calls, which are found as those of what objects hold are: by emitting everything again.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from llvmlite import ir

from .flow import Flow
from .frames import Frame, Function, names_changed_around, names_in
from .kinds import in_memory, join
from .memory import DEPTH, load_value, sites_in, store_value, words_of
from .values import (
    INT,
    POINTER,
    Closure,
    Number,
    Signal,
    Static,
    Tuple,
    UnsupportedError,
    Value,
    blank_of,
    kind_of,
    of_kind,
    signals_of,
    whole,
    with_parts,
)

_DEEPEST = 900
"""How deep calls may be; Python's own limit is near."""


@dataclass(eq=False)
class Version:
    """An LLVM function, the kinds of the variables that it is given, and those that it changes."""

    function: Any
    kinds: dict[Hashable, Value]
    changed: list[Hashable]


def call_outlined(flow: Flow, node: Function, around: Frame, bound: dict[str, Value], has_versions: bool) -> Value:
    """What a call gives of a function of its own; one of the library has a version for each kind of arguments."""
    moved = {name: _moved(flow, value) for name, value in bound.items()}
    own = _variant(flow, node, {name: kind_of(value) for name, value in moved.items()}) if has_versions else 0
    number = flow.heap.number(("outlined", id(node), own))
    given: dict[Hashable, Value] = {("local", number, name): value for name, value in moved.items()}
    outer = _outer(flow, around if around.number >= 0 else None)
    captured = _captured(flow, node, outer)
    for key, location in captured.items():
        given[key] = _moved(flow, _in_outer(flow.here()[location], outer))
    kinds = _signature(flow, (id(node), own), {key: kind_of(value) for key, value in given.items()})
    version = flow.versions.get((id(node), own))
    if version is None:
        changed = [key for key in captured if key in kinds and key[2] in names_changed_around(node)]
        version = _emitted(flow, node, around, outer, number, kinds, changed, own)
    arguments: list[Signal] = []
    for key, kind in version.kinds.items():
        value = given.get(key)
        arguments += signals_of(blank_of(kind) if value is None else flow.operations.convert(flow, value, kind))
    flow.writes += 1
    for value in given.values():
        flow.written |= sites_in(flow, value)
    return _called(flow, version, (id(node), own), arguments, captured)


def _outer(flow: Flow, frame: Frame | None) -> list[tuple[Frame, Frame]]:
    """The frames around a function, and the same as they are inside of it, whichever call they are of."""
    chain: list[Frame] = []
    while frame is not None:
        chain.append(frame)
        frame = frame.parent
    pairs: list[tuple[Frame, Frame]] = []
    inside: Frame | None = None
    for frame in reversed(chain):
        number = flow.heap.number(("outer", id(frame.node)))
        inside = replace(frame, parent=inside, number=number, returns=[], loops=[], nonlocals=set())
        pairs.append((frame, inside))
    return pairs[::-1]


def _in_outer(value: Value, outer: list[tuple[Frame, Frame]]) -> Value:
    """A value in which a function that was defined around knows the frames as they are inside."""
    if isinstance(value, Closure):
        inside = next((inside for frame, inside in outer if frame.number == value.frame.number), None)
        return replace(value, frame=inside) if inside is not None else value
    return with_parts(value, lambda part: _in_outer(part, outer))


def _moved(flow: Flow, value: Value) -> Value:
    """A value as memory holds it."""
    return flow.operations.convert(flow, value, in_memory(flow.deep_kind(value, flow.here())))


def _variant(flow: Flow, node: Function, kinds: dict[Hashable, Value]) -> int:
    """The number of the version of a function for arguments of these kinds."""
    known = flow.heap.variants.setdefault(node, [])
    kinds = {name: _of_any_size(kind) for name, kind in kinds.items()}
    for number, other in enumerate(known):
        if other == kinds:
            return number
    known.append(kinds)
    return len(known) - 1


def _of_any_size(kind: Value) -> Value:
    return Number("int", INT) if isinstance(kind, Number) and kind.name == "int" else kind


def _signature(flow: Flow, key: Hashable, kinds: dict[Hashable, Value]) -> dict[Hashable, Value]:
    """The kinds of a function's variables in all calls so far."""
    known = flow.heap.signatures.setdefault(key, kinds)
    for name in known.keys() - kinds.keys():  # it may not be bound where the function is called
        del known[name]
        flow.heap.growths += 1
    for name in known:
        kind = kinds[name]
        joined = in_memory(join(known[name], kind, True))
        if joined != known[name]:
            known[name] = joined
            flow.heap.growths += 1
    return dict(known)


def _captured(flow: Flow, node: Function, outer: list[tuple[Frame, Frame]]) -> dict[Any, Hashable]:
    """The variables of functions around a function that it may use: where they lie inside, and here."""
    captured: dict[Any, Hashable] = {}
    names, seen = set(names_in(node)), {id(node)}
    waiting = True
    while waiting:
        waiting = False
        for frame, _ in outer:
            for name in sorted(names):
                value = flow.here().get(("local", frame.number, name))
                if isinstance(value, Closure) and id(value.node) not in seen:
                    seen.add(id(value.node))
                    names |= set(names_in(value.node))
                    waiting = True
    for frame, inside in outer:
        for name in sorted(names):
            if ("local", frame.number, name) in flow.here():
                captured["local", inside.number, name] = ("local", frame.number, name)
    return captured


def _emitted(
    flow: Flow,
    node: Function,
    around: Frame,
    outer: list[tuple[Frame, Frame]],
    number: int,
    kinds: dict[Hashable, Value],
    changed: list[Hashable],
    own: Hashable,
) -> Version:
    types = [signal for kind in kinds.values() for signal in signals_of(kind)]
    shared = [POINTER, POINTER, POINTER, flow.parameters.type]
    name = f"function_{len(flow.versions)}"
    function = ir.Function(flow.module, ir.FunctionType(ir.IntType(32), [*shared, *types]), name)
    function.linkage = "internal"
    version = flow.versions[id(node), own] = Version(function, kinds, changed)
    kept = flow.suspend()
    flow.function, flow.build = function, ir.IRBuilder(function.append_basic_block("entry"))
    result, flow.fuel, flow.memory, flow.parameters, *arguments = function.args
    given = iter(arguments)
    flow.state = {key: of_kind(kind, given) for key, kind in kinds.items()}
    flow.is_inside = True
    flow.spend(whole(1))
    _enter(flow)
    parent = outer[0][1] if outer else None
    cells = {} if parent else around.cells
    frame = Frame(node, around.space, cells, around.changes, parent, number, ("outlined", number), flow.collect())
    flow.frames = [*([parent] if parent else []), frame]
    flow.operations.run_body(flow, frame)
    flow.merge_pending(frame.returns)
    if not flow.is_dead:
        returned = flow.here().get(("result", number))
        if returned is None:
            raise UnsupportedError(flow.reasons.get(("result", number), "a function returns values of different kinds"))
        _leave(flow, (id(node), own), Tuple((returned, *(flow.here()[key] for key in changed))), result)
    flow.resume(kept)
    return version


def _enter(flow: Flow) -> None:
    """Count how deep calls are."""
    place = flow.build.gep(flow.memory, [whole(DEPTH)])
    depth = flow.build.add(flow.build.load(place), whole(1))
    flow.build.store(depth, place)
    flow.give_up_if(flow.build.icmp_signed(">", depth, whole(_DEEPEST)))


def _leave(flow: Flow, key: Hashable, value: Value, result: Signal) -> None:
    """Return a value, which lies at an address then."""
    moved = _moved(flow, value)
    known = flow.heap.results.get(key)
    kind = kind_of(moved) if known is None else in_memory(join(known, kind_of(moved), True))
    if kind != known:
        flow.heap.results[key] = kind
        flow.heap.growths += 1
    store_value(flow, result, whole(0), flow.operations.convert(flow, moved, kind))
    flow.build.ret(ir.Constant(ir.IntType(32), 0))
    flow.state = None


def _called(
    flow: Flow, version: Version, key: Hashable, arguments: list[Signal], captured: dict[Any, Hashable]
) -> Value:
    kind = flow.heap.results.get(key)
    with flow.build.goto_entry_block():
        result = flow.build.alloca(INT, max(1, words_of(kind) if kind is not None else 1))
    status = flow.build.call(version.function, [result, flow.fuel, flow.memory, flow.parameters, *arguments])
    place = flow.build.gep(flow.memory, [whole(DEPTH)])
    flow.build.store(flow.build.sub(flow.build.load(place), whole(1)), place)
    failed, fine = flow.split(flow.build.icmp_signed("!=", status, ir.Constant(ir.IntType(32), 0)))
    flow.enter(failed)
    flow.fail_as(status)
    flow.enter(fine)
    if kind is None:  # no call returns, as far as is known
        flow.build.unreachable()
        flow.state = None
        return Static(None)
    returned = load_value(flow, result, whole(0), kind)
    assert isinstance(returned, Tuple)
    value, *changed = returned.items
    for location, new in zip(version.changed, changed, strict=True):
        flow.here()[captured[location]] = new
    return value
