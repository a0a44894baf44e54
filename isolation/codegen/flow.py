"""Control flow: blocks, the state of all variables, merges, loops, failures and fuel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from llvmlite import ir

from .kinds import join
from .values import (
    BOOL,
    INT,
    Held,
    Items,
    ListInMemory,
    Reference,
    Signal,
    Static,
    UnsupportedError,
    Value,
    kind_of,
    of_kind,
    parts_of,
    signals_of,
    truth,
    whole,
    with_parts,
)

State = dict[Hashable, Value]
"""The value of every location: ("local", frame, name), ("object", number), ("hidden", key), ("shared", number)."""
MOST_ROUNDS = 10_000_000
FAILED, GIVEN_UP = 1, 2
"""What a compiled function returns in place of 0: the Python function raises; it was at it for too long."""
_MOST_ATTEMPTS = 40
_MOST_BLOCKS = 20_000


@dataclass(eq=False)
class Edge:
    """The end of a way through the code, to be merged with others."""

    block: Any
    state: State


@dataclass(eq=False)
class Handler:
    """An `except` clause while its `try` is compiled: what it catches, and the ways that lead to it."""

    classes: tuple[type[BaseException], ...]
    edges: list[Edge]


@dataclass(frozen=True)
class Operations:
    """What this module asks of those above it."""

    convert: Callable[[Flow, Value, Value, Hashable], Value]
    """Convert(flow, value, kind, location): the value as one of a kind."""
    call: Callable[[Flow, Value, Sequence[Value], dict[str, Value], Hashable], Value]
    """Call(flow, function, arguments, keywords, site): what a call gives."""
    run_body: Callable[[Flow, Any], None]
    """Run_body(flow, frame): emit the statements of a function."""


class Flow:
    """The code that has been emitted so far, where it goes on, and what is known there.

    Attributes:
        rows, columns: the size of the board.
        mask: the LLVM type of a set of cells.
        build: the builder of LLVM instructions; take it afresh after whatever may open a block.
        state: what is known here; None where no way leads.
    """

    def __init__(self, rows: int, columns: int, operations: Operations) -> None:
        self.rows, self.columns = rows, columns
        self.mask = ir.IntType(64 if rows * columns <= 64 else 128)
        self.module = ir.Module("score")
        self.operations = operations
        self.state: State | None = None
        self.handlers: list[Handler] = []
        self.pending: list[list[Edge]] = []
        self.numbers = count()
        self.doubts: list[tuple[Any, str]] = []
        self._known: dict[Hashable, dict[Hashable, Value | None]] = {}
        self._depth = 0
        self.function: Any = None
        self.build: Any = None
        self.fuel: Any = None
        self.memory: Any = None
        self.written_out = 1
        self.line: int | None = None
        self.frames: list[Any] = []

    # --- where the code goes on

    @property
    def is_dead(self) -> bool:
        """Whether no way leads here."""
        return self.state is None

    def here(self) -> State:
        """The state, where a way leads."""
        assert self.state is not None
        return self.state

    def block(self, name: str) -> Any:
        if len(self.function.blocks) > _MOST_BLOCKS:
            raise UnsupportedError("its code is too large when it is written out")
        return self.function.append_basic_block(name)

    def at(self, block: Any) -> None:
        self.build.position_at_end(block)

    def edge(self) -> Edge:
        """End the code here; it goes on where the edge is merged."""
        edge = Edge(self.build.block, self.here())
        self.state = None
        return edge

    def enter(self, edge: Edge) -> None:
        self.at(edge.block)
        self.state = edge.state

    def split(self, condition: Signal) -> tuple[Edge, Edge]:
        """The ways on where a condition holds and where it does not."""
        yes, no = self.block("yes"), self.block("no")
        self.build.cbranch(condition, yes, no)
        state, self.state = self.here(), None
        return Edge(yes, dict(state)), Edge(no, dict(state))

    def ways(self, condition: Signal | Static) -> tuple[list[Edge], list[Edge]]:
        """Those of `split`, of which there may be one only where the condition is known."""
        if isinstance(condition, Static):
            here = [self.edge()]
            return (here, []) if condition.value else ([], here)
        yes, no = self.split(condition)
        return [yes], [no]

    # --- objects

    def new(self, content: Value) -> Reference:
        """A reference to a new object."""
        number = next(self.numbers)
        self.here()["object", number] = content
        return Reference(number)

    def content(self, value: Value) -> Value:
        """What a reference refers to; any other value as it is."""
        if not isinstance(value, Reference):
            return value
        if ("object", value.number) not in self.here():
            raise UnsupportedError("an object that holds different things, depending on the way that leads here")
        return self.here()["object", value.number]

    def change(self, reference: Value, content: Value) -> None:
        """Give an object another content."""
        assert isinstance(reference, Reference)
        if ("shared", reference.number) in self.here():
            raise UnsupportedError("an object that has two names is changed")
        self.here()["object", reference.number] = content

    # --- merges

    def merge(self, edges: Iterable[Edge]) -> None:
        """Go on where these edges meet; values that have no common kind are forgotten."""
        edges = list(edges)
        if len(edges) < 2:
            self.state = None
            if edges:
                self.enter(edges[0])
            return
        plan: dict[Hashable, Value] = {}
        common = [key for key in edges[0].state if all(key in edge.state for edge in edges[1:])]
        for key in sorted(common, key=_objects_last):
            values = [edge.state[key] for edge in edges]
            if all(value is values[0] for value in values[1:]) or _carries_nothing(values):
                continue
            try:
                plan[key] = self._join([(edge.state[key], edge.state) for edge in edges])
            except UnsupportedError:
                common.remove(key)
                continue
            for edge in edges:
                self._convert_at(edge, key, plan[key])
        plan = {key: kind for key, kind in plan.items() if key in common}
        self._meet(edges, common, plan)

    def _convert_at(self, edge: Edge, key: Hashable, kind: Value) -> None:
        self.enter(edge)
        value = self.operations.convert(self, self.here()[key], kind, key)
        self.here()[key] = value
        edge.block, edge.state = self.build.block, self.here()

    def _meet(self, edges: Sequence[Edge], common: list[Hashable], plan: dict[Hashable, Value]) -> None:
        target = self.block("meeting")
        signals = []
        for edge in edges:
            self.enter(edge)
            signals.append([signals_of(self._exposed(self.here()[key], kind)) for key, kind in plan.items()])
            self.build.branch(target)
        self.at(target)
        first = edges[0].state
        self.state = {key: first[key] for key in common}
        for number, (key, kind) in enumerate(plan.items()):
            phis = [
                self._phi(list(zip(ways, edges, strict=True)))
                for ways in zip(*(each[number] for each in signals), strict=True)
            ]
            self.state[key] = self._settled(of_kind(kind, iter(phis)))
            if any(_is_shared(edge.state[key], edge.state) for edge in edges):
                self._share(self.state[key])

    def _share(self, value: Value) -> None:
        """Note that the objects of a value have other names as well, so that nothing may change them."""
        for part in parts_of(value):
            if isinstance(part, Reference):
                self.here()["shared", part.number] = Static(True)

    def _phi(self, ways: list[tuple[Signal, Edge]]) -> Signal:
        first = ways[0][0]
        if all(signal is first for signal, _ in ways):
            return first
        phi = self.build.phi(first.type)
        for signal, edge in ways:
            phi.add_incoming(signal, edge.block)
        return phi

    def _join(self, values: Sequence[tuple[Value, State]], widens: bool = False) -> Value:
        """The kind that holds all of these values, each of its state."""
        kinds = [kind_of(value) for value, _ in values]
        if any(kind != kinds[0] for kind in kinds[1:]):
            kinds = [self.deep_kind(value, state) for value, state in values]
        joined = kinds[0]
        for kind in kinds[1:]:
            joined = join(joined, kind, widens)
        return joined

    def deep_kind(self, value: Value, state: State) -> Value:
        """The kind of a value in which references are to objects of their own."""
        if isinstance(value, Reference):
            if ("object", value.number) not in state:
                raise UnsupportedError("an object that holds different things, depending on the way that leads here")
            return Held(self.deep_kind(state["object", value.number], state))
        parts = iter([self.deep_kind(part, state) for part in _own_parts(value)])
        return with_parts(kind_of(value), lambda _: next(parts))

    def _exposed(self, value: Value, kind: Value) -> Value:
        """A value of a kind, with the content of references that are to objects of their own in it."""
        if isinstance(kind, Held):
            return Held(self._exposed(self.content(value), kind.content))
        if not any(isinstance(part, Held) for part in parts_of(kind)):
            return value
        parts = iter(list(_own_parts(kind)))
        return with_parts(value, lambda part: self._exposed(part, next(parts)))

    def _settled(self, value: Value) -> Value:
        """The value with a new object for each that it holds."""
        if isinstance(value, Held):
            return self.new(self._settled(value.content))
        return with_parts(value, self._settled)

    def settled(self, value: Value) -> Value:
        """A value that was read from memory, with a new object for each that it holds."""
        return self._settled(value)

    def exposed(self, value: Value, kind: Value) -> Value:
        """A value as memory holds it."""
        return self._exposed(value, kind)

    # --- loops

    def loop(
        self,
        key: Hashable,
        head: Callable[[], Signal | Static],
        body: Callable[[], None],
        own: dict[Hashable, Value] | None = None,
    ) -> None:
        """A loop: `head` gives whether there is another round, `body` emits it.

        The body is emitted for what is known before the loop; where that has changed by its end, the loop is emitted
        again for less. What was found is remembered under `key`, for when the loop is met again. `own` are the kinds of
        the loop's own variables.
        """
        known = self._known.setdefault(key, {})
        known.update(own or {})
        start, entry = self.here(), self.build.block
        blocks, instructions = len(self.function.blocks), len(entry.instructions)
        for _ in range(_MOST_ATTEMPTS):
            self.at(entry)
            self.state = dict(start)
            if self._looped(known, head, body):
                return
            self._forget(blocks, entry, instructions)
        raise UnsupportedError("the kinds of a loop's variables do not settle")

    def _looped(self, known: dict[Hashable, Value | None], head: Callable[[], Any], body: Callable[[], None]) -> bool:
        """Emit a loop for what is known of its variables; False if that was too much."""
        at_head: dict[Hashable, Value] = {}
        for key in sorted(known, key=_objects_last):
            if (kind := known[key]) is None:
                self.here().pop(key, None)
            elif key in self.here():
                at_head[key] = kind
        phis, header = self._enter_loop(at_head)
        before = dict(self.here())
        go_on, ends = self.ways(head())
        self.merge(go_on)
        backs: list[Edge] = []
        if not self.is_dead:
            self._depth += 1
            body()
            self._depth -= 1
            backs = [] if self.is_dead else [self.edge()]
        if self._learn(known, before, at_head, backs):
            return False
        for back in backs:
            for key, kind in at_head.items():
                self._convert_at(back, key, kind)
                if _is_shared(back.state[key], back.state) and not _is_shared(before[key], before):
                    raise UnsupportedError("an object that gets a second name in a loop")
            self.enter(back)
            for key, kind in at_head.items():
                for phi, signal in zip(phis[key], signals_of(self._exposed(self.here()[key], kind)), strict=True):
                    phi.add_incoming(signal, back.block)
            self.build.branch(header)
        self.merge(ends)
        return True

    def _enter_loop(self, at_head: dict[Hashable, Value]) -> tuple[dict[Hashable, list[Any]], Any]:
        """Begin the block to which a loop's rounds come back; the phis of its variables, and the block."""
        for key, kind in at_head.items():
            self.here()[key] = self.operations.convert(self, self.here()[key], kind, key)
        signals = {key: signals_of(self._exposed(self.here()[key], kind)) for key, kind in at_head.items()}
        before, header = self.build.block, self.block("loop")
        self.build.branch(header)
        self.at(header)
        phis: dict[Hashable, list[Any]] = {}
        for key, incoming in signals.items():
            phis[key] = [self.build.phi(signal.type) for signal in incoming]
            for phi, signal in zip(phis[key], incoming, strict=True):
                phi.add_incoming(signal, before)
        for key, kind in at_head.items():
            was_shared = _is_shared(self.here()[key], self.here())
            self.here()[key] = self._settled(of_kind(kind, iter(phis[key])))
            if was_shared:
                self._share(self.here()[key])
        return phis, header

    def _learn(
        self,
        known: dict[Hashable, Value | None],
        before: State,
        at_head: dict[Hashable, Value],
        backs: Sequence[Edge],
    ) -> bool:
        """Note the kinds of variables that a round has changed; whether any is new."""
        is_new = False
        for key, value in before.items():
            for back in backs:
                after = back.state.get(key)
                if after is None or after is value:
                    continue
                if key not in at_head and _carries_nothing([value, after]):
                    continue
                kind = self._kind_at_head(at_head.get(key), (value, before), (after, back.state))
                if kind is None or kind != at_head.get(key):
                    known[key] = kind
                    is_new = True
        return is_new

    def _kind_at_head(
        self, kind: Value | None, before: tuple[Value, State], after: tuple[Value, State]
    ) -> Value | None:
        """What holds a variable before a loop and after a round; None if nothing does, so that it must be forgotten."""
        try:
            if kind is None:
                return self._join([before, after])
            return kind if kind_of(after[0]) == kind else join(kind, self.deep_kind(*after), True)
        except UnsupportedError:
            return None

    def _forget(self, blocks: int, entry: Any, instructions: int) -> None:
        """Take back what was emitted since."""
        del self.function.blocks[blocks:]
        del entry.instructions[instructions:]
        entry.terminator = None
        alive = set(map(id, self.function.blocks))
        for edges in [*self.pending, *(handler.edges for handler in self.handlers)]:
            edges[:] = [edge for edge in edges if id(edge.block) in alive]

    def collect(self) -> list[Edge]:
        """A list of edges to be merged later, from which those of code that is taken back are dropped."""
        edges: list[Edge] = []
        self.pending.append(edges)
        return edges

    def merge_pending(self, edges: list[Edge]) -> None:
        """Go on where the code here and collected edges meet."""
        self.pending = [other for other in self.pending if other is not edges]
        self.merge([*edges, *([] if self.is_dead else [self.edge()])])

    # --- failures

    def fail_if(self, condition: Signal | Static, error: type[BaseException]) -> None:
        """Raise an exception where a condition holds."""
        self._leave_if(condition, lambda: self.fail(error))

    def give_up_if(self, condition: Signal | Static) -> None:
        """Let Python be asked where a condition holds, which no handler catches."""
        self._leave_if(condition, lambda: self._return(FAILED))

    def _leave_if(self, condition: Signal | Static, leave: Callable[[], None]) -> None:
        if isinstance(condition, ir.Constant):
            condition = Static(bool(condition.constant))
        yes, no = self.ways(condition)
        self.merge(yes)
        if not self.is_dead:
            leave()
        self.merge(no)

    def fail(self, error: type[BaseException]) -> None:
        """Raise an exception: go to the innermost handler that takes it, or end the call."""
        for handler in reversed(self.handlers):
            if issubclass(error, handler.classes):
                handler.edges.append(self.edge())
                return
        self._return(FAILED)

    def _return(self, status: int) -> None:
        self.build.ret(ir.Constant(ir.IntType(32), status))
        self.state = None

    def spend(self, rounds: Signal) -> None:
        """Count rounds of a loop that other loops are around, or whose end is not known; end the call if too many."""
        left = self.build.sub(self.build.load(self.fuel), rounds)
        self.build.store(left, self.fuel)
        yes, no = self.split(self.build.icmp_signed("<", left, whole(0)))
        self.enter(yes)
        self._return(GIVEN_UP)
        self.enter(no)

    @property
    def is_in_nested_loop(self) -> bool:
        """Whether the code here runs several times, and that several times."""
        return self._depth > 1

    @property
    def is_in_loop(self) -> bool:
        """Whether the code here runs several times."""
        return self._depth > 0


def _objects_last(key: Hashable) -> bool:
    return isinstance(key, tuple) and key[0] == "object"


def _carries_nothing(values: Sequence[Value]) -> bool:
    """Return whether values of one kind have no signals, so that they are the same wherever code comes from."""
    kind = kind_of(values[0])
    return not signals_of(kind) and all(kind_of(value) == kind for value in values[1:])


def _has_references(value: Value) -> bool:
    return any(isinstance(part, Reference) for part in parts_of(value))


def _is_shared(value: Value, state: State) -> bool:
    """Return whether an object of a value has other names as well."""
    return any(isinstance(part, Reference) and ("shared", part.number) in state for part in parts_of(value))


def _own_parts(kind: Value) -> Iterable[Value]:
    """The values directly in a value."""
    collected: list[Value] = []

    def note(part: Value) -> Value:
        collected.append(part)
        return part

    with_parts(kind, note)
    return collected


__all__ = ["BOOL", "INT", "Edge", "Flow", "Handler", "Items", "ListInMemory", "Operations", "State", "truth"]
