"""Statements: one function for each node of the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from .calls import Frame
from .expressions import assign, closure, condition, either, evaluate, frame_of, location_of_name, site_of
from .flow import Flow, Handler
from .iteration import each
from .operations import attribute, binary, element, set_attribute, set_element_of
from .values import Static, UnsupportedError, Value, whole


def run_body(flow: Flow, frame: Frame) -> None:
    """Emit the statements of a function; what it returns lies in the state of every way that leaves it."""
    if isinstance(frame.node, ast.Lambda):
        _leave(flow, evaluate(flow, frame.node.body))
        return
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(frame.node)):
        raise UnsupportedError("a generator function")
    execute(flow, frame.node.body)
    _leave(flow, Static(None))


def _leave(flow: Flow, value: Value) -> None:
    if flow.is_dead:
        return
    frame = frame_of(flow)
    flow.here()["result", frame.number] = value
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
        old = evaluate(flow, ast.copy_location(ast.Name(target.id, ast.Load()), target))
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


def _try(flow: Flow, node: ast.Try) -> None:
    if node.finalbody:
        raise UnsupportedError("finally")
    handlers: list[tuple[Handler, ast.ExceptHandler]] = []
    for clause in node.handlers:
        caught = evaluate(flow, clause.type) if clause.type else Static(BaseException)
        if not isinstance(caught, Static) or clause.name:
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
    if node.decorator_list:
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
        if not isinstance(target, ast.Name):
            raise UnsupportedError("del of an element")
        flow.here().pop(location_of_name(flow, target.id), None)


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
}
