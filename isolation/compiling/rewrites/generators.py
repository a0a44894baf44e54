# ruff: noqa: N802 -- visit_Expr and the like are named by ast
"""Lower functions that yield to functions that return the list of what they would yield."""

from __future__ import annotations

import ast
from typing import Any

from knights_isolation.isolation.compiling.source.compile_error import refuse
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, call, name, support, target

_LONGEST = 10_000


class LowerGenerators(Rewrite):
    """`yield cell` appends to a list.

    It must end by itself. Where it may not, by a `while`, compiled code gives up on a list that grows too long.
    """

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        own = [one for statement in node.body for one in _own_nodes(statement)]
        if not any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own):
            return
        loops = [one for one in own if isinstance(one, ast.While)]
        for loop in loops:
            leaves = any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(loop))
            if isinstance(loop.test, ast.Constant) and not leaves:
                refuse("it yields in a loop that never ends: build a list", loop)
        self.may_never_end = bool(loops)
        self.yielded = self.context.fresh("yielded")
        self.scope.names.add(self.yielded)
        first = at(node, ast.Assign([target(self.yielded)], ast.List([], ast.Load())))
        super().apply(node)
        node.body = [first, *node.body, at(node, ast.Return(name(self.yielded)))]

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Append what is yielded."""
        value = node.value
        if isinstance(value, ast.Yield) and value.value is not None:
            put = ast.Expr(call(ast.Attribute(name(self.yielded), "append", ast.Load()), value.value))
            if not self.may_never_end:
                return at(node, put)
            length = call(self.context.builtin("len"), name(self.yielded))
            too_long = ast.Compare(length, [ast.Gt()], [ast.Constant(_LONGEST)])
            return [at(node, put), at(node, ast.Expr(support("give_up", too_long)))]
        if isinstance(value, ast.YieldFrom):
            item = self.context.fresh("item")
            self.scope.names.add(item)
            put = ast.Expr(call(ast.Attribute(name(self.yielded), "append", ast.Load()), name(item)))
            return at(node, ast.For(target(item), value.value, [put], []))
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        """Return the list."""
        return at(node, ast.Return(name(self.yielded)))


def _own_nodes(node: ast.AST) -> list[ast.AST]:
    """A node and those in it, but for those of inner functions."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return []
    return [node, *(one for child in ast.iter_child_nodes(node) for one in _own_nodes(child))]
