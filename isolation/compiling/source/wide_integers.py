"""Find integer expressions that exceed 64 bits."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from ...usercode.user_exceptions import to_one_line

LARGEST = 1 << 63
_SEEN = "_isolation_seen"

Heuristic = Callable[[Any, Any], float]


def expression_outgrown(function: Heuristic, ask: Callable[[Heuristic], object]) -> str | None:
    """The expression that first gives an integer of more than 64 bits; None if none is seen.

    Args:
        function: a function of a file, with helpers of the same file.
        ask: calls what it is given as it would call the function.
    """
    if not isinstance(function, FunctionType):
        return None
    outgrown: list[str] = []

    def seen(value: Any, expression: str) -> Any:
        if type(value) is int and not -LARGEST <= value < LARGEST:
            outgrown.append(expression)
        return value

    watched = _watched(function, seen)
    if watched is not None:
        ask(watched)
    return outgrown[0] if outgrown else None


def _watched(function: FunctionType, seen: Callable[[Any, str], Any]) -> Heuristic | None:
    """A function that tells of what its operators and calls give; None if its file does not define it at its top."""
    source = "".join(linecache.getlines(function.__code__.co_filename))
    tree = _Watching().visit(ast.parse(source))
    space = {**function.__globals__, _SEEN: seen}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and isinstance(space.get(node.name), FunctionType):
            given = space[node.name]
            code = compile(ast.fix_missing_locations(ast.Module([node], [])), given.__code__.co_filename, "exec")
            body = next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == node.name)
            again = FunctionType(body, space, node.name, given.__defaults__, given.__closure__)
            again.__kwdefaults__ = given.__kwdefaults__
            space[node.name] = again
    own = space.get(function.__name__)
    is_own = isinstance(own, FunctionType) and own.__code__.co_firstlineno == function.__code__.co_firstlineno
    return own if is_own else None


class _Watching(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return self._watch(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return self._watch(node)

    def _watch(self, node: ast.expr) -> ast.expr:
        text = ast.unparse(node)
        return _seen(self.generic_visit(node), text)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        text = ast.unparse(node)
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        both = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        value = _seen(ast.copy_location(both, node), text)
        return ast.copy_location(ast.Assign([node.target], value), node)


def _seen(node: Any, text: str) -> ast.expr:
    return ast.copy_location(
        ast.Call(ast.Name(_SEEN, ast.Load()), [node, ast.Constant(to_one_line(text, 60))], []), node
    )
