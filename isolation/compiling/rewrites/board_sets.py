"""Lower sets: those of the board's cells to bit masks, and refuse or sort those of texts, whose order changes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ..source.function_source import names_in
from ..source.rewrite import Rewrite, at, name, support, target, written_out
from .constants import loses_its_order, refuse_order
from .element_types import pairs

_ASK_FOR_NO_ORDER = ("sum", "any", "all", "len", "min", "max", "sorted")
_HAND_ON = ("list", "tuple", "set", "map", "filter")


class OrderSets(Rewrite):
    """`kind in KINDS` and `sorted(KINDS)` use the sorted elements; a loop over KINDS is refused.

    `constants` refuses what uses such a set in any other way.
    """

    def visit_Call(self, node: ast.Call) -> Any:
        called = self.builtin(node.func)
        asked = {keyword.arg for keyword in node.keywords}
        if called in _ASK_FOR_NO_ORDER and len(node.args) == 1 and asked <= {"default", "reverse"}:
            node.args = [self._without_order(node.args[0])]
        elif called != "set" and self.known(node.func) is not None and self.callee(node.func) is None:
            for argument in node.args:
                self._refuse(argument)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        if all(isinstance(operation, ast.In | ast.NotIn) for operation in node.ops):
            node.comparators = [self._in_order(container) for container in node.comparators]
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        self._refuse(node.iter)
        return self.generic_visit(node)

    def visit_ListComp(self, node: Any) -> Any:
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
        if isinstance(node, ast.Set | ast.List | ast.Tuple):
            return written_out(node)
        value = self.known(node) if isinstance(node, ast.Name | ast.Attribute) else None
        return None if value is None else value.value


def _over_what_is_outside(node: Any) -> list[ast.comprehension]:
    """The parts of a comprehension that do not run over one of its own variables."""
    own = {name for generator in node.generators for name in names_in(generator.target)}
    first, *others = node.generators
    return [first, *(other for other in others if not (isinstance(other.iter, ast.Name) and other.iter.id in own))]


_OF_GAMES = ("get_legal_moves", "get_blank_spaces", "reach")
_JOINS = {"update": ast.BitOr, "difference_update": ast.Sub, "intersection_update": ast.BitAnd}


class HoldBoardSets(Rewrite):
    """`seen = set()`, then `seen.add(cell)` and `seen |= frontier`, where all of these are cells of the board."""

    def apply(self, node: ast.FunctionDef) -> None:
        games = [one.arg for one in node.args.args if self.scope.kind(one.arg) == "game"]
        if not games or self.context.is_of_states:
            return
        self.game = games[0]
        self._learn(node)
        changed = {called for called, _, _ in self.put} | {called for called, _ in self.joined}
        self.sets = self._candidates(node)
        while wrong := {called for called in self.sets if not self._holds_cells(called)}:
            self.sets -= wrong
        self.sets = {called for called in self.sets if called in changed}
        if self.sets:
            super().apply(node)

    def _learn(self, node: ast.FunctionDef) -> None:
        """Note what variables are given, what is put into them, and what loops give."""
        self.given: dict[str, list[ast.expr]] = defaultdict(list)
        self.joined: list[tuple[str, ast.expr]] = []
        self.put: list[tuple[str, ast.expr, list[ast.expr]]] = []
        self.runs: dict[str, list[tuple[ast.expr, ast.expr]]] = defaultdict(list)
        for inner, tests in _with_tests(node, []):
            match inner:
                case ast.AugAssign(ast.Name(called), ast.BitOr(), value):
                    self.joined.append((called, value))
                case ast.Call(ast.Attribute(ast.Name(called), "update"), [value], []):
                    self.joined.append((called, value))
                case ast.Call(ast.Attribute(ast.Name(called), "add"), [element], []):
                    self.put.append((called, element, tests))
                case ast.For(place, items) | ast.comprehension(place, items):
                    for one in names_in(place):
                        self.runs[one].append((place, items))
            if not isinstance(inner, ast.AugAssign):
                for place, value in pairs(inner):
                    for one in names_in(place):
                        self.given[one].append(value if isinstance(place, ast.Name) else ast.Constant(None))

    def _candidates(self, node: ast.FunctionDef) -> set[str]:
        sets = {called for called, values in self.given.items() if any(map(self._makes_set, values))}
        allowed: dict[str, int] = defaultdict(int)
        stored: dict[str, int] = defaultdict(int)
        for inner in ast.walk(node):
            for one in self._looked_into(inner):
                allowed[one] += 1
            if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
                stored[inner.id] += 1
        read = names_in(node, ast.Load)
        changes: dict[str, int] = defaultdict(int)
        for inner in ast.walk(node):
            if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
                changes[inner.target.id] += 1 if isinstance(inner.op, ast.BitOr | ast.Sub | ast.BitAnd) else 1000
        given = {called: len(values) for called, values in self.given.items()}
        inside = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        return {
            called
            for called in sets - inside
            if read.count(called) == allowed[called] and stored[called] == given[called] + changes[called]
        }

    def _looked_into(self, node: ast.AST) -> Iterator[str]:
        """Yield the variables that a node reads without giving them away."""
        parts: list[ast.expr] = []
        match node:
            case ast.Compare(_, [ast.In() | ast.NotIn()], [container]):
                parts = [container]
            case ast.Call(function, [items], []) if self.builtin(function) in ("len", "bool", "sorted"):
                parts = [items]
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() | ast.Sub(), right):
                parts = [left, right]
            case ast.AugAssign(ast.Name(), ast.BitAnd() | ast.BitOr() | ast.Sub(), value):
                parts = [value]
            case ast.For(_, items) | ast.comprehension(_, items):
                parts = [items]
            case ast.If(test) | ast.While(test) | ast.IfExp(test) | ast.UnaryOp(ast.Not(), test):
                parts = [test]
            case ast.BoolOp(_, values):
                parts = values
            case ast.Expr(ast.Call(ast.Attribute(owner, method), [value], [])) if method == "add" or method in _JOINS:
                parts = [owner] if method == "add" else [owner, value]
        yield from (part.id for part in parts if isinstance(part, ast.Name))

    def _makes_set(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            return self.builtin(node.func) == "set"
        is_joined = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.Sub)
        return isinstance(node, ast.SetComp | ast.Set) or is_joined

    def _holds_cells(self, called: str) -> bool:
        """Whether all that a variable is given are sets of cells of the board."""
        return (
            all(self._makes_set(value) and self._are_cells(value) for value in self.given[called])
            and all(self._are_cells(value) for place, value in self.joined if place == called)
            and all(self._is_cell(element, tests) for place, element, tests in self.put if place == called)
        )

    def _are_cells(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(called):
                values = self.given.get(called, [])
                is_made_once = len(values) == 1 and called not in self.runs and self._are_moves(values[0])
                return called in self.sets or is_made_once
            case ast.BinOp(left, ast.BitAnd(), right):
                return self._are_cells(left) or self._are_cells(right)
            case ast.BinOp(left, ast.Sub(), _):
                return self._are_cells(left)
            case ast.BinOp(left, ast.BitOr(), right):
                return self._are_cells(left) and self._are_cells(right)
            case ast.Call(function, [], []) if self.builtin(function) == "set":
                return True
            case ast.Call(function, [items], []) if self.builtin(function) == "set":
                return self._are_cells(items)
            case ast.SetComp(element, generators) | ast.GeneratorExp(element, generators):
                return self._is_cell(element, [test for one in generators for test in one.ifs])
            case ast.Set(elements):
                return all(self._is_cell(element, []) for element in elements)
        return self._are_moves(node)

    def _are_moves(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(ast.Attribute(owner, method)) if method in _OF_GAMES:
                return self.kind(owner) == "game"
        return False

    def _is_cell(self, node: ast.expr, tests: list[ast.expr]) -> bool:
        """Whether an expression is a cell of the board: a player's, one of a loop over cells, or one looked for."""
        written = ast.unparse(node)
        for test in tests:
            match test:
                case ast.Compare(element, [ast.In()], [container]) if ast.unparse(element) == written:
                    if self._are_cells(container):
                        return True
        match node:
            case ast.Call(ast.Attribute(owner, "get_player_location")):
                return self.kind(owner) == "game"
        runs = [run for called in names_in(node) for run in self.runs.get(called, [])]
        is_plain = not any(called in self.given for called in names_in(node)) and bool(runs)
        return is_plain and all(
            ast.unparse(place).strip("()") == written.strip("()") and self._are_cells(items) for place, items in runs
        )

    # --- what becomes of the statements -----------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> Any:
        for place, value in pairs(node):
            if isinstance(place, ast.Name) and place.id in self.sets and isinstance(value, ast.Call) and not value.args:
                value.func = ast.Attribute(name("_isolation"), "no_moves", ast.Load())
                value.args = [at(value, name(self.game))]
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or node.target.id not in self.sets:
            return node
        whole = ast.BinOp(name(node.target.id), node.op, node.value)
        return at(node, ast.Assign([target(node.target.id)], whole))

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        match node.value:
            case ast.Call(ast.Attribute(ast.Name(called), method), [value], []) if called in self.sets:
                if method == "add":
                    return at(node, ast.Assign([target(called)], support("with_element", name(called), value)))
                if method in _JOINS:
                    others = ast.Call(self.context.builtin("set"), [value], [])
                    return at(node, ast.Assign([target(called)], ast.BinOp(name(called), _JOINS[method](), others)))
        return node


def _with_tests(node: ast.AST, tests: list[ast.expr]) -> Iterator[tuple[ast.AST, list[ast.expr]]]:
    """Yield what a function consists of, each with the tests that hold where it is reached."""
    yield node, tests
    for field, value in ast.iter_fields(node):
        is_body = isinstance(node, ast.If) and field == "body"
        known = [*tests, *_parts(node.test)] if is_body and isinstance(node, ast.If) else tests
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _with_tests(child, known)


def _parts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
