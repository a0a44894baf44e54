"""Statements: one function for each node of the syntax tree."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from . import tables
from .calls import kept
from .expressions import (
    assign,
    closure,
    condition,
    either,
    evaluate,
    frame_of,
    location_of_name,
    site_of,
    value_of_name,
)
from .flow import Flow, Handler, State
from .frames import Frame
from .iteration import each, items_of
from .memory import sites_in
from .methods import call_method
from .numbers import as_bit
from .operations import (
    attribute,
    binary,
    compare,
    element,
    is_list,
    set_attribute,
    set_element_of,
    truth_of,
)
from .orders import effects_in_any_order
from .values import (
    Cells,
    Entries,
    Fields,
    Number,
    Pointer,
    Reference,
    Static,
    UnsupportedError,
    Value,
    parts_of,
    truth,
    whole,
)


def run_body(flow: Flow, frame: Frame) -> None:
    """Emit the statements of a function; what it returns lies in the state of every way that leaves it."""
    if isinstance(frame.node, ast.Lambda):
        _leave(flow, evaluate(flow, frame.node.body))
        return
    execute(flow, frame.node.body)
    _leave(flow, Static(None))


def _leave(flow: Flow, value: Value) -> None:
    if flow.is_dead:
        return
    frame = frame_of(flow)
    flow.here()["result", frame.number] = kept(flow, value)
    frame.returns.append(flow.edge())


def execute(flow: Flow, statements: Sequence[ast.stmt]) -> None:
    """Emit statements, up to the first after which no way goes on.

    Raises:
        UnsupportedError: one cannot be compiled.
    """
    for statement in statements:
        if flow.is_dead:
            return
        compiled = _STATEMENTS.get(type(statement))
        if compiled is None:
            raise UnsupportedError(f"a statement of the kind {type(statement).__name__}")
        flow.node = statement
        compiled(flow, statement)


def _expression(flow: Flow, node: ast.Expr) -> None:
    evaluate(flow, node.value)


def _return(flow: Flow, node: ast.Return) -> None:
    _leave(flow, evaluate(flow, node.value) if node.value else Static(None))


def _assign(flow: Flow, node: ast.Assign) -> None:
    value = evaluate(flow, node.value)
    for target in node.targets:
        assign(flow, target, value)


def _annotated(flow: Flow, node: ast.AnnAssign) -> None:
    if node.value:
        assign(flow, node.target, evaluate(flow, node.value))


def _augmented(flow: Flow, node: ast.AugAssign) -> None:
    operation, target = type(node.op), node.target
    if isinstance(target, ast.Name):
        old = value_of_name(flow, target.id)
        new = binary(flow, operation, old, evaluate(flow, node.value), is_in_place=True)
        assign(flow, target, new)
    elif isinstance(target, ast.Subscript):
        owner, index = evaluate(flow, target.value), evaluate(flow, target.slice)
        old = element(flow, owner, index)
        new = binary(flow, operation, old, evaluate(flow, node.value), is_in_place=True)
        if not flow.is_dead:
            set_element_of(flow, owner, index, new)
    else:
        owner = evaluate(flow, target.value)
        old = attribute(flow, owner, target.attr)
        new = binary(flow, operation, old, evaluate(flow, node.value), is_in_place=True)
        if not flow.is_dead:
            set_attribute(flow, owner, target.attr, new)


def _if(flow: Flow, node: ast.If) -> None:
    either(flow, node.test, lambda: execute(flow, node.body), lambda: execute(flow, node.orelse))


# --- loops


def _loop_body(flow: Flow, body: Sequence[ast.stmt], breaks: list[Any]) -> None:
    """Emit one round: `continue` leads to its end, `break` to the end of the loop."""
    frame = frame_of(flow)
    skipped = flow.collect()
    frame.loops.append((breaks, skipped))
    execute(flow, body)
    frame.loops.pop()
    flow.merge_pending(skipped)


def _while(flow: Flow, node: ast.While) -> None:
    breaks, ends = flow.collect(), flow.collect()

    def round_() -> None:
        yes, no = condition(flow, node.test)
        ends.extend(no)
        flow.merge(yes)
        if not flow.is_dead:
            flow.spend(whole(1))
            _loop_body(flow, node.body, breaks)

    flow.loop(site_of(flow, node), lambda: Static(True), round_)
    flow.merge_pending(ends)
    execute(flow, node.orelse)
    flow.merge_pending(breaks)


def _for(flow: Flow, node: ast.For) -> None:
    items = evaluate(flow, node.iter)
    if flow.is_dead:
        return
    content = flow.content(items)
    if isinstance(content, Cells) and content.order in ("set", "any"):
        _for_in_any_order(flow, node, lambda: _emit_for(flow, node, items))
    else:
        added, own = names_added_to(node, frame_of(flow).node)
        places: set[Hashable] = {("local", frame_of(flow).number, name) for name in added}
        if isinstance(content, Cells) and added and all(place in flow.here() for place in places):
            flow.additive = places
        _emit_for(flow, node, items)
        del own


@functools.lru_cache(maxsize=256)
def names_added_to(loop: ast.For, function: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """The variables to which a loop only adds, if it does nothing else that can be seen after it; else none."""
    parts = [part for statement in loop.body for part in ast.walk(statement)]
    if loop.orelse or any(isinstance(part, ast.Break | ast.Return | ast.NamedExpr | ast.Yield) for part in parts):
        return frozenset(), frozenset()
    augmented = [part for part in parts if isinstance(part, ast.AugAssign)]
    added = {
        part.target.id
        for part in augmented
        if isinstance(part.target, ast.Name) and isinstance(part.op, ast.Add | ast.Sub)
    }
    uses = [part for part in parts if isinstance(part, ast.Name) and part.id in added]
    if len(uses) != len(augmented) or len(added) == 0:
        return frozenset(), frozenset()
    bound = [
        part
        for part in (*parts, *ast.walk(loop.target))
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]
    own = {part.id for part in bound} - added
    inside = sum(isinstance(part, ast.Name) and part.id in own for part in ast.walk(loop))
    everywhere = sum(isinstance(part, ast.Name) and part.id in own for part in ast.walk(function))
    return (frozenset(added), frozenset(own)) if inside == everywhere else (frozenset(), frozenset())


def _for_in_any_order(flow: Flow, node: ast.For, emit: Callable[[], None]) -> None:
    """Emit a loop over a set, if it does nothing but what has the same effect in any order."""
    effects = effects_in_any_order(node)
    if effects is None:
        flow.demand_order()
    frame, before = frame_of(flow), dict(flow.here())
    written, flow.written = flow.written, set()
    values = [flow.here().get(("local", frame.number, name)) for name in effects.grown]
    grown: set[Hashable] = {("object", value.number) for value in values if isinstance(value, Reference)}
    if any(not isinstance(value, Reference) or not isinstance(flow.content(value), Cells) for value in values):
        flow.demand_order()
    own: set[Hashable] = {("local", frame.number, name) for name in effects.own}
    for key in own:
        flow.here().pop(key, None)
        flow.hidden.add(key)
    flow.any_order = True
    emit()
    if flow.is_dead:
        return
    filled = [flow.here().get(("local", frame.number, name)) for name in effects.filled]
    allowed = set().union(*(sites_in(flow, value) for value in filled if value is not None))
    grown |= {key for key in before if is_part_of(flow, key, filled)}
    counted = {("local", frame.number, name) for name in effects.counted}
    changed = {key for key, value in before.items() if flow.here().get(key) is not value}
    changed -= {key for key in changed if key not in flow.here() and not is_named(before, key)}
    are_whole = all(
        isinstance(value := flow.here().get(key), Number) and value.name == "int" for key in counted & changed
    )
    others = set().union(*(sites_in(flow, value) for value in before.values())) - allowed
    is_only_filled, flow.written = not flow.written & others, flow.written | written
    if not is_only_filled or changed - grown - counted - own or not are_whole:
        flow.demand_order()
    for value in filled:
        _forget_order(flow, value)
    for key in own:
        flow.here().pop(key, None)


def is_part_of(flow: Flow, key: Any, values: Sequence[Value | None]) -> bool:
    """Whether a location is one of these objects, or in one."""
    waiting = [part for value in values if value is not None for part in parts_of(value)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Reference):
            if key == ("object", part.number):
                return True
            waiting += parts_of(flow.here().get(("object", part.number), Static(None)))
    return False


def _forget_order(flow: Flow, value: Value | None) -> None:
    """Note that the keys of a dictionary are in an order that is not known."""
    content = flow.content(value) if value is not None else None
    if isinstance(content, Fields) and issubclass(content.owner, tables.Table):
        names = content.items[content.names.index("names")]
        pointer = flow.operations.point(flow, names) if isinstance(names, Reference) else names
        assert isinstance(pointer, Pointer)
        pointer.site.root.is_unordered = True
    elif not isinstance(content, Entries) or len(content.keys) > 1:
        flow.demand_order()


def is_named(state: State, key: Hashable) -> bool:
    """Whether a location is no object that nothing refers to."""
    parts = (part for value in state.values() for part in parts_of(value))
    is_object = isinstance(key, tuple) and key[0] == "object"
    return not is_object or any(isinstance(part, Reference) and part.number == key[1] for part in parts)  # type: ignore[index]


def _emit_for(flow: Flow, node: ast.For, items: Value) -> None:
    breaks = flow.collect()

    def one(item: Value) -> None:
        assign(flow, node.target, item)
        if not flow.is_dead:
            _loop_body(flow, node.body, breaks)

    each(flow, items, one, site_of(flow, node))
    execute(flow, node.orelse)
    flow.merge_pending(breaks)


def _break(flow: Flow, node: ast.Break) -> None:
    frame_of(flow).loops[-1][0].append(flow.edge())


def _continue(flow: Flow, node: ast.Continue) -> None:
    frame_of(flow).loops[-1][1].append(flow.edge())


# --- exceptions


def _assert(flow: Flow, node: ast.Assert) -> None:
    yes, no = condition(flow, node.test)
    flow.merge(no)
    if not flow.is_dead:
        flow.fail(AssertionError)
    flow.merge(yes)


def _raise(flow: Flow, node: ast.Raise) -> None:
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    value = evaluate(flow, raised) if raised else None
    if not isinstance(value, Static):
        raise UnsupportedError("raise without a known exception")
    flow.fail(value.value if isinstance(value.value, type) else type(value.value))


def names_read(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that statements use."""
    return {part.id for statement in statements for part in ast.walk(statement) if isinstance(part, ast.Name)}


def _try(flow: Flow, node: ast.Try) -> None:
    if node.finalbody:
        raise UnsupportedError("finally")
    handlers: list[tuple[Handler, ast.ExceptHandler]] = []
    for clause in node.handlers:
        caught = evaluate(flow, clause.type) if clause.type else Static(BaseException)
        if not isinstance(caught, Static) or clause.name in names_read(clause.body):
            raise UnsupportedError("an exception that is looked at")
        classes = caught.value if isinstance(caught.value, tuple) else (caught.value,)
        handlers.append((Handler(classes, flow.collect()), clause))
    flow.handlers += [handler for handler, _ in reversed(handlers)]
    execute(flow, node.body)
    del flow.handlers[len(flow.handlers) - len(handlers) :]
    execute(flow, node.orelse)
    ends = flow.collect()
    if not flow.is_dead:
        ends.append(flow.edge())
    for handler, clause in handlers:
        flow.merge(handler.edges)
        execute(flow, clause.body)
        if not flow.is_dead:
            ends.append(flow.edge())
    flow.merge(ends)


# --- names


def _define(flow: Flow, node: ast.FunctionDef) -> None:
    for decorator in node.decorator_list:
        value = evaluate(flow, decorator.func if isinstance(decorator, ast.Call) else decorator)
        if not isinstance(value, Static) or value.value not in (functools.lru_cache, functools.cache):
            raise UnsupportedError("a decorated function inside a function")
    flow.here()[location_of_name(flow, node.name)] = closure(flow, node)


def _nonlocal(flow: Flow, node: ast.Nonlocal) -> None:
    frame_of(flow).nonlocals.update(node.names)


def _global(flow: Flow, node: ast.Global) -> None:
    raise UnsupportedError("a global variable that the function changes")


def _import(flow: Flow, node: ast.Import | ast.ImportFrom) -> None:
    space: dict[str, Any] = {}
    if isinstance(node, ast.ImportFrom) and node.level:
        raise UnsupportedError("a relative import inside a function")
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    if any(name.partition(".")[0] not in _PURE_MODULES for name in names):
        raise UnsupportedError(f"an import of {names[0]} inside a function")
    exec(compile(ast.Module([node], []), "<import>", "exec"), space)
    for alias in node.names:
        name = (alias.asname or alias.name).partition(".")[0]
        flow.here()[location_of_name(flow, name)] = Static(space[name])


_PURE_MODULES = {"math", "operator", "functools", "itertools", "collections", "statistics", "typing", "heapq", "bisect"}


def _delete(flow: Flow, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            flow.here().pop(location_of_name(flow, target.id), None)
        elif isinstance(target, ast.Subscript):
            owner, index = evaluate(flow, target.value), evaluate(flow, target.slice)
            name = "pop" if is_list(flow.content(owner)) else "__delitem__"
            call_method(flow, owner, name, [index], {}, site_of(flow, target))
        else:
            raise UnsupportedError("del of an attribute")


# --- match


def _match(flow: Flow, node: ast.Match) -> None:
    subject = kept(flow, evaluate(flow, node.subject))
    ends = flow.collect()
    for case in node.cases:
        if flow.is_dead:
            break
        bound: dict[str, Value] = {}
        yes, no = flow.ways(_fits(flow, case.pattern, subject, bound))
        others = flow.collect()
        others.extend(no)
        flow.merge(yes)
        if not flow.is_dead:
            for name, value in bound.items():
                assign(flow, ast.Name(name, ast.Store()), value)
            if case.guard:
                yes, no = condition(flow, case.guard)
                others.extend(no)
                flow.merge(yes)
            execute(flow, case.body)
            if not flow.is_dead:
                ends.append(flow.edge())
        flow.pending = [edges for edges in flow.pending if edges is not others]
        flow.merge(others)
    flow.merge_pending(ends)


def _fits(flow: Flow, pattern: ast.pattern, value: Value, bound: dict[str, Value]) -> Any:
    """Whether a value fits a pattern; `bound` gets what the pattern gives names to."""
    match pattern:
        case ast.MatchValue(expression):
            return truth_of(flow, compare(flow, ast.Eq, value, evaluate(flow, expression)))
        case ast.MatchSingleton(known):
            return truth_of(flow, compare(flow, ast.Is, value, Static(known)))
        case ast.MatchAs(inner, name):
            if name:
                bound[name] = value
            return _fits(flow, inner, value, bound) if inner else Static(True)
        case ast.MatchOr(patterns):
            bits = [_fits(flow, each_pattern, value, bound) for each_pattern in patterns]
            return functools.reduce(lambda a, b: flow.build.or_(as_bit(a), as_bit(b)), bits)
        case ast.MatchSequence(patterns) if not any(isinstance(inner, ast.MatchStar) for inner in patterns):
            items = items_of(flow, value)
            if items is None:
                raise UnsupportedError("match of a sequence whose length is not known")
            if len(items) != len(patterns):
                return Static(False)
            bits = [_fits(flow, inner, item, bound) for inner, item in zip(patterns, items, strict=True)]
            return functools.reduce(lambda a, b: flow.build.and_(as_bit(a), as_bit(b)), bits, truth(True))
    raise UnsupportedError("such a pattern")


_STATEMENTS: dict[type[ast.stmt], Callable[[Flow, Any], None]] = {
    ast.Expr: _expression,
    ast.Pass: lambda flow, node: None,
    ast.Return: _return,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.Try: _try,
    ast.FunctionDef: _define,
    ast.Nonlocal: _nonlocal,
    ast.Global: _global,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Delete: _delete,
    ast.Match: _match,
}
