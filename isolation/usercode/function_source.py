"""Syntax tree of a function, what its file does to its globals, and which classes have objects that never change."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import sys
from abc import ABC
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from .compile_error import CompileError
from .parsing import parse, reading, suppress_warnings

Definition = ast.FunctionDef | ast.Lambda

CHANGING_METHODS = {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse"}
CHANGING_METHODS |= {"setdefault", "sort", "update"}


@lru_cache(maxsize=64)
def _parse(text: str) -> ast.Module:
    return parse(text)


def file_tree(function: FunctionType) -> ast.Module:
    """Return the syntax tree of the file that defines a function."""
    try:
        with reading:
            lines, _ = inspect.findsource(function)
            return _parse("".join(lines))
    except (OSError, TypeError, SyntaxError):
        raise CompileError(f"the source of {function.__name__} is not available") from None


def definition(function: FunctionType) -> Definition:
    """Return the syntax tree of a function's definition, with the line numbers of its file."""
    known = _definitions(file_tree(function)).get(function.__code__.co_firstlineno, [])
    candidates = [node for node in known if _defines(node, function.__code__)]
    if len(candidates) > 1:
        candidates = [node for node in candidates if essence(_code(node)) == essence(function.__code__)]
    if not candidates:
        raise CompileError(f"the definition of {function.__name__} is not found in its file")
    return candidates[0]


@lru_cache(maxsize=64)
def _definitions(tree: ast.Module) -> dict[int, list[Definition]]:
    """The definitions in a file by their first lines, those of their decorators included."""
    definitions: dict[int, list[Definition]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = getattr(node, "decorator_list", [])
            definitions.setdefault(decorators[0].lineno if decorators else node.lineno, []).append(node)
    return definitions


def _defines(node: Definition, code: CodeType) -> bool:
    named = code.co_name == (node.name if isinstance(node, ast.FunctionDef) else "<lambda>")
    return named and parameters(node) == list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def _code(node: ast.AST) -> CodeType:
    assert isinstance(node, ast.Lambda)
    with suppress_warnings():
        module = compile(ast.Expression(body=node), "<lambda>", "eval")
    return next(constant for constant in module.co_consts if isinstance(constant, CodeType))


def essence(code: CodeType) -> tuple[object, ...]:
    """Return what is equal for code of equal sources, wherever they stand."""
    inner = [essence(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    return code.co_name, code.co_code, constants, code.co_names, code.co_varnames, inner


def parameters(node: Definition) -> list[str]:
    """Return the names of a definition's parameters, keyword-only ones last; *args and **kwargs are left out."""
    arguments = node.args
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def taken(node: Definition) -> list[str]:
    """Return the names of a definition's parameters, last that of the tuple of further arguments (``*cells``)."""
    return parameters(node) + ([node.args.vararg.arg] if node.args.vararg else [])


def names_in(node: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> list[str]:
    """Return the variables in a tree, as often as they are there, that are read (ast.Load), set, or either."""
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, context)]


def changed_parameters(node: Definition) -> set[str]:
    """Return the parameters whose lists, sets or dictionaries a function changes in place."""
    return {name for inner in ast.walk(node) if (name := changed_name(inner))} & set(parameters(node))


@lru_cache(maxsize=64)
def changed_globals(tree: ast.Module) -> dict[str, int]:
    """Return the global names that functions of a file change while it is in use, each with the line that does.

    A function that only the top level of the file calls runs once, at import, and what it fills stays as it is.
    """
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    used = {
        node.id
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id != function.name
    }
    at_import = {
        node.func.id
        for statement in tree.body
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return {
        name: line
        for function in functions
        if function.name in used or function.name not in at_import
        for name, line in _changes(function)
    }


def _changes(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    declared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    own = assigned(function) - declared | set(taken(function))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in declared:
            yield node.id, node.lineno
        elif (name := changed_name(node)) and name not in own:
            yield name, node.lineno  # type: ignore[attr-defined]


def changed_name(node: ast.AST) -> str | None:
    """Return the name of the list, set, dictionary or object that an expression or target changes in place."""
    if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
        base: ast.AST = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING_METHODS:
        base = node.func.value
    else:
        return None
    while isinstance(base, ast.Subscript):
        base = base.value
    return base.id if isinstance(base, ast.Name) else None


def assigned(function: Definition) -> set[str]:
    """Return the names a function binds itself, parameters apart: not those of functions and comprehensions in it."""
    body = function.body if isinstance(function.body, list) else [function.body]
    return {name for statement in body for name in bound_names(statement)}


def bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement or expression binds in the function it stands in."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.id
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    if isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        # Only a walrus binds outside of a comprehension.
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                yield inner.target.id
        return
    for child in ast.iter_child_nodes(node):
        yield from bound_names(child)


_LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy", "isolation", "knights_isolation"} - {"__main__"}


def fields_of(kind: Any) -> list[str]:
    """Return the attributes that objects of a class have and never change, in their order; empty for other classes."""
    return list(_fields_of(kind)) if isinstance(kind, type) else []


@functools.lru_cache(maxsize=256)
def _fields_of(kind: type) -> list[str]:
    if not is_users(kind):
        return []
    if issubclass(kind, tuple):
        return list(getattr(kind, "_fields", ()))
    if issubclass(kind, BaseException) or changes_itself(kind):
        return []
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    return list(dict.fromkeys(_set_in(definition(made)))) if (made := maker_of(kind)) else []


def never_changes(value: object) -> bool:
    """Whether a value is an object of a class of the user's that keeps the attributes that it was made with."""
    kind: type = type(value)
    return bool(fields_of(kind)) or _keeps_attributes(kind)


def has_only_methods(kind: object) -> bool:
    """Whether a value is a class of the user's whose objects hold nothing."""
    return isinstance(kind, type) and not fields_of(kind) and _keeps_attributes(kind)


@functools.lru_cache(maxsize=256)
def _keeps_attributes(kind: type) -> bool:
    own, *others = kind.__mro__
    plain = all(is_users(base) or base in (object, ABC) for base in others)
    return is_users(own) and plain and not any(changes_itself(base) for base in kind.__mro__ if is_users(base))


def is_users(kind: type) -> bool:
    """Return whether a class is the user's, and no player."""
    room = kind.__module__.partition(".")[0]
    theirs = kind.__module__.startswith("knights_isolation.user_") or room not in _LIBRARIES
    return theirs and not hasattr(kind, "get_action") and not hasattr(kind, "get_move")


def maker_of(kind: type) -> FunctionType | None:
    """Return the `__init__` that is written in a class that inherits nothing; a dataclass's own is written nowhere."""
    made = vars(kind).get("__init__")
    if not isinstance(made, FunctionType) or made.__code__.co_filename == "<string>":
        return None
    return made if kind.__mro__[1:] == (object,) else None


def _set_in(node: ast.AST) -> Iterator[str]:
    assert isinstance(node, ast.FunctionDef)
    own = parameters(node)[0] if parameters(node) else ""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store) and is_name(inner.value, own):
            yield inner.attr


def changes_itself(kind: type) -> bool:
    """Whether a method other than `__init__` sets an attribute, or the source of one is not at hand."""
    generated = vars(kind) if dataclasses.is_dataclass(kind) else {}
    try:
        return any(
            next(_set_in(definition(method)), None)
            for called, method in vars(kind).items()
            if isinstance(method, FunctionType) and called != "__init__"
            if not (called.startswith("__") and called in generated)
        )
    except CompileError:
        return True


def is_name(node: ast.AST, called: str) -> bool:
    """Return whether an expression is this variable."""
    return isinstance(node, ast.Name) and node.id == called


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)
