# ruff: noqa: N802 -- visit_Name and the like are named by ast
"""Refuse or sort sets of strings, whose order differs from process to process."""

from __future__ import annotations

import ast
from typing import Any

from knights_isolation.isolation.compiling.rewrites.constants import loses_its_order, refuse_order
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, name, written_out

_ASK_FOR_NO_ORDER = ("sum", "any", "all", "len", "min", "max", "sorted")
_HAND_ON = ("list", "tuple", "set", "map", "filter")


class OrderSets(Rewrite):
    """`kind in KINDS` and `sorted(KINDS)` use the sorted elements; a loop over KINDS is refused.

    `constants` refuses what uses such a set in any other way.
    """

    def visit_Call(self, node: ast.Call) -> Any:
        """Sort what is counted, added up or sorted; refuse a set that is given to what is no function of the user's."""
        called = self.builtin(node.func)
        asked = {keyword.arg for keyword in node.keywords}
        if called in _ASK_FOR_NO_ORDER and len(node.args) == 1 and asked <= {"default", "reverse"}:
            node.args = [self._without_order(node.args[0])]
        elif called != "set" and self.known(node.func) is not None and self.callee(node.func) is None:
            for argument in node.args:
                self._refuse(argument)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Look for an element among the sorted ones."""
        if all(isinstance(operation, ast.In | ast.NotIn) for operation in node.ops):
            node.comparators = [self._in_order(container) for container in node.comparators]
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        """Refuse a loop over a set of texts."""
        self._refuse(node.iter)
        return self.generic_visit(node)

    def visit_ListComp(self, node: Any) -> Any:
        """Refuse a comprehension over a set of texts."""
        for generator in _over_what_is_outside(node):
            self._refuse(generator.iter)
        return super().visit_ListComp(node)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # noqa: N815

    def _without_order(self, node: ast.expr) -> ast.expr:
        """An iterable whose order does not matter, the sets of texts it is made from sorted."""
        if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
            for generator in _over_what_is_outside(node):
                generator.iter = self._without_order(generator.iter)
        elif isinstance(node, ast.Call) and self.builtin(node.func) in _HAND_ON and 1 <= len(node.args) <= 2:
            node.args[-1] = self._without_order(node.args[-1])
        node.is_asked_for_no_order = True  # type: ignore[attr-defined]
        return self._in_order(node)

    def _in_order(self, node: ast.expr) -> ast.expr:
        """The name of the sorted elements instead of a set of texts; any other expression as it is."""
        value = self._value(node)
        if not loses_its_order(value):
            return node
        try:
            ordered = sorted(value)
        except TypeError:
            return node
        # Not a fresh name of the place: what is compiled, by which logs know it, is to stay what it was.
        called = f"_v_{len(self.scope.known)}_in_order"
        self.scope.known[called] = ordered
        return at(node, name(called))

    def _refuse(self, node: ast.expr) -> None:
        if getattr(node, "is_asked_for_no_order", False):
            return
        if loses_its_order(self._value(node)) or loses_its_order(self._made(node)):
            refuse_order(ast.unparse(node), node)

    def _made(self, node: ast.expr) -> Any:
        """Return the elements of a set written with known elements: `set(WORDS)`, `{word for word in WORDS}`."""
        if isinstance(node, ast.Call) and self.builtin(node.func) in ("set", "frozenset") and len(node.args) == 1:
            elements = self._value(node.args[0])
        elif isinstance(node, ast.SetComp) and ast.unparse(node.elt) == ast.unparse(node.generators[0].target):
            elements = self._value(node.generators[0].iter)
        else:
            return None
        try:
            return set(elements) if isinstance(elements, list | tuple | set | frozenset) else None
        except TypeError:
            return None

    def _value(self, node: ast.expr) -> Any:
        """Return the known value of a name or of a literal."""
        if isinstance(node, ast.Set | ast.List | ast.Tuple):
            return written_out(node)
        value = self.known(node) if isinstance(node, ast.Name | ast.Attribute) else None
        return None if value is None else value.value


def _over_what_is_outside(node: Any) -> list[ast.comprehension]:
    """The parts of a comprehension that do not run over one of its own variables."""
    names = [inner for generator in node.generators for inner in ast.walk(generator.target)]
    own = {inner.id for inner in names if isinstance(inner, ast.Name)}
    first, *others = node.generators
    return [first, *(other for other in others if not (isinstance(other.iter, ast.Name) and other.iter.id in own))]
