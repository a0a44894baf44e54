"""What is known about a function's names before it runs."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType, MethodType, ModuleType
from typing import Any, Literal

from ...rules.parameters import opened
from ...usercode.function_source import Definition, assigned, changed_globals, file_tree, names_in, never_changes, taken
from ..compile_errors import refuse, refuse_unrepeatable
from .stand_ins import is_numpys, stand_in

Kind = Literal["game", "player"]
SUPPORT = "_isolation"  # the name of isolation.native.runtime.runtime_library in generated modules


_LASTING = "which outlives the call"


@dataclass(frozen=True)
class KnownValue:
    """A value that a name or expression has whenever the function runs."""

    value: Any


@dataclass(frozen=True)
class Nested:
    """A function or lambda defined inside another."""

    node: Definition
    scope: Scope

    @property
    def name(self) -> str:
        """Its name, or `lambda`."""
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "lambda"


@dataclass(frozen=True)
class Callee:
    """A function known where it is called, and the variables of that place that it reads (None: work them out)."""

    target: FunctionType | Nested
    reads: tuple[str, ...] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Missing:
    """A dictionary's value for missing keys; `is_kept`: reading a missing key adds it."""

    value: ast.expr
    is_kept: bool


@dataclass(frozen=True, eq=False)
class Choices:
    """The functions, or dictionaries that never change, of which a variable holds one, by its number."""

    options: tuple[Any, ...]

    @staticmethod
    def among(options: list[Any]) -> Choices:
        """Return the choices between options, each of them once."""
        once: list[Any] = []
        for option in options:
            if not any(_is_same(option, other) for other in once):
                once.append(option)
        return Choices(tuple(once))

    def number_of(self, option: Any) -> int:
        """Return the number of one of the options."""
        return next(number for number, other in enumerate(self.options) if _is_same(option, other))


def _is_same(option: Any, other: Any) -> bool:
    return option is other or (isinstance(option, Callee) and option == other)


@dataclass(eq=False)
class Scope:
    """The names of one function definition.

    `names` are its own variables; `known` those of them with a known value; `kinds` what is known of the others;
    `find` looks up every other name and returns its Known value, or None if it is a variable of an enclosing function;
    `file` holds the globals of the file; `facts` what rewrites have found out about variables: the class of an object
    that became a tuple, what a dictionary gives for a missing key, or the options of which a variable holds one.
    """

    names: set[str]
    find: Callable[[str, ast.AST], KnownValue | None]
    known: dict[str, Any]
    kinds: dict[str, Kind]
    file: dict[str, Any]
    parent: Scope | None = None
    facts: dict[str, type | Missing | Choices] = field(default_factory=dict)

    def look_up(self, name: str, node: ast.AST) -> KnownValue | None:
        """Return the known value of a name, or None for a variable."""
        if name == SUPPORT:
            return KnownValue(SUPPORT)
        if name in self.known:
            return KnownValue(self.known[name])
        return None if name in self.names else self.find(name, node)

    def kind(self, name: str) -> Kind | None:
        """Return what a variable stands for: a game, a player, or unknown."""
        if name in self.names or self.parent is None:
            return self.kinds.get(name)
        return self.parent.kind(name)

    def fact(self, name: str) -> type | Missing | Choices | None:
        """Return what rewrites have found out about a variable."""
        if name in self.names or self.parent is None:
            return self.facts.get(name)
        return self.parent.fact(name)


def scope_of(target: FunctionType | Nested, node: Definition, known: dict[str, Any], kinds: dict[str, Kind]) -> Scope:
    """Return the scope of a function whose definition is `node`."""
    names = set(taken(node)) | assigned(node)
    own = list(_own_nodes(node))
    declared = {
        name: _LASTING if isinstance(inner, ast.Global) else "a variable of the function around it"
        for inner in own
        if isinstance(inner, ast.Global | ast.Nonlocal)
        for name in inner.names
    }
    for inner in own:
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store) and inner.id in declared:
            refusal = refuse_unrepeatable if declared[inner.id] is _LASTING else refuse
            refusal(f"it changes {inner.id}, {declared[inner.id]}", inner)
    names -= declared.keys()
    if isinstance(target, Nested):
        return Scope(names, target.scope.look_up, known, kinds, target.scope.file, target.scope)
    return Scope(names, functools.partial(_find_outside, target), known, kinds, target.__globals__)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function that do not belong to functions inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield from _own_nodes(child)


def _find_outside(function: FunctionType, name: str, node: ast.AST) -> KnownValue:
    """Look a name up as a module-level function does: its closure, its globals, the builtins."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if name in cells:
        return KnownValue(_unchanged(cells[name].cell_contents, function, name, node))
    if name in function.__globals__:
        return KnownValue(_unchanged(function.__globals__[name], function, name, node))
    if hasattr(builtins, name):
        return KnownValue(getattr(builtins, name))
    refuse(f"{name} is not defined", node)


def _unchanged(value: Any, function: FunctionType, name: str, node: ast.AST) -> Any:
    """A value that a name has outside of a function; refuse one that functions of its file change."""
    changes = {} if isinstance(value, ModuleType | FunctionType | type) else changed_globals(file_tree(function))
    if name in changes:
        refuse_unrepeatable(f"it reads {name}, which line {changes[name]} changes between calls", node)
    return value


def builtin_name(value: object) -> str | None:
    """Return the name of a builtin function or type."""
    called = getattr(value, "__name__", None)
    return called if isinstance(called, str) and getattr(builtins, called, None) is value else None


def variables_read(callee: Callee) -> tuple[str, ...]:
    """Return the variables of enclosing functions that a function reads, directly or through others it calls."""
    if callee.reads is not None:
        return callee.reads
    return tuple(sorted(set(_read(callee.target, set()))))


def _read(target: FunctionType | Nested, seen: set[int]) -> Iterator[str]:
    if isinstance(target, FunctionType) or id(target.node) in seen:
        return
    seen.add(id(target.node))
    for name, node in free_names(target.node):
        value = target.scope.look_up(name, node)
        if value is None:
            yield name
        elif isinstance(value.value, Callee):
            yield from value.value.reads if value.value.reads is not None else _read(value.value.target, seen)


def free_names(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names, with a node each, that a definition and functions in it use but do not bind."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            yield from free_names(default)
        own = set(taken(node)) | assigned(node)
        body = node.body if isinstance(node.body, list) else [node.body]
        inner = list(body)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        own = {name for generator in node.generators for name in names_in(generator.target)}
        inner = list(ast.iter_child_nodes(node))
    else:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id, node
        own, inner = set(), list(ast.iter_child_nodes(node))
    for child in inner:
        for name, reader in free_names(child):
            if name not in own:
                yield name, reader


def as_callee(value: object) -> Callee | None:
    """Return the function behind a callable value: cached, compiled and partial ones are looked through.

    For a function of the standard library it may be one that stands in for it.
    """
    if isinstance(value, Callee):
        return value
    value = stand_in(value) or opened(value)
    if isinstance(value, functools.partial):
        inner = as_callee(value.func)
        if inner is None or not isinstance(inner.target, FunctionType):
            return None
        positional = dict(zip(inspect.signature(inner.target).parameters, value.args, strict=False))
        return Callee(inner.target, (), {**inner.defaults, **positional, **value.keywords})
    if isinstance(value, MethodType) and isinstance(value.__func__, FunctionType):
        return Callee(value.__func__, (), {next(iter(inspect.signature(value.__func__).parameters)): value.__self__})
    if hasattr(value, "py_func"):
        return as_callee(value.py_func)
    if isinstance(value, functools._lru_cache_wrapper):
        return as_callee(value.__wrapped__)
    return Callee(value, ()) if isinstance(value, FunctionType) and not is_numpys(value) else None


def callee_of_object(value: object) -> Callee | None:
    """Return the `__call__` of an object that never changes, given the object."""
    called = getattr(type(value), "__call__", None)  # noqa: B004
    if not isinstance(called, FunctionType) or not never_changes(value):
        return None
    return Callee(called, (), {next(iter(inspect.signature(called).parameters)): value})
