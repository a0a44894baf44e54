"""Lower constant tables: lists that never change, rows of several lengths, and what depends on the board's size alone.

The latter, computed once, are values of memos whose keys are made of `game.height` and `game.width`, and of cached
functions that are given nothing else. The function itself is run, with a game that has these two attributes only.
"""

from __future__ import annotations

import ast
import copy
import functools
import math
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ...usercode.function_source import bound_names, changed_globals, codes_in, definition, file_tree, taken
from ...usercode.parsing import parse_expression
from ...usercode.timeouts import cpu_timeout
from ..compile_errors import CompileError
from ..source.dependence import SIZE, Dependence, facts_or_everything, roles_of, unrepeatable_code
from ..source.rewrite import FunctionContext, Rewrite, at, call, name, statements, target, written_out
from ..source.scopes import SUPPORT, scope_of
from .memos import LowerMemos


class Literals(Rewrite):
    """Local tables become constants, `x in [...]` uses a tuple."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.bound = Counter(name for statement in node.body for name in bound_names(statement))
        self.changed = self.changed_names(node)
        self.changed |= {
            inner.target.id
            for inner in ast.walk(node)
            if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name)
        }
        read = Counter(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
        looked_into = Counter(ast.unparse(inner.value) for inner in ast.walk(node) if isinstance(inner, ast.Subscript))
        self.only_looked_into = {name for name in self.bound if read[name] == looked_into[name] + 1}

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Take a table that is written out as a constant; write a list only looked into as a tuple."""
        self.generic_visit(node)
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return node
        name = node.targets[0].id
        if self.bound[name] != 1 or name in self.changed or name in self.scope.known:
            return node
        if isinstance(node.value, ast.List | ast.Dict | ast.Set) and (value := written_out(node.value)):
            self.scope.known[name] = value
            return None
        if name in self.only_looked_into and (table := self._array(node.value)) is not None:
            self.scope.known[name] = table
            return None
        if isinstance(node.value, ast.List) and node.value.elts and _are_pairs(node.value):
            node.value = at(node.value, ast.Tuple(node.value.elts, ast.Load()))
        return node

    def _array(self, node: ast.expr) -> np.ndarray[Any, Any] | None:
        """The array that `np.array` makes of numbers that are written out; None for anything else."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        made, listed = self.known(node.func), written_out(node.args[0])
        if made is None or made.value not in (np.array, np.asarray) or not isinstance(listed, list | tuple):
            return None
        with suppress(ValueError):
            array = np.array(listed)
            return array if array.dtype in (np.int64, np.float64) and array.size else None
        return None

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            right = node.comparators[0]
            if isinstance(right, ast.List) and not right.elts:
                length = call(self.context.builtin("len"), node.left)
                return at(node, ast.Compare(length, node.ops, [ast.Constant(0)]))
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            container = node.comparators[0]
            if isinstance(container, ast.List | ast.Set) and container.elts:
                node.comparators = [at(container, ast.Tuple(container.elts, ast.Load()))]
        return node


def _are_pairs(node: ast.List) -> bool:
    """Whether all elements are tuples of the same length made of whole numbers or names, as cells are."""
    return all(
        isinstance(element, ast.Tuple) and len(element.elts) == len(node.elts[0].elts)  # type: ignore[attr-defined]
        for element in node.elts
    )


_MOST_ROWS = 1000


class LowerRaggedTables(Rewrite):
    """`enumerate(LINES, start=1)` runs over `[LINES[place] for place in range(3)]`, a row of LINES being a list.

    A row is looked up in a dictionary by its place, as `constants` writes dictionaries of lists. Tables whose loops
    were unrolled are no longer there.
    """

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        rows = self._rows(node.value)
        is_part = isinstance(node.slice, ast.Slice) or self.known(node.slice) is not None
        if rows is None or is_part or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        return at(node, ast.Subscript(self._by_place(rows), self.visit(node.slice), ast.Load()))

    def visit_Call(self, node: ast.Call) -> Any:
        """Give a function of Python a list of the rows; `len` takes the table itself."""
        if self.builtin(node.func) not in (None, "len"):
            node.args = [self._listed(argument) for argument in node.args]
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        rows = self._rows(node.iter)
        if rows is None:
            return self.generic_visit(node)
        place = self.context.variable("place")
        node.iter = at(node, self._places(rows))
        node.body = [
            *(at(node, one) for one in statements("ROW = TABLE[PLACE]", TABLE=self._by_place(rows), PLACE=name(place))),
            *self.rewrite_body(node.body),
        ]
        node.body[0].targets, node.target = [node.target], at(node, target(place))  # type: ignore[attr-defined]
        node.orelse = self.rewrite_body(node.orelse)
        return node

    def visit_ListComp(self, node: Any) -> Any:
        node.generators[0].iter = self._listed(node.generators[0].iter)
        return super().visit_ListComp(node)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # noqa: N815

    def _listed(self, node: ast.expr) -> ast.expr:
        rows = self._rows(node)
        if rows is None:
            return node
        place = self.context.fresh("place")
        row = ast.Subscript(self._by_place(rows), name(place), ast.Load())
        return at(node, ast.ListComp(row, [ast.comprehension(target(place), self._places(rows), [], 0)]))

    def _places(self, rows: list[Any]) -> ast.expr:
        return ast.Call(self.context.builtin("range"), [ast.Constant(len(rows))], [])

    def _by_place(self, rows: list[Any]) -> ast.expr:
        """The rows as lists, by their places from the beginning and from the end."""
        listed = list(map(list, rows))
        return self.context.value(dict(enumerate(listed)) | dict(enumerate(listed, -len(rows))))

    def _rows(self, node: ast.expr) -> list[Any] | None:
        """The rows of a table of several lengths that never changes; None for anything else."""
        value = self.value_of(node)
        return list(value) if is_ragged(value) else None


def is_ragged(table: Any) -> bool:
    """Whether a value is a list or tuple of rows of numbers, or of cells, of several lengths."""
    if not isinstance(table, list | tuple) or not 0 < len(table) <= _MOST_ROWS:
        return False
    if not all(isinstance(row, list | tuple) and not hasattr(row, "_fields") for row in table):
        return False
    kinds = {_kind(item) for row in table for item in row}
    return len({len(row) for row in table}) > 1 and kinds in ({int}, {float}, {tuple})


def _kind(item: Any) -> type | None:
    """The type of a number or a cell; None for all else."""
    is_cell = isinstance(item, tuple) and len(item) == 2 and all(type(part) is int for part in item)
    return type(item) if type(item) in (int, float) or (is_cell and type(item) is tuple) else None


_FEWEST_ROWS = 3


def read_from_arrays(module: ast.Module) -> None:
    """Write `((9, 6), (6, 4), (3, 2))[row][column]` as `TABLE[row, column]`, wherever it is not summed by a table."""
    arrays = _Arrays()
    arrays.visit(module)
    module.body[1:1] = [ast.Assign([target(called)], value) for called, value in arrays.written.values()]


class _Arrays(ast.NodeTransformer):
    def __init__(self) -> None:
        self.written: dict[str, tuple[str, ast.expr]] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        is_term = any(ast.unparse(one) == f"{SUPPORT}.term" for one in node.decorator_list)
        return node if is_term else self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Subscript(ast.Subscript(ast.Tuple() as table, row, ast.Load()), column, ast.Load()):
                kind = None if isinstance(row, ast.Slice) or isinstance(column, ast.Slice) else _kind_of_array(table)
                if kind is not None:
                    place = ast.Tuple([row, column], ast.Load())
                    return ast.copy_location(ast.Subscript(name(self._array(table, kind)), place, ast.Load()), node)
        return node

    def _array(self, table: ast.Tuple, kind: str) -> str:
        text = ast.unparse(table)
        if text not in self.written:
            made = parse_expression(f"{SUPPORT}.np.array({text}, {SUPPORT}.np.{kind})")
            self.written[text] = (f"_t{len(self.written)}_table", made)
        return self.written[text][0]


def _kind_of_array(table: ast.Tuple) -> str | None:
    """What numbers an array of a table has: rows of as many whole numbers, or of fractions; None if it can be none."""
    try:
        rows = ast.literal_eval(table)
    except (ValueError, TypeError):
        return None
    if len(rows) < _FEWEST_ROWS or not all(isinstance(row, tuple) and len(row) == len(rows[0]) for row in rows):
        return None
    numbers = [number for row in rows for number in row]
    if numbers and all(type(number) is int and abs(number) < 1 << 62 for number in numbers):
        return "int64"
    are_fractions = numbers and all(type(number) is float and math.isfinite(number) for number in numbers)
    return "float64" if are_fractions else None


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
            value = self.value_of(node.func, ast.AST)
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
    return set().union(*(inner.co_names for inner in codes_in(code)))


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
