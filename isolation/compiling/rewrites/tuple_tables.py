"""Read constant tables of tuples from arrays: numba looks into a tuple by a branch for each element."""

from __future__ import annotations

import ast
import math
from typing import Any

from knights_isolation.isolation.compiling.source.rewrite import name, target
from knights_isolation.isolation.compiling.source.scopes import SUPPORT
from knights_isolation.isolation.usercode.parsing import parse_expression

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
                kind = None if isinstance(row, ast.Slice) or isinstance(column, ast.Slice) else _kind(table)
                if kind is not None:
                    place = ast.Tuple([row, column], ast.Load())
                    return ast.copy_location(ast.Subscript(name(self._array(table, kind)), place, ast.Load()), node)
        return node

    def _array(self, table: ast.Tuple, kind: str) -> str:
        """The name of the array that holds a table."""
        text = ast.unparse(table)
        if text not in self.written:
            made = parse_expression(f"{SUPPORT}.np.array({text}, {SUPPORT}.np.{kind})")
            self.written[text] = (f"_t{len(self.written)}_table", made)
        return self.written[text][0]


def _kind(table: ast.Tuple) -> str | None:
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
