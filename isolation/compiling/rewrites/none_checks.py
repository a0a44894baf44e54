# ruff: noqa: N802 -- visit_Name and the like are named by ast
"""Rewrite `is None` tests on parameters of helpers."""

from __future__ import annotations

import ast
from typing import Any

from knights_isolation.isolation.compiling.source.function_source import parameters
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, support


class LowerNoneChecks(Rewrite):
    """`if location is None: return available` becomes an exception, for `location` a parameter.

    In compiled code both knights are on the board, and a function gives values of one kind. Where the parameter can be
    None all the same, compiled code raises an exception where Python does not, and the heuristic is refused.

    `if over(game):` asks whether that is neither None nor 0.
    """

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        self.given = set(parameters(node))
        super().apply(node)

    def visit_If(self, node: ast.If) -> Any:
        """Raise an exception instead of what is done for None."""
        self.generic_visit(node)
        if self._asks_for_none(node.test):
            node.body = [at(node, ast.Raise(ast.Call(ast.Name("ValueError", ast.Load()), [], [])))]
        elif isinstance(node.test, ast.Name | ast.Call):
            node.test = at(node, support("truth", node.test))
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """Leave out the value for None."""
        self.generic_visit(node)
        if self._asks_for_none(node.test):
            return node.orelse
        match node.test:
            case ast.Compare(left, [ast.IsNot()], others) if self._asks_for_none(ast.Compare(left, [ast.Is()], others)):
                return node.body
        return node

    def _asks_for_none(self, test: ast.expr) -> bool:
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Is | ast.Eq):
            return False
        value, other = test.left, test.comparators[0]
        is_none = isinstance(other, ast.Constant) and other.value is None
        return is_none and isinstance(value, ast.Name) and value.id in self.given
