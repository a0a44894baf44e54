# ruff: noqa: N802 -- visit_Name and the like are named by ast
"""Lower powers, and NumPy and SciPy calls on tuples and lists."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ...usercode.parsing import parse_expression
from ..source.compile_error import refuse
from ..source.rewrite import Rewrite, at, call, support, written_out
from ..source.scopes import SUPPORT

# NumPy functions of one collection that are those of plain Python when it is given a list or a generator. It adds up
# the fractions of a list in another order, but not those of a generator.
_PLAIN = {"max": "max", "amax": "max", "min": "min", "amin": "min", "any": "any", "all": "all"}
_OF_COLLECTIONS = {"abs", "absolute", "add", "subtract", "multiply", "divide", "sqrt", "square", "power", "exp", "log"}
_OF_COLLECTIONS |= {"sign", "ceil", "floor", "hypot", "maximum", "minimum", "clip", "dot", "matmul", "vdot", "sum"}
_OF_COLLECTIONS |= {"prod", "mean"}
_OF_COLLECTIONS |= {"median", "std", "var", "max", "amax", "min", "amin", "argmax", "argmin", "all", "any", "cumsum"}
_OF_COLLECTIONS |= {"diff", "unique", "sort"}
_ALONG = {"amax": "max_along", "amin": "min_along"}
_ALONG |= {name: f"{name}_along" for name in ("max", "mean", "min", "prod", "std", "var")}
"""What computes along an axis of an array."""
_ARRAYS = {"float_array": (float, "float", np.float64, "float64"), "whole_array": (int, "int", np.int64, "int64")}
_SPREADS = {"statistics.pvariance": (0, False), "statistics.variance": (1, False)}
_SPREADS |= {"statistics.pstdev": (0, True), "statistics.stdev": (1, True)}
"""By how much less than the number of values squares are divided, and whether a root is taken."""
_ROUNDED_OTHERWISE = {
    "nansum": "np.sum(x[~np.isnan(x)])",
    "nanmean": "np.mean(x[~np.isnan(x)])",
    "nanvar": "np.var(x[~np.isnan(x)])",
    "nanstd": "np.std(x[~np.isnan(x)])",
    "trapezoid": "np.sum((x[1:] + x[:-1]) / 2)",
    "cov": "np.mean((x - np.mean(x)) * (y - np.mean(y)))",
    "corrcoef": "its sums",
    "quantile": "np.median(x), or an element of np.sort(x)",
    "percentile": "np.median(x), or an element of np.sort(x)",
}
"""NumPy's functions whose last digit differs when numba compiles them, and what to write instead."""
_DISTANCES = ("euclidean", "cityblock", "chebyshev", "sqeuclidean")


class LowerNumerics(Rewrite):
    """Numeric constructs that numba lacks or computes otherwise than Python."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.arrays = set[str]()
        assigned = [
            statement
            for statement in ast.walk(node)
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        ]
        for _ in assigned:
            self.arrays |= {
                ast.unparse(statement.targets[0]) for statement in assigned if self._is_array(statement.value)
            }
        self.filled = {ast.unparse(statement.targets[0]) for statement in assigned if self._fills(statement.value)}
        self.masks = set[str]()
        self.masks |= {ast.unparse(statement.targets[0]) for statement in assigned if self._is_mask(statement.value)}

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Raise to a power as Python does, squares are the same in both; make arrays of what meets an array."""
        left, right = self._is_array(node.left), self._is_array(node.right)
        self.generic_visit(node)
        if left and not right and _may_be_collection(node.right):
            node.right = at(node, support("numeric", node.right))
        if right and not left and _may_be_collection(node.left):
            node.left = at(node, support("numeric", node.left))
        if isinstance(node.op, ast.Pow) and not (isinstance(node.right, ast.Constant) and node.right.value == 2):
            exponent = written_out(node.right)
            whole = type(exponent) is int and exponent >= 0
            return at(node, support("whole_power" if whole else "power", node.left, node.right))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Index by an array of conditions, which may have rows and columns."""
        is_mask = isinstance(node.ctx, ast.Load) and self._is_mask(node.slice)
        self.generic_visit(node)
        return at(node, support("at_array", node.value, node.slice)) if is_mask else node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Put a number where an array of conditions holds."""
        match node:
            case ast.Assign([ast.Subscript(values, index)], value) if self._is_mask(index):
                given = [self.visit(part) for part in (values, index, value)]
                return at(node, ast.Expr(support("put_at_array", *given)))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        if self.builtin(node.func) == "float" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            value = node.args[0].value
            if isinstance(value, str):
                return at(node, ast.Constant(float(value)))
        if self.builtin(node.func) == "float" and len(node.args) == 1:
            return at(node, support("number", self.visit(node.args[0])))
        if self.builtin(node.func) == "pow" and len(node.args) == 2:
            return self.visit(at(node, ast.BinOp(node.args[0], ast.Pow(), node.args[1])))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "is_integer" and not node.args:
            return at(node, support("is_whole", self.visit(node.func.value)))
        path = self._path(node.func)
        match node:
            case ast.Call(ast.Attribute(array, "astype"), [kind]) if not path and self.known(kind) is not None:
                return at(node, call(ast.Attribute(self.visit(array), "astype", ast.Load()), self._dtype(kind)))
            case ast.Call(ast.Attribute(array, "dot"), [other], []) if not path:
                return at(node, call(parse_expression(f"{SUPPORT}.np.dot"), self.visit(array), self.visit(other)))
        if isinstance(node.func, ast.Attribute) and not path and not node.args:
            along = _ALONG.get(node.func.attr)
            if along and [keyword.arg for keyword in node.keywords] == ["axis"]:
                return at(node, support(along, self.visit(node.func.value), self.visit(node.keywords[0].value)))
        if path.startswith("numpy."):
            return at(node, self._numpy(path.removeprefix("numpy."), node))
        if path == "statistics.mean" and len(node.args) == 1:
            return at(node, support("mean_of_whole", self.visit(call(self.context.builtin("list"), node.args[0]))))
        if path in _SPREADS and len(node.args) == 1 and not node.keywords:
            listed = self.visit(call(self.context.builtin("list"), node.args[0]))
            fewer, is_root = _SPREADS[path]
            spread = support("variance_of_whole", listed, ast.Constant(fewer))
            return at(node, support("root_of_quotient", spread) if is_root else support("quotient", spread))
        if path == "math.dist":
            self.generic_visit(node)
            return at(node, support("distance", *node.args))
        if path.startswith("scipy.spatial.distance.") and path.rpartition(".")[2] in _DISTANCES:
            self.generic_visit(node)
            return at(node, support(path.rpartition(".")[2], *node.args))
        return self.generic_visit(node)

    def _is_array(self, node: ast.expr) -> bool:
        """Whether an expression is made by NumPy's `array`, or computed from what is."""
        if isinstance(node, ast.BinOp):
            return self._is_array(node.left) or self._is_array(node.right)
        if isinstance(node, ast.Call):
            return self._path(node.func) in ("numpy.array", "numpy.asarray")
        return isinstance(node, ast.Name) and node.id in self.arrays

    def _is_mask(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.masks
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            return any(self._is_array(side) or ast.unparse(side) in self.filled for side in sides)
        kinds = [word.value for word in node.keywords if word.arg == "dtype"] if isinstance(node, ast.Call) else []
        is_of_conditions = any(self.builtin(kind) == "bool" or ast.unparse(kind).endswith("bool_") for kind in kinds)
        return is_of_conditions and self._fills(node)

    def _fills(self, node: ast.expr) -> bool:
        """Whether an expression makes an array that is filled with one number."""
        return isinstance(node, ast.Call) and self._path(node.func) in ("numpy.zeros", "numpy.ones", "numpy.full")

    def _path(self, function: ast.expr) -> str:
        """Return where a known function of a library comes from, such as numpy.linalg.norm."""
        callee = self.known(function)
        value = callee.value if callee else None
        if value is None or not callable(value):
            return ""
        module = getattr(value, "__module__", None) or getattr(type(value), "__module__", "") or ""
        path = f"{module}.{getattr(value, '__name__', '')}"
        return path.replace("._core.", ".").replace(".core.", ".").replace("numpy.multiarray.", "numpy.")

    def _array_of(self, kind: ast.expr) -> str:
        known = self.known(kind)
        for makes, kinds in _ARRAYS.items():
            if known is not None and known.value in kinds:
                return makes
        refuse(f"it makes an array of {ast.unparse(kind)}: compiled code has float64 and int64", kind)

    def _dtype(self, kind: ast.expr) -> ast.expr:
        known = self.known(kind)
        if known is not None and known.value in (bool, "bool"):
            return parse_expression(f"{SUPPORT}.np.bool_")
        return parse_expression(f"{SUPPORT}.np.{'int64' if self._array_of(kind) == 'whole_array' else 'float64'}")

    def _numpy(self, function: str, node: ast.Call) -> ast.expr:
        is_of_matrices = function.startswith("linalg.")
        function = function.removeprefix("fromnumeric.").removeprefix("linalg._linalg.").removeprefix("linalg.")
        called = function.rpartition(".")[2]
        if is_of_matrices and function != "norm":
            refuse(f"it calls np.linalg.{called}, whose last digit differs when compiled: write out its formula", node)
        if called in _ROUNDED_OTHERWISE:
            advice = f"write {_ROUNDED_OTHERWISE[called]}"
            refuse(f"it calls np.{called}, whose last digit differs when compiled: {advice}", node)
        collection = node.args[0] if node.args else None
        listed = isinstance(collection, ast.ListComp | ast.GeneratorExp | ast.List)
        plain = _PLAIN | ({"sum": "sum"} if isinstance(collection, ast.GeneratorExp) else {})
        if listed and function in plain and len(node.args) == 1 and not node.keywords:
            return call(self.context.builtin(plain[function]), self.visit(node.args[0]))
        self.generic_visit(node)
        if function in ("array", "asarray"):
            kinds = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "dtype")]
            return support(self._array_of(kinds[0]) if kinds else "array", node.args[0])
        if function == "norm" and len(node.args) == 1 and not node.keywords:
            return support("norm", node.args[0])
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if function == "average" and len(node.args) == 1 and keywords.keys() <= {"weights"}:
            return support("average", support("numeric", node.args[0]), *map(_numeric, keywords.values()))
        if function == "norm":
            orders = [*node.args[1:], *keywords.values()]
            if len(orders) != 1 or keywords.keys() - {"ord"}:
                refuse("it calls numpy.linalg.norm along an axis, which compiled code does not support", node)
            return support("norm_of_order", support("numeric", node.args[0]), orders[0])
        if function == "unique" and len(node.args) == 1 and _is_true_alone(keywords, "return_counts"):
            return support("unique_counts", node.args[0])
        if function in _ALONG and len(node.args) == 1 and keywords.keys() == {"axis"}:
            return support(_ALONG[function], support("numeric", node.args[0]), keywords["axis"])
        for word in node.keywords:
            if word.arg == "dtype":
                word.value = self._dtype(word.value)
        if function == "clip" and len(node.args) == 3 and not node.keywords:
            return support("clip", *(support("numeric", argument) for argument in node.args))
        if function in _OF_COLLECTIONS:
            node.args = [support("numeric", argument) for argument in node.args]
        return node


def _numeric(node: ast.expr) -> ast.expr:
    return support("numeric", node)


def _may_be_collection(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Call | ast.Tuple | ast.List)


def _is_true_alone(keywords: dict[str | None, ast.expr], wanted: str) -> bool:
    value = keywords.get(wanted)
    return len(keywords) == 1 and isinstance(value, ast.Constant) and value.value is True
