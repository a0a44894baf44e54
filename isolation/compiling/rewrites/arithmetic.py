"""Numbers: lower powers, and NumPy and SciPy calls on tuples and lists; check arithmetic, and count rounds and calls.

The checks are written into the finished module, so that it computes as Python does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...usercode.parsing import parse_expression
from ..compile_errors import refuse
from ..source.rewrite import Rewrite, at, call, name, statements, support, target, written_out
from ..source.scopes import SUPPORT
from .constants import is_numpys_constant

_LARGEST, _WIDEST = (1 << 63) - 1, 1 << 255
_BUILTINS = {"abs", "int", "round"}
_OF_NUMPY = {"array", "float_array", "mean_along", "norm", "norm_of_order", "numeric", "unique_counts", "euclidean"}
_OF_NUMPY |= {"whole_array"}
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


_LEFT = f"{SUPPORT}_left"
_INSERTS = re.compile(r"while _v\d+_place > 0 and ")
_SHORTENS = re.compile(r"while len\((\w+)\) > .+:\n    \1\.pop\((0|-1)\)")
_GROW = {"append", "extend", "insert"}
_LISTING = {"enumerate", "reversed", "zip"}


def count_rounds(module: ast.Module, entry: str, surely_end: set[str]) -> None:
    """Count, in a module, what may go on for ever, and in all that calls such functions hand on how much is left.

    Loops over what does not grow end by themselves, and so do the library's functions `surely_end`; a module without
    others stays as it is. Its function `entry` is called from outside.
    """
    functions = {part.name: part for part in module.body if isinstance(part, ast.FunctionDef)}
    calls = {called: _read(node) & functions.keys() for called, node in functions.items()}
    reached = {called: _closure(called, calls) for called in functions}
    recursive = {called for called in functions if called in reached[called]}
    grown = _grown(functions)
    loops = {
        called: [
            inner
            for inner in ast.walk(node)
            if isinstance(inner, ast.While | ast.For) and called not in surely_end and _may_go_on(inner, node, grown)
        ]
        for called, node in functions.items()
    }
    counting = {called for called in functions if called in recursive or loops[called]}
    counting |= {called for called in functions if reached[called] & counting}
    if not counting:
        return
    for called in counting:
        for loop in loops[called]:
            _begin(loop, f"{SUPPORT}.count_round({_LEFT})")
        if called in recursive:
            _begin(functions[called], f"{SUPPORT}.count_call({_LEFT})")
    given = counting - _values(module, counting) - {entry}
    _HandOn(given).visit(module)
    for called in counting:
        if called in given:
            functions[called].args.args.append(ast.arg(_LEFT))
        else:
            _begin(functions[called], f"{_LEFT} = {SUPPORT}.rounds_left()")


def _begin(node: ast.While | ast.For | ast.FunctionDef, text: str) -> None:
    node.body[:0] = [at(node, line) for line in statements(text)]


def _read(node: ast.FunctionDef) -> set[str]:
    """The names that a function reads and does not set, among them those of the functions it calls."""
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    own = {inner.id for inner in names if isinstance(inner.ctx, ast.Store)} | {given.arg for given in node.args.args}
    return {inner.id for inner in names} - own


def _closure(called: str, calls: dict[str, set[str]]) -> set[str]:
    """The functions that one calls, and that these call; itself only if it is among them."""
    reached: set[str] = set()
    waiting = set(calls[called])
    while waiting:
        reached |= waiting
        waiting = {further for one in waiting for further in calls[one]} - reached
    return reached


def _may_go_on(loop: ast.While | ast.For, node: ast.FunctionDef, grown: dict[str, set[int]]) -> bool:
    """Whether a loop may go on for ever: any `while` but those that rewrites write, and a loop over what it grows."""
    if isinstance(loop, ast.While):
        return not _surely_ends(loop)
    listed = loop.iter
    while isinstance(listed, ast.Call) and isinstance(listed.func, ast.Name) and listed.func.id in _LISTING:
        listed = ast.Tuple(listed.args, ast.Load()) if len(listed.args) > 1 else listed.args[0]
    parts = listed.elts if isinstance(listed, ast.Tuple) else [listed]
    over = {root for part in parts if (root := _root(part))}
    return bool(over) and any(_aliases(root, node) & over for root in _growing(loop, grown))


def _surely_ends(loop: ast.While) -> bool:
    """Whether a loop inserts an item into what is sorted, or shortens a list: so far as it must, in either case."""
    whole = ast.unparse(loop)
    return bool(_INSERTS.match(whole) or _SHORTENS.fullmatch(whole))


def _root(node: ast.expr) -> str:
    """The variable that an expression such as `rows[0]` is a part of; empty if it is none."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _aliases(variable: str, node: ast.FunctionDef) -> set[str]:
    """A variable and those that may be the same list: of which one is set to the other."""
    same = {variable}
    pairs = [
        {_root(place), _root(inner.value)}
        for inner in ast.walk(node)
        if isinstance(inner, ast.Assign)
        for place in inner.targets
        if _root(place) and _root(inner.value)
    ]
    for _ in pairs:
        same = same.union(*(pair for pair in pairs if pair & same))
    return same


def _growing(node: ast.AST, grown: dict[str, set[int]]) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
            yield inner.target.id
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in _GROW:
            yield _root(inner.func.value)
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            yield from (_root(inner.args[i]) for i in grown.get(inner.func.id, ()) if i < len(inner.args))


def _grown(functions: dict[str, ast.FunctionDef]) -> dict[str, set[int]]:
    """By function, the numbers of the parameters whose lists it grows."""
    grown: dict[str, set[int]] = {}
    while True:
        growing = {called: set(_growing(node, grown)) for called, node in functions.items()}
        further = {
            called: {i for i, given in enumerate(node.args.args) if given.arg in growing[called]}
            for called, node in functions.items()
        }
        if further == grown:
            return grown
        grown = further


def _values(module: ast.Module, counting: set[str]) -> set[str]:
    """The functions that are not only called, but values as well, of which nobody knows with what they are called."""
    called = {id(inner.func) for inner in ast.walk(module) if isinstance(inner, ast.Call)}
    names = [inner for inner in ast.walk(module) if isinstance(inner, ast.Name) and inner.id in counting]
    return {inner.id for inner in names if id(inner) not in called}


class _HandOn(ast.NodeTransformer):
    def __init__(self, given: set[str]) -> None:
        self.given = given

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.given:
            node.keywords.append(ast.keyword(_LEFT, ast.Name(_LEFT, ast.Load())))
        return node


# NumPy functions of one collection that are those of plain Python when it is given a list or a generator. It adds up
# the fractions of a list in another order, but not those of a generator.
_PLAIN = {"max": "max", "amax": "max", "min": "min", "amin": "min", "any": "any", "all": "all"}
_OF_COLLECTIONS = {"abs", "absolute", "add", "subtract", "multiply", "divide", "sqrt", "square", "power", "exp", "log"}
_OF_COLLECTIONS |= {"sign", "ceil", "floor", "hypot", "maximum", "minimum", "clip", "dot", "matmul", "vdot", "sum"}
_OF_COLLECTIONS |= {"prod", "mean", "median", "std", "var", "max", "amax", "min", "amin", "argmax", "argmin"}
_OF_COLLECTIONS |= {"all", "any", "cumsum", "diff", "unique", "sort"}
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
_OF_SCIPY = ("euclidean", "cityblock", "chebyshev", "sqeuclidean")


class LowerNumerics(Rewrite):
    """Numeric constructs that numba lacks or computes otherwise than Python."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.arrays = set[str]()
        statements = [inner for inner in ast.walk(node) if isinstance(inner, ast.Assign)]
        assigned = [(one.targets[0].id, one.value) for one in statements if isinstance(one.targets[0], ast.Name)]
        for _ in assigned:
            self.arrays |= {called for called, value in assigned if self._is_array(value)}
        self.filled = {called for called, value in assigned if self._fills(value)}
        self.masks = set[str]()
        self.masks |= {called for called, value in assigned if self._is_mask(value)}

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
        if path.startswith("scipy.spatial.distance.") and path.rpartition(".")[2] in _OF_SCIPY:
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
        value = self.value_of(function, ast.AST)
        if value is None or not callable(value):
            return ""
        module = getattr(value, "__module__", None) or getattr(type(value), "__module__", "") or ""
        path = f"{module}.{getattr(value, '__name__', '')}"
        return path.replace("._core.", ".").replace(".core.", ".").replace("numpy.multiarray.", "numpy.")

    def _array_of(self, kind: ast.expr) -> str:
        for makes, kinds in _ARRAYS.items():
            if self.value_of(kind, ast.AST) in kinds:
                return makes
        refuse(f"it makes an array of {ast.unparse(kind)}: compiled code has float64 and int64", kind)

    def _dtype(self, kind: ast.expr) -> ast.expr:
        if self.value_of(kind, ast.AST) in (bool, "bool"):
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
            return support("average", *(support("numeric", value) for value in (node.args[0], *keywords.values())))
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


def _may_be_collection(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Call | ast.Tuple | ast.List)


def _is_true_alone(keywords: dict[str | None, ast.expr], wanted: str) -> bool:
    value = keywords.get(wanted)
    return len(keywords) == 1 and isinstance(value, ast.Constant) and value.value is True
