"""Which classes of the user have objects that never change, and what these hold."""

from __future__ import annotations

import ast
import dataclasses
import functools
import sys
from abc import ABC
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from .compile_error import CompileError
from .function_source import definition, parameters

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
