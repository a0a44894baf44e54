# ruff: noqa: N802 -- visit_Assign and the like are named by ast
"""Let a variable that is assigned several times hold one kind of collection: a list, or a set."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

from knights_isolation.isolation.compiling.rewrites.element_types import is_empty, pairs, with_values
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, support


class UseOneKind(Rewrite):
    """Use numba's sets or lists throughout where a variable holds a set of cells and another set or list.

    Sets of cells are faster, so that this is only done where a heuristic does not compile otherwise.
    """

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        given: dict[str, list[ast.expr]] = defaultdict(list)
        for inner in ast.walk(node):
            for place, value in pairs(inner):
                if isinstance(place, ast.Name):
                    given[place.id].append(value)
        self.given = given
        self.kinds: dict[str, str] = {}
        for called, values in given.items():
            kinds = {self._collection(value) for value in values} if len(values) > 1 else set()
            if kinds & {"list", "set"}:
                self.kinds[called] = "set" if "set" in kinds else "list"
        super().apply(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Make a real list or set of what is assigned."""
        return self.generic_visit(with_values(node, [self._made(place, value) for place, value in pairs(node)]))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Add what is of the same kind."""
        if isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.Add):
            node.value = at(node, self._made(node.target, node.value))
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """Make `moves or [(3, 3)]` a list either way."""
        kinds = {self._collection(value) for value in node.values if not isinstance(value, ast.Name)} - {""}
        self.generic_visit(node)
        if len(kinds) == 1:
            kind = kinds.pop()
            node.values = [
                value if is_empty(value) else at(value, support(f"real_{kind}", value)) for value in node.values
            ]
        return node

    def _made(self, place: ast.expr, value: ast.expr) -> ast.expr:
        kind = self.kinds.get(place.id) if isinstance(place, ast.Name) else None
        if kind is None or is_empty(value) or isinstance(value, ast.Constant):
            return value
        return support(f"real_{kind}", value)

    def _collection(self, node: ast.expr, seen: tuple[str, ...] = ()) -> str:
        """Whether an expression certainly makes a list or a set; empty if it may be anything."""
        if isinstance(node, ast.Set | ast.SetComp):
            return "set"
        if isinstance(node, ast.List | ast.ListComp):
            return "list"
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return "list"
        if isinstance(node, ast.Call):
            called = self.builtin(node.func)
            return {"set": "set", "frozenset": "set", "list": "list", "sorted": "list"}.get(called or "", "")
        if isinstance(node, ast.Name) and node.id not in seen:
            kinds = {self._collection(value, (*seen, node.id)) for value in self.given.get(node.id, [])}
            return "set" if "set" in kinds else "list" if "list" in kinds else ""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.BitOr | ast.BitAnd | ast.Sub):
            return self._collection(node.left, seen) or self._collection(node.right, seen)
        return ""
