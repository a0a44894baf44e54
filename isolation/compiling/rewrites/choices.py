# ruff: noqa: N802 -- visit_Call and the like are named by ast
"""Lower functions chosen while the heuristic runs: `STAGES[phase](game, player)`, `part = own if late else both`.

Such a function becomes its number, and a call of it a call of the function of that number.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from isolation.compiling.rewrites.element_types import pairs
from isolation.compiling.source.compile_error import CompileError
from isolation.compiling.source.function_source import bound_names
from isolation.compiling.source.rewrite import Rewrite, at, call, function, name, statements
from isolation.compiling.source.scopes import Callee, Choices, as_callee


class LowerChoices(Rewrite):
    """Numbers instead of functions, where it is not known before which is meant."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        bound = Counter(name for statement in node.body for name in bound_names(statement))
        changed = self.changed_names(node)
        self.tables: dict[str, Any] = {}
        given: dict[str, list[ast.expr]] = defaultdict(list)
        for inner in ast.walk(node):
            for place, value in pairs(inner) if isinstance(inner, ast.Assign) else []:
                if isinstance(place, ast.Name):
                    given[place.id].append(value)
                    table = self._table_written(value)
                    if table and bound[place.id] == 1 and place.id not in changed:
                        self.tables[place.id] = table
        for called, values in given.items():
            if bound[called] == len(values) and called not in self.tables:
                chosen = [self._chosen(value) for value in values]
                if all(chosen) and not (len(values) == 1 and self._is_plain(values[0])):
                    self.scope.facts[called] = Choices(tuple(dict.fromkeys(one for part in chosen for one in part)))
        super().apply(node)
        node.body = [inner for inner in node.body if not self._is_of_table(inner)] or [at(node, ast.Pass())]

    def _is_of_table(self, node: ast.stmt) -> bool:
        """Whether a statement makes a table of functions that is known by now."""
        is_one = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        return is_one and isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in self.tables

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Give a variable the number of a function."""
        place = node.targets[0]
        choices = self._choices_of(place) if len(node.targets) == 1 and isinstance(place, ast.Name) else None
        if choices is not None:
            node.value = at(node, self._number(node.value, choices))
            return node
        return node if self._is_of_table(node) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        """Call the function of a number."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and (choices := self._choices_of(node.func)) is not None:
            return at(node, self._called(name(node.func.id), choices, node))
        if isinstance(node.func, ast.Subscript | ast.IfExp | ast.Call) and (chosen := self._chosen(node.func)):
            if self.callee(node.func) is not None:
                return node
            choices = Choices(tuple(dict.fromkeys(chosen)))
            return at(node, self._called(self._number(node.func, choices), choices, node))
        return node

    def _choices_of(self, node: ast.expr) -> Choices | None:
        fact = self.scope.fact(node.id) if isinstance(node, ast.Name) else None
        return fact if isinstance(fact, Choices) else None

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether an expression is a function under another name, which is resolved elsewhere."""
        return not isinstance(node, ast.Subscript | ast.IfExp | ast.Call) or self._callee_of(node) is not None

    def _chosen(self, node: ast.expr) -> list[Callee]:
        """The functions that an expression may stand for; empty if it may be something else."""
        if isinstance(node, ast.IfExp):
            both = self._chosen(node.body), self._chosen(node.orelse)
            return [*both[0], *both[1]] if all(both) else []
        if isinstance(node, ast.Subscript) and (table := self._table(node.value)):
            return list(table.values())
        if isinstance(node, ast.Call) and (looked := self._got(node)):
            return [*looked[0].values(), *self._chosen(looked[2])]
        callee = self._callee_of(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else None
        return [callee] if callee is not None else []

    def _got(self, node: ast.Call) -> tuple[dict[Any, Callee], ast.expr, ast.expr] | None:
        """The table, key and default of `TABLE.get(key, default)`."""
        match node:
            case ast.Call(ast.Attribute(owner, "get"), [key, default]):
                table = self._table(owner)
                return (table, key, default) if table else None
        return None

    def _callee_of(self, node: ast.expr) -> Callee | None:
        try:
            return self.callee(node)
        except CompileError:
            return None

    def _number(self, node: ast.expr, choices: Choices) -> ast.expr:
        """The number of the function that an expression stands for."""
        if isinstance(node, ast.IfExp):
            return ast.IfExp(node.test, self._number(node.body, choices), self._number(node.orelse, choices))
        if isinstance(node, ast.Call) and (looked := self._got(node)):
            table, key, default = looked
            numbers = self.context.value({known: choices.number_of(one) for known, one in table.items()})
            return call(ast.Attribute(numbers, "get", ast.Load()), key, self._number(default, choices))
        callee = self._callee_of(node)
        if callee is None and isinstance(node, ast.Subscript) and (table := self._table(node.value)):
            numbers = self.context.value({key: choices.number_of(one) for key, one in table.items()})
            return ast.Subscript(numbers, node.slice, ast.Load())
        return ast.Constant(choices.number_of(callee) if callee is not None else -1)

    def _called(self, number: ast.expr, choices: Choices, node: ast.Call) -> ast.expr:
        """The call of a function that calls the one of a number."""
        chosen = self.context.fresh("chosen")
        body: list[ast.stmt] = []
        for index, one in enumerate(choices.functions):
            result = ast.Call(self.context.value(one), node.args, node.keywords)
            if index < len(choices.functions) - 1:
                body += statements(f"if CHOSEN == {index}:\n    return RESULT", CHOSEN=name(chosen), RESULT=result)
            else:
                body.append(ast.Return(result))
        written = at(node, function("chosen", [chosen], body))
        return call(name(self.context.define("chosen", written)), number)

    def _table(self, node: ast.expr) -> dict[Any, Callee]:
        """The functions of a list, tuple or dictionary that never changes, by index or key; empty for all else."""
        if isinstance(node, ast.Name) and node.id in self.tables:
            return dict(self.tables[node.id])
        try:
            known = self.known(node) if isinstance(node, ast.Name | ast.Attribute) else None
        except CompileError:
            return {}
        return _functions_in(known.value) if known is not None else {}

    def _table_written(self, node: ast.expr) -> dict[Any, Callee]:
        """The functions of a list, tuple or dictionary written out in the function."""
        if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
            keys: list[Any] = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            values = node.values
        elif isinstance(node, ast.List | ast.Tuple):
            keys, values = list(range(len(node.elts))), node.elts
        else:
            return {}
        functions = {key: self._callee_of(value) for key, value in zip(keys, values, strict=True)}
        known = {key: callee for key, callee in functions.items() if callee is not None}
        return _with_negative_indices(known, values, node) if known and len(known) == len(values) else {}


def _functions_in(table: Any) -> dict[Any, Callee]:
    """The functions in a table by index or key; empty if it holds anything else."""
    if isinstance(table, list | tuple):
        entries: dict[Any, Any] = {index: table[index] for index in range(-len(table), len(table))}
    else:
        entries = dict(table) if isinstance(table, Mapping) else {}
    functions = {key: as_callee(value) for key, value in entries.items()}
    known = {key: callee for key, callee in functions.items() if callee is not None}
    return known if len(known) == len(entries) else {}


def _with_negative_indices(functions: dict[Any, Callee], values: list[ast.expr], node: ast.expr) -> dict[Any, Callee]:
    if isinstance(node, ast.Dict):
        return functions
    return functions | {index - len(values): callee for index, callee in functions.items()}
