# ruff: noqa: N802 -- visit_Call and the like are named by ast
"""Lower iterators that `next` is asked of to lists from which is taken what has been asked for."""

from __future__ import annotations

import ast
from typing import Any

from knights_isolation.isolation.compiling.rewrites.element_types import pairs, with_values
from knights_isolation.isolation.compiling.source.compile_error import refuse
from knights_isolation.isolation.compiling.source.record_classes import is_name
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, call, name


class LowerIterators(Rewrite):
    """`cells = iter(moves)`, `first = next(cells)`, `rest = list(cells)`: a list whose first element is taken."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        given = {place.id for inner in ast.walk(node) for place, _ in pairs(inner) if isinstance(place, ast.Name)}
        self.iterators = {
            inner.args[0].id
            for inner in ast.walk(node)
            if isinstance(inner, ast.Call) and inner.args and is_name(inner.func, "next")
            if isinstance(inner.args[0], ast.Name) and inner.args[0].id in given and self.builtin(inner.func)
        }
        super().apply(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """List what an iterator has, whatever it is made from."""
        self.generic_visit(node)
        values = [
            call(self.context.builtin("list"), value) if self._is_iterator(place) else value
            for place, value in pairs(node)
        ]
        return with_values(node, values)

    def visit_Call(self, node: ast.Call) -> Any:
        """Take the next element."""
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
