"""Lower generators to functions that return lists, and iterators that `next` is asked of to such lists."""

from __future__ import annotations

import ast
from typing import Any

from ..source.compile_error import refuse
from ..source.function_source import is_name
from ..source.rewrite import Rewrite, at, call, name, support, target
from .element_types import pairs, with_values

_LONGEST = 10_000


class LowerGenerators(Rewrite):
    """`yield cell` appends to a list.

    It must end by itself. Where it may not, by a `while`, compiled code gives up on a list that grows too long.
    """

    def apply(self, node: ast.FunctionDef) -> None:
        own = [one for statement in node.body for one in _own_nodes(statement)]
        if not any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own):
            return
        loops = [one for one in own if isinstance(one, ast.While)]
        for loop in loops:
            leaves = any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(loop))
            if isinstance(loop.test, ast.Constant) and not leaves:
                refuse("it yields in a loop that never ends: build a list", loop)
        self.may_never_end = bool(loops)
        self.yielded = self.context.variable("yielded")
        first = at(node, ast.Assign([target(self.yielded)], ast.List([], ast.Load())))
        super().apply(node)
        node.body = [first, *node.body, at(node, ast.Return(name(self.yielded)))]

    def visit_Expr(self, node: ast.Expr) -> Any:
        value = node.value
        if isinstance(value, ast.Yield) and value.value is not None:
            put = ast.Expr(call(ast.Attribute(name(self.yielded), "append", ast.Load()), value.value))
            if not self.may_never_end:
                return at(node, put)
            length = call(self.context.builtin("len"), name(self.yielded))
            too_long = ast.Compare(length, [ast.Gt()], [ast.Constant(_LONGEST)])
            return [at(node, put), at(node, ast.Expr(support("give_up", too_long)))]
        if isinstance(value, ast.YieldFrom):
            item = self.context.variable("item")
            put = ast.Expr(call(ast.Attribute(name(self.yielded), "append", ast.Load()), name(item)))
            return at(node, ast.For(target(item), value.value, [put], []))
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        return at(node, ast.Return(name(self.yielded)))


def _own_nodes(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return []
    return [node, *(one for child in ast.iter_child_nodes(node) for one in _own_nodes(child))]


class LowerIterators(Rewrite):
    """`cells = iter(moves)`, `first = next(cells)`, `rest = list(cells)`: a list whose first element is taken."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        given = {place.id for inner in ast.walk(node) for place, _ in pairs(inner) if isinstance(place, ast.Name)}
        self.iterators = {
            inner.args[0].id
            for inner in ast.walk(node)
            if isinstance(inner, ast.Call) and inner.args and is_name(inner.func, "next")
            if isinstance(inner.args[0], ast.Name) and inner.args[0].id in given and self.builtin(inner.func)
        }

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        values = [
            call(self.context.builtin("list"), value) if self._is_iterator(place) else value
            for place, value in pairs(node)
        ]
        return with_values(node, values)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        iterators = [argument.id for argument in node.args if self._is_iterator(argument)]  # type: ignore[attr-defined]
        if len(set(iterators)) < len(iterators):
            refuse(
                f"it runs over the iterator {iterators[0]} in two places at once: write cells[::2], cells[1::2]", node
            )
        asked = self.builtin(node.func)
        if asked == "iter" and len(node.args) == 1:
            return node.args[0]
        if asked != "next" or not iterators:
            return node
        if len(node.args) == 1:
            return at(node, self._taken(iterators[0]))
        is_left = ast.Compare(call(self.context.builtin("len"), name(iterators[0])), [ast.Gt()], [ast.Constant(0)])
        return at(node, ast.IfExp(is_left, self._taken(iterators[0]), node.args[1]))

    def visit_For(self, node: ast.For) -> Any:
        """Take the elements that are left one after another: whoever leaves the loop may go on later."""
        self.generic_visit(node)
        if not self._is_iterator(node.iter) or not isinstance(node.iter, ast.Name):
            return node
        first = ast.Assign([node.target], self._taken(node.iter.id))
        is_left = ast.Compare(call(self.context.builtin("len"), node.iter), [ast.Gt()], [ast.Constant(0)])
        return at(node, ast.While(is_left, [first, *node.body], node.orelse))

    def _is_iterator(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.iterators

    def _taken(self, called: str) -> ast.expr:
        return call(ast.Attribute(name(called), "pop", ast.Load()), ast.Constant(0))
