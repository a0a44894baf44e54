# ruff: noqa: N802 -- visit_Dict and the like are named by ast
"""Make lists that a dictionary holds such as a dictionary can hold."""

from __future__ import annotations

import ast
from typing import Any

from knights_isolation.isolation.compiling.rewrites.element_types import is_empty, pairs
from knights_isolation.isolation.compiling.rewrites.guesses import Examples
from knights_isolation.isolation.compiling.source.rewrite import FunctionContext, Rewrite, at, support

_MAKE_LISTS = {"list", "sorted"}


class KeepLists(Rewrite):
    """`groups[row] = []` and `{player: [cell for cell in moves]}` keep numba's typed lists, which are slower."""

    def __init__(self, context: FunctionContext) -> None:
        super().__init__(context)
        self.holder = ""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        self.examples = Examples(self, node)
        written = [pair for inner in ast.walk(node) for pair in pairs(inner)]
        self.dictionaries: set[str] = {
            place.id
            for place, value in written
            if isinstance(place, ast.Name) and isinstance(value, ast.Dict | ast.DictComp)
        }
        super().apply(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Keep what is put under a key."""
        place = node.targets[0]
        self.holder = ast.unparse(place).partition("[")[0]
        if isinstance(place, ast.Subscript) and isinstance(place.value, ast.Name) and self.holder in self.dictionaries:
            node.value = self._kept(node.value)
        return self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> Any:
        """Keep the lists among the values."""
        node.values = [self._kept(value) for value in node.values]
        return self.generic_visit(node)

    def visit_DictComp(self, node: ast.DictComp) -> Any:  # type: ignore[override]
        """Keep the lists among the values."""
        node.value = self._kept(node.value)
        return super().visit_ListComp(node)

    def visit_Call(self, node: ast.Call) -> Any:
        """Keep the list that stands for a missing key."""
        match node:
            case ast.Call(ast.Attribute(_, "get_or" | "put_and_get"), [ast.Name(called), _, missing]):
                self.holder = called
                node.args[2] = self._kept(missing)
            case ast.Call(ast.Attribute(ast.Name(called), "get"), [_, ast.List() as missing]):
                self.holder = called
                node.args[1] = self._kept(missing)
        return self.generic_visit(node)

    def _kept(self, node: ast.expr) -> ast.expr:
        if is_empty(node) and isinstance(node, ast.List):
            example = self.examples.put_deeper_into(self.holder) or self.context.cell()
            return at(node, support("kept", support("empty_list", example)))
        made = self.builtin(node.func) if isinstance(node, ast.Call) else None
        is_list = isinstance(node, ast.List | ast.ListComp) or made in _MAKE_LISTS
        return at(node, support("kept", node)) if is_list else node
