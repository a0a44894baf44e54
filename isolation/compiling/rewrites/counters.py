# ruff: noqa: N802 -- visit_Call and the like are named by ast
"""Lower `Counter` and `defaultdict` to dictionaries whose missing keys are put in before they are read or added to."""

from __future__ import annotations

import ast
import collections
import copy
from typing import Any

from isolation.compiling.rewrites.element_types import pairs
from isolation.compiling.source.compile_error import refuse
from isolation.compiling.source.rewrite import Rewrite, at, call, name, statements, support
from isolation.compiling.source.scopes import Missing
from isolation.compiling.source.stand_ins import counted, most_common


class LowerCounters(Rewrite):
    """`counts[kind] += 1` first makes sure of the key; `Counter(cells)` counts them in a loop."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        for statement in ast.walk(node):
            for place, value in pairs(statement):
                if isinstance(place, ast.Name) and (missing := self._missing_of(value)) is not None:
                    self.scope.facts[place.id] = missing
        super().apply(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Put a missing value under a key, `counts.setdefault(row, 0)`."""
        match node.value:
            case ast.Call(ast.Attribute(ast.Name() as table, "setdefault"), [key, missing]):
                lines = "if KEY not in TABLE:\n    TABLE[KEY] = MISSING"
                parts = {"KEY": self.visit(key), "TABLE": name(table.id), "MISSING": self.visit(missing)}
                return [at(node, statement) for statement in statements(lines, **parts)]
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Put a missing value under the key before adding to it."""
        place = node.target
        missing = self._missing_in(place)
        if missing is None or not isinstance(place, ast.Subscript):
            return self.generic_visit(node)
        key = self.context.fresh("key")
        self.scope.names.add(key)
        table, node.value = place.value, self.visit(node.value)
        lines = "KEY = GIVEN\nif KEY not in TABLE:\n    TABLE[KEY] = MISSING"
        parts = {"KEY": name(key), "GIVEN": self.visit(place.slice), "TABLE": table, "MISSING": missing}
        node.target = ast.Subscript(copy.deepcopy(table), name(key), ast.Store())
        return [*(at(node, statement) for statement in statements(lines, **parts)), node]

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Read what may be missing."""
        missing = self._missing_in(node)
        self.generic_visit(node)
        if missing is None or not isinstance(node.ctx, ast.Load):
            return node
        fact = self._fact(node.value)
        assert fact is not None
        return at(node, support("put_and_get" if fact.is_kept else "get_or", node.value, node.slice, missing))

    def visit_Call(self, node: ast.Call) -> Any:
        """Count, and find what is most common."""
        self.generic_visit(node)
        kind = self._kind(node)
        if kind is collections.Counter:
            return at(node, call(self.context.value(counted), *node.args) if node.args else ast.Dict([], []))
        if kind is collections.defaultdict:
            return at(node, ast.Dict([], []))
        if kind is collections.OrderedDict and not node.args:
            return at(node, ast.Dict([], []))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "most_common":
            return at(node, call(self.context.value(most_common), node.func.value, *node.args))
        return node

    def _kind(self, node: ast.AST) -> Any:
        known = self.known(node.func) if isinstance(node, ast.Call) else None
        return known.value if known is not None and isinstance(known.value, type) else None

    def _missing_of(self, node: ast.expr) -> Missing | None:
        """Return the value for missing keys of the dictionary that an expression makes."""
        kind = self._kind(node)
        if kind is collections.Counter:
            return Missing(ast.Constant(0), is_kept=False)
        if kind is not collections.defaultdict or not isinstance(node, ast.Call) or not node.args:
            return None
        made = node.args[0]
        builtin = self.builtin(made)
        if builtin in ("int", "float", "bool"):
            return Missing(ast.Constant({"int": 0, "float": 0.0, "bool": False}[builtin]), is_kept=True)
        if isinstance(made, ast.Lambda) and not made.args.args:
            return Missing(made.body, is_kept=True)
        refuse("it keeps lists or sets in a defaultdict: keep numbers, or write a list for each kind", node)

    def _fact(self, node: ast.expr) -> Missing | None:
        fact = self.scope.fact(node.id) if isinstance(node, ast.Name) else None
        return fact if isinstance(fact, Missing) else None

    def _missing_in(self, node: ast.expr) -> ast.expr | None:
        """Return the value for missing keys at a place where a dictionary is read."""
        fact = self._fact(node.value) if isinstance(node, ast.Subscript) else None
        return copy.deepcopy(fact.value) if fact is not None else None
