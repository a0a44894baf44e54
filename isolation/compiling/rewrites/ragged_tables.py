# ruff: noqa: N802 -- visit_Name and the like are named by ast
"""Lower constant tables whose rows have several lengths to lists of rows that are made when they are read."""

from __future__ import annotations

import ast
from typing import Any

from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, name, statements, target

_MOST_ROWS = 1000


class LowerRaggedTables(Rewrite):
    """`enumerate(LINES, start=1)` runs over `[LINES[place] for place in range(3)]`, a row of LINES being a list.

    A row is looked up in a dictionary by its place, as `constants` writes dictionaries of lists. Tables whose loops
    were unrolled are no longer there.
    """

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Look a row up by its place."""
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
        """Run over the places of the rows."""
        rows = self._rows(node.iter)
        if rows is None:
            return self.generic_visit(node)
        place = self.context.fresh("place")
        self.scope.names.add(place)
        node.iter = at(node, self._places(rows))
        node.body = [
            *(at(node, one) for one in statements("ROW = TABLE[PLACE]", TABLE=self._by_place(rows), PLACE=name(place))),
            *self.rewrite_body(node.body),
        ]
        node.body[0].targets, node.target = [node.target], at(node, target(place))  # type: ignore[attr-defined]
        node.orelse = self.rewrite_body(node.orelse)
        return node

    def visit_ListComp(self, node: Any) -> Any:
        """Run over a list of the rows."""
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
