# ruff: noqa: N802 -- visit_Call and the like are named by ast
"""Lower `functools.partial` to lambdas."""

from __future__ import annotations

import ast
import functools
from typing import Any

from knights_isolation.isolation.compiling.source.compile_error import CompileError
from knights_isolation.isolation.compiling.source.function_source import definition
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, name
from knights_isolation.isolation.compiling.source.scopes import Nested


class LowerPartials(Rewrite):
    """`partial(distance, here)` takes what `distance` still lacks."""

    def visit_Call(self, node: ast.Call) -> Any:
        """Write a lambda."""
        self.generic_visit(node)
        try:
            known = self.known(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else None
        except CompileError:
            return node
        if known is None or known.value is not functools.partial or not node.args:
            return node
        callee = self.callee(node.args[0])
        if callee is None or any(isinstance(argument, ast.Starred) for argument in node.args):
            return node
        written = callee.target.node if isinstance(callee.target, Nested) else definition(callee.target)
        named = {keyword.arg for keyword in node.keywords}
        taken = [argument.arg for argument in written.args.args if argument.arg not in callee.defaults]
        defaults = written.args.defaults if isinstance(callee.target, Nested) else callee.target.__defaults__ or ()
        lacks = [each for each in taken[: len(taken) - len(defaults)][len(node.args) - 1 :] if each not in named]
        fresh = [self.context.fresh(each) for each in lacks]
        given = ast.arguments([], [ast.arg(each) for each in fresh], None, [], [], None, [])
        called = ast.Call(node.args[0], [*node.args[1:], *map(name, fresh)], node.keywords)
        return at(node, ast.Lambda(given, called))
