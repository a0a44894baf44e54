"""Control flow: blocks, the state of all variables, merges, loops, failures and fuel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any, NoReturn

from llvmlite import ir

from .kinds import in_memory, join
from .values import (
    Frozen,
    Heap,
    Held,
    Pointer,
    Reference,
    Signal,
    Site,
    Static,
    Text,
    UnsupportedError,
    Value,
    kind_of,
    of_kind,
    parts_of,
    signals_of,
    whole,
    with_parts,
)

State = dict[Hashable, Value]
"""The value of every location: ("local", frame, name), ("object", number), ("hidden", key)."""
MOST_ROUNDS = 10_000_000
FAILED, GIVEN_UP = 1, 2
"""What a compiled function returns in place of 0: the Python function raises; it was at it for too long."""
_FIRST_ERROR = 16
"""What a function of its own returns for the first of the exceptions that such functions raise."""
_OF_FUNCTION = (
    "function", "build", "state", "handlers", "pending", "frames", "unrolled", "written_out", "_depth", "_held", "fuel",
    "memory", "parameters", "is_inside", "any_order", "took_any_order", "node", "exits", "additive",
)  # fmt: skip
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

    convert: Callable[[Flow, Value, Value], Value]
    """Convert(flow, value, kind): the value as one of a kind."""
    call: Callable[[Flow, Value, Sequence[Value], dict[str, Value], Hashable], Value]
    """Call(flow, function, arguments, keywords, site): what a call gives."""
    run_body: Callable[[Flow, Any], None]
    """Run_body(flow, frame): emit the statements of a function."""
    read: Callable[[Flow, Pointer], Value]
    """Read(flow, pointer): what an object in memory holds."""
    write: Callable[[Flow, Pointer, Value], None]
    """Write(flow, pointer, content): let an object in memory hold something else."""
    point: Callable[[Flow, Reference], Pointer]
    """Point(flow, reference): a reference to an object that lies in memory from here on."""


class Flow:
    """The code that has been emitted so far, where it goes on, and what is known there.

    Attributes:
        rows, columns: the size of the board.
        mask: the LLVM type of a set of cells.
        build: the builder of LLVM instructions; take it afresh after whatever may open a block.
        state: what is known here; None where no way leads.
        any_order: the order of what is iterated over next cannot be seen.
        additive: the variables to which what is done next for each item only adds.
        took_any_order: a set has been iterated over in some order since this was last set to False.
        writes, written: how often code was emitted that changes memory, and the sites whose objects it changes.
        hidden: variables whose values depend on the order of a set.
    """

    def __init__(self, rows: int, columns: int, operations: Operations, heap: Heap) -> None:
        self.rows, self.columns = rows, columns
        self.mask = ir.IntType(64 if rows * columns <= 64 else 128)
        self.module = ir.Module("score")
        self.operations = operations
        self.heap = heap
        self.state: State | None = None
        self.handlers: list[Handler] = []
        self.pending: list[list[Edge]] = []
        self.parameters: Any = None
        self.versions: dict[Hashable, Any] = {}
        self.written_in: Counter[Any] = Counter()
        self.is_inside = False
        self.exits: dict[int, Any] = {}
        self.any_order = False
        self.additive: set[Hashable] = set()
        self.took_any_order = False
        self.writes = 0
        self.written: set[int] = set()
        self.hidden: set[Hashable] = set()
        self._depth = 0
        self._held = 0
        self.reasons: dict[Hashable, str] = {}
        self.function: Any = None
        self.build: Any = None
        self.fuel: Any = None
        self.memory: Any = None
        self.written_out = 1
        self.unrolled: list[int] = []
        self.node: Any = None
        self.frames: list[Any] = []

    @property
    def line(self) -> int | None:
        """The line of the source whose code is being emitted."""
        return getattr(self.node, "lineno", None)

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
        """A new block of the function, empty."""
        if len(self.function.blocks) > _MOST_BLOCKS:
            self.heap.outline(*(node for node, times in self.written_in.items() if times > 1))
            raise UnsupportedError("its code is too large when it is written out")
        return self.function.append_basic_block(name)

    def at(self, block: Any) -> None:
        """Go on at the end of a block."""
        self.build.position_at_end(block)

    def edge(self) -> Edge:
        """End the code here; it goes on where the edge is merged."""
        edge = Edge(self.build.block, self.here())
        self.state = None
        return edge

    def enter(self, edge: Edge) -> None:
        """Go on where an edge ends."""
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
        if self.is_dead:
            return [], []
        if isinstance(condition, Static):
            here = [self.edge()]
            return (here, []) if condition.value else ([], here)
        yes, no = self.split(condition)
        return [yes], [no]

    # --- objects

    @property
    def path(self) -> Hashable:
        """The calls that lead here."""
        return self.frames[-1].site if self.frames else None

    def new(self, content: Value) -> Reference:
        """A reference to a new object; its number is the same whenever the code here is emitted again."""
        place = (self.path, id(self.node))
        variant = 0
        while ("object", number := self.heap.number((place, variant))) in self.here():
            variant += 1
        self.here()["object", number] = content
        if number in self.heap.in_memory:
            self.operations.point(self, Reference(number))
        return Reference(number)

    def content(self, value: Value) -> Value:
        """What a reference refers to; any other value as it is."""
        if isinstance(value, Frozen | Text):
            value = value.value
        if isinstance(value, Reference):
            value = self._object(value)
        return self.operations.read(self, value) if isinstance(value, Pointer) else value

    def _object(self, reference: Reference) -> Value:
        key = ("object", reference.number)
        if key not in self.here():
            raise UnsupportedError(self.reasons.get(key, "an object that is there on some ways only"))
        return self.here()["object", reference.number]

    @contextmanager
    def holding(self, value: Value) -> Iterator[None]:
        """Keep an object that no variable refers to while code is emitted that changes it."""
        key = ("hidden", ("held", self._held))
        self.here()[key] = value
        self._held += 1
        yield
        self._held -= 1
        if not self.is_dead:
            self.here().pop(key, None)

    def change(self, reference: Value, content: Value) -> None:
        """Give an object another content."""
        if isinstance(reference, Reference):
            now = self._object(reference)
            if not isinstance(now, Pointer):
                self.here()["object", reference.number] = content
                return
            reference = now
        if not isinstance(reference, Pointer):
            raise UnsupportedError("what cannot be changed is changed")
        self.operations.write(self, reference, content)

    def note_write(self, site: Site) -> None:
        """Note that objects of a site change here."""
        self.writes += 1
        self.written.add(id(site.root))

    def demand_order(self) -> NoReturn:
        """Have code emitted again in which sets have the order of Python's."""
        if not self.heap.keeps_order:
            self.heap.keeps_order = True
            self.heap.growths += 1
        raise UnsupportedError("the order of a set")

    def demand_memory(self, reference: Reference) -> NoReturn:
        """Have code emitted again in which a list lies in memory from the start."""
        self.heap.in_memory.add(reference.number)
        self.heap.growths += 1
        raise UnsupportedError("a list that changes while it is iterated over")

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
        counts = _Counts(common)
        for key in sorted(common, key=_objects_last):
            values = [edge.state[key] for edge in edges]
            if all(value is values[0] for value in values[1:]) or _carries_nothing(values):
                continue
            kind = self._common_kind(key, [edge.state for edge in edges], counts)
            if kind is None:
                common.remove(key)
                continue
            plan[key] = kind
            for edge in edges:
                self._convert_at(edge, key, kind)
        plan = {key: kind for key, kind in plan.items() if key in common}
        self._meet(edges, common, plan)

    def _common_kind(self, key: Hashable, states: Sequence[State], counts: _Counts) -> Value | None:
        """The kind that a location has where ways meet; None if there is none, or nothing refers to the object."""
        try:
            if not _is_object(key):
                kinds = [kind_of(state[key]) for state in states]
                if any(kind != kinds[0] for kind in kinds[1:]):
                    kinds = [self.deep_kind(state[key], state, counts.of(state)) for state in states]
            elif any(counts.of(state)[key[1]] for state in states):  # type: ignore[index]
                kinds = [self._kind_of_object(key, state, counts.of(state)) for state in states]
            else:
                return None
            return _content_of(key, reduce(join, kinds))
        except UnsupportedError as error:
            self.reasons[key] = error.reason
            return None

    def _kind_of_object(self, key: Any, state: State, counts: Counter[int]) -> Value:
        """The kind of a reference to an object, whoever else refers to it."""
        content = self.deep_kind(state[key], state, counts)
        return content if isinstance(content, Pointer) else Held(content, self.heap.site(key[1]))

    def _convert_at(self, edge: Edge, key: Hashable, kind: Value) -> None:
        self.enter(edge)
        if _is_object(key) and isinstance(kind, Pointer):
            self.operations.point(self, Reference(key[1]))  # type: ignore[index]
        else:
            self.here()[key] = self.operations.convert(self, self.here()[key], kind)
        edge.block, edge.state = self.build.block, self.here()

    def _meet(self, edges: Sequence[Edge], common: list[Hashable], plan: dict[Hashable, Value]) -> None:
        target = self.block("meeting")
        signals = []
        for edge in edges:
            self.enter(edge)
            signals.append([signals_of(self.exposed(self.here()[key], kind)) for key, kind in plan.items()])
            self.build.branch(target)
        self.at(target)
        first = edges[0].state
        self.state = {key: first[key] for key in common}
        for number, (key, kind) in enumerate(plan.items()):
            phis = [
                self._phi(list(zip(ways, edges, strict=True)))
                for ways in zip(*(each[number] for each in signals), strict=True)
            ]
            self.state[key] = self.settled(of_kind(kind, iter(phis)))

    def _phi(self, ways: list[tuple[Signal, Edge]]) -> Signal:
        first = ways[0][0]
        if all(signal is first for signal, _ in ways):
            return first
        phi = self.build.phi(first.type)
        for signal, edge in ways:
            phi.add_incoming(signal, edge.block)
        return phi

    def deep_kind(self, value: Value, state: State, counts: Counter[int] | None = None) -> Value:
        """The kind of a value in which references are to objects of their own, or in memory.

        `counts` says how often each object is referred to: those that others refer to as well lie in memory.
        """
        if isinstance(value, Reference):
            if ("object", value.number) not in state:
                raise UnsupportedError("an object that is there on some ways only")
            content = self.deep_kind(state["object", value.number], state, counts)
            if isinstance(content, Pointer):
                return content
            held = Held(content, self.heap.site(value.number))
            return in_memory(held) if counts and counts[value.number] > 1 else held
        parts = iter([self.deep_kind(part, state, counts) for part in _own_parts(value)])
        return with_parts(kind_of(value), lambda _: next(parts))

    def exposed(self, value: Value, kind: Value) -> Value:
        """A value of a kind, with the content of references that are to objects of their own in it."""
        if isinstance(kind, Held):
            return Held(self.exposed(self.content(value), kind.content), kind.site)
        if not any(isinstance(part, Held) for part in parts_of(kind)):
            return value
        parts = iter(list(_own_parts(kind)))
        return with_parts(value, lambda part: self.exposed(part, next(parts)))

    def settled(self, value: Value) -> Value:
        """The value with a new object for each that it holds."""
        if isinstance(value, Held):
            return self.new(self.settled(value.content))
        return with_parts(value, self.settled)

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
        known = self.heap.loops.setdefault(key, {})
        known.update(own or {})
        start, entry = self.here(), self.build.block
        blocks, instructions = len(self.function.blocks), len(entry.instructions)
        for _ in range(_MOST_ATTEMPTS):
            self.at(entry)
            self.state = dict(start)
            if self._looped(known, head, body):
                return
            self.take_back(blocks, entry, instructions)
        raise UnsupportedError("the kinds of a loop's variables do not settle")

    def _looped(self, known: dict[Hashable, Value | None], head: Callable[[], Any], body: Callable[[], None]) -> bool:
        """Emit a loop for what is known of its variables; False if that was too much."""
        at_head: dict[Hashable, Value] = {}
        counts = _Counts(list(self.here()))
        for key in sorted(known, key=_objects_last):
            is_other = known[key] is None and _is_object(key) and counts.of(self.here())[key[1]]  # type: ignore[index]
            if key not in self.here() or is_other:
                continue
            if known[key] is not None:
                known[key] = self._kind_at_head(key, known[key], self.here(), self.here(), counts)
            if (kind := known[key]) is None:
                del self.here()[key]
            else:
                at_head[key] = kind
        outside = set(self.here())
        phis, header, entered = self._enter_loop(at_head)
        before = dict(self.here())
        go_on, ends = self.ways(head())
        self.merge(go_on)
        backs: list[Edge] = []
        if not self.is_dead:
            self._depth += 1
            body()
            self._depth -= 1
            backs = [] if self.is_dead else [self.edge()]
        if self._learn(known, before, outside, at_head, backs):
            return False
        for back in backs:
            for key, kind in at_head.items():
                self._convert_at(back, key, kind)
            self.enter(back)
            for key, kind in at_head.items():
                for phi, signal in zip(phis[key], signals_of(self.exposed(self.here()[key], kind)), strict=True):
                    phi.add_incoming(signal, back.block)
            self.build.branch(header)
        self.merge(ends)
        for key, value in entered.items():
            is_same = not self.is_dead and self.here().get(key) is before[key]
            if is_same and all(back.state[key] is before[key] for back in backs) and not _refers(value):
                self.here()[key] = value
        return True

    def _enter_loop(self, at_head: dict[Hashable, Value]) -> tuple[dict[Hashable, list[Any]], Any, State]:
        """Begin the block to which a loop's rounds come back.

        Returns the phis of its variables, the block, and the variables' values before.
        """
        for key, kind in at_head.items():
            edge = self.edge()
            self._convert_at(edge, key, kind)
        signals = {key: signals_of(self.exposed(self.here()[key], kind)) for key, kind in at_head.items()}
        entered = {key: self.here()[key] for key in at_head}
        before, header = self.build.block, self.block("loop")
        self.build.branch(header)
        self.at(header)
        phis: dict[Hashable, list[Any]] = {}
        for key, incoming in signals.items():
            phis[key] = [self.build.phi(signal.type) for signal in incoming]
            for phi, signal in zip(phis[key], incoming, strict=True):
                phi.add_incoming(signal, before)
        for key, kind in at_head.items():
            self.here()[key] = self.settled(of_kind(kind, iter(phis[key])))
        return phis, header, entered

    def _learn(
        self,
        known: dict[Hashable, Value | None],
        before: State,
        outside: set[Hashable],
        at_head: dict[Hashable, Value],
        backs: Sequence[Edge],
    ) -> bool:
        """Note the kinds of variables that a round has changed; whether any is new."""
        is_new = False
        counts = _Counts(list(before))
        for key, value in before.items():
            for back in backs if key in outside else ():
                after = back.state.get(key)
                if after is value:
                    continue
                if after is None:
                    known[key], is_new = None, True
                    continue
                if key not in at_head and _carries_nothing([value, after]):
                    continue
                kind = self._kind_at_head(key, at_head.get(key), before, back.state, counts)
                if kind is None or kind != at_head.get(key):
                    known[key] = kind
                    is_new = True
        return is_new

    def _kind_at_head(
        self, key: Hashable, kind: Value | None, before: State, after: State, counts: _Counts
    ) -> Value | None:
        """What holds a variable before a loop and after a round; None if nothing does, so that it must be forgotten."""
        if kind is None:
            return self._common_kind(key, [before, after], counts)
        if kind_of(after[key]) == kind:
            return kind
        try:
            if not _is_object(key):
                return join(kind, self.deep_kind(after[key], after, counts.of(after)), True)
            held = kind if isinstance(kind, Pointer) else Held(kind, self.heap.site(key[1]))  # type: ignore[index]
            return _content_of(key, join(held, self._kind_of_object(key, after, counts.of(after)), True))
        except UnsupportedError as error:
            self.reasons[key] = error.reason
            return None

    def take_back(self, blocks: int, entry: Any, instructions: int) -> None:
        """Take back what was emitted since there were so many blocks, and instructions in the block at hand."""
        del self.function.blocks[blocks:]
        del entry.instructions[instructions:]
        entry.terminator = None
        alive = set(map(id, self.function.blocks))
        self.exits = {status: block for status, block in self.exits.items() if id(block) in alive}
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
        if self.is_dead or any(issubclass(error, handler.classes) for handler in self.handlers):
            yes, no = self.ways(condition)
            self.merge(yes)
            self.fail(error)
            self.merge(no)
        else:
            self._exit_if(condition, self._code_of(error) if self.is_inside else FAILED)

    def give_up_if(self, condition: Signal | Static) -> None:
        """Let Python be asked where a condition holds, which no handler catches."""
        self._exit_if(condition, FAILED)

    def _exit_if(self, condition: Signal | Static, status: int) -> None:
        if self.is_dead:
            return
        if isinstance(condition, ir.Constant):
            condition = Static(bool(condition.constant))
        if isinstance(condition, Static):
            if condition.value:
                self._return(status)
            return
        if status not in self.exits:
            here = self.build.block
            self.exits[status] = self.block("exit")
            self.at(self.exits[status])
            self.build.ret(ir.Constant(ir.IntType(32), status))
            self.at(here)
        fine = self.block("fine")
        self.build.cbranch(condition, self.exits[status], fine)
        self.at(fine)

    def fail(self, error: type[BaseException]) -> None:
        """Raise an exception: go to the innermost handler that takes it, or end the call."""
        if self.is_dead:
            return
        for handler in reversed(self.handlers):
            if issubclass(error, handler.classes):
                handler.edges.append(self.edge())
                return
        self._return(self._code_of(error) if self.is_inside else FAILED)

    def _code_of(self, error: type[BaseException]) -> int:
        """What a function returns that raises an exception."""
        errors = self.heap.errors
        if error not in errors:
            errors.append(error)
            self.heap.growths += 1
        return _FIRST_ERROR + errors.index(error)

    def fail_as(self, status: Signal) -> None:
        """Raise the exception that a function has raised, by what it returned."""
        for handler in reversed(self.handlers):
            codes = [_FIRST_ERROR + i for i, error in enumerate(self.heap.errors) if issubclass(error, handler.classes)]
            for code in codes:
                caught, others = self.split(self.build.icmp_signed("==", status, ir.Constant(status.type, code)))
                handler.edges.append(caught)
                self.enter(others)
        if not self.is_inside:
            is_error = self.build.icmp_signed(">=", status, ir.Constant(status.type, _FIRST_ERROR))
            status = self.build.select(is_error, ir.Constant(status.type, FAILED), status)
        self.build.ret(status)
        self.state = None

    def suspend(self) -> dict[str, Any]:
        """Put aside the function whose code is being emitted, to emit another."""
        kept = {name: getattr(self, name) for name in _OF_FUNCTION}
        self.handlers, self.pending, self.frames, self.unrolled = [], [], [], []
        self.written_out, self._depth, self._held, self.state = 1, 0, 0, None
        self.any_order = self.took_any_order = False
        self.exits, self.additive = {}, set()
        return kept

    def resume(self, kept: dict[str, Any]) -> None:
        """Go on with the function that was put aside."""
        for name, value in kept.items():
            setattr(self, name, value)

    def _return(self, status: int) -> None:
        self.build.ret(ir.Constant(ir.IntType(32), status))
        self.state = None

    def spend(self, rounds: Signal) -> None:
        """Count rounds of a loop that other loops are around, or whose end is not known; end the call if too many."""
        left = self.build.sub(self.build.load(self.fuel), rounds)
        self.build.store(left, self.fuel)
        self._exit_if(self.build.icmp_signed("<", left, whole(0)), GIVEN_UP)

    @property
    def is_in_nested_loop(self) -> bool:
        """Whether the code here runs several times, and that several times."""
        return self._depth > 1

    @property
    def is_in_loop(self) -> bool:
        """Whether the code here runs several times."""
        return self._depth > 0


def _is_object(key: Hashable) -> bool:
    return isinstance(key, tuple) and key[0] == "object"


def _objects_last(key: Hashable) -> bool:
    return _is_object(key)


def _carries_nothing(values: Sequence[Value]) -> bool:
    """Return whether values of one kind have no signals, so that they are the same wherever code comes from."""
    kind = kind_of(values[0])
    return not signals_of(kind) and all(kind_of(value) == kind for value in values[1:])


class _Counts:
    """How often the values of some locations refer to each object, in any state."""

    def __init__(self, keys: list[Hashable]) -> None:
        self._keys = keys
        self._known: list[tuple[State, Counter[int]]] = []

    def of(self, state: State) -> Counter[int]:
        """The counts in a state."""
        for known, counts in self._known:
            if known is state:
                return counts
        parts = (part for key in self._keys if key in state for part in parts_of(state[key]))
        self._known.append((state, Counter(part.number for part in parts if isinstance(part, Reference))))
        return self._known[-1][1]


def _refers(value: Value) -> bool:
    return any(isinstance(part, Reference) for part in parts_of(value))


def _content_of(key: Hashable, kind: Value) -> Value:
    """The kind of what a location holds, which for an object is its content."""
    return kind.content if _is_object(key) and isinstance(kind, Held) else kind


def _own_parts(kind: Value) -> Iterable[Value]:
    """The values directly in a value."""
    collected: list[Value] = []

    def note(part: Value) -> Value:
        collected.append(part)
        return part

    with_parts(kind, note)
    return collected
