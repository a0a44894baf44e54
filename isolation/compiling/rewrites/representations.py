"""How sets and lists are held.

Sets of the board's cells become bit masks; those of texts, whose order changes, are sorted or refused. What
dictionaries and lists hold is rewritten such as numba's can hold it: lists as they are kept, sets as lists.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ...usercode.function_source import names_in
from ..source.rewrite import FunctionContext, Rewrite, at, call, name, support, target, written_out
from ..source.scopes import Missing
from .constants import loses_its_order, refuse_order
from .element_types import is_empty, pairs
from .guesses import Examples

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
        return self.value_of(node)


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


_MAKE_LISTS = {"list", "sorted"}


class KeepLists(Rewrite):
    """`groups[row] = []` and `{player: [cell for cell in moves]}` keep numba's typed lists, which are slower."""

    def __init__(self, context: FunctionContext) -> None:
        super().__init__(context)
        self.holder = ""

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.examples = Examples(self, node)
        written = [pair for inner in ast.walk(node) for pair in pairs(inner)]
        self.dictionaries: set[str] = {
            place.id
            for place, value in written
            if isinstance(place, ast.Name) and isinstance(value, ast.Dict | ast.DictComp)
        }

    def visit_Assign(self, node: ast.Assign) -> Any:
        place = node.targets[0]
        self.holder = ast.unparse(place).partition("[")[0]
        if isinstance(place, ast.Subscript) and isinstance(place.value, ast.Name) and self.holder in self.dictionaries:
            node.value = self._kept(node.value)
        return self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> Any:
        node.values = [self._kept(value) for value in node.values]
        return self.generic_visit(node)

    def visit_DictComp(self, node: ast.DictComp) -> Any:  # type: ignore[override]
        node.value = self._kept(node.value)
        return super().visit_ListComp(node)

    def visit_Call(self, node: ast.Call) -> Any:
        match node:
            case ast.Call(ast.Attribute(_, "get_or" | "put_and_get"), [ast.Name(called), _, missing]):
                self.holder = called
                node.args[2] = self._kept(missing)
            case ast.Call(ast.Attribute(ast.Name(called), "get"), [_, ast.List() as missing]):
                self.holder = called
                node.args[1] = self._kept(missing)
        return self.generic_visit(node)

    def _kept(self, node: ast.expr) -> ast.expr:
        if is_empty(node) and isinstance(node, ast.List):
            example = self.examples.put_deeper_into(self.holder) or self.context.cell()
            return at(node, support("kept", support("empty_list", example)))
        made = self.builtin(node.func) if isinstance(node, ast.Call) else None
        is_list = isinstance(node, ast.List | ast.ListComp) or made in _MAKE_LISTS
        return at(node, support("kept", node)) if is_list else node


_ADDS = {"add": "put_once", "update": "put_each_once"}


class KeepSets(Rewrite):
    """Store a list for `groups[row] = set()`, add to it only what it lacks, and make a set of it when it is read."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.examples = Examples(self, node)
        self.dictionaries: set[str] = set()
        for place, value in (pair for inner in ast.walk(node) for pair in pairs(inner)):
            if isinstance(place, ast.Subscript) and isinstance(place.value, ast.Name) and self._is_set(value):
                self.dictionaries.add(place.value.id)
            elif isinstance(place, ast.Name) and any(map(self._is_set, self._held(place.id, value))):
                self.dictionaries.add(place.id)
        for inner in ast.walk(node):
            match inner:
                case ast.Call(ast.Attribute(ast.Name(called), "append"), [item]) if self._is_set(item):
                    self.dictionaries.add(called)
        self.lists = self.dictionaries & {
            place.id
            for inner in ast.walk(node)
            for place, value in pairs(inner)
            if isinstance(place, ast.Name) and isinstance(value, ast.List | ast.ListComp)
        }
        self.members = {name for inner in ast.walk(node) if isinstance(inner, ast.For) for name in self._members(inner)}

    def visit_Assign(self, node: ast.Assign) -> Any:
        place, value = node.targets[0], node.value
        if self._holds_sets(place) and isinstance(place, ast.Subscript):
            node.value = self._kept(value, ast.unparse(place.value))
            place.slice = self.visit(place.slice)
            return node
        if isinstance(place, ast.Name) and place.id in self.dictionaries:
            match value:
                case ast.Dict():
                    value.values = [self._kept(each, place.id) for each in value.values]
                    return node
                case ast.List():
                    value.elts = [self._kept(each, place.id) for each in value.elts]
                    return node
                case ast.DictComp():
                    value.value = self._kept(value.value, place.id)
                    return node
                case ast.ListComp():
                    value.elt = self._kept(value.elt, place.id)
                    node.value = super().visit_ListComp(value)
                    return node
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Rewrite `|=` as adding elements, and other operators as storing the result."""
        place = node.target
        if not self._holds_sets(place) or not isinstance(place, ast.Subscript):
            return self.generic_visit(node)
        there = ast.Subscript(place.value, self.visit(place.slice), ast.Load())
        if isinstance(node.op, ast.BitOr):
            return at(node, ast.Expr(support("put_each_once", there, self.visit(node.value))))
        left = ast.BinOp(support("set_of_kept", there), node.op, self.visit(node.value))
        return at(node, ast.Assign([ast.Subscript(place.value, there.slice, ast.Store())], support("kept_list", left)))

    def visit_Call(self, node: ast.Call) -> Any:
        """Rewrite `add`, `update`, `get` and `len` of a stored set."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _ADDS and self._holds_sets(node.func.value):
            there = self._there(node.func.value)
            return at(node, support(_ADDS[node.func.attr], there, *map(self.visit, node.args)))
        match node:
            case ast.Call(ast.Attribute(ast.Name(called), "append"), [item]) if called in self.dictionaries:
                node.args = [self._kept(item, called)]
                return node
            case ast.Call(ast.Attribute(ast.Name(called), "get"), [key, missing]) if self._is_set(missing):
                there = call(node.func, self.visit(key), self._kept(missing, called))
                return at(node, support("set_of_kept", there))
        if self.builtin(node.func) == "len" and len(node.args) == 1 and self._holds_sets(node.args[0]):
            node.args[0] = self._there(node.args[0])
            return node
        return self._read(node) if self._holds_sets(node) else self.generic_visit(node)

    def visit_ListComp(self, node: Any) -> Any:
        own = {name for generator in node.generators for name in self._members(generator)} - self.members
        if not own:
            return super().visit_ListComp(node)
        self.members |= own
        node = ast.NodeTransformer.generic_visit(self, node)
        self.members -= own
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # noqa: N815

    def visit_Name(self, node: ast.Name) -> Any:
        return self._read(node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        return self._read(node) if self._holds_sets(node) else self.generic_visit(node)

    def _there(self, node: ast.expr) -> ast.expr:
        """The stored list itself, not a set of it."""
        if isinstance(node, ast.Call):
            node.args[2] = self._kept(node.args[2], ast.unparse(node.args[0]))
        else:
            self.generic_visit(node)
        return node

    def _read(self, node: ast.AST) -> ast.AST:
        assert isinstance(node, ast.expr)
        is_read = self._holds_sets(node) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        return at(node, support("set_of_kept", self._there(node))) if is_read else node

    def _holds_sets(self, node: ast.expr) -> bool:
        """Whether an expression is a set stored in one of the dictionaries."""
        match node:
            case ast.Name(called):
                return called in self.members
            case ast.Subscript(ast.Name(called)) | ast.Call(
                ast.Attribute(_, "get_or" | "put_and_get"), [ast.Name(called), _, _]
            ):
                return called in self.dictionaries
        return False

    def _members(self, loop: ast.For | ast.comprehension) -> list[str]:
        """The variable of a loop over the sets held somewhere, as a list of one name; empty for other loops."""
        match loop.iter, loop.target:
            case ast.Name(called), ast.Name(held):
                return [held] if called in self.lists else []
            case ast.Call(ast.Name() as made, [ast.Name(called), *_]), ast.Tuple([_, ast.Name(held)]):
                return [held] if called in self.lists and self.builtin(made) == "enumerate" else []
            case (ast.Call(ast.Attribute(ast.Name(called), "values")), ast.Name(held)) | (
                ast.Call(ast.Attribute(ast.Name(called), "items")), ast.Tuple([_, ast.Name(held)])
            ):  # fmt: skip
                return [held] if called in self.dictionaries else []
        return []

    def _held(self, called: str, value: ast.expr) -> list[ast.expr]:
        """The values of a new dictionary, and its default for missing keys; the elements of a new list."""
        fact = self.scope.fact(called)
        missing = [fact.value] if isinstance(fact, Missing) else []
        match value:
            case ast.DictComp():
                return [value.value, *missing]
            case ast.Dict():
                return [*value.values, *missing]
            case ast.List() | ast.ListComp():
                return value.elts if isinstance(value, ast.List) else [value.elt]
        return []

    def _is_set(self, node: ast.expr) -> bool:
        if isinstance(node, ast.BinOp):
            return self._is_set(node.left) or self._is_set(node.right)
        made = self.builtin(node.func) if isinstance(node, ast.Call) else None
        return isinstance(node, ast.Set | ast.SetComp) or made in ("set", "frozenset")

    def _kept(self, node: ast.expr, holder: str) -> ast.expr:
        if not is_empty(node):
            return at(node, support("kept_list", self.visit(node)))
        example = self.examples.put_deeper_into(holder) or self.context.cell()
        return at(node, support("kept", support("empty_list", example)))
