"""Resolve aliases of methods and functions: `moves = game.get_legal_moves`, then `moves(player)`.

`best = max if is_ours else min` becomes the condition, and `best(values)` a choice between both calls.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from typing import Any

from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at


class ResolveAliases(Rewrite):
    """Call functions by their own names where they are called by aliases, inner functions included."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        inside = list(ast.walk(node))
        given = Counter(
            inner.id for inner in inside if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
        )
        given.update(inner.arg for inner in inside if isinstance(inner, ast.arg))
        called = {inner.func.id for inner in inside if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)}
        meanings = {
            alias: statement
            for statement in inside
            if isinstance(statement, ast.Assign)
            if (alias := _alias(statement)) in called
            if given[alias] == 1 and given[_root(statement.value)] <= 1
        }
        if meanings:
            _Meant(meanings).visit(node)
        choices = {
            statement.targets[0].id: statement.value
            for statement in inside
            if isinstance(statement, ast.Assign)
            if isinstance(statement.targets[0], ast.Name) and isinstance(statement.value, ast.IfExp)
            if given[statement.targets[0].id] == 1
            if self.builtin(statement.value.body) and self.builtin(statement.value.orelse)
        }
        if choices.keys() & called:
            _Chosen(choices).visit(node)


def _alias(statement: ast.Assign) -> str:
    """The name that `name = a.b`, or `name = a.b.c`, gives; empty if a statement is none of these."""
    target = statement.targets[0]
    is_attribute = isinstance(statement.value, ast.Attribute) and bool(_root(statement.value))
    return target.id if len(statement.targets) == 1 and isinstance(target, ast.Name) and is_attribute else ""


def _root(node: ast.expr) -> str:
    """The variable that an attribute, or an attribute of one, is read of; empty if it is no variable."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


class _Meant(ast.NodeTransformer):
    def __init__(self, meanings: dict[str, ast.Assign]) -> None:
        self.meanings = meanings

    def visit_Assign(self, node: ast.Assign) -> Any:
        if node in self.meanings.values():
            return at(node, ast.Pass())
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        if isinstance(node.ctx, ast.Load) and node.id in self.meanings:
            return copy.deepcopy(self.meanings[node.id].value)
        return node


class _Chosen(ast.NodeTransformer):
    def __init__(self, choices: dict[str, ast.IfExp]) -> None:
        self.choices = choices

    def visit_Assign(self, node: ast.Assign) -> Any:
        if isinstance(node.value, ast.IfExp) and node.value in self.choices.values():
            node.value = node.value.test
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        choice = self.choices.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if choice is None:
            return node
        other = copy.deepcopy(node)
        either, node.func, other.func = node.func, copy.deepcopy(choice.body), copy.deepcopy(choice.orelse)
        return at(node, ast.IfExp(either, node, other))
