# ruff: noqa: N802 -- visit_Name and the like are named by ast
"""Lower containers that numba lacks or cannot type: deques, chains, counting dictionaries."""

from __future__ import annotations

import ast
import collections
import functools
import itertools
import operator
from typing import Any

from isolation.compiling.source.rewrite import Rewrite, at, call, name, support


class LowerContainers(Rewrite):
    """A deque becomes a list, a frozen set a set; `d[k] = d.get(k, 0) + 1` first makes sure of the key."""

    def visit_Call(self, node: ast.Call) -> Any:
        """Make and use a list instead of a deque."""
        self.generic_visit(node)
        if self.builtin(node.func) == "frozenset":
            node.func = at(node, self.place.builtin("set"))
        found = self.known(node.func)
        if found is not None and found.value is itertools.chain and len(node.args) > 1:
            joined: list[ast.expr] = [call(self.place.builtin("list"), argument) for argument in node.args]
            return at(node, functools.reduce(lambda left, right: ast.BinOp(left, ast.Add(), right), joined))
        if found is not None and found.value is operator.itemgetter and len(node.args) == 1:
            item = self.place.fresh("item")
            given = ast.arguments([], [ast.arg(item)], None, [], [], None, [])
            return at(node, ast.Lambda(given, ast.Subscript(name(item), node.args[0], ast.Load())))
        if found is not None and found.value is collections.deque:
            return at(node, support("new_list", *node.args) if node.args else ast.List([], ast.Load()))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "popleft":
            return at(node, ast.Call(ast.Attribute(node.func.value, "pop", ast.Load()), [ast.Constant(0)], []))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "appendleft":
            node.func.attr, node.args = "insert", [ast.Constant(0), *node.args]
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Put the default under the key before adding to it, so that numba learns the type of both."""
        self.generic_visit(node)
        place = node.targets[0]
        if not isinstance(place, ast.Subscript) or not isinstance(place.value, ast.Name):
            return node
        gets = [inner for inner in ast.walk(node.value) if isinstance(inner, ast.Call) and _gets(inner, place)]
        if len(gets) != 1:
            return node
        absent = ast.Compare(place.slice, [ast.NotIn()], [ast.Name(place.value.id, ast.Load())])
        default = ast.Assign([ast.Subscript(place.value, place.slice, ast.Store())], gets[0].args[1])
        node.value = _Replaced(gets[0], ast.Subscript(place.value, place.slice, ast.Load())).visit(node.value)
        return [at(node, ast.If(absent, [default], [])), at(node, node)]


def _gets(node: ast.Call, place: ast.Subscript) -> bool:
    """Whether a node is `d.get(k, default)` for the assigned place `d[k]`."""
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and len(node.args) == 2
        and ast.unparse(node.func.value) == ast.unparse(place.value)
        and ast.unparse(node.args[0]) == ast.unparse(place.slice)
    )


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.expr) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)
