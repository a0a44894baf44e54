# ruff: noqa: N802 -- visit_Assign and the like are named by ast
"""Compute in Python what has the same value at every call: `rows = [line.split() for line in TABLE.splitlines()]`."""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from knights_isolation.isolation.compiling.source.compile_error import CompileError
from knights_isolation.isolation.compiling.source.function_source import bound_names, taken
from knights_isolation.isolation.compiling.source.record_classes import has_only_methods
from knights_isolation.isolation.compiling.source.rewrite import FunctionContext, Rewrite, at, written_out
from knights_isolation.isolation.compiling.source.scopes import KnownValue, free_names
from knights_isolation.isolation.usercode.parsing import parse_expression

_PURE: set[Any] = {
    *(abs, all, any, bool, dict, dict.fromkeys, divmod, enumerate, filter, float, int, len, list, map, max),
    *(min, pow, range, reversed, round, sorted, str, sum, tuple, zip),
    *(np.abs, np.arange, np.array, np.asarray, np.clip, np.concatenate, np.diag, np.dot, np.exp, np.eye, np.full),
    *(np.fliplr, np.flipud, np.hstack, np.indices, np.linspace, np.log, np.max, np.maximum, np.mean, np.meshgrid),
    *(np.min, np.minimum, np.multiply, np.ones, np.outer, np.pad, np.repeat, np.reshape, np.round, np.sqrt, np.sum),
    *(np.tile, np.transpose, np.vstack, np.zeros),
}
"""Functions that have no effect, and the same value each time; more are in `_PURE_MODULES`."""
_PURE_MODULES = (math, itertools, operator)
_PURE_METHODS = {
    *("T", "astype", "copy", "flatten", "max", "mean", "min", "ravel", "reshape", "sum", "tolist", "transpose"),
    *("count", "endswith", "find", "format", "index", "isdigit", "join", "lower", "lstrip", "replace", "rstrip"),
    *("split", "splitlines", "startswith", "strip", "title", "upper", "zfill"),
    *("get", "items", "keys", "values"),
}
_PLAIN = (bool, int, float, str, type(None), np.number, np.bool_)
_MOST_ELEMENTS = 5_000
_EXACT = 1 << 53
_EXPRESSIONS = (
    ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.List,
    ast.Tuple, ast.Dict, ast.JoinedStr, ast.FormattedValue, ast.ListComp, ast.DictComp,
    ast.GeneratorExp, ast.Starred, ast.Lambda, ast.Name, ast.Attribute, ast.Call, ast.keyword, ast.comprehension,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.arguments, ast.arg,
)  # fmt: skip


class EvaluateConstants(Rewrite):
    """A variable that is bound once, to what no argument influences, and is never changed, is known.

    Functions of the user's are not run: only builtins, and functions and methods of libraries, that have no effect.
    Nothing is computed from sets, whose order may change with every start of Python.
    """

    def __init__(self, context: FunctionContext) -> None:
        super().__init__(context)
        self.constants: dict[str, Any] = {}

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        self.bound = Counter(name for statement in node.body for name in bound_names(statement))
        self.bound.update(taken(node))
        self.changed = self.changed_names(node)
        super().apply(node)
        node.body = node.body or [at(node, ast.Pass())]

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Take a computed value as a constant."""
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return self.generic_visit(node)
        called = node.targets[0].id
        if self.bound[called] == 1 and (known := self._object_made(node.value)) is not None:
            self.scope.known[called] = known
            return None
        is_constant = self.bound[called] == 1 and called not in self.changed and called not in self.scope.known
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if is_constant and (is_text or not isinstance(node.value, ast.Constant | ast.Name | ast.Lambda)):
            computed = self._computed(node.value)
            if computed is not None:
                self.scope.known[called] = computed
                return None
        if called in self.changed:
            start = self._computed(node.value) if isinstance(node.value, ast.Call) else None
            if isinstance(start, dict) and start and written_out(made := parse_expression(repr(start))) == start:
                node.value = at(node.value, made)
            return node
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Compute what is added."""
        node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """Write a computed value in place of a call."""
        if (known := self._object_made(node)) is not None:
            return at(node, self.context.value(known))
        computed = self._computed(node)
        return self.generic_visit(node) if computed is None else at(node, self.context.value(computed))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Write a computed value in place of an element."""
        if isinstance(node.ctx, ast.Load) and isinstance(computed := self._computed(node), _PLAIN):
            return at(node, self.context.value(computed)) if computed is not None else node
        return self.generic_visit(node)

    def visit_DictComp(self, node: Any) -> Any:
        """Write a computed dictionary in place of its comprehension."""
        computed = self._computed(node)
        return super().visit_ListComp(node) if computed is None else at(node, self.context.value(computed))

    def _object_made(self, node: ast.expr) -> Any:
        """The object that `Heuristics()` makes of a class of the user's with nothing but methods and constants."""
        if not isinstance(node, ast.Call) or node.args or node.keywords or not isinstance(node.func, ast.Name):
            return None
        known = self._known_or_none(node.func)
        kind: Any = known.value if known is not None else None
        makes_nothing = isinstance(kind, type) and not any("__init__" in vars(base) for base in kind.__mro__[:-1])
        return kind() if makes_nothing and has_only_methods(kind) else None

    def _known_or_none(self, node: ast.Name) -> KnownValue | None:
        try:
            return self.scope.look_up(node.id, node)
        except CompileError:
            return None

    def _computed(self, node: ast.expr) -> Any:
        """The value of an expression, if it has the same one at every call and can be written out; else None."""
        names: dict[str, Any] = {}
        if not self._is_pure(node, names):
            return None
        tree = ast.fix_missing_locations(ast.Expression(node))
        try:
            value = eval(compile(tree, "<constant>", "eval"), {"__builtins__": {}, **names})
            value = _kept(value)
        except Exception:  # whatever is wrong with it, the function itself is going to say
            return None
        return value if _is_written_out(value) and _size(value) <= _MOST_ELEMENTS else None

    def _is_pure(self, node: ast.expr, names: dict[str, Any]) -> bool:
        """Whether nothing but constants is in an expression; `names` gets the values of its names."""
        if not all(isinstance(inner, _EXPRESSIONS) for inner in ast.walk(node)):
            return False
        for called, reader in free_names(node):
            known = self._value_of(reader)
            if known is None:
                return False
            names[called] = known[0]
        return all(self._has_no_effect(inner, names) for inner in ast.walk(node))

    def _value_of(self, reader: ast.AST) -> tuple[Any] | None:
        known = self._known_or_none(reader) if isinstance(reader, ast.Name) else None
        if known is None:
            return None
        value = known.value
        is_pure = isinstance(value, ModuleType) or _is_pure_function(value) or _is_written_out(value)
        return (value,) if is_pure else None

    def _has_no_effect(self, node: ast.AST, names: Mapping[str, Any]) -> bool:
        """Whether a call or an attribute in an expression changes nothing and depends on nothing else."""
        if isinstance(node, ast.Attribute):
            owner = self._module(node.value, names)
            if owner is not None:
                value = getattr(owner, node.attr, None)
                return isinstance(value, ModuleType | float | int) or _is_pure_function(value)
            return node.attr in _PURE_METHODS
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name | ast.Attribute | ast.Lambda)
        return True

    def _module(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        """The module that an expression stands for."""
        if isinstance(node, ast.Name):
            return names.get(node.id) if isinstance(names.get(node.id), ModuleType | type) else None
        if isinstance(node, ast.Attribute):
            owner = self._module(node.value, names)
            value = getattr(owner, node.attr, None) if owner is not None else None
            return value if isinstance(value, ModuleType | type) else None
        return None


class LargeResults(Rewrite):
    """`return -sys.maxsize` of the heuristic itself is the float64 that it becomes in any case."""

    def visit_Return(self, node: ast.Return) -> Any:
        """Write a large whole number as a float64."""
        sign, value = 1, node.value
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
            sign, value = -1, value.operand
        known = self.known(value) if isinstance(value, ast.Constant | ast.Name | ast.Attribute) else None
        if known is not None and type(known.value) is int and known.value > _EXACT:
            node.value = at(node, ast.Constant(float(sign * known.value)))
        return node


def _is_pure_function(value: object) -> bool:
    if not isinstance(value, Hashable):
        return False
    module = getattr(value, "__module__", None)
    is_of_module = any(module == owner.__name__ or module == f"_{owner.__name__}" for owner in _PURE_MODULES)
    return isinstance(value, Callable) and (value in _PURE or is_of_module)  # type: ignore[arg-type]


def _kept(value: Any) -> Any:
    """Return what an iterator would give as a tuple, and views of dictionaries too."""
    is_held = isinstance(value, (*_PLAIN, list, tuple, dict, np.ndarray, range))
    return value if is_held else tuple(itertools.islice(value, _MOST_ELEMENTS + 1))


def _is_written_out(value: Any) -> bool:
    """Whether a value is made of numbers and texts."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "bif"
    if isinstance(value, dict):
        return all(map(_is_written_out, value)) and all(map(_is_written_out, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_written_out, value))
    return isinstance(value, (*_PLAIN, range))


def _size(value: Any) -> int:
    """How many numbers and texts a value holds."""
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list | tuple | range) else 1
