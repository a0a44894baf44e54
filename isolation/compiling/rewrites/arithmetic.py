"""Write checks into a module: arithmetic as Python computes it, and counts of rounds of loops and of calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from ...usercode.parsing import parse_expression
from ..source.compile_error import refuse
from ..source.rewrite import at, name, statements, support, target
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
