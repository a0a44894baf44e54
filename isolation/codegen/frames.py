"""Functions while their code is emitted, and their names."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .flow import Edge
from .values import Value

Function = ast.FunctionDef | ast.Lambda


@dataclass(eq=False)
class Frame:
    """A function while its code is emitted.

    Attributes:
        node: its syntax tree.
        space: the module's variables.
        cells: variables of functions around it that are known.
        changes: of the module's variables, those that functions change, and the lines that do.
        parent: the frame of the function around it, while that is compiled, too.
        number: tells its variables from those of other calls.
        site: tells this call from all others, the same whenever the code is emitted again.
    """

    node: Function
    space: dict[str, Any]
    cells: dict[str, Value]
    changes: dict[str, int]
    parent: Frame | None
    number: int
    site: Hashable
    returns: list[Edge]
    loops: list[tuple[list[Edge], list[Edge]]] = field(default_factory=list)
    nonlocals: set[str] = field(default_factory=set)
    yields: Callable[[Value], None] | None = None

    @property
    def own_names(self) -> frozenset[str]:
        """The names that are the function's variables."""
        return names_assigned_in(self.node)


@functools.lru_cache(maxsize=1024)
def names_assigned_in(node: Function) -> frozenset[str]:
    """The names that a function binds, its parameters included; not those that functions in it bind."""
    names: set[str] = set()

    def visit(part: ast.AST, is_top: bool = False) -> None:
        if isinstance(part, ast.FunctionDef | ast.Lambda) and not is_top:
            names.update([part.name] if isinstance(part, ast.FunctionDef) else [])
            return
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            names.add(part.id)
        elif isinstance(part, ast.arg):
            names.add(part.arg)
        elif isinstance(part, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in part.names)
        for child in ast.iter_child_nodes(part):
            visit(child)

    visit(node, True)
    return frozenset(names)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function that do not belong to functions inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Function):
            yield from own_nodes(child)


@functools.lru_cache(maxsize=1024)
def is_generator(node: Function) -> bool:
    """Return whether a function yields."""
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own_nodes(node))


@functools.lru_cache(maxsize=1024)
def has_functions(node: Function) -> bool:
    """Return whether functions are defined in a function, which may be called after it."""
    inner = (part for part in ast.walk(node) if part is not node)
    return any(isinstance(part, ast.Lambda | ast.FunctionDef | ast.GeneratorExp) for part in inner)


@functools.lru_cache(maxsize=1024)
def names_in(node: ast.AST) -> frozenset[str]:
    """The names that a function and those in it use."""
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


@functools.lru_cache(maxsize=1024)
def names_changed_around(node: ast.AST) -> frozenset[str]:
    """The names of variables of functions around it that a function changes."""
    return frozenset(name for part in ast.walk(node) if isinstance(part, ast.Nonlocal) for name in part.names)
