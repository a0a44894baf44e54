"""Replace arithmetic that numba computes differently by calls of functions that compute as Python does."""

from __future__ import annotations

import ast
from typing import Any

from knights_isolation.isolation.compiling.rewrites.constants import is_numpys_constant
from knights_isolation.isolation.compiling.source.compile_error import refuse
from knights_isolation.isolation.compiling.source.rewrite import at, name, support, target
from knights_isolation.isolation.compiling.source.scopes import SUPPORT
from knights_isolation.isolation.usercode.parsing import parse_expression

_LARGEST, _WIDEST = (1 << 63) - 1, 1 << 255
_BUILTINS = {"abs", "int", "round"}
_OF_NUMPY = {
    "array",
    "float_array",
    "mean_along",
    "norm",
    "norm_of_order",
    "numeric",
    "unique_counts",
    "euclidean",
    "whole_array",
}
_DISTANCES = {
    f"{SUPPORT}.{called}" for called in ("norm", "norm_of_order", "euclidean", "sqeuclidean", "cityblock", "chebyshev")
}
_OF_ARRAYS = {"mean", "std", "var"}


def check(module: ast.Module, widens: bool) -> None:
    """Write checked arithmetic into a module.

    Args:
        widens: whole numbers are raised to powers of either sign, as fractions.

    Raises:
        CompileError: a whole number is too large.
    """
    uses_numpy = any(_is_of_numpy(inner) for inner in ast.walk(module))
    _Check(uses_numpy, widens).visit(module)
    if uses_numpy:
        for inner in ast.walk(module):
            if isinstance(inner, ast.FunctionDef) and ast.unparse(inner.decorator_list[0]) == f"{SUPPORT}.jit":
                inner.decorator_list = [parse_expression(f"{SUPPORT}.jit_with_numpy")]


def _is_of_numpy(node: ast.AST) -> bool:
    """Whether a node is one by which numbers of NumPy's may come into a module."""
    if is_numpys_constant(node):
        return True
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or node.value.id != SUPPORT:
        return False
    return node.attr == "np" or node.attr in _OF_NUMPY


class _Check(ast.NodeTransformer):
    def __init__(self, uses_numpy: bool, widens: bool) -> None:
        self.uses_numpy = uses_numpy
        self.widens = widens

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Make what has more than 64 bits wide, and refuse what has more than wide numbers."""
        if type(node.value) is int and _LARGEST < node.value < _WIDEST:
            return at(node, support("wide_number", ast.Constant(f"{node.value:x}")))
        if type(node.value) is int and abs(node.value) > _LARGEST:
            refuse(f"the whole number {node.value} has more than 64 bits: write it as a float, {node.value:.0e}", node)
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        """Make all whole numbers of a table wide if one of them is: indexing needs one type."""
        numbers = [part.value for part in node.elts if isinstance(part, ast.Constant) and type(part.value) is int]
        if len(numbers) == len(node.elts) > 0 and _LARGEST < max(numbers) < _WIDEST:
            wide: list[ast.expr] = [support("wide_number", ast.Constant(f"{number:x}")) for number in numbers]
            return at(node, ast.Tuple(wide, ast.Load()))
        self.generic_visit(node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Square, and multiply matrices."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Pow):
            base = node.left
            if isinstance(base, ast.BinOp) and isinstance(base.op, ast.Sub):
                return at(node, support("squared_difference", base.left, base.right))
            return at(node, support("squared", base))
        if isinstance(node.op, ast.MatMult):
            return at(node, ast.Call(parse_expression(f"{SUPPORT}.np.matmul"), [node.left, node.right], []))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Raise to a power in place."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow) or not isinstance(node.target, ast.Name):
            return node
        power = support("power", name(node.target.id), node.value)
        return at(node, ast.Assign([target(node.target.id)], self.visit(power)))

    def visit_Call(self, node: ast.Call) -> Any:
        """Call what computes as Python does."""
        self.generic_visit(node)
        called = "int" if ast.unparse(node.func) == f"{SUPPORT}.np.int64" else _builtin(node.func)
        if called in _BUILTINS and not node.keywords:
            of = ""
            if called == "round" and self.uses_numpy:
                of = "_of_numpy" if _is_numpys(node.args[0]) else "_of_either"
            return at(node, support(f"_{called}{of}", *node.args))
        if not isinstance(node.func, ast.Attribute):
            return node
        if _is_support(node.func.value) and node.func.attr == "power" and self.widens:
            node.func.attr = "power_of_either_sign"
        is_method = not _is_support(node.func.value) and ast.unparse(node.func.value) != f"{SUPPORT}.np"
        is_plain = not node.args and not node.keywords
        if is_method and (node.func.attr == "sum" or (node.func.attr in _OF_ARRAYS and is_plain)):
            function = parse_expression(f"{SUPPORT}.np.{node.func.attr}")
            return at(node, ast.Call(function, [node.func.value, *node.args], node.keywords))
        return node


def _is_numpys(node: ast.expr) -> bool:
    """Whether a number certainly is NumPy's."""
    if isinstance(node, ast.BinOp):
        return _is_numpys(node.left) or _is_numpys(node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_numpys(node.operand)
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return called.startswith(f"{SUPPORT}.np.") or called in _DISTANCES


def _is_support(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == SUPPORT


def _builtin(node: ast.expr) -> str:
    """The name of the builtin that a called expression stands for, as far as its name says."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == f"{SUPPORT}.builtins":
        return node.attr
    return ""
