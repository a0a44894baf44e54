"""Guess what lists and sets that are empty at first will hold, where numba does not find out."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ...usercode.function_source import Definition, definition, parameters
from ..compile_errors import CompileError
from ..source.rewrite import Rewrite, at, is_fresh, support
from ..source.scopes import Callee, Nested
from .element_types import is_empty, pairs

_OF_CELLS = {"get_legal_moves", "get_blank_spaces", "reach"}
_OF_NUMBERS = {"liberties", "actions"}
_WHOLE = {"len", "int", "abs", "sum", "round", "ord"}
_SAME_ELEMENTS = {"list", "set", "sorted", "reversed", "tuple", "frozenset", "filter", "iter"}
_DEEPEST = 8
_CELL = ast.Tuple([ast.Constant(0), ast.Constant(0)], ast.Load())
_NUMBER, _FRACTION = ast.Constant(0), ast.Constant(0.0)


class GuessElements(Rewrite):
    """`found = []` becomes an empty list of such elements as are put into it, or are in what is assigned instead.

    A wrong guess does no harm: numba refuses it, or the comparison with Python does.
    """

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.examples = Examples(self, node)
        self.default = self.context.cell()

    def visit_Assign(self, node: ast.Assign) -> Any:
        for place, value in pairs(node):
            if is_fresh(place) and is_empty(value):
                return node
            if isinstance(place, ast.Name):
                self._type_inside(value, place.id)
                self._fill(value, self.examples.stored_in(place.id))
                if isinstance(value, ast.Dict) and not value.keys and not is_fresh(place):
                    value.examples = self.examples.entries_of(place.id)  # type: ignore[attr-defined]
                if is_empty(value) and (made := self._made(value)):
                    self._replace(value, made, self.examples.put_into(place.id))
        return self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> Any:
        examples = getattr(node, "examples", None)
        if node.keys or examples is None:
            return self.generic_visit(node)
        return at(node, support("empty_dict", *examples))

    def visit_List(self, node: ast.List) -> Any:
        if node.elts or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        return at(node, support("empty_list", getattr(node, "example", None) or self.default))

    def visit_Call(self, node: ast.Call) -> Any:
        if is_empty(node) and (made := self._made(node)):
            return at(node, support(f"empty_{made}", getattr(node, "example", None) or self.default))
        return self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:  # type: ignore[override]
        if isinstance(node, ast.ListComp) and is_empty(node.elt):
            node.elt = self.visit(node.elt)
        return super().visit_ListComp(node)

    def _made(self, node: ast.expr) -> str:
        if isinstance(node, ast.List):
            return "list"
        called = self.builtin(node.func) if isinstance(node, ast.Call) else None
        return called if called in ("list", "set") else ""

    def _type_inside(self, value: ast.expr, called: str) -> None:
        value = value.left if isinstance(value, ast.BinOp) else value
        lists = [value.elt] if isinstance(value, ast.ListComp) else value.elts if isinstance(value, ast.List) else []
        for inner in lists:
            if is_empty(inner):
                self._replace(inner, "list", self.examples.put_deeper_into(called))

    def _fill(self, value: ast.expr, example: ast.expr | None) -> None:
        """Put an element into a list of None, `[[None] * 7 for _ in range(7)]`, as will stand in its place."""
        for inner in ast.walk(value) if isinstance(value, ast.BinOp | ast.List | ast.ListComp) and example else []:
            if isinstance(inner, ast.List):
                inner.elts = [example if is_none(one) and example else one for one in inner.elts]
            elif isinstance(inner, ast.ListComp) and is_none(inner.elt) and example:
                inner.elt = example

    def _replace(self, node: ast.expr, made: str, example: ast.expr | None) -> None:
        node.example = example  # type: ignore[attr-defined]


class Examples:
    """Example values of a function's variables: 0, 0.0, a cell, a list with one of them; None if unknown."""

    def __init__(self, rewrite: Rewrite, node: Definition) -> None:
        self.rewrite = rewrite
        self.of_names: dict[str, list[Callable[[], ast.expr | None]]] = defaultdict(list)
        self.put: dict[str, list[Callable[[], ast.expr | None]]] = defaultdict(list)
        self.put_deeper: dict[str, list[Callable[[], ast.expr | None]]] = defaultdict(list)
        self.entries: dict[str, list[tuple[ast.expr, ast.expr]]] = defaultdict(list)
        self.stored: dict[str, list[Callable[[], ast.expr | None]]] = defaultdict(list)
        self.calls: list[ast.Call] = []
        self.depth = 0
        known = [callee.target for callee in rewrite.scope.known.values() if isinstance(callee, Callee)]
        inner_functions = [target.node for target in known if isinstance(target, Nested)]
        self.parameters = {target.name: parameters(target.node) for target in known if isinstance(target, Nested)}
        for function in (node, *inner_functions):
            for inner in ast.walk(function):
                self._learn(inner)

    def put_into(self, called: str) -> ast.expr | None:
        """An element of those that are put into a list or set, or of what is assigned to its variable instead."""
        given = self._first(self.put[called])
        whole = None if given is not None else self._first(self.of_names[called])
        if given is None and whole is None:
            return next((put for inside, name in self._helpers_given(called) if (put := inside.put_into(name))), None)
        return given if given is not None else _element_of(whole)

    def of_variable(self, called: str) -> ast.expr | None:
        """A value that a variable is given."""
        return self._first(self.of_names[called])

    def entries_of(self, called: str) -> tuple[ast.expr, ast.expr] | None:
        """A key and a value of those that are put into a dictionary."""
        keys = self._first([partial(self.value, key) for key, _ in self.entries[called]])
        values = self._first([partial(self.value, value) for _, value in self.entries[called]])
        if keys is None or values is None:
            entries = (inside.entries_of(name) for inside, name in self._helpers_given(called))
            return next((entry for entry in entries if entry is not None), None)
        return keys, values

    def stored_in(self, called: str) -> ast.expr | None:
        """An element of those that are stored in a list, or in the lists of a list."""
        return self._first(self.stored[called])

    def put_deeper_into(self, called: str) -> ast.expr | None:
        """An element of those that are put into the lists of a list."""
        return self._first(self.put_deeper[called])

    def _helpers_given(self, called: str) -> Iterator[tuple[Examples, str]]:
        """Yield the functions that are given a variable, with the parameter that holds it."""
        for call in self.calls if self.depth < _DEEPEST // 2 else []:
            if not any(isinstance(argument, ast.Name) and argument.id == called for argument in call.args):
                continue
            node = self._definition_of(call.func)
            if node is None:
                continue
            inside = Examples(self.rewrite, node)
            inside.depth = self.depth + _DEEPEST // 2
            bound = callee.defaults if (callee := self.rewrite.callee(call.func)) is not None else {}
            free = [parameter for parameter in parameters(node) if parameter not in bound]
            given = list(zip(free, call.args, strict=False))
            for parameter, argument in given:
                inside.of_names[parameter].append(partial(self.value, argument))
            for parameter, argument in given:
                if isinstance(argument, ast.Name) and argument.id == called:
                    yield inside, parameter

    def _definition_of(self, function: ast.expr) -> Definition | None:
        try:
            callee = self.rewrite.callee(function) if self.depth < _DEEPEST // 2 else None
            if callee is None:
                return None
            return callee.target.node if isinstance(callee.target, Nested) else definition(callee.target)
        except CompileError:
            return None

    def _first(self, candidates: list[Callable[[], ast.expr | None]]) -> ast.expr | None:
        """The first guess that is one; a fraction where one of several guesses is."""
        if self.depth > _DEEPEST:
            return None
        self.depth += 1
        guesses = [guess for candidate in candidates if (guess := candidate()) is not None]
        self.depth -= 1
        return next((guess for guess in guesses if _is_fraction(guess)), guesses[0] if guesses else None)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign) and len(node.targets) > 1:
            for place in node.targets:
                self._learn_assigned(ast.Assign([place], node.value))
        else:
            self._learn_assigned(node)
        if isinstance(node, ast.For | ast.comprehension):
            self._bind(node.target, lambda: self.element(node.iter))
        self._learn_call(node)

    def _learn_assigned(self, node: ast.AST) -> None:
        for place, value in pairs(node):
            if isinstance(place, ast.Subscript) and not is_none(value):
                self.stored[ast.unparse(place).partition("[")[0]].append(partial(self.value, value))
            if isinstance(place, ast.Subscript) and isinstance(place.value, ast.Name):
                self.entries[place.value.id].append((place.slice, value))
            if not is_empty(value):
                self._bind(place, partial(self.value, value))
                if isinstance(node, ast.AugAssign) and isinstance(place, ast.Name):
                    self.put[place.id].append(partial(self.element, value))
        if isinstance(node, ast.Assign) and not pairs(node):
            self._bind(node.targets[0], lambda: self.value(node.value))

    def _learn_call(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self.calls.append(node)
        match node:
            case ast.Call(ast.Name(called), given) if called in self.parameters:
                for parameter, argument in zip(self.parameters[called], given, strict=False):
                    self.of_names[parameter].append(partial(self.value, argument))
            case ast.Call(ast.Attribute(owner, "append" | "add" | "appendleft"), [item]):
                self._fill(owner, lambda: self.value(item))
            case ast.Call(ast.Attribute(owner, "insert"), [_, item]):
                self._fill(owner, lambda: self.value(item))
            case ast.Call(ast.Attribute(owner, "extend" | "update"), [items]):
                self._fill(owner, lambda: self.element(items))
            case ast.Call(function, [ast.Name() as owner, item]) if "heappush" in ast.unparse(function):
                self._fill(owner, lambda: self.value(item))

    def _bind(self, place: ast.expr, guess: Callable[[], ast.expr | None]) -> None:
        if isinstance(place, ast.Name):
            self.of_names[place.id].append(guess)
        elif isinstance(place, ast.Tuple | ast.List):
            for index, part in enumerate(place.elts):
                self._bind(part, partial(lambda index: _part_of(guess(), index), index))

    def _fill(self, owner: ast.expr, guess: Callable[[], ast.expr | None]) -> None:
        if isinstance(owner, ast.Name):
            self.put[owner.id].append(guess)
        elif isinstance(owner, ast.Subscript) and isinstance(owner.value, ast.Name):
            self.put_deeper[owner.value.id].append(guess)

    def value(self, node: ast.expr) -> ast.expr | None:
        """An example of what an expression gives."""
        if isinstance(node, ast.Constant):
            return node if isinstance(node.value, int | float | str) else None
        if isinstance(node, ast.Tuple):
            parts = [self.value(part) or _NUMBER for part in node.elts]
            return ast.Tuple(parts, ast.Load())
        if isinstance(node, ast.List | ast.Set):
            element = self.value(node.elts[0]) if node.elts else None
            return None if element is None else ast.List([element], ast.Load())
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            element = self.value(node.elt)
            return None if element is None else ast.List([element], ast.Load())
        if isinstance(node, ast.Name):
            return self._of_name(node)
        if isinstance(node, ast.BinOp):
            return self._of_operation(node)
        if isinstance(node, ast.UnaryOp):
            return self.value(node.operand)
        if isinstance(node, ast.IfExp):
            return self._first([lambda: self.value(node.body), lambda: self.value(node.orelse)])
        if isinstance(node, ast.Compare):
            return ast.Constant(False)
        if isinstance(node, ast.Subscript):
            index = node.slice.value if isinstance(node.slice, ast.Constant) else 0
            return _part_of(self.value(node.value), index if isinstance(index, int) else 0)
        return self._of_call(node) if isinstance(node, ast.Call) else None

    def _of_name(self, node: ast.Name) -> ast.expr | None:
        if (known := self._of_known(node)) is not None:
            return known
        if node.id in self.of_names:
            return self._first(self.of_names[node.id])
        return None

    def _of_known(self, node: ast.expr) -> ast.expr | None:
        try:
            known = self.rewrite.known(node)
        except CompileError:
            return None
        return None if known is None else _example_of(known.value)

    def _of_operation(self, node: ast.BinOp) -> ast.expr | None:
        both = [self.value(node.left), self.value(node.right)]
        if isinstance(node.op, ast.Div) or any(side is not None and _is_fraction(side) for side in both):
            return _FRACTION
        lists = [side for side in both if isinstance(side, ast.List | ast.Tuple)]
        return lists[0] if lists else _NUMBER

    def _of_call(self, node: ast.Call) -> ast.expr | None:
        called = self.rewrite.builtin(node.func) or ""
        if called == "float":
            return _FRACTION
        if called in ("max", "min", "sum", "abs") and node.args:
            inner = self.element(node.args[0]) if len(node.args) == 1 and called != "abs" else self.value(node.args[0])
            return _NUMBER if inner is None and called in ("sum", "abs") else inner
        if called in _WHOLE:
            return _NUMBER
        if called in _SAME_ELEMENTS and node.args:
            element = self.element(node.args[-1])
            return None if element is None else ast.List([element], ast.Load())
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method in _OF_CELLS | _OF_NUMBERS:
            return ast.List([_CELL if method in _OF_CELLS else _NUMBER], ast.Load())
        if method == "get_player_location":
            return _CELL
        if method == "pop" and isinstance(node.func, ast.Attribute):
            return _element_of(self.value(node.func.value)) or self._filled(node.func.value)
        return _FRACTION if ast.unparse(node.func).startswith("math.") else self._of_function(node.func)

    def _of_function(self, function: ast.expr) -> ast.expr | None:
        node = self._definition_of(function)
        if node is None:
            return None
        inside = Examples(self.rewrite, node)
        inside.depth = self.depth + _DEEPEST // 2
        if isinstance(node, ast.Lambda):
            return inside.value(node.body)
        returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]
        return inside._first([partial(inside.value, value) for value in returned])

    def _filled(self, node: ast.expr) -> ast.expr | None:
        return self.put_into(node.id) if isinstance(node, ast.Name) and self.depth <= _DEEPEST else None

    def element(self, node: ast.expr) -> ast.expr | None:
        """An example of the elements of an iterable."""
        called = self.rewrite.builtin(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and node.args:
            if called == "range":
                return _NUMBER
            if called == "enumerate":
                return ast.Tuple([_NUMBER, self.element(node.args[0]) or _NUMBER], ast.Load())
            if called == "zip":
                return ast.Tuple([self.element(items) or _NUMBER for items in node.args], ast.Load())
        return _element_of(self.value(node)) or self._filled(node)


def is_none(node: ast.AST) -> bool:
    """Whether an expression is None."""
    return isinstance(node, ast.Constant) and node.value is None


def _element_of(example: ast.expr | None) -> ast.expr | None:
    if isinstance(example, ast.List):
        return example.elts[0]
    return _part_of(example, 0) if isinstance(example, ast.Tuple) else None


def _part_of(example: ast.expr | None, index: int) -> ast.expr | None:
    if isinstance(example, ast.List):
        return example.elts[0]
    if isinstance(example, ast.Tuple) and example.elts:
        return example.elts[index if -len(example.elts) <= index < len(example.elts) else 0]
    return None


def _is_fraction(example: ast.expr) -> bool:
    return isinstance(example, ast.Constant) and isinstance(example.value, float)


def _example_of(value: Any) -> ast.expr | None:
    if isinstance(value, bool | int | float | str):
        return ast.Constant(value)
    parts = list(_first_of(value))
    if not parts:
        return None
    examples = [example for part in parts if (example := _example_of(part)) is not None]
    if not examples:
        return None
    return ast.Tuple(examples, ast.Load()) if isinstance(value, tuple) else ast.List(examples[:1], ast.Load())


def _first_of(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        yield from value[:4]
    elif isinstance(value, list | set | frozenset) and value:
        yield next(iter(value))
