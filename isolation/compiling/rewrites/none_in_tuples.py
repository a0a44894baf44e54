# ruff: noqa: N802 -- visit_Compare and the like are named by ast
"""Lower None in tuples: its type in those that a list holds, `[(cell, None)]`, and comparisons of what may be None."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from knights_isolation.isolation.compiling.rewrites.element_types import pairs
from knights_isolation.isolation.compiling.rewrites.guesses import Examples
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, support

_PUTS = ("append", "appendleft", "insert")


class LowerNoneInTuples(Rewrite):
    """The None of `queue = [(start, None)]` may be a cell where `queue.append((cell, start))` puts one there."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        if not any(map(_is_none, ast.walk(node))):
            return
        super().apply(node)
        examples = Examples(self, node)
        held: dict[str, list[ast.Tuple]] = defaultdict(list)
        for called, element in _held(node):
            held[called].append(element)
        for elements in held.values():
            for place in range(min(len(element.elts) for element in elements)):
                values = [element.elts[place] for element in elements if not _is_none(element.elts[place])]
                example = next((found for value in values if (found := examples.value(value)) is not None), None)
                if example is None or len(values) == len(elements):
                    continue
                for element in elements:
                    if _is_none(element.elts[place]):
                        element.elts[place] = at(element, support("none_of_kind", example))

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Compare with what may be None, which is equal to None alone."""
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq) or _is_none(node.comparators[0]):
            return node
        result = support("equal", node.left, node.comparators[0])
        return at(node, result if isinstance(node.ops[0], ast.Eq) else ast.UnaryOp(ast.Not(), result))


def _held(node: ast.AST) -> Iterator[tuple[str, ast.Tuple]]:
    """Yield the tuples that are put into lists, with the name of the list."""
    for inner in ast.walk(node):
        for place, value in pairs(inner):
            if isinstance(place, ast.Name):
                yield from ((place.id, element) for element in _elements(value))
        match inner:
            case ast.Call(ast.Attribute(ast.Name(called), method), [*_, ast.Tuple() as element]) if method in _PUTS:
                yield called, element


def _elements(node: ast.expr) -> list[ast.Tuple]:
    """The tuples of a list, or of a deque of one, that is written out or a comprehension."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    given = node.elts if isinstance(node, ast.List) else [node.elt] if isinstance(node, ast.ListComp) else []
    return [element for element in given if isinstance(element, ast.Tuple)]


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
