# ruff: noqa: N802 -- visit_Name and the like are named by ast
"""Whole numbers in lists and dictionaries become fractions, for heuristics that later put fractions in their place."""

from __future__ import annotations

import ast
from typing import Any

from isolation.compiling.source.rewrite import Rewrite, at


class PromoteInts(Rewrite):
    """`[0] * 7` becomes `[0.0] * 7`, `{"near": 0}` becomes `{"near": 0.0}`, `[(cell, 1)]` becomes `[(cell, 1.0)]`.

    What a list or dictionary of numba's holds is of one kind from the start, and a fraction put into one of whole
    numbers is cut. Fractions hold whole numbers exactly, so that values stay what they are; where one must be whole,
    such as an index, numba refuses it.
    """

    def visit_List(self, node: ast.List) -> Any:
        """Make the elements of a list fractions."""
        self.generic_visit(node)
        node.elts = [_fraction(element) for element in node.elts]
        return node

    def visit_Dict(self, node: ast.Dict) -> Any:
        """Make the values of a dictionary fractions."""
        self.generic_visit(node)
        node.values = [_fraction(value) for value in node.values]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> Any:  # type: ignore[override]
        """Make what a comprehension lists fractions."""
        node.elt = _fraction(node.elt)
        return super().visit_ListComp(node)


def _fraction(node: ast.expr) -> ast.expr:
    """A whole number as a fraction, also beside variables in a tuple; a tuple of constants is a cell and stays one."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return at(node, ast.Constant(float(node.value)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return at(node, ast.UnaryOp(node.op, _fraction(node.operand)))
    if isinstance(node, ast.Tuple) and not all(isinstance(element, ast.Constant) for element in node.elts):
        return at(node, ast.Tuple([_fraction(element) for element in node.elts], ast.Load()))
    return node
