# ruff: noqa: N802 -- visit_Name and the like are named by ast

"""Lower constant tables: lists that never change, rows of several lengths, and tuples that are read by indices."""

from __future__ import annotations

import ast
import math
from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np

from ...usercode.parsing import parse_expression
from ..source.function_source import bound_names
from ..source.rewrite import Rewrite, at, call, name, statements, target, written_out
from ..source.scopes import SUPPORT


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
        known = self.known(node) if isinstance(node, ast.Name | ast.Attribute) else None
        return list(known.value) if known is not None and is_ragged(known.value) else None


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
