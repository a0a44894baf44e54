# ruff: noqa: N802 -- visit_Name and the like are named by ast
"""Lower containers that numba lacks or cannot type: deques, chains, counting dictionaries."""

from __future__ import annotations

import ast
import collections
import copy
import functools
import itertools
import operator
from collections.abc import Hashable
from typing import Any

from ..source.rewrite import Replaced, Rewrite, at, call, name, statements, support, written_out
from ..source.stand_ins import OF_LENGTHS
from .element_types import pairs

_OF_SETS = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)


class LowerContainers(Rewrite):
    """A deque becomes a list, a frozen set a set; `d[k] = d.get(k, 0) + 1` first makes sure of the key."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.longest: dict[str, ast.expr] = {}
        for place, value in (pair for inner in ast.walk(node) for pair in pairs(inner)):
            made = self.known(value.func) if isinstance(value, ast.Call) else None
            if made is None or made.value is not collections.deque or not isinstance(value, ast.Call):
                continue
            if isinstance(place, ast.Name) and (longest := self._longest(value)) is not None:
                self.longest[place.id] = longest
        self.views = _variables_of_views(node)

    @staticmethod
    def _longest(node: ast.Call) -> ast.expr | None:
        """The `maxlen` of a deque."""
        given = [*node.args[1:], *(word.value for word in node.keywords if word.arg == "maxlen")]
        is_none = bool(given) and isinstance(given[0], ast.Constant) and given[0].value is None
        return given[0] if given and not is_none else None

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(ast.Attribute(items, "append" | "appendleft" | "extend" | "extendleft" as method), [given]):
                done = self._extended_left(items, given, node) if method == "extendleft" else [self.generic_visit(node)]
                return [*done, *self._shortened(items, method, node)]
        return self.generic_visit(node)

    def _extended_left(self, items: ast.expr, given: ast.expr, node: ast.Expr) -> list[ast.stmt]:
        """Put items before the others one after another, so that they end up in the opposite order."""
        item = self.context.variable("item")
        lines = "for ITEM in GIVEN:\n    ITEMS.insert(0, ITEM)"
        parts = {"ITEM": name(item), "GIVEN": call(self.context.builtin("list"), self.visit(given)), "ITEMS": items}
        return [at(node, one) for one in statements(lines, **parts)]

    def _shortened(self, items: ast.expr, method: str, node: ast.Expr) -> list[ast.stmt]:
        """Drop what a deque with a `maxlen` has too much, at the other end than that at which it grew."""
        if not isinstance(items, ast.Name) or items.id not in self.longest:
            return []
        lines = "while len(ITEMS) > LONGEST:\n    ITEMS.pop(END)"
        end = ast.Constant(-1 if method.endswith("left") else 0)
        parts = {"ITEMS": items, "LONGEST": self.longest[items.id], "END": end}
        return [at(node, one) for one in statements(lines, **parts)]

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if self.builtin(node.func) == "frozenset":
            node.func = at(node, self.context.builtin("set"))
        match node:
            case ast.Call(made, [ast.Call(ordered, [ast.Tuple([first, second]) | ast.List([first, second])], [])]):
                if self.builtin(made) == "tuple" and self.builtin(ordered) == "sorted":
                    ends: list[ast.expr] = [call(self.context.builtin(end), first, second) for end in ("min", "max")]
                    return at(node, copy.deepcopy(ast.Tuple(ends, ast.Load())))
        callee = self.known(node.func)
        if callee is not None and callee.value is itertools.chain and len(node.args) > 1:
            joined: list[ast.expr] = [call(self.context.builtin("list"), argument) for argument in node.args]
            return at(node, functools.reduce(lambda left, right: ast.BinOp(left, ast.Add(), right), joined))
        if callee is not None and callee.value is operator.itemgetter and node.args:
            item = self.context.fresh("item")
            given = ast.arguments([], [ast.arg(item)], None, [], [], None, [])
            parts: list[ast.expr] = [ast.Subscript(name(item), index, ast.Load()) for index in node.args]
            return at(node, ast.Lambda(given, ast.Tuple(parts, ast.Load()) if len(parts) > 1 else parts[0]))
        if callee is not None and callee.value is itertools.product and [k.arg for k in node.keywords] == ["repeat"]:
            times = written_out(node.keywords[0].value)
            if isinstance(times, int) and 1 <= times <= 4 and len(node.args) == 1:
                return at(node, call(node.func, *(copy.deepcopy(node.args[0]) for _ in range(times))))
        if callee is not None and (stand_in := self._of_length(callee.value, node)):
            return at(node, call(self.context.value(stand_in), node.args[0]))
        if callee is not None and callee.value is collections.deque:
            longest = self._longest(node)
            made = support("new_list", *node.args[:1]) if node.args else ast.List([], ast.Load())
            if longest is None or not node.args:
                return at(node, made)
            return at(node, ast.Subscript(made, ast.Slice(ast.UnaryOp(ast.USub(), longest)), ast.Load()))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "popleft":
            return at(node, ast.Call(ast.Attribute(node.func.value, "pop", ast.Load()), [ast.Constant(0)], []))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "appendleft":
            node.func.attr, node.args = "insert", [ast.Constant(0), *node.args]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Make sets of the keys or items of dictionaries that are joined as sets are."""
        self.generic_visit(node)
        if isinstance(node.op, _OF_SETS) and (self._is_view(node.left) or self._is_view(node.right)):
            node.left, node.right = self._as_set(node.left), self._as_set(node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, _OF_SETS) and self._is_view(node.value) and isinstance(node.target, ast.Name):
            joined = ast.BinOp(name(node.target.id), node.op, self._as_set(node.value))
            return at(node, ast.Assign([node.target], joined))
        return node

    def _is_view(self, node: ast.expr) -> bool:
        return _makes_a_view(node) or (isinstance(node, ast.Name) and node.id in self.views)

    def _as_set(self, node: ast.expr) -> ast.expr:
        is_set = isinstance(node, ast.Set | ast.SetComp) or (
            isinstance(node, ast.BinOp) and any(map(self._is_made_a_set, (node.left, node.right)))
        )
        return node if is_set or self._is_made_a_set(node) else at(node, call(self.context.builtin("set"), node))

    def _is_made_a_set(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self.builtin(node.func) == "set"

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Look for a cell, not a list, in `tuple(place) in cells`; compare the keys of dictionaries as sets."""
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        looks_inside = any(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in node.ops)
        if not looks_inside and any(map(self._is_view, sides)):
            node.left, *node.comparators = map(self._as_set, sides)
        match node:
            case ast.Compare(ast.Call(made, [ast.Name() as items]), [ast.In() | ast.NotIn()]):
                if self.builtin(made) == "tuple":
                    node.left = at(node, support("pair_of", items))
        return node

    def _of_length(self, value: Any, node: ast.Call) -> Any:
        """Return the function that replaces `combinations(items, 2)` and the like; None for others."""
        lengths = OF_LENGTHS.get(value) if isinstance(value, Hashable) else None
        if lengths is None or len(node.args) != 2:
            return None
        known = self.known(node.args[1])
        return lengths.get(known.value) if known is not None else None

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Put the default under the key before adding to it, so that numba learns the type of both."""
        self.generic_visit(node)
        target = node.targets[0]
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            return node
        gets = [inner for inner in ast.walk(node.value) if isinstance(inner, ast.Call) and _gets(inner, target)]
        if len(gets) != 1:
            return node
        absent = ast.Compare(target.slice, [ast.NotIn()], [ast.Name(target.value.id, ast.Load())])
        default = ast.Assign([ast.Subscript(target.value, target.slice, ast.Store())], gets[0].args[1])
        node.value = Replaced(gets[0], ast.Subscript(target.value, target.slice, ast.Load())).visit(node.value)
        return [at(node, ast.If(absent, [default], [])), at(node, node)]


def _makes_a_view(node: ast.expr) -> bool:
    """Whether an expression is `counts.keys()` or `counts.items()`."""
    match node:
        case ast.Call(ast.Attribute(_, "keys" | "items"), [], []):
            return True
    return False


def _variables_of_views(node: ast.AST) -> set[str]:
    """The variables that hold nothing but the keys or items of dictionaries."""
    given = [(place.id, value) for n in ast.walk(node) for place, value in pairs(n) if isinstance(place, ast.Name)]
    others = {called for called, value in given if not _makes_a_view(value)}
    return {called for called, value in given if _makes_a_view(value)} - others


def _gets(node: ast.Call, target: ast.Subscript) -> bool:
    """Whether a node is `d.get(k, default)` for the assigned place `d[k]`."""
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and len(node.args) == 2
        and ast.unparse(node.func.value) == ast.unparse(target.value)
        and ast.unparse(node.args[0]) == ast.unparse(target.slice)
    )
