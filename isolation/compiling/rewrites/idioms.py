# ruff: noqa: N802 -- visit_Call and the like are named by ast
"""Write in a plain form what has one: `moves.__len__()`, `cells.__contains__(cell)`, `(own, both)[own > 3]`."""

from __future__ import annotations

import ast
from typing import Any

from isolation.compiling.source.rewrite import Rewrite, at, call

_BUILTINS = {f"__{name}__": name for name in ("len", "abs", "bool", "int", "float", "str", "round", "reversed")}
_SIGNS: dict[str, type[ast.unaryop]] = {"__neg__": ast.USub, "__pos__": ast.UAdd, "__invert__": ast.Invert}
_OPERATORS: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "truediv": ast.Div,
    "floordiv": ast.FloorDiv,
    "mod": ast.Mod,
    "pow": ast.Pow,
    "and": ast.BitAnd,
    "or": ast.BitOr,
    "xor": ast.BitXor,
    "lshift": ast.LShift,
    "rshift": ast.RShift,
}
_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "__eq__": ast.Eq,
    "__ne__": ast.NotEq,
    "__lt__": ast.Lt,
    "__le__": ast.LtE,
    "__gt__": ast.Gt,
    "__ge__": ast.GtE,
}


class LowerIdioms(Rewrite):
    """`own.__len__()` becomes `len(own)`, `cells.__getitem__(0)` becomes `cells[0]`, `f.__call__(x)` becomes `f(x)`."""

    def visit_Call(self, node: ast.Call) -> Any:
        """Write the operator whose method is called."""
        self.generic_visit(node)
        method = node.func
        if not isinstance(method, ast.Attribute) or not method.attr.startswith("__") or node.keywords:
            return node
        if any(isinstance(argument, ast.Starred) for argument in node.args) or self._is_class(method.value):
            return node
        return at(node, self._written(method.value, method.attr, node.args) or node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Choose by a condition between two values of any kinds: `(own, both)[own > 3]`."""
        self.generic_visit(node)
        match node:
            case ast.Subscript(ast.Tuple([no, yes]) | ast.List([no, yes]), test) if _is_condition(test):
                if not isinstance(no, ast.Starred) and not isinstance(yes, ast.Starred):
                    return at(node, ast.IfExp(test, yes, no))
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Write an assignment for `table.__setitem__(key, value)`."""
        self.generic_visit(node)
        match node.value:
            case ast.Call(ast.Attribute(owner, "__setitem__"), [key, value], []) if not self._is_class(owner):
                return at(node, ast.Assign([ast.Subscript(owner, key, ast.Store())], value))
        return node

    def _is_class(self, node: ast.expr) -> bool:
        """Whether the method is looked up in a class, or in the class above: `super().__len__()`."""
        known = self.known(node) if isinstance(node, ast.Name | ast.Attribute | ast.Call) else None
        return known is not None and isinstance(known.value, type | super)

    def _written(self, owner: ast.expr, method: str, given: list[ast.expr]) -> ast.expr | None:
        if method == "__call__":
            return call(owner, *given)
        if not given and method in _BUILTINS:
            return call(self.context.builtin(_BUILTINS[method]), owner)
        if not given and method in _SIGNS:
            return ast.UnaryOp(_SIGNS[method](), owner)
        if len(given) != 1:
            return None
        if method == "__getitem__":
            return ast.Subscript(owner, given[0], ast.Load())
        if method == "__contains__":
            return ast.Compare(given[0], [ast.In()], [owner])
        if method in _COMPARISONS:
            return ast.Compare(owner, [_COMPARISONS[method]()], [given[0]])
        name = method.strip("_")
        if name in _OPERATORS:
            return ast.BinOp(owner, _OPERATORS[name](), given[0])
        if name[:1] == "r" and name[1:] in _OPERATORS:
            return ast.BinOp(given[0], _OPERATORS[name[1:]](), owner)
        return None


def _is_condition(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(map(_is_condition, node.values))
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
