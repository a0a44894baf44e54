# ruff: noqa: N802 -- visit_Assign and the like are named by ast
"""Compute once what depends on the board's size alone, where the function itself remembers it.

These are values of memos whose keys are made of `game.height` and `game.width`, and of cached functions that are given
nothing else. The function itself is run, with a game that has these two attributes only.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections import Counter
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ...usercode.timeouts import cpu_timeout
from ..source.compile_error import CompileError
from ..source.dependence import SIZE, Dependence, facts_or_everything, roles_of
from ..source.function_source import bound_names, changed_globals, definition, file_tree, taken
from ..source.rewrite import FunctionContext, Rewrite, at, target
from ..source.scopes import scope_of
from ..source.unrepeatable_code import unrepeatable_code
from .memos import LowerMemos

_LONGEST = 2.0
_MOST_ELEMENTS = 20_000


class _OtherThanSizeError(BaseException):
    """A function asks a game for more than its size; no `except Exception` of the user's hides it."""


class _SizeOnly:
    """A game of which nothing is known but its size."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.height, self.width = size

    def __getattr__(self, name: str) -> Any:
        raise _OtherThanSizeError(name)


class SizeTables(Rewrite):
    """Calls of functions with a memo, and values of memos, become what they are for a board of this size.

    `memos` are the variables that hold values of memos of the function itself; `note_use` is called where the size is
    made use of.
    """

    def __init__(
        self,
        context: FunctionContext,
        function: FunctionType,
        memos: set[str],
        size: tuple[int, int],
        note_use: Callable[[], None],
    ) -> None:
        super().__init__(context)
        self.function, self.memos, self.size, self.note_use = function, memos, size, note_use

    def apply(self, node: ast.FunctionDef) -> None:
        original = definition(self.function)
        self.node = ast.FunctionDef(node.name, original.args, node.body, [])
        self.bound = Counter(name for statement in node.body for name in bound_names(statement))
        self.changed = self.changed_names(node)
        self.unused: list[ast.stmt] = []
        super().apply(node)
        for statement in reversed(self.unused):
            _drop_if_unread(node, statement)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Take the value of a memo as known, and that of a variable that holds one."""
        computed = None
        called = [place.id for place in node.targets if isinstance(place, ast.Name)]
        if self.memos & set(called) or (isinstance(node.value, ast.Call) and self._remembers(node.value)):
            computed = self._value(node.value, node)
        elif isinstance(node.value, ast.Name) and node.value.id in self.scope.known and node.value.id in self.memos:
            computed = (self.scope.known[node.value.id],)
        are_constant = all(self.bound[name] <= 1 and name not in self.changed for name in called)
        if computed is None or not are_constant or len(called) != len(node.targets):
            return self.generic_visit(node)
        self.scope.known.update(dict.fromkeys(called, computed[0]))
        return None

    def visit_Call(self, node: ast.Call) -> Any:
        computed = self._value(node, self._statement_of(node)) if self._remembers(node) else None
        return self.generic_visit(node) if computed is None else at(node, self.context.value(computed[0]))

    def visit_ListComp(self, node: Any) -> Any:
        return ast.NodeTransformer.generic_visit(self, node)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # noqa: N815

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Rewrite an inner function, unless it has a game or player of its own."""
        is_apart = set(taken(node)) & self.scope.kinds.keys()
        return node if is_apart else self.generic_visit(node)

    def _statement_of(self, node: ast.AST) -> ast.stmt:
        parents = {child: parent for parent in ast.walk(self.node) for child in ast.iter_child_nodes(parent)}
        while not isinstance(node, ast.stmt):
            node = parents[node]
        return node

    def _remembers(self, node: ast.Call) -> bool:
        """Whether what is called keeps its values, and gives the same ones in every process."""
        if node.keywords or not isinstance(node.func, ast.Name | ast.Attribute):
            return False
        try:
            known = self.known(node.func)
            value = known.value if known is not None else None
            if isinstance(value, functools._lru_cache_wrapper):
                return isinstance(value.__wrapped__, FunctionType) and is_repeatable(value.__wrapped__)
            return isinstance(value, FunctionType) and bool(tables_lowered(value)) and is_repeatable(value)
        except CompileError:
            return False

    def _value(self, node: ast.expr, place: ast.stmt) -> tuple[Any] | None:
        """The value of an expression, if it depends on the size alone and can be written out."""
        dependence = Dependence(self.function, self.node, roles_of(self.scope.kinds), place)
        games = {called for called, kind in self.scope.kinds.items() if kind == "game"}
        parts = node.args if isinstance(node, ast.Call) and self._remembers(node) else [node]
        parts = [part for part in parts if not (isinstance(part, ast.Name) and part.id in games)]
        if not {fact for part in parts for fact in facts_or_everything(dependence, part)} <= SIZE:
            return None
        used = sorted(dependence.used, key=lambda statement: statement.lineno)
        fresh = self.context.fresh("size")
        asked = [*copy.deepcopy(used), ast.Assign([target(fresh)], copy.deepcopy(node))]
        code = compile(ast.fix_missing_locations(ast.Module(asked, [])), "<size>", "exec")
        values = {**self.function.__globals__, **dict.fromkeys(games, _SizeOnly(self.size))}
        value = _computed(code, values, fresh) if self._is_repeatable(code) else None
        if value is not None:
            self.note_use()
            self.unused += used
        return value

    def _is_repeatable(self, code: CodeType) -> bool:
        """Whether statements use neither chance nor time nor what changes between calls."""
        around = self.function.__globals__
        if unrepeatable_code(FunctionType(code, around)):
            return False
        used = {name: around[name] for name in _names(code) if name in around}
        changed = changed_globals(file_tree(self.function))
        functions = [getattr(value, "__wrapped__", value) for value in used.values()]
        if any(name in changed and not isinstance(value, FunctionType) for name, value in used.items()):
            return False
        return all(is_repeatable(value) for value in functions if _is_of_file(value, around))


def _computed(code: CodeType, values: dict[str, Any], result: str) -> tuple[Any] | None:
    """What statements give a variable; None if they raise, take too long, or give what cannot be written out."""
    try:
        with cpu_timeout(_LONGEST):
            exec(code, values)
    except (Exception, _OtherThanSizeError):
        return None
    return (copy.deepcopy(values[result]),) if is_table(values[result]) else None


def is_table(value: Any) -> bool:
    """Whether a value can be written out as a constant: numbers, and tables of numbers, cells or lists of them."""
    if isinstance(value, np.ndarray):
        return value.dtype in (np.bool_, np.int64, np.float64) and value.size <= _MOST_ELEMENTS
    if isinstance(value, Mapping):
        shapes = {_shape(kept) for kept in value.values()}
        return type(value) is dict and all(map(_is_key, value)) and None not in shapes and len(shapes) == 1
    return _shape(value) is not None


def _is_key(key: Any) -> bool:
    return isinstance(key, int | str) or (
        isinstance(key, tuple) and bool(key) and all(type(part) is int for part in key)
    )


def _shape(value: Any) -> Any:
    """What a value is made of, where it is one of numbers, cells, or lists of one of these; else None."""
    if isinstance(value, bool | int | float):
        return "number"
    if isinstance(value, tuple):
        return ("tuple", len(value)) if value and all(isinstance(part, int | float) for part in value) else None
    if isinstance(value, list):
        if not value:
            return "list"
        inner = {_shape(part) for part in value}
        return "list" if len(inner) == 1 and None not in inner else None
    return None


@functools.lru_cache(maxsize=1024)
def tables_lowered(function: FunctionType) -> frozenset[str]:
    """The names of the tables in which a function keeps values that their keys determine."""
    original = definition(function)
    if not isinstance(original, ast.FunctionDef):
        return frozenset()
    given = dict(zip(reversed(taken(original)), reversed(function.__defaults__ or ()), strict=False))
    kinds = {"game": "game"} if "game" in taken(original) else {}
    node = copy.deepcopy(original)
    scope = scope_of(function, node, {}, kinds)  # type: ignore[arg-type]
    lowering = LowerMemos(FunctionContext(scope, iter(range(1_000))), function, given)
    lowering.apply(node)
    return frozenset(lowering.lowered)


@functools.lru_cache(maxsize=1024)
def is_repeatable(function: FunctionType) -> bool:
    """Whether a function, and those of its file that it calls, use neither chance nor time nor what changes."""
    if unrepeatable_code(function):
        return False
    around = function.__globals__
    seen: set[FunctionType] = set()
    waiting = [function]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        try:
            changed = changed_globals(file_tree(current)).keys() - tables_lowered(current)
        except CompileError:
            return False
        used = {name: around[name] for name in _names(current.__code__) if name in around}
        if any(name in changed and not isinstance(value, FunctionType) for name, value in used.items()):
            return False
        functions = [getattr(value, "__wrapped__", value) for value in used.values()]
        waiting += [value for value in functions if _is_of_file(value, around)]
    return True


def _is_of_file(value: Any, around: dict[str, Any]) -> bool:
    return isinstance(value, FunctionType) and value.__globals__ is around


def _names(code: CodeType) -> set[str]:
    """The global names in a function's code, and in functions inside it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _drop_if_unread(node: ast.FunctionDef, statement: ast.stmt) -> None:
    """Drop a statement that only computed a table, if nothing else reads what it gives."""
    inside = {id(inner) for inner in ast.walk(statement)}
    read = {
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and id(inner) not in inside
    }
    if set(bound_names(statement)) & read:
        return
    for inner in ast.walk(node):
        for attribute in ("body", "orelse"):
            block = getattr(inner, attribute, None)
            if isinstance(block, list) and any(part is statement for part in block):
                block[:] = [part for part in block if part is not statement] or [at(statement, ast.Pass())]
