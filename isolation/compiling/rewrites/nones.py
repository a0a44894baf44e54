"""Lower what may be None: tests on parameters, parts of tuples in lists, and variables with a flag each."""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ...usercode.function_source import bound_names, parameters
from ..source.rewrite import Rewrite, at, call, name, statements, support, target
from .element_types import pairs
from .guesses import Examples, is_none


class LowerNoneChecks(Rewrite):
    """`if location is None: return available` becomes an exception, for `location` a parameter.

    In compiled code both knights are on the board, and a function gives values of one kind. Where the parameter can be
    None all the same, compiled code raises an exception where Python does not, and the heuristic is refused.

    `if over(game):` asks whether that is neither None nor 0.
    """

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.given = set(parameters(node))

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if self._asks_for_none(node.test):
            node.body = [at(node, ast.Raise(ast.Call(ast.Name("ValueError", ast.Load()), [], [])))]
        elif isinstance(node.test, ast.Name | ast.Call):
            node.test = at(node, support("truth", node.test))
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        if self._asks_for_none(node.test):
            return node.orelse
        match node.test:
            case ast.Compare(left, [ast.IsNot()], others) if self._asks_for_none(ast.Compare(left, [ast.Is()], others)):
                return node.body
        return node

    def _asks_for_none(self, test: ast.expr) -> bool:
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Is | ast.Eq):
            return False
        value, other = test.left, test.comparators[0]
        is_none = isinstance(other, ast.Constant) and other.value is None
        return is_none and isinstance(value, ast.Name) and value.id in self.given


_PUTS = ("append", "appendleft", "insert")


class LowerNoneInTuples(Rewrite):
    """The None of `queue = [(start, None)]` may be a cell where `queue.append((cell, start))` puts one there."""

    def apply(self, node: ast.FunctionDef) -> None:
        if not any(map(is_none, ast.walk(node))):
            return
        super().apply(node)
        examples = Examples(self, node)
        held: dict[str, list[ast.Tuple]] = defaultdict(list)
        for called, element in _held(node):
            held[called].append(element)
        for elements in held.values():
            for place in range(min(len(element.elts) for element in elements)):
                values = [element.elts[place] for element in elements if not is_none(element.elts[place])]
                example = next((found for value in values if (found := examples.value(value)) is not None), None)
                if example is None or len(values) == len(elements):
                    continue
                for element in elements:
                    if is_none(element.elts[place]):
                        element.elts[place] = at(element, support("none_of_kind", example))

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Compare with what may be None, which is equal to None alone."""
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq) or is_none(node.comparators[0]):
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


class LowerOptional(Rewrite):
    """`best is None` asks the flag; where a value is needed and there is none, Python computes on."""

    def apply(self, node: ast.FunctionDef) -> None:
        _SplitChoices().visit(node)
        given: dict[str, list[ast.expr]] = defaultdict(list)
        for inner in ast.walk(node):
            for place, value in pairs(inner) if isinstance(inner, ast.Assign) else []:
                if isinstance(place, ast.Name):
                    given[place.id].append(value)
        bound = [bound for statement in node.body for bound in bound_names(statement)]
        arguments = set(parameters(node)) & given.keys()
        self.examples = Examples(self, node)
        self.flags: dict[str, str] = {}
        for _ in given:  # one may be given another
            self.flags |= {
                called: self.context.fresh(f"has_{called}")
                for called, values in given.items()
                if called not in self.flags and bound.count(called) == len(values)
                if any(map(self._may_be_none, values)) and not all(map(is_none, values))
            }
        self.scope.names.update(self.flags.values())
        if self.flags:
            super().apply(node)
        given_one = [
            statements("FLAG = True", FLAG=name(self.flags[called])) for called in sorted(arguments & set(self.flags))
        ]
        node.body = [*(at(node.body[0], one) for lines in given_one for one in lines), *node.body]

    def _may_be_none(self, node: ast.expr) -> bool:
        is_flagged = isinstance(node, ast.Name) and node.id in self.flags
        return is_flagged or is_none(node) or self._default_none(node) is not None

    def _default_none(self, node: ast.expr) -> ast.Call | None:
        """The call of `max`, `min` or `next` that gives None for nothing."""
        if not isinstance(node, ast.Call):
            return None
        called = self.builtin(node.func)
        if called in ("max", "min") and any(word.arg == "default" and is_none(word.value) for word in node.keywords):
            return node
        return node if called == "next" and len(node.args) == 2 and is_none(node.args[1]) else None

    def visit_Assign(self, node: ast.Assign) -> Any:
        written = pairs(node)
        if not any(isinstance(place, ast.Name) and place.id in self.flags for place, _ in written):
            return self.generic_visit(node)
        if len(written) == 1:
            place = written[0][0]
            assert isinstance(place, ast.Name)
            return [at(node, statement) for statement in self._set(place.id, node.value)]
        return self._set_several(node, written)

    def _set_several(self, node: ast.Assign, written: list[tuple[ast.expr, ast.expr]]) -> list[ast.stmt]:
        """Set what is assigned at once: all values first, then the variables."""
        steps = [self._held(place, value) for place, value in written]
        return [at(node, one) for part in (0, 1) for step in steps for one in step[part]]

    def _held(self, place: ast.expr, value: ast.expr) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """Return a variable's value holder, and the statement that assigns from it."""
        is_flagged = isinstance(place, ast.Name) and place.id in self.flags and not isinstance(value, ast.Name)
        if is_flagged and isinstance(place, ast.Name) and self._may_be_none(value):
            return [], self._set(place.id, value)
        held, flag = self.context.fresh("held"), self.context.fresh("flag")
        self.scope.names.update((held, flag))
        if not isinstance(place, ast.Name) or place.id not in self.flags:
            return [ast.Assign([target(held)], self.visit(value))], [ast.Assign([place], name(held))]
        given, there = self._value_and_flag(value)
        before: list[ast.stmt] = [ast.Assign([target(held)], given), ast.Assign([target(flag)], there)]
        return before, self._flagged(place.id, name(held), name(flag))

    def _value_and_flag(self, value: ast.expr) -> tuple[ast.expr, ast.expr]:
        if isinstance(value, ast.Name) and value.id in self.flags:
            return _asked(value), name(self.flags[value.id])
        return self.visit(value), ast.Constant(True)

    def _set(self, called: str, value: ast.expr) -> list[ast.stmt]:
        if is_none(value):
            return [*self._filler(called), *statements("FLAG = False", FLAG=name(self.flags[called]))]
        if (made := self._default_none(value)) is not None:
            return self._set_from_items(called, made)
        return self._flagged(called, *self._value_and_flag(value))

    def _flagged(self, called: str, value: ast.expr, flag: ast.expr) -> list[ast.stmt]:
        parts = {"FLAG": name(self.flags[called]), "PLACE": name(called), "VALUE": value, "THERE": flag}
        return statements("PLACE = VALUE\nFLAG = THERE", **parts)

    def _set_from_items(self, called: str, made: ast.Call) -> list[ast.stmt]:
        items = self.context.variable("items")
        whole = call(self.context.builtin("list"), self.visit(made.args[0]))
        keywords = [ast.keyword(word.arg, self.visit(word.value)) for word in made.keywords if word.arg != "default"]
        chosen = ast.Call(made.func, [name(items)], keywords)
        if self.builtin(made.func) == "next":
            chosen = support("first_of", name(items))
        lines = "ITEMS = WHOLE\nFLAG = len(ITEMS) > 0\nif FLAG:\n    PLACE = CHOSEN"
        parts = {"ITEMS": name(items), "WHOLE": whole, "FLAG": name(self.flags[called]), "PLACE": name(called)}
        return [*self._filler(called), *statements(lines, **parts, CHOSEN=chosen)]

    def _filler(self, called: str) -> list[ast.stmt]:
        """Give a variable without a value one of its kind, if that is known: numba must see one before it is read."""
        example = self.examples.of_variable(called)
        return [] if example is None else statements("PLACE = EXAMPLE", PLACE=name(called), EXAMPLE=example)

    def visit_Compare(self, node: ast.Compare) -> Any:
        is_alone = len(node.ops) == 1 and isinstance(node.left, ast.Name) and node.left.id in self.flags
        if is_alone and isinstance(node.left, ast.Name) and is_none(node.comparators[0]):
            flag = name(self.flags[node.left.id])
            if isinstance(node.ops[0], ast.IsNot | ast.NotEq):
                return at(node, flag)
            return at(node, ast.UnaryOp(ast.Not(), flag))
        return self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> Any:
        """Ask whether there is a value, and what is true of it, where it is the condition."""
        node.test = self._condition(node.test)
        return self.generic_visit(node)

    visit_While = visit_IfExp = visit_If  # noqa: N815

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """Ask the same for `not best`."""
        if isinstance(node.op, ast.Not):
            node.operand = self._condition(node.operand)
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """Take the value in `best or 0` where there is a true one."""
        first, *others = node.values
        if not isinstance(first, ast.Name) or first.id not in self.flags or getattr(node, "is_condition", False):
            return self.generic_visit(node)
        rest = self.visit(others[0] if len(others) == 1 else at(node, ast.BoolOp(node.op, others)))
        value, test = self.visit(first), self._condition(first)
        both = (value, rest) if isinstance(node.op, ast.Or) else (rest, value)
        return at(node, ast.IfExp(test, *both))

    def _condition(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.BoolOp):
            node.values = list(map(self._condition, node.values))
            node.is_condition = True  # type: ignore[attr-defined]
            return node
        if not isinstance(node, ast.Name) or node.id not in self.flags:
            return node
        return at(node, support("is_true_of", name(self.flags[node.id]), _asked(node)))

    def visit_Name(self, node: ast.Name) -> Any:
        """Make sure that there is a value where one is needed."""
        if not isinstance(node.ctx, ast.Load) or node.id not in self.flags or getattr(node, "is_asked", False):
            return node
        return at(node, support("present", name(self.flags[node.id]), _asked(node)))


class _SplitChoices(ast.NodeTransformer):
    """`best = cells[0] if cells else None` as an `if` with two assignments."""

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign([ast.Name()], ast.IfExp(test, yes, no)) if is_none(yes) or is_none(no):
                chosen: list[list[ast.stmt]] = [[ast.Assign(copy.deepcopy(node.targets), part)] for part in (yes, no)]
                return at(node, ast.If(test, *chosen))
        return node


def _asked(node: ast.Name) -> ast.Name:
    asked = ast.Name(node.id, ast.Load())
    asked.is_asked = True  # type: ignore[attr-defined]
    return asked
