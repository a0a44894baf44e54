"""Lower variables that an inner function changes, `nonlocal count`, to lists of one element."""

from __future__ import annotations

import ast
from typing import Any

from knights_isolation.isolation.compiling.rewrites.element_types import pairs
from knights_isolation.isolation.compiling.source.function_source import assigned, parameters
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, name, support, target


class LowerNonlocals(Rewrite):
    """`count = 0` becomes a list that holds 0, in the function that has the variable and in those that change it."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        inner = [one for statement in node.body for one in ast.walk(statement) if isinstance(one, ast.FunctionDef)]
        changed = {called for one in inner for called in _declared(one)}
        if not changed:
            return
        node.body = [part for statement in node.body for part in _one_by_one(statement, changed)]
        first = {
            statement.targets[0].id: statement
            for statement in reversed(node.body)
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        }
        own = {called for called in changed & first.keys() if called not in parameters(node)}
        lists = {called: self.context.fresh(called) for called in sorted(own)}
        self.scope.names.update(lists.values())
        if lists:
            _InLists(lists, {id(first[called]) for called in own}).visit(node)


def _one_by_one(statement: ast.stmt, changed: set[str]) -> list[ast.stmt]:
    """The assignments of `count, found = 0, []`, if one is to such a variable and no value reads another."""
    written = pairs(statement) if isinstance(statement, ast.Assign) else []
    places = {place.id for place, _ in written if isinstance(place, ast.Name)}
    read = {one.id for _, value in written for one in ast.walk(value) if isinstance(one, ast.Name)}
    if len(places) < 2 or len(places) < len(written) or not places & changed or places & read:
        return [statement]
    return [at(statement, ast.Assign([place], value)) for place, value in written]


def _declared(function: ast.FunctionDef) -> set[str]:
    """The variables that a function declares as those of functions around it."""
    return {called for one in ast.walk(function) if isinstance(one, ast.Nonlocal) for called in one.names}


class _InLists(ast.NodeTransformer):
    def __init__(self, lists: dict[str, str], first: set[int]) -> None:
        self.lists = lists
        self.first = first

    def visit_Assign(self, node: ast.Assign) -> Any:
        if id(node) in self.first and isinstance(node.targets[0], ast.Name):
            value = self.visit(node.value)
            made = support("new_list", ast.Tuple([value], ast.Load()))
            return at(node, ast.Assign([target(self.lists[node.targets[0].id])], made))
        return self.generic_visit(node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        node.names = [called for called in node.names if called not in self.lists]
        return node if node.names else at(node, ast.Pass())

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        own = (assigned(node) | set(parameters(node))) - _declared(node)
        hidden = {called: self.lists.pop(called) for called in own & self.lists.keys()}
        self.generic_visit(node)
        self.lists |= hidden
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id not in self.lists:
            return node
        return at(node, ast.Subscript(name(self.lists[node.id]), ast.Constant(0), node.ctx))
