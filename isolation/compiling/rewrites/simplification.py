"""Simplify: drop what has no part in the value, and fold what is known before the function runs.

Docstrings and prints go; tests whose outcome is known, unreachable code, and values that are the same at every call
are folded.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import logging
import math
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from ...rules.classic_board import Board
from ...usercode.function_source import Definition, bound_names, has_only_methods, names_in, parameters, taken
from ...usercode.parsing import parse_expression
from ..compile_errors import CompileError, refuse
from ..source.rewrite import FunctionContext, Rewrite, at, holds_constants, target, written_out
from ..source.scopes import Callee, KnownValue, Nested, as_callee, free_names


class CleanUp(Rewrite):
    """Inner definitions and imports become known names; statements without effect on the value go."""

    def apply(self, node: ast.FunctionDef) -> None:
        bound = [name for statement in node.body for name in bound_names(statement)]
        self.repeated = {name for name in bound if bound.count(name) > 1}
        for name in self.repeated:
            self._learn_game(name, bound.count(name), node)
        super().apply(node)
        _DropTexts(node).visit(node)

    def _learn_game(self, name: str, times: int, node: ast.FunctionDef) -> None:
        """Take a variable for a game that is given a game every time."""
        assigned = [
            inner.value
            for inner in ast.walk(node)
            if isinstance(inner, ast.Assign) and [getattr(target, "id", "") for target in inner.targets] == [name]
        ]
        if len(assigned) == times and self.kind(assigned[0]) == "game":
            self.scope.kinds[name] = "game"
            if not all(self.kind(value) == "game" for value in assigned):
                del self.scope.kinds[name]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        defaults: list[ast.stmt] = self._kept_defaults(node)
        called = node.name
        if called in self.repeated:  # which one is meant is found out by a number: see `choices`
            called = self.context.fresh(called)
            defaults.append(at(node, ast.Assign([target(node.name)], ast.Name(called, ast.Load()))))
        self._learn(called, Callee(Nested(node, self.scope)), node)
        return defaults

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Make a lambda known that is given a name, and which variables are games and players."""
        place = node.targets[0]
        lambdas = _lambdas_assigned(place, node.value) if len(node.targets) == 1 else []
        if lambdas:
            return self.rewrite_body([at(node, one) for one in lambdas])
        if len(node.targets) != 1 or not isinstance(place, ast.Name):
            return node
        name, kind = place.id, self.kind(node.value)
        if isinstance(node.value, ast.Lambda):
            defaults = self._kept_defaults(node.value)
            callee = Callee(Nested(node.value, self.scope))
            if name in self.repeated:
                name = self.context.fresh(name)
                node.value = at(node.value, ast.Name(name, ast.Load()))
                defaults.append(node)
            self._learn(name, callee, node)
            return defaults
        if kind is not None and name not in self.repeated:
            self.scope.kinds[name] = kind
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return at(node, ast.Assign([node.target], node.value)) if node.value else None

    def visit_Import(self, node: ast.Import) -> Any:
        for alias in node.names:
            module = self._import(alias.name, ["*"] if alias.asname else [], 0, node)
            self._learn(alias.asname or alias.name.partition(".")[0], module, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        for alias in node.names:
            module = self._import(node.module or "", [alias.name], node.level, node)
            if not hasattr(module, alias.name):
                refuse(f"{node.module} has no {alias.name}", node)
            self._learn(alias.asname or alias.name, getattr(module, alias.name), node)

    def visit_Delete(self, node: ast.Delete) -> Any:
        """Drop the deletion of variables, which nothing reads from then on."""
        node.targets = [place for place in node.targets if not isinstance(place, ast.Name)]
        return self.generic_visit(node) if node.targets else None

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Constant | ast.Name):
            return None
        if isinstance(node.value, ast.Call) and self._only_speaks(node.value.func):
            return None
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """Catch every exception where one kind is named: numba knows no other way."""
        node.type = None if node.type is None else at(node, ast.Name("Exception", ast.Load()))
        self.generic_visit(node)
        read = {inner.id for part in node.body for inner in ast.walk(part) if isinstance(inner, ast.Name)}
        if node.name in read:
            refuse(f"it reads the exception {node.name}, which compiled code does not support: leave it out", node)
        node.name = None
        return node

    def _import(self, module: str, names: list[str], level: int, node: ast.AST) -> Any:
        """Import as the file itself would: it may have siblings and an `__import__` of its own."""
        own = self.scope.file.get("__builtins__", builtins)
        importer = own["__import__"] if isinstance(own, dict) else own.__import__
        try:
            return importer(module, self.scope.file, None, names, level)
        except ImportError:
            refuse(f"it imports {module}, which cannot be found", node)

    def _kept_defaults(self, node: Definition) -> list[ast.stmt]:
        """Variables for those defaults of an inner function that are computed where it is defined."""
        kept: list[ast.stmt] = []
        for defaults in (node.args.defaults, node.args.kw_defaults):
            for index, default in enumerate(defaults):
                if default is None or self.known(default) is not None or written_out(default) is not None:
                    continue
                variable = self.context.variable("default")
                kept.append(self.visit_Assign(at(default, ast.Assign([target(variable)], default))))
                defaults[index] = at(default, ast.Name(variable, ast.Load()))
        return kept

    def _learn(self, name: str, value: object, node: ast.AST) -> None:
        if name in self.repeated:
            refuse(f"{name} is assigned more than once", node)
        self.scope.known[name] = value

    def _only_speaks(self, function: ast.expr) -> bool:
        if self.builtin(function) == "print":
            return True
        callee = self.known(function)
        if callee is not None:
            return getattr(callee.value, "__module__", None) in ("logging", "pprint", "warnings", "_warnings")
        return isinstance(function, ast.Attribute) and isinstance(
            self.value_of(function.value, ast.AST), logging.Logger
        )


class _DropTexts(ast.NodeTransformer):
    """Drop texts that are put together and read nowhere, as what was printed."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.read = names_in(node, ast.Load)

    def visit_Assign(self, node: ast.Assign) -> Any:
        is_read = any(not isinstance(place, ast.Name) or place.id in self.read for place in node.targets)
        return node if is_read or not _is_formatted(node.value) else at(node, ast.Pass())


def _is_formatted(node: ast.expr) -> bool:
    match node:
        case ast.JoinedStr() | ast.Call(ast.Attribute(ast.Constant(str()), "format")):
            return True
        case ast.BinOp(ast.Constant(str()), ast.Mod()):
            return True
    return False


def _lambdas_assigned(place: ast.expr, value: ast.expr) -> list[ast.stmt]:
    """The assignments of `own, opp = lambda: ..., lambda: ...`; none if other values are among them."""
    if not isinstance(place, ast.Tuple) or not isinstance(value, ast.Tuple) or len(place.elts) != len(value.elts):
        return []
    if not all(isinstance(each, ast.Lambda) for each in value.elts):
        return []
    return [ast.Assign([part], each) for part, each in zip(place.elts, value.elts, strict=True)]


_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_PLAIN = (type(None), bool, int, float, str)


class Fold(Rewrite):
    """`given` holds parameters whose argument is known at every call, such as a default nobody overrides."""

    def __init__(self, context: Any, given: dict[str, Any]) -> None:
        super().__init__(context)
        self.given = given

    def apply(self, node: ast.FunctionDef) -> None:
        """Fold statement by statement: a parameter that is assigned is known only up to there."""
        changed = {name for statement in node.body for name in bound_names(statement)} & self.given.keys()
        start: list[ast.stmt] = []
        for name, value in self.given.items():
            self.scope.known[name] = value
            if name in changed:
                if as_callee(value) is not None:
                    refuse(f"{name} is a function and is assigned again", node)
                start.append(at(node, ast.Assign([target(name)], self.context.value(value))))
        node.body = start + self.rewrite_body(node.body)

    def rewrite_body(self, statements: Any) -> list[ast.stmt]:
        """Rewrite statements one after another, forgetting what they assign."""
        rewritten: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.For | ast.While | ast.Try | ast.With):
                self._forget(statement)
            result = self.visit(statement)
            self._forget(statement)
            rewritten += result if isinstance(result, list) else [result] if result is not None else []
        return rewritten

    def _forget(self, statement: ast.stmt) -> None:
        for name in bound_names(statement):
            if name in self.given:
                self.scope.known.pop(name, None)

    def visit_If(self, node: ast.If) -> Any:
        node.test = self.visit(node.test)
        decision = self.decided(node.test)
        if decision is not None:
            return self.rewrite_body(node.body if decision.value else node.orelse)
        before = dict(self.scope.known)
        node.body = self.rewrite_body(node.body) or [at(node, ast.Pass())]
        after = self.scope.known.keys()
        self.scope.known.update({name: before[name] for name in before.keys() - after})
        node.orelse = self.rewrite_body(node.orelse)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        node.test = self.visit(node.test)
        decision = self.decided(node.test)
        if decision is not None:
            return self.visit(node.body if decision.value else node.orelse)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        stops = isinstance(node.op, ast.Or)
        kept: list[ast.expr] = []
        for left, operand in zip(reversed(range(len(node.values))), node.values, strict=True):
            value = self.visit(operand)
            decision = self.decided(value)
            if decision is None or left == 0 or bool(decision.value) is stops:
                kept.append(value)
            if decision is not None and bool(decision.value) is stops:
                break
        return kept[0] if len(kept) == 1 else at(node, ast.BoolOp(node.op, kept))

    def visit_Call(self, node: ast.Call) -> Any:
        """Answer `hasattr(game, "reach")`, and write `getattr(game, "reach", None)` as what it gives."""
        self.generic_visit(node)
        asked = self.builtin(node.func)
        match node.args:
            case [owner, ast.Constant(str(attribute)), *default] if asked in ("hasattr", "getattr"):
                has = self._has(owner, attribute)
                if has is not None and asked == "hasattr":
                    return at(node, ast.Constant(has))
                if has is not None and (has or default):
                    return at(node, ast.Attribute(owner, attribute, ast.Load()) if has else default[0])
        return node

    def _has(self, owner: ast.expr, attribute: str) -> bool | None:
        """Whether a game or a known value has an attribute; None of other values."""
        if self.kind(owner) == "game":
            return hasattr(Board(0, 1), attribute)
        known = self.known(owner) if isinstance(owner, ast.Name | ast.Attribute) else None
        return hasattr(known.value, attribute) if known is not None and holds_constants(known.value) else None

    def decided(self, node: ast.expr) -> KnownValue | None:
        """Return the value of a test that is known; a comparison that would fail has none."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.decided(node.operand)
            return None if inner is None else KnownValue(not inner.value)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = self.decided(node.left), self.decided(node.comparators[0])
            compare = _COMPARISONS.get(type(node.ops[0]))
            if left is None or right is None or compare is None:
                return None
            try:
                return KnownValue(compare(left.value, right.value))
            except TypeError:
                return None
        if isinstance(node, ast.Constant | ast.Name | ast.Attribute):
            known = self.known(node)
            if known is not None and (isinstance(known.value, _PLAIN) or as_callee(known.value) is not None):
                return known
        return None


_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Prune(Rewrite):
    """Nothing follows a `return`; a variable given once, as a switch is, is known, so that `Fold` decides by it."""

    def apply(self, node: ast.FunctionDef) -> None:
        given = Counter([*parameters(node), *(name for statement in node.body for name in bound_names(statement))])
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
                value = statement.value.value
                names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
                once = {name: value for name in names if given[name] == 1 and isinstance(value, _PLAIN)}
                self.scope.known.update(once)
        for inner in ast.walk(node):
            for block in ("body", "orelse", "finalbody"):
                statements = getattr(inner, block, None)
                if isinstance(statements, list):
                    setattr(inner, block, _reached(statements))


def _reached(statements: list[ast.stmt]) -> list[ast.stmt]:
    ends = [index for index, statement in enumerate(statements) if isinstance(statement, _ENDS)]
    return statements[: ends[0] + 1] if ends else statements


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
_PLAIN_OR_NUMPYS = (*_PLAIN, np.number, np.bool_)
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

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.bound = Counter(name for statement in node.body for name in bound_names(statement))
        self.bound.update(taken(node))
        self.changed = self.changed_names(node)

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
        node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        if (known := self._object_made(node)) is not None:
            return at(node, self.context.value(known))
        computed = self._computed(node)
        return self.generic_visit(node) if computed is None else at(node, self.context.value(computed))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.ctx, ast.Load) and isinstance(computed := self._computed(node), _PLAIN_OR_NUMPYS):
            return at(node, self.context.value(computed)) if computed is not None else node
        return self.generic_visit(node)

    def visit_DictComp(self, node: Any) -> Any:
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
        known = self.value_of(value, ast.Constant | ast.Name | ast.Attribute) if value else None
        if type(known) is int and known > _EXACT:
            node.value = at(node, ast.Constant(float(sign * known)))
        return node


def _is_pure_function(value: object) -> bool:
    if not isinstance(value, Hashable):
        return False
    module = getattr(value, "__module__", None)
    is_of_module = any(module == owner.__name__ or module == f"_{owner.__name__}" for owner in _PURE_MODULES)
    return isinstance(value, Callable) and (value in _PURE or is_of_module)  # type: ignore[arg-type]


def _kept(value: Any) -> Any:
    """Return what an iterator would give as a tuple, and views of dictionaries too."""
    is_held = isinstance(value, (*_PLAIN_OR_NUMPYS, list, tuple, dict, np.ndarray, range))
    return value if is_held else tuple(itertools.islice(value, _MOST_ELEMENTS + 1))


def _is_written_out(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "bif"
    if isinstance(value, dict):
        return all(map(_is_written_out, value)) and all(map(_is_written_out, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_written_out, value))
    return isinstance(value, (*_PLAIN_OR_NUMPYS, range))


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list | tuple | range) else 1
