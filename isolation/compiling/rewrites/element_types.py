"""Give collections that are empty at first an element type, and variables one kind of collection or number."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

import numpy as np

from ..source.rewrite import FunctionContext, Rewrite, at, name, support, written_out

_PUTS = {"append", "add", "extend", "insert", "update"}
_CELLS = {"get_legal_moves", "get_blank_spaces", "reach"}
_NUMBERS = {"len", "abs", "round", "int", "sum", "float"}


class TypeEmptyContainers(Rewrite):
    """`found = []` becomes an empty list of cells or numbers, where the function itself puts nothing into it.

    What it will hold is told by what is joined to it or assigned instead, and is otherwise taken to be cells, as it
    mostly is: if not, numba or the comparison with Python says so.
    """

    def _prepare(self, node: ast.FunctionDef) -> None:
        inside = list(ast.walk(node))
        self.filled = {
            inner.func.value.id
            for inner in inside
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in _PUTS
            if isinstance(inner.func.value, ast.Name)
        }
        self.given: dict[str, list[ast.expr]] = {}
        for inner in inside:
            for target, value in pairs(inner):
                if isinstance(target, ast.Name) and not is_empty(value):
                    self.given.setdefault(target.id, []).append(value)
        self.games = [argument.arg for argument in node.args.args if self.scope.kind(argument.arg) == "game"]

    def visit_Assign(self, node: ast.Assign) -> Any:
        return with_values(node, [self._typed(target, value) for target, value in pairs(node)])

    def _typed(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """Return a value assigned somewhere, or an empty list or set of a type that numba knows."""
        made = self._made(value)
        if not made or not isinstance(target, ast.Name) or target.id in self.filled:
            return value
        given = self.given.get(target.id, [])
        if made == "list" and given and self.games and all(map(self._are_cells, given)):
            by_column = any("get_blank_spaces" in ast.unparse(other) for other in given)
            return support("no_blanks" if by_column else "no_moves", name(self.games[0]))
        return support(f"empty_{made}", _example(given) or self.context.cell())

    def _made(self, node: ast.expr) -> str:
        """Whether an expression is an empty list or an empty set; empty if it is neither."""
        if isinstance(node, ast.Call) and is_empty(node):
            called = self.builtin(node.func)
            return called if called in ("list", "set") else ""
        return "list" if is_empty(node) else ""

    def _are_cells(self, node: ast.expr) -> bool:
        """Whether an expression is a set of cells of the board, or some of one."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return node.func.attr in _CELLS and self.kind(node.func.value) == "game"
        if isinstance(node, ast.Name):
            given = self.given.get(node.id, [])
            return len(given) == 1 and self._are_cells(given[0])
        if isinstance(node, ast.ListComp) and len(node.generators) == 1:
            items = node.generators[0]
            unaltered = isinstance(items.target, ast.Name) and isinstance(node.elt, ast.Name)
            return unaltered and ast.unparse(items.target) == ast.unparse(node.elt) and self._are_cells(items.iter)
        return False


def pairs(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """The places that a statement gives values, each with its own."""
    if isinstance(node, ast.AugAssign):
        return [(node.target, node.value)]
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple):
        matches = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
        return list(zip(target.elts, value.elts, strict=True)) if matches and isinstance(value, ast.Tuple) else []
    return [(target, value)]


def with_values(node: ast.Assign, values: list[ast.expr]) -> ast.Assign:
    """Give an assignment other values, one for each of its `pairs`."""
    if values:
        node.value = at(node, ast.Tuple(values, ast.Load()) if isinstance(node.targets[0], ast.Tuple) else values[0])
    return node


def is_empty(node: ast.expr) -> bool:
    """Whether an expression is `[]`, or makes an empty collection."""
    return (isinstance(node, ast.List) and not node.elts) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args and not node.keywords
    )


def _example(given: list[ast.expr]) -> ast.expr | None:
    """An element like those that a list is given, if they tell: a whole number or a fraction."""
    elements: list[ast.expr] = []
    for value in given:
        for inner in ast.walk(value):
            elements += (
                inner.elts if isinstance(inner, ast.List) else [inner.elt] if isinstance(inner, ast.ListComp) else []
            )
    for element in elements:
        if isinstance(element, ast.Constant) and isinstance(element.value, int | float):
            return ast.Constant(element.value)
        if isinstance(element, ast.Call) and isinstance(element.func, ast.Name) and element.func.id in _NUMBERS:
            return ast.Constant(0.0 if element.func.id == "float" else 0)
        if isinstance(element, ast.BinOp):
            return ast.Constant(0.0 if isinstance(element.op, ast.Div) else 0)
        if isinstance(element, ast.Subscript):
            return ast.Constant(0)
    return None


class PromoteInts(Rewrite):
    """`[0] * 7` becomes `[0.0] * 7`, `{"near": 0}` becomes `{"near": 0.0}`, `[(cell, 1)]` becomes `[(cell, 1.0)]`.

    So do arrays, and tuples of both kinds that `zip` runs over.

    What a list or dictionary of numba's holds is of one kind from the start, and a fraction put into one of whole
    numbers is cut. Fractions hold whole numbers exactly, so that values stay what they are; where one must be whole,
    such as an index, numba refuses it.
    """

    def __init__(self, context: FunctionContext, is_last: bool = False) -> None:
        super().__init__(context)
        self.is_last = is_last

    def visit_List(self, node: ast.List) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        node.elts = [self._of_unknown(_fraction(element)) for element in node.elts]
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "append" and len(node.args) == 1:
            node.args = [self._of_unknown(_fraction(node.args[0]))]
        made = self.value_of(node.func, ast.AST)
        if made in (np.array, np.asarray) and len(node.args) == 1 and not node.keywords:
            node.keywords = [ast.keyword("dtype", self.context.value(float))]
        if self.builtin(node.func) == "zip":
            node.args = [at(node, support("alike", argument)) for argument in node.args]
        return node

    def _of_unknown(self, node: ast.expr) -> ast.expr:
        unknown = isinstance(node, ast.Call | ast.BinOp | ast.Name | ast.Attribute | ast.Subscript | ast.IfExp)
        return at(node, support("fraction", node)) if self.is_last and unknown else node

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        """Make whole numbers among fractions fractions, as `(1, -1.5)` is no cell."""
        self.generic_visit(node)
        numbers = [written_out(element) for element in node.elts]
        are_numbers = all(type(number) in (int, float) for number in numbers)
        if are_numbers and any(isinstance(number, float) for number in numbers):
            node.elts = [_fraction(element) for element in node.elts]
        return node

    def visit_Dict(self, node: ast.Dict) -> Any:
        self.generic_visit(node)
        node.values = [self._of_unknown(_fraction(value)) for value in node.values]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> Any:  # type: ignore[override]
        node.elt = self._of_unknown(_fraction(node.elt))
        return super().visit_ListComp(node)


def _fraction(node: ast.expr) -> ast.expr:
    """A whole number as a fraction, also beside variables in a tuple; a tuple of constants is a cell and stays one."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return at(node, ast.Constant(float(node.value)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return at(node, ast.UnaryOp(node.op, _fraction(node.operand)))
    if isinstance(node, ast.Tuple) and not all(isinstance(element, ast.Constant) for element in node.elts):
        return at(node, ast.Tuple([_fraction(element) for element in node.elts], ast.Load()))
    return node


class UseOneKind(Rewrite):
    """Use numba's sets or lists throughout where a variable holds a set of cells and another set or list.

    Sets of cells are faster, so that this is only done where a heuristic does not compile otherwise.
    """

    def _prepare(self, node: ast.FunctionDef) -> None:
        given: dict[str, list[ast.expr]] = defaultdict(list)
        for inner in ast.walk(node):
            for place, value in pairs(inner):
                if isinstance(place, ast.Name):
                    given[place.id].append(value)
        self.given = given
        self.kinds: dict[str, str] = {}
        for called, values in given.items():
            kinds = {self._collection(value) for value in values} if len(values) > 1 else set()
            if kinds & {"list", "set"}:
                self.kinds[called] = "set" if "set" in kinds else "list"

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self.generic_visit(with_values(node, [self._made(place, value) for place, value in pairs(node)]))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.Add):
            node.value = at(node, self._made(node.target, node.value))
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """Make `moves or [(3, 3)]` a list either way."""
        kinds = {self._collection(value) for value in node.values if not isinstance(value, ast.Name)} - {""}
        self.generic_visit(node)
        if len(kinds) == 1:
            kind = kinds.pop()
            node.values = [
                value if is_empty(value) else at(value, support(f"real_{kind}", value)) for value in node.values
            ]
        return node

    def _made(self, place: ast.expr, value: ast.expr) -> ast.expr:
        kind = self.kinds.get(place.id) if isinstance(place, ast.Name) else None
        if kind is None or is_empty(value) or isinstance(value, ast.Constant):
            return value
        return support(f"real_{kind}", value)

    def _collection(self, node: ast.expr, seen: tuple[str, ...] = ()) -> str:
        """Whether an expression certainly makes a list or a set; empty if it may be anything."""
        if isinstance(node, ast.Set | ast.SetComp):
            return "set"
        if isinstance(node, ast.List | ast.ListComp):
            return "list"
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return "list"
        if isinstance(node, ast.Call):
            called = self.builtin(node.func)
            return {"set": "set", "frozenset": "set", "list": "list", "sorted": "list"}.get(called or "", "")
        if isinstance(node, ast.Name) and node.id not in seen:
            kinds = {self._collection(value, (*seen, node.id)) for value in self.given.get(node.id, [])}
            return "set" if "set" in kinds else "list" if "list" in kinds else ""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.BitOr | ast.BitAnd | ast.Sub):
            return self._collection(node.left, seen) or self._collection(node.right, seen)
        return ""
