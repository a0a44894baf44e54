"""Lower what is chosen while the heuristic runs: functions, and dictionaries that never change.

`STAGES[phase](game, player)`, `part = own if late else both`, `weights = EARLY if early else LATE`: the choice becomes
a number, and what is done with a function or dictionary is written once for each, under a condition.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from ...usercode.function_source import bound_names, definition
from ..compile_errors import CompileError
from ..source.rewrite import FunctionContext, Rewrite, at, call, function, name, statements, written_out
from ..source.scopes import Callee, Choices, Nested, as_callee, scope_of
from ..source.stand_ins import is_of_library
from .element_types import pairs

_MOST_DICTIONARIES = 16


class LowerChoices(Rewrite):
    """Numbers instead of functions and dictionaries, where it is not known before which is meant."""

    def __init__(self, context: FunctionContext) -> None:
        super().__init__(context)
        self.tables: dict[str, dict[Any, Any]] = {}
        self.written: dict[str, Any] = {}
        self.literals: dict[ast.expr, Any] = {}
        self.returning: dict[ast.expr, tuple[LowerChoices, Callee]] = {}

    def apply(self, node: ast.FunctionDef) -> None:
        bound = Counter(name for statement in node.body for name in bound_names(statement))
        changed = self.changed_names(node)
        given: dict[str, list[ast.expr]] = defaultdict(list)
        for inner in ast.walk(node):
            for place, value in pairs(inner) if isinstance(inner, ast.Assign) else []:
                if isinstance(place, ast.Name):
                    given[place.id].append(value)
                    table = self._table_written(value)
                    if table and bound[place.id] == 1 and place.id not in changed:
                        self.tables[place.id] = table
                    elif isinstance(value, ast.Dict | ast.List) and bound[place.id] == 1 and place.id not in changed:
                        self.written[place.id] = written_out(value)
        for called, values in given.items():
            if bound[called] == len(values) and called not in self.tables:
                self._learn(called, values, node, called in changed)
        super().apply(node)
        node.body = [inner for inner in node.body if not self._is_of_table(inner)] or [at(node, ast.Pass())]

    def _learn(self, called: str, values: list[ast.expr], node: ast.FunctionDef, is_changed: bool) -> None:
        """Note the options of a variable that holds nothing but functions, or nothing but dictionaries."""
        chosen = [self._chosen(value) for value in values]
        if not all(chosen):
            return
        choices = Choices.among([option for part in chosen for option in part])
        kinds = {isinstance(option, Callee) for option in choices.options}
        if kinds == {True} and not (len(values) == 1 and self._is_plain(values[0])):
            self.scope.facts[called] = choices
        is_constant = len(values) == 1 and isinstance(values[0], ast.Dict)  # see `Literals`
        if kinds == {False} and not is_changed and not is_constant and _is_only_asked(node, called):
            self.scope.facts[called] = choices

    def _is_of_table(self, node: ast.stmt) -> bool:
        """Whether a statement makes a table of functions that is known by now."""
        is_one = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        return is_one and isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in self.tables

    def visit_Assign(self, node: ast.Assign) -> Any:
        place = node.targets[0]
        choices = self._choices_of(place) if len(node.targets) == 1 and isinstance(place, ast.Name) else None
        if choices is not None:
            node.value = at(node, self._number(node.value, choices))
            return node
        return node if self._is_of_table(node) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) and self._callee_of(node.func) is None:
            choices = self._choices_of(node.func)
            if choices is not None and isinstance(choices.options[0], Callee):
                return self._for_each(node, node.func, choices)
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return self._of_dictionaries(node, [*owner, *(one for one in node.args if isinstance(one, ast.Name))])

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        is_column = isinstance(node.value, ast.Subscript) and isinstance(node.slice, ast.Constant)
        return node if is_column else self._of_dictionaries(node, [node.value])

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        return self._of_dictionaries(node, node.comparators)

    def visit_For(self, node: ast.For) -> Any:
        node.iter = self._of_dictionaries(node.iter, [node.iter])
        return self.generic_visit(node)

    def visit_ListComp(self, node: Any) -> Any:
        first = node.generators[0]
        first.iter = self._of_dictionaries(first.iter, [first.iter])
        return super().visit_ListComp(node)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # noqa: N815

    def _of_dictionaries(self, node: ast.expr, parts: list[ast.expr]) -> ast.expr:
        """An expression written for each dictionary that the first of these parts of it may be which is a choice."""
        for part in parts:
            choices = self._choices_of(part)
            if choices is not None and isinstance(choices.options[0], Mapping):
                return self._for_each(node, part, choices)
        return node

    def _choices_of(self, node: ast.expr) -> Choices | None:
        """What an expression may stand for, where that is not known before."""
        if isinstance(node, ast.Name):
            fact = self.scope.fact(node.id)
            return fact if isinstance(fact, Choices) else None
        if not isinstance(node, ast.Subscript | ast.IfExp | ast.Call) or self._option(node) is not None:
            return None
        options = self._chosen(node)
        return Choices.among(options) if options else None

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether an expression is a function under another name, which is resolved elsewhere."""
        return not isinstance(node, ast.Subscript | ast.IfExp | ast.Call) or self._option(node) is not None

    def _chosen(self, node: ast.expr) -> list[Any]:
        """The functions or dictionaries that an expression may stand for; empty if it may be something else."""
        if isinstance(node, ast.IfExp):
            both = self._chosen(node.body), self._chosen(node.orelse)
            return [*both[0], *both[1]] if all(both) else []
        if (option := self._option(node)) is not None:
            return [option]
        if isinstance(node, ast.Name) and (choices := self._choices_of(node)) is not None:
            return list(choices.options)
        if isinstance(node, ast.Subscript) and (table := self._table(node.value)):
            return list(table.values())
        if isinstance(node, ast.Call) and (looked := self._got(node)):
            default = self._chosen(looked[2])
            return [*looked[0].values(), *default] if default else []
        return self._returned(node) if isinstance(node, ast.Call) else []

    def _returned(self, node: ast.Call) -> list[Any]:
        """The dictionaries that never change of which a function of the user's returns one."""
        callee = self._callee_of(node.func)
        if callee is None or isinstance(callee.target, Nested) or is_of_library(callee.target):
            return []
        if node not in self.returning:
            written = copy.deepcopy(definition(callee.target))
            scope = scope_of(callee.target, written, {}, {})
            inside = LowerChoices(dataclasses.replace(self.context, scope=scope))
            self.returning[node] = inside, Callee(Nested(written, scope), None, callee.defaults)
        inside, numbered = self.returning[node]
        chosen = [inside._chosen(one.value) if one.value else [] for one in _returns_of(numbered)]
        options = [option for part in chosen for option in part] if all(chosen) else []
        return [] if any(isinstance(option, Callee) for option in options) else options

    def _got(self, node: ast.Call) -> tuple[dict[Any, Any], ast.expr, ast.expr] | None:
        """The table, key and default of `TABLE.get(key, default)`."""
        match node:
            case ast.Call(ast.Attribute(owner, "get"), [key, default]):
                table = self._table(owner)
                return (table, key, default) if table else None
        return None

    def _option(self, node: ast.expr) -> Any:
        """The function or dictionary that an expression stands for, if that is known."""
        if isinstance(node, ast.Dict):
            return self.literals.setdefault(node, written_out(node)) or None
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Lambda):
            return None
        try:
            known = self.known(node)
        except CompileError:
            return None
        return None if known is None else _option_of(known.value)

    def _callee_of(self, node: ast.expr) -> Callee | None:
        option = self._option(node)
        return option if isinstance(option, Callee) else None

    def _number(self, node: ast.expr, choices: Choices) -> ast.expr:
        if isinstance(node, ast.IfExp):
            return ast.IfExp(node.test, self._number(node.body, choices), self._number(node.orelse, choices))
        if (option := self._option(node)) is not None:
            return ast.Constant(choices.number_of(option))
        if isinstance(node, ast.Call) and (looked := self._got(node)):
            table, key, default = looked
            numbers = self._numbers(table, choices)
            return call(ast.Attribute(numbers, "get", ast.Load()), key, self._number(default, choices))
        if isinstance(node, ast.Subscript) and (table := self._table(node.value)):
            return ast.Subscript(self._numbers(table, choices), node.slice, ast.Load())
        if isinstance(node, ast.Call):
            inside, numbered = self.returning.pop(node)
            for one in _returns_of(numbered):
                one.value = inside._number(one.value, choices)  # type: ignore[arg-type]
            return ast.Call(self.context.value(numbered), node.args, node.keywords)
        held = self._choices_of(node)
        assert held is not None
        if held.options == choices.options:
            return node
        numbers = self.context.value({number: choices.number_of(one) for number, one in enumerate(held.options)})
        return ast.Subscript(numbers, node, ast.Load())

    def _numbers(self, table: dict[Any, Any], choices: Choices) -> ast.expr:
        return self.context.value({key: choices.number_of(option) for key, option in table.items()})

    def _for_each(self, node: ast.expr, part: ast.expr, choices: Choices) -> ast.expr:
        """An expression, of which `part` is a part, as the call of a function that computes it for a number."""
        number = self._number(part, choices)
        chosen, place = self.context.fresh("chosen"), "_v_option"
        with_place = _Filled(lambda inner: inner is part, place).visit(node)
        body: list[ast.stmt] = []
        for index, option in enumerate(choices.options):
            value = self.context.value(option)
            assert isinstance(value, ast.Name)
            filled = _Filled(lambda inner: getattr(inner, "id", "") == place, value.id)
            result = filled.visit(copy.deepcopy(with_place))
            if index < len(choices.options) - 1:
                body += statements(f"if CHOSEN == {index}:\n    return RESULT", CHOSEN=name(chosen), RESULT=result)
            else:
                body.append(ast.Return(result))
        written = at(part, function("chosen", [chosen], body))
        return at(part, call(name(self.context.define("chosen", written)), number))

    def _table(self, node: ast.expr) -> dict[Any, Any]:
        """The options in a list, tuple or dictionary that never changes, by index or key; empty for all else."""
        if isinstance(node, ast.Name) and node.id in self.tables:
            return dict(self.tables[node.id])
        if isinstance(node, ast.Name) and node.id in self.written:
            return _options_in(self.written[node.id])
        if isinstance(node, ast.Dict | ast.List | ast.Tuple):
            return dict(self._table_written(node))
        try:
            known = self.known(node) if isinstance(node, ast.Name | ast.Attribute) else None
        except CompileError:
            return {}
        return _options_in(known.value) if known is not None else {}

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


def _returns_of(callee: Callee) -> list[ast.Return]:
    assert isinstance(callee.target, Nested)
    return [inner for inner in ast.walk(callee.target.node) if isinstance(inner, ast.Return)]


class _Filled(ast.NodeTransformer):
    """An expression with a variable in place of every part that meets a condition."""

    def __init__(self, is_meant: Callable[[ast.AST], bool], variable: str) -> None:
        self.is_meant, self.variable = is_meant, variable

    def visit(self, node: ast.AST) -> Any:
        return at(node, name(self.variable)) if self.is_meant(node) else self.generic_visit(node)


def _option_of(value: Any) -> Any:
    """The function that a value is, or a dictionary that holds something; None if it is neither."""
    return as_callee(value) or (value if isinstance(value, Mapping) and value else None)


def _options_in(table: Any) -> dict[Any, Any]:
    """The options in a table by index or key; empty if it holds anything else."""
    if isinstance(table, list | tuple):
        entries: dict[Any, Any] = {index: table[index] for index in range(-len(table), len(table))}
    else:
        entries = dict(table) if isinstance(table, Mapping) else {}
    options = {key: option for key, value in entries.items() if (option := _option_of(value)) is not None}
    kinds = {isinstance(option, Callee) for option in options.values()}
    is_small = kinds == {True} or len({id(option) for option in options.values()}) <= _MOST_DICTIONARIES
    return options if len(options) == len(entries) and len(kinds) == 1 and is_small else {}


def _is_only_asked(node: ast.AST, called: str) -> bool:
    """Whether a function does nothing with a dictionary but what can be written for each it may be."""
    asked: list[ast.AST] = []
    for inner in ast.walk(node):
        match inner:
            case (
                ast.Subscript(owner)
                | ast.Call(ast.Attribute(owner))
                | ast.For(iter=owner)
                | ast.comprehension(iter=owner)
            ):
                asked.append(owner)
            case ast.Compare():
                asked += inner.comparators
            case ast.Assign([ast.Name()], value):
                asked += [value, *([value.body, value.orelse] if isinstance(value, ast.IfExp) else [])]
        if isinstance(inner, ast.Call):
            asked += inner.args
    read = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)]
    return all(inner in asked for inner in read if inner.id == called)


def _with_negative_indices(functions: dict[Any, Callee], values: list[ast.expr], node: ast.expr) -> dict[Any, Callee]:
    if isinstance(node, ast.Dict):
        return functions
    return functions | {index - len(values): callee for index, callee in functions.items()}
