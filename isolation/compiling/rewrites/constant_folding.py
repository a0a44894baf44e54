# ruff: noqa: N802 -- visit_Name and the like are named by ast
"""Fold tests whose outcome is known before the function runs, and drop unreachable code."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

from knights_isolation.isolation.compiling.source.compile_error import refuse
from knights_isolation.isolation.compiling.source.function_source import bound_names, parameters
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, holds_constants, target
from knights_isolation.isolation.compiling.source.scopes import KnownValue, as_callee
from knights_isolation.isolation.editions.classic_board import Board

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_PLAIN = (type(None), bool, int, float, str)


class Fold(Rewrite):
    """`given` holds parameters whose argument is known at every call, such as a default nobody overrides."""

    def __init__(self, context: Any, given: dict[str, Any]) -> None:
        super().__init__(context)
        self.given = given

    def apply(self, node: ast.FunctionDef) -> None:
        """Fold statement by statement: a parameter that is assigned is known only up to there."""
        changed = {name for statement in node.body for name in bound_names(statement)} & self.given.keys()
        start: list[ast.stmt] = []
        for name, value in self.given.items():
            self.scope.known[name] = value
            if name in changed:
                if as_callee(value) is not None:
                    refuse(f"{name} is a function and is assigned again", node)
                start.append(at(node, ast.Assign([target(name)], self.context.value(value))))
        node.body = start + self.rewrite_body(node.body)

    def rewrite_body(self, statements: Any) -> list[ast.stmt]:
        """Rewrite statements one after another, forgetting what they assign."""
        rewritten: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.For | ast.While | ast.Try | ast.With):
                self._forget(statement)
            result = self.visit(statement)
            self._forget(statement)
            rewritten += result if isinstance(result, list) else [result] if result is not None else []
        return rewritten

    def _forget(self, statement: ast.stmt) -> None:
        for name in bound_names(statement):
            if name in self.given:
                self.scope.known.pop(name, None)

    def visit_If(self, node: ast.If) -> Any:
        """Keep the branch that is taken."""
        node.test = self.visit(node.test)
        decision = self.decided(node.test)
        if decision is not None:
            return self.rewrite_body(node.body if decision.value else node.orelse)
        before = dict(self.scope.known)
        node.body = self.rewrite_body(node.body) or [at(node, ast.Pass())]
        after = self.scope.known.keys()
        self.scope.known.update({name: before[name] for name in before.keys() - after})
        node.orelse = self.rewrite_body(node.orelse)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """Keep the side that is taken."""
        node.test = self.visit(node.test)
        decision = self.decided(node.test)
        if decision is not None:
            return self.visit(node.body if decision.value else node.orelse)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """Drop operands that cannot decide, and those that are never reached without a look at them."""
        stops = isinstance(node.op, ast.Or)
        kept: list[ast.expr] = []
        for left, operand in zip(reversed(range(len(node.values))), node.values, strict=True):
            value = self.visit(operand)
            decision = self.decided(value)
            if decision is None or left == 0 or bool(decision.value) is stops:
                kept.append(value)
            if decision is not None and bool(decision.value) is stops:
                break
        return kept[0] if len(kept) == 1 else at(node, ast.BoolOp(node.op, kept))

    def visit_Call(self, node: ast.Call) -> Any:
        """Answer `hasattr(game, "reach")`, and write `getattr(game, "reach", None)` as what it gives."""
        self.generic_visit(node)
        asked = self.builtin(node.func)
        match node.args:
            case [owner, ast.Constant(str(attribute)), *default] if asked in ("hasattr", "getattr"):
                has = self._has(owner, attribute)
                if has is not None and asked == "hasattr":
                    return at(node, ast.Constant(has))
                if has is not None and (has or default):
                    return at(node, ast.Attribute(owner, attribute, ast.Load()) if has else default[0])
        return node

    def _has(self, owner: ast.expr, attribute: str) -> bool | None:
        """Whether a game or a known value has an attribute; None of other values."""
        if self.kind(owner) == "game":
            return hasattr(Board(0, 1), attribute)
        known = self.known(owner) if isinstance(owner, ast.Name | ast.Attribute) else None
        return hasattr(known.value, attribute) if known is not None and holds_constants(known.value) else None

    def decided(self, node: ast.expr) -> KnownValue | None:
        """Return the value of a test that is known; a comparison that would fail has none."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.decided(node.operand)
            return None if inner is None else KnownValue(not inner.value)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = self.decided(node.left), self.decided(node.comparators[0])
            compare = _COMPARISONS.get(type(node.ops[0]))
            if left is None or right is None or compare is None:
                return None
            try:
                return KnownValue(compare(left.value, right.value))
            except TypeError:
                return None
        if isinstance(node, ast.Constant | ast.Name | ast.Attribute):
            known = self.known(node)
            if known is not None and (isinstance(known.value, _PLAIN) or as_callee(known.value) is not None):
                return known
        return None


_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_PLAIN = (type(None), bool, int, float, str)


class Prune(Rewrite):
    """Nothing follows a `return`; a variable given once, as a switch is, is known, so that `folding` decides by it."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        given = Counter([*parameters(node), *(name for statement in node.body for name in bound_names(statement))])
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
                value = statement.value.value
                names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
                once = {name: value for name in names if given[name] == 1 and isinstance(value, _PLAIN)}
                self.scope.known.update(once)
        for inner in ast.walk(node):
            for block in ("body", "orelse", "finalbody"):
                statements = getattr(inner, block, None)
                if isinstance(statements, list):
                    setattr(inner, block, _reached(statements))


def _reached(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block up to the first that leaves it."""
    ends = [index for index, statement in enumerate(statements) if isinstance(statement, _ENDS)]
    return statements[: ends[0] + 1] if ends else statements
