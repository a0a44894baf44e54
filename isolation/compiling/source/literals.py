# ruff: noqa: N802 -- visit_Name and the like are named by ast
"""Turn lists that never change into constants or tuples."""

from __future__ import annotations

import ast
from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np

from knights_isolation.isolation.compiling.source.function_source import bound_names
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, call, written_out


class Literals(Rewrite):
    """Local tables become constants, `x in [...]` uses a tuple."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        self.bound = Counter(name for statement in node.body for name in bound_names(statement))
        self.changed = self.changed_names(node)
        self.changed |= {
            inner.target.id
            for inner in ast.walk(node)
            if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name)
        }
        read = Counter(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
        looked_into = Counter(ast.unparse(inner.value) for inner in ast.walk(node) if isinstance(inner, ast.Subscript))
        self.only_looked_into = {name for name in self.bound if read[name] == looked_into[name] + 1}
        super().apply(node)
        node.body = node.body or [at(node, ast.Pass())]

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Take a table that is written out as a constant; write a list only looked into as a tuple."""
        self.generic_visit(node)
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return node
        name = node.targets[0].id
        if self.bound[name] != 1 or name in self.changed or name in self.scope.known:
            return node
        if isinstance(node.value, ast.List | ast.Dict | ast.Set) and (value := written_out(node.value)):
            self.scope.known[name] = value
            return None
        if name in self.only_looked_into and (table := self._array(node.value)) is not None:
            self.scope.known[name] = table
            return None
        if isinstance(node.value, ast.List) and node.value.elts and _are_pairs(node.value):
            node.value = at(node.value, ast.Tuple(node.value.elts, ast.Load()))
        return node

    def _array(self, node: ast.expr) -> np.ndarray[Any, Any] | None:
        """The array that `np.array` makes of numbers that are written out; None for anything else."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        made, listed = self.known(node.func), written_out(node.args[0])
        if made is None or made.value not in (np.array, np.asarray) or not isinstance(listed, list | tuple):
            return None
        with suppress(ValueError):
            array = np.array(listed)
            return array if array.dtype in (np.int64, np.float64) and array.size else None
        return None

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Look into a tuple instead of a list or set made for it; compare with [] by length."""
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            right = node.comparators[0]
            if isinstance(right, ast.List) and not right.elts:
                length = call(self.context.builtin("len"), node.left)
                return at(node, ast.Compare(length, node.ops, [ast.Constant(0)]))
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            container = node.comparators[0]
            if isinstance(container, ast.List | ast.Set) and container.elts:
                node.comparators = [at(container, ast.Tuple(container.elts, ast.Load()))]
        return node


def _are_pairs(node: ast.List) -> bool:
    """Whether all elements are tuples of the same length made of whole numbers or names, as cells are."""
    return all(
        isinstance(element, ast.Tuple) and len(element.elts) == len(node.elts[0].elts)  # type: ignore[attr-defined]
        for element in node.elts
    )
