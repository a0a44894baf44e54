"""Base class of the rewrites: looking up values, building nodes."""

from __future__ import annotations

import ast
import builtins
import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from ...usercode.function_source import (
    Definition,
    changed_name,
    changed_parameters,
    definition,
    never_changes,
    parameters,
)
from ...usercode.parsing import parse
from ..compile_errors import CompileError, refuse
from .scopes import SUPPORT, Callee, Kind, KnownValue, Nested, Scope, as_callee, builtin_name, callee_of_object

_FRESH = "_v"
_RETURNS: dict[str, Kind] = {"forecast_move": "game", "copy": "game", "get_opponent": "player"}

Node = TypeVar("Node", bound=ast.AST)


@dataclass
class FunctionContext:
    """One function under rewriting: its scope, and fresh names for what rewrites add to it.

    `attempt` counts how often the heuristic was rewritten before, without use.

    `is_of_states` says that the heuristic is of the third edition, whose cells are numbers.
    """

    scope: Scope
    counter: Iterator[int]
    is_of_states: bool = False
    attempt: int = 0

    def fresh(self, what: str) -> str:
        """Return a name that no user's name can be."""
        return f"{_FRESH}{next(self.counter)}_{what}"

    def builtin(self, called: str) -> ast.Name:
        """Return the name of a builtin, whatever that name means to the user."""
        self.scope.known[f"_v_{called}"] = getattr(builtins, called)
        return name(f"_v_{called}")

    def value(self, known: Any) -> ast.expr:
        """Return an expression for a value that is at hand."""
        if known is None or isinstance(known, bool | int | float | str):
            return ast.Constant(known)
        fresh = self.fresh("value")
        self.scope.known[fresh] = known
        return name(fresh)

    def cell(self) -> ast.expr:
        """Return an example of a cell, which is what is taken for what a collection holds where nothing else is known.

        A heuristic of the third edition knows cells by their numbers.
        """
        zero = ast.Constant(0)
        return zero if self.is_of_states else ast.Tuple([zero, zero], ast.Load())

    def variable(self, what: str) -> str:
        """Return a fresh name for a variable of the function."""
        called = self.fresh(what)
        self.scope.names.add(called)
        return called

    def define(self, what: str, node: Definition) -> str:
        """Make a function known under a fresh name."""
        name = self.fresh(what)
        self.scope.known[name] = Callee(Nested(node, self.scope))
        return name


class Rewrite(ast.NodeTransformer):
    """A pass over the body of one function definition.

    Inner functions and comprehensions have names of their own: they are met when they are written themselves.
    """

    def __init__(self, context: FunctionContext) -> None:
        self.context = context
        self.scope = context.scope

    def known(self, node: ast.AST) -> KnownValue | None:
        """Return the value an expression is known to have: a name, an attribute of a module, a lambda, a constant."""
        if isinstance(node, ast.Constant):
            return KnownValue(node.value)
        if isinstance(node, ast.Name):
            return self.scope.look_up(node.id, node)
        if isinstance(node, ast.Lambda):
            return KnownValue(Callee(Nested(node, self.scope)))
        if isinstance(node, ast.Attribute):
            base = self.known(node.value)
            if base is not None and (holds_constants(base.value) or isinstance(base.value, super)):
                if not hasattr(base.value, node.attr):
                    refuse(f"{ast.unparse(node.value)} has no {node.attr}", node)
                return KnownValue(getattr(base.value, node.attr))
        if isinstance(node, ast.Subscript):
            return self._looked_up(node)
        return self._reflected(node) if isinstance(node, ast.Call) else None

    def value_of(self, node: ast.AST, kinds: Any = ast.Name | ast.Attribute) -> Any:
        """Return the value that an expression of some kinds is known to have; None for any other."""
        known = self.known(node) if isinstance(node, kinds) else None
        return None if known is None else known.value

    def _reflected(self, node: ast.Call) -> KnownValue | None:
        """Return what `getattr(self, "reach")` or `super()` stands for, where self never changes."""
        asked = self.builtin(node.func)
        if asked == "super" and not node.args:
            around = self.scope.look_up("__class__", node)
            own = (value for value in self.scope.known.values() if around and isinstance(value, around.value))
            owner = next(own, None)
            return None if around is None or owner is None else KnownValue(super(around.value, owner))
        if asked not in ("getattr", "super"):
            return None
        parts = (self.joined_text(argument) or self.known(argument) for argument in node.args)
        given = [known.value for known in parts if known is not None]
        if len(given) < max(2, len(node.args)):
            return None
        if asked == "super":
            return KnownValue(super(*given))
        owner, attribute, *default = given
        is_known = holds_constants(owner) and isinstance(attribute, str)
        if not is_known or not (default or hasattr(owner, attribute)):
            return None
        return KnownValue(getattr(owner, attribute, *default))

    def joined_text(self, node: ast.expr) -> KnownValue | None:
        """Return the text that `"term_" + part` or an f-string of known texts comes to."""
        match node:
            case ast.BinOp(left, ast.Add(), right):
                parts = [left, right]
            case ast.JoinedStr(parts):
                parts = [_as_written(part) for part in parts]
            case _:
                return None
        texts = [known.value for part in parts if (known := self.joined_text(part) or self.known(part)) is not None]
        is_known = len(texts) == len(parts) and all(isinstance(text, str) for text in texts)
        return KnownValue("".join(texts)) if is_known else None

    def _looked_up(self, node: ast.Subscript) -> KnownValue | None:
        """Return the function or dictionary that stands under a known index or key of a list, tuple or dictionary."""
        base = self.known(node.value) if isinstance(node.value, ast.Name | ast.Attribute | ast.Subscript) else None
        index = self.known(node.slice) if isinstance(node.slice, ast.Constant | ast.Name) else None
        if base is None or index is None or not isinstance(base.value, list | tuple | Mapping):
            return None
        try:
            value = base.value[index.value]
        except (LookupError, TypeError):
            return None
        holds = isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(map(as_callee, value)))
        return KnownValue(value) if holds or as_callee(value) or callee_of_object(value) else None

    def callee(self, node: ast.AST) -> Callee | None:
        """Return the user's function that an expression stands for."""
        known = self.known(node)
        return None if known is None else as_callee(known.value) or callee_of_object(known.value)

    def changed_names(self, node: ast.AST) -> set[str]:
        """Return the names of lists, sets and dictionaries that a function changes, itself or by a call."""
        names: set[str] = set()
        for inner in ast.walk(node):
            if changed := changed_name(inner):
                names.add(changed)
            if isinstance(inner, ast.Call):
                names |= self._changed_by(inner)
        for known in self.scope.known.values():
            if isinstance(known, Callee) and isinstance(known.target, Nested):
                names |= {changed for inner in ast.walk(known.target.node) if (changed := changed_name(inner))}
        return names

    def _changed_by(self, node: ast.Call) -> set[str]:
        """The names among the arguments of a call whose lists, sets or dictionaries the called function changes."""
        given = [argument.id if isinstance(argument, ast.Name) else "" for argument in node.args]
        if not any(given) or not isinstance(node.func, ast.Name | ast.Attribute):
            return set()
        try:
            callee = self.callee(node.func)
        except CompileError:
            return set()
        if callee is None:
            return set()
        called = callee.target.node if isinstance(callee.target, Nested) else definition(callee.target)
        positional = [parameter for parameter in parameters(called) if parameter not in callee.defaults]
        changed = changed_parameters(called)
        return {name for name, parameter in zip(given, positional, strict=False) if name and parameter in changed}

    def builtin(self, node: ast.AST) -> str | None:
        """Return the name of the builtin that an expression stands for."""
        return builtin_name(self.value_of(node, ast.Name))

    def kind(self, node: ast.AST) -> Kind | None:
        """Return "game" or "player" for expressions that certainly are one."""
        if isinstance(node, ast.Name):
            return self.scope.kind(node.id)
        if isinstance(node, ast.NamedExpr):
            return self.kind(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return _RETURNS.get(node.func.attr) if self.kind(node.func.value) == "game" else None
        if isinstance(node, ast.Attribute) and node.attr in ("active_player", "inactive_player"):
            return "player" if self.kind(node.value) == "game" else None
        return None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Leave inner functions alone."""
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """Leave lambdas alone."""
        return node

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Any:
        """Rewrite only what a comprehension evaluates in this function: its first iterable."""
        node.generators[0].iter = self.visit(node.generators[0].iter)
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # noqa: N815

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Keep blocks from becoming empty."""
        super().generic_visit(node)
        if isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.ExceptHandler) and not node.body:
            node.body = [at(node, ast.Pass())]
        return node

    def rewrite_body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements one after another."""
        rewritten: list[ast.stmt] = []
        for statement in statements:
            result = self.visit(statement)
            rewritten += result if isinstance(result, list) else [result] if result is not None else []
        return rewritten

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        self._prepare(node)
        node.body = self.rewrite_body(node.body) or [at(node, ast.Pass())]

    def _prepare(self, node: ast.FunctionDef) -> None:
        """Learn from a definition what its rewriting asks for."""


def holds_constants(value: object) -> bool:
    """Whether the attributes of a value stay what they are: modules, classes, enumerations, frozen data, `is_asked`."""
    frozen = getattr(getattr(value, "__dataclass_params__", None), "frozen", False)
    is_kept = isinstance(value, ModuleType | type | enum.Enum) or frozen or hasattr(value, "_fields")
    return is_kept or is_asked(value) or never_changes(value)


def is_asked(value: object) -> bool:
    """Whether a value is a player of the third edition: nothing but its evaluations is called, which change nothing."""
    return not isinstance(value, type) and hasattr(value, "get_action")


def at(origin: ast.AST, node: Node) -> Node:
    """Give a new node, and what is new in it, the line of the one it stands for."""
    for inner in ast.walk(node):
        if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
            ast.copy_location(inner, origin)
    return node


class Replaced(ast.NodeTransformer):
    """A tree with another expression in place of one of its own."""

    def __init__(self, old: ast.AST, new: ast.expr) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        """Visit a node."""
        return self.new if node is self.old else self.generic_visit(node)


def mark_written_out(node: ast.List) -> ast.List:
    """Return a list that loops are not to run over: what is done with its elements is written once for each."""
    node.is_written_out = True  # type: ignore[attr-defined]
    return node


def is_written_out(node: ast.expr) -> bool:
    """Return whether a list is marked so."""
    return getattr(node, "is_written_out", False)


def is_fresh(node: ast.AST) -> bool:
    """Whether an expression is a variable that a rewrite has added."""
    return isinstance(node, ast.Name) and node.id.startswith(_FRESH)


def written_out(node: ast.expr) -> Any:
    """Return the value of a literal made of constants only, else None."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def name(identifier: str) -> ast.Name:
    """Return a variable as an expression."""
    return ast.Name(identifier, ast.Load())


def target(identifier: str) -> ast.Name:
    """Return a variable as the target of an assignment."""
    return ast.Name(identifier, ast.Store())


def call(function: ast.expr, *arguments: ast.expr) -> ast.Call:
    """Return a call with positional arguments."""
    return ast.Call(function, list(arguments), [])


def support(function: str, *arguments: ast.expr) -> ast.Call:
    """Return a call of a function of `isolation.native.runtime.runtime_library`."""
    return call(ast.Attribute(name(SUPPORT), function, ast.Load()), *arguments)


def statements(text: str, **parts: ast.expr) -> list[ast.stmt]:
    """Return the statements of a template, its names in capitals replaced by expressions."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            part = parts.get(node.id, node)
            return ast.Name(part.id, node.ctx) if isinstance(part, ast.Name) else part

    tree = parse(text)
    for node in ast.walk(tree):
        for attribute in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            if hasattr(node, attribute):
                delattr(node, attribute)
    return [Fill().visit(statement) for statement in tree.body]


def function(identifier: str, arguments: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    """Return a definition."""
    given = ast.arguments([], [ast.arg(argument) for argument in arguments], None, [], [], None, [])
    return ast.FunctionDef(identifier, given, body, [])


def _as_written(node: ast.expr) -> ast.expr:
    """The expression that an f-string writes as it is; other parts as they are."""
    match node:
        case ast.FormattedValue(value, -1, None):
            return value
    return node
