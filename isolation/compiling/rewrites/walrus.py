"""Hoist `:=` into statements, since numba mistypes what it assigns."""

from __future__ import annotations

import ast
from itertools import count

from ..source.compile_error import refuse


def lower_walrus(tree: ast.AST) -> None:
    """Rewrite the statements of a tree in place so that none holds `:=`.

    Raises:
        CompileError: one stands where it is not always evaluated and cannot be moved.
    """
    _LowerWalrus().visit(tree)


class _LowerWalrus(ast.NodeTransformer):
    def __init__(self) -> None:
        self.names = (f"_v_test{number}" for number in count())

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if not _holds_walrus(node.test):
            return node
        before, node.test = self._lower(node.test)
        return [*before, node]

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        if not _holds_walrus(node.test):
            return node
        if node.orelse:
            refuse(
                "it assigns (:=) in the condition of a loop with an else, which compiled code does not support", node
            )
        before, test = self._lower(node.test)
        leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        loop = ast.While(ast.Constant(True), [*before, leave, *node.body], [])
        return ast.fix_missing_locations(ast.copy_location(loop, node))

    def visit_simple(self, node: ast.stmt) -> ast.AST | list[ast.stmt]:
        value = getattr(node, "value", None)
        if value is None or not _holds_walrus(value):
            return node
        before: list[ast.stmt] = []
        node.value = self._hoist(value, before)  # type: ignore[attr-defined]
        return [*before, node]

    visit_Assign = visit_AugAssign = visit_AnnAssign = visit_Return = visit_Expr = visit_simple  # noqa: N815

    def _lower(self, test: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Statements to run before, and what is then tested; `and` and `or` stop where they did."""
        before: list[ast.stmt] = []
        if not isinstance(test, ast.BoolOp):
            return before, self._hoist(test, before)
        first, *others = test.values
        name = next(self.names)
        if len(others) > 1:
            others = [ast.copy_location(ast.BoolOp(test.op, others), test)]
        first_before, first_test = self._lower(first)
        rest_before, rest_test = self._lower(others[0])
        flag = ast.Name(name, ast.Load())
        goes_on = flag if isinstance(test.op, ast.And) else ast.UnaryOp(ast.Not(), flag)
        before = [
            *first_before,
            _assign(name, _truth(first_test), test),
            ast.If(goes_on, [*rest_before, _assign(name, _truth(rest_test), test)], []),
        ]
        return [
            ast.fix_missing_locations(ast.copy_location(statement, test)) for statement in before
        ], ast.copy_location(flag, test)

    def _hoist(self, expression: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """The expression without its assignments, which are put at the end of `before` in the order of evaluation."""
        if not _holds_walrus(expression):
            return expression
        if isinstance(expression, ast.IfExp):
            return self._hoist_choice(expression, before)
        if isinstance(expression, (ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            refuse(
                "it assigns with := conditionally (for example after and), which compiled code does not support",
                expression,
            )
        for field, value in ast.iter_fields(expression):
            if isinstance(value, ast.expr):
                setattr(expression, field, self._hoist(value, before))
            elif isinstance(value, list):
                value[:] = [self._hoist(item, before) if isinstance(item, ast.expr) else item for item in value]
        if isinstance(expression, ast.NamedExpr):
            before.append(_assign(expression.target.id, expression.value, expression))
            return ast.copy_location(ast.Name(expression.target.id, ast.Load()), expression)
        return expression

    def _hoist_choice(self, choice: ast.IfExp, before: list[ast.stmt]) -> ast.expr:
        """The assignments of a condition are always made, those of the values as they are chosen."""
        tested, choice.test = self._lower(choice.test)
        before += tested
        if not _holds_walrus(choice):
            return choice
        name = next(self.names)
        bodies: list[list[ast.stmt]] = []
        for value in (choice.body, choice.orelse):
            body: list[ast.stmt] = []
            chosen = self._hoist(value, body)
            bodies.append([*body, _assign(name, chosen, value)])
        before.append(ast.fix_missing_locations(ast.copy_location(ast.If(choice.test, *bodies), choice)))
        return ast.copy_location(ast.Name(name, ast.Load()), choice)


def _holds_walrus(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node))


def _assign(name: str, value: ast.expr, node: ast.AST) -> ast.stmt:
    statement = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)
    return ast.fix_missing_locations(statement)


def _truth(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("bool", ast.Load()), [value], [])
