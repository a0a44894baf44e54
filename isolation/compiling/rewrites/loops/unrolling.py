"""Unroll loops over functions, or over their names: `for feature, weight in PARTS`."""

from __future__ import annotations

import ast
import copy
import enum
import functools
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

from ....rules.classic_board import Board
from ....usercode.function_source import bound_names, changed_name, fields_of, names_in, never_changes
from ...compile_errors import CompileError
from ...source.rewrite import Rewrite, at, mark_written_out, written_out
from ...source.scopes import as_callee, callee_of_object
from ..tables import is_ragged

_MOST_ROUNDS = 32


class Unroll(Rewrite):
    """A loop or comprehension over a list, tuple or dictionary that holds functions and never changes."""

    def apply(self, node: ast.FunctionDef) -> None:
        bound = Counter(name for statement in node.body for name in bound_names(statement))
        changed = {changed_name(inner) for inner in ast.walk(node)}
        once = {
            statement.targets[0].id: statement.value
            for statement in node.body
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
            if bound[statement.targets[0].id] == 1 and statement.targets[0].id not in changed
        }
        listed = {called: value for called, value in once.items() if isinstance(value, ast.List | ast.Tuple | ast.Dict)}
        self.lists = {called: value for called, value in listed.items() if self._holds_functions(value)}
        self.constants = {
            called: value
            for called, value in listed.items()
            if not isinstance(value, ast.Dict) and written_out(value) is not None
        }
        super().apply(node)
        read = names_in(node, ast.Load)
        unread = [written for name, written in self.lists.items() if name not in read]
        node.body = [
            statement
            for statement in node.body
            if not (isinstance(statement, ast.Assign) and statement.value in unread)
        ]

    def visit_For(self, node: ast.For) -> Any:
        match node.body:
            case [ast.If(test, [*found, ast.Break()], [])] if not any(map(_leaves, found)):
                rounds = self._rounds(node.target, node.iter, node.body)
                return self.generic_visit(node) if rounds is None else self._first_of(rounds, test, found, node)
        rounds = None if _leaves(node) or node.orelse else self._rounds(node.target, node.iter, node.body)
        if rounds is None:
            return self.generic_visit(node)
        return [self.visit(_Body(given).visit(copy.deepcopy(statement))) for given in rounds for statement in node.body]

    def _first_of(
        self, rounds: list[dict[str, ast.expr]], test: ast.expr, found: list[ast.stmt], node: ast.For
    ) -> list[ast.stmt]:
        """What a loop does that looks for the first row which meets a condition, as `if … elif … else`."""
        rest: list[ast.stmt] = self.rewrite_body(node.orelse)
        for given in reversed(rounds):
            body = [self.visit(_Body(given).visit(copy.deepcopy(statement))) for statement in found]
            asked = self.visit(_Body(given).visit(copy.deepcopy(test)))
            rest = [at(node, ast.If(asked, body or [ast.Pass()], rest))]
        return rest

    def visit_Call(self, node: ast.Call) -> Any:
        """Write `filter` and `next` over functions element by element, and `getattr(self, "term_" + part)` as it is."""
        match node:
            case ast.Call(ast.Name("filter"), [ast.Lambda(ast.arguments([], [item]), test), items], []):
                if self.builtin(node.func) == "filter" and self._is_about_functions(items, [test]):
                    place = ast.Name(item.arg, ast.Store())
                    kept = ast.comprehension(place, items, [test], 0)
                    return self.visit(at(node, ast.ListComp(ast.Name(item.arg, ast.Load()), [kept])))
            case ast.Call(ast.Name("next"), [ast.GeneratorExp(element, [first]), default], []) if first.ifs:
                rounds = self._rounds(first.target, first.iter, [element, *first.ifs])
                if self.builtin(node.func) == "next" and rounds is not None:
                    return at(node, self._first_value(rounds, element, first.ifs, default))
            case ast.Call(function, [ast.Lambda(ast.arguments([], [total, item]), body), items, first], []):
                rounds = (
                    self._rounds(ast.Name(item.arg, ast.Store()), items, [body]) if self._reduces(function) else None
                )
                if rounds is not None and names_in(body).count(total.arg) == 1:
                    return self.visit(at(node, functools.reduce(partial(_reduced, total.arg, body), rounds, first)))
        self.generic_visit(node)
        is_found = self.builtin(node.func) == "getattr" and len(node.args) == 2 and self.known(node) is not None
        text = self.joined_text(node.args[1]) if is_found else None
        return node if text is None else at(node, ast.Attribute(node.args[0], text.value, ast.Load()))

    def _reduces(self, node: ast.expr) -> bool:
        return self.value_of(node) is functools.reduce

    def _first_value(
        self, rounds: list[dict[str, ast.expr]], element: ast.expr, tests: list[ast.expr], default: ast.expr
    ) -> ast.expr:
        """The value for the first row that meets all conditions, as `… if … else …`."""
        value: ast.expr = self.visit(default)
        for given in reversed(rounds):
            value = ast.IfExp(self._asked(given, tests), self.visit(_Body(given).visit(copy.deepcopy(element))), value)
        return value

    def _asked(self, given: dict[str, ast.expr], tests: list[ast.expr]) -> ast.expr:
        asked = [self.visit(_Body(given).visit(copy.deepcopy(test))) for test in tests]
        return asked[0] if len(asked) == 1 else ast.BoolOp(ast.And(), asked)

    def visit_ListComp(self, node: Any) -> Any:
        first = node.generators[0]
        plain = len(node.generators) == 1 and not isinstance(node, ast.SetComp | ast.DictComp)
        rounds = self._rounds(first.target, first.iter, [node.elt, *first.ifs]) if plain else None
        if rounds is None:
            return super().visit_ListComp(node)
        if first.ifs:
            return self._kept(rounds, node)
        elements = [self.visit(_Body(given).visit(copy.deepcopy(node.elt))) for given in rounds]
        return at(node, mark_written_out(ast.List(elements, ast.Load())))

    visit_GeneratorExp = visit_ListComp  # noqa: N815

    def _kept(self, rounds: list[dict[str, ast.expr]], node: Any) -> ast.expr:
        """The elements of a comprehension whose rows meet its conditions: `[first][:1 if … else 0] + …`.

        Functions in them cannot be kept as values: what is asked of them again is refused.
        """
        elements = [_Body(given).visit(copy.deepcopy(node.elt)) for given in rounds]
        if not elements or not all(map(_may_be_copied, elements)):
            return super().visit_ListComp(node)  # type: ignore[no-any-return]
        parts: list[ast.expr] = []
        for given, element in zip(rounds, elements, strict=True):
            count = ast.IfExp(self._asked(given, node.generators[0].ifs), ast.Constant(1), ast.Constant(0))
            made = ast.List([self._without_functions(element)], ast.Load())
            parts.append(ast.Subscript(made, ast.Slice(None, count), ast.Load()))
        return at(node, functools.reduce(lambda left, right: ast.BinOp(left, ast.Add(), right), parts))

    def _without_functions(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Tuple | ast.List):
            return ast.Tuple([self._without_functions(part) for part in node.elts], ast.Load())
        return ast.Constant(1) if self._holds_functions(node) else node

    def _rounds(self, target: ast.expr, items: ast.expr, body: list[Any]) -> list[dict[str, ast.expr]] | None:
        """Return the values of a loop's variables in each round, if it iterates over functions."""
        names_attributes = self._names_attributes(target, body) or self._asks_for_names(target, items, body)
        if not names_attributes and not self._is_about_functions(items, body):
            return None
        rows = self._rows(items)
        by_index = self._indices(target, items, body)
        if by_index is not None:
            rows = by_index
        elif rows is None or not (names_attributes or any(map(self._holds_functions, rows)) or self._is_ragged(items)):
            return None
        rounds = [_matched(target, row) for row in rows]
        stored = {name for statement in body for name in names_in(statement, ast.Store)}
        used = {name for row in [*rows, target] for name in names_in(row)}
        if len(rows) > _MOST_ROUNDS or None in rounds or stored & used:
            return None
        return [given for given in rounds if given is not None]

    def _names_attributes(self, target: ast.expr, body: list[Any]) -> bool:
        """Whether a loop's variable names an attribute, as in `getattr(self, part)`."""
        own = names_in(target)
        return any(
            isinstance(inner, ast.Call)
            and len(inner.args) > 1
            and any(isinstance(part, ast.Name) and part.id in own for part in ast.walk(inner.args[1]))
            and self.builtin(inner.func) == "getattr"
            for part in body
            for inner in ast.walk(part)
        )

    def _asks_for_names(self, target: ast.expr, items: ast.expr, body: list[Any]) -> bool:
        """Whether a loop over an enumeration asks its members for their names."""
        if self._enumeration(items) is None or not isinstance(target, ast.Name):
            return False
        read = (inner for part in body for inner in ast.walk(part) if isinstance(inner, ast.Attribute))
        return any(
            isinstance(each.value, ast.Name) and each.value.id == target.id for each in read if each.attr == "name"
        )

    def _enumeration(self, node: ast.expr) -> type[enum.Enum] | None:
        kind = self.value_of(node)
        return kind if isinstance(kind, type) and issubclass(kind, enum.Enum) else None

    def _is_about_functions(self, items: ast.expr, body: list[Any]) -> bool:
        """Whether an iterable, or what the body of a loop over it looks into, mentions tables of functions."""
        looked_up = [inner.value for part in body for inner in ast.walk(part) if isinstance(inner, ast.Subscript)]
        mentioned = [*ast.walk(items), *looked_up]
        return any(
            (isinstance(element, ast.Name) and element.id in self.lists)
            or (isinstance(element, ast.Name | ast.Attribute) and _is_to_be_unrolled(self._table(element)))
            or (isinstance(element, ast.List | ast.Tuple) and self._holds_functions(element))
            for element in mentioned
        )

    def _is_ragged(self, node: ast.expr) -> bool:
        """Whether an iterable is a table that compiled code could not run over, or its rows with numbers."""
        if isinstance(node, ast.Call) and self.builtin(node.func) in ("enumerate", "zip"):
            return any(map(self._is_ragged, node.args))
        return _is_to_be_unrolled(self._table(node))

    def _rows(self, node: ast.expr) -> list[ast.expr] | None:
        """The elements of an iterable as expressions, if they are all known."""
        if isinstance(node, ast.Name):
            node = self.lists.get(node.id) or self.constants.get(node.id) or node
        if isinstance(node, ast.List | ast.Tuple):
            return list(node.elts) if all(map(_may_be_copied, node.elts)) else None
        if isinstance(node, ast.Dict):
            return None if None in node.keys else [key for key in node.keys if key is not None]
        if isinstance(node, ast.Call) and all(word.arg == "start" for word in node.keywords):
            return self._rows_of_call(node)
        if (members := self._enumeration(node)) is not None:
            return [ast.Attribute(copy.deepcopy(node), member.name, ast.Load()) for member in members]
        return self._known_rows(self._table(node))

    def _rows_of_call(self, node: ast.Call) -> list[ast.expr] | None:
        called = self.builtin(node.func)
        columns = [self._rows(argument) for argument in node.args]
        known = [column for column in columns if column is not None]
        if called == "zip" and known and len(known) == len(columns):
            return [ast.Tuple(list(row), ast.Load()) for row in zip(*known, strict=False)]
        if called == "enumerate" and columns and columns[0] is not None:
            starts = [*node.args[1:], *(word.value for word in node.keywords)]
            start = written_out(starts[0]) if starts else 0
            if not isinstance(start, int):
                return None
            return [ast.Tuple([ast.Constant(at), row], ast.Load()) for at, row in enumerate(columns[0], start)]
        if called in ("list", "tuple") and len(columns) == 1:
            return columns[0]
        if called == "sorted" and len(columns) == 1 and columns[0] is not None:
            return _sorted_by_texts(columns[0])
        if not isinstance(node.func, ast.Attribute) or node.args:
            return None
        listed, owner = node.func.attr, node.func.value
        if listed not in ("keys", "values", "items"):
            return None
        written = self.lists.get(owner.id) if isinstance(owner, ast.Name) else None
        if isinstance(written, ast.Dict) and None not in written.keys:
            both = zip(written.keys, written.values, strict=True)
            items = [ast.Tuple([key, value], ast.Load()) for key, value in both if key is not None]
            rows: list[ast.expr] = [item if listed == "items" else item.elts[listed == "values"] for item in items]
            return rows if all(map(_may_be_copied, rows)) else None
        table = self._table(owner)
        return self._known_rows(list(getattr(table, listed)())) if isinstance(table, Mapping) else None

    def _indices(self, target: ast.expr, items: ast.expr, body: list[Any]) -> list[ast.expr] | None:
        """The indices of a loop over `range` or keys whose body looks functions up by them."""
        if not isinstance(target, ast.Name):
            return None
        looked_up = [
            inner.value
            for statement in body
            for inner in ast.walk(statement)
            if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Name) and inner.slice.id == target.id
        ]
        written = [base for base in looked_up if isinstance(base, ast.Name) and base.id in self.lists]
        if not written and not any(_has_function(self._table(base)) for base in looked_up):
            return None
        if isinstance(items, ast.Call) and self.builtin(items.func) == "range" and len(items.args) == 1:
            end = items.args[0]
            known = self.known(end)
            if isinstance(end, ast.Call) and self.builtin(end.func) == "len" and len(end.args) == 1:
                table = self._table(end.args[0])
                return None if table is None else [ast.Constant(index) for index in range(len(table))]
            if known is not None and isinstance(known.value, int):
                return [ast.Constant(index) for index in range(min(known.value, _MOST_ROUNDS + 1))]
        return self._rows(items)

    def _table(self, node: ast.expr) -> Any:
        """The known list, tuple or dictionary that an expression stands for; variables of comprehensions are none."""
        try:
            table = self.known(node) if isinstance(node, ast.Name | ast.Attribute) else None
        except CompileError:
            return None
        return table.value if table is not None and isinstance(table.value, list | tuple | Mapping) else None

    def _known_rows(self, table: Any) -> list[ast.expr] | None:
        if table is None or len(table) > _MOST_ROUNDS:
            return None
        return [self._expression(value) for value in table]

    def _expression(self, value: Any) -> ast.expr:
        if hasattr(value, "_fields"):
            return self.context.value(value)
        is_row = isinstance(value, list | tuple) and any(isinstance(part, str) or never_changes(part) for part in value)
        if is_row or (isinstance(value, list | tuple) and _has_function(value)):
            return ast.Tuple([self._expression(part) for part in value], ast.Load())
        return self.context.value(value)

    def _holds_functions(self, node: ast.expr) -> bool:
        if isinstance(node, ast.List | ast.Tuple):
            return any(map(self._holds_functions, node.elts))
        if isinstance(node, ast.Dict):
            return any(map(self._holds_functions, node.values))
        if isinstance(node, ast.Attribute) and self.kind(node.value) == "game":
            return callable(getattr(Board, node.attr, None))
        try:
            return isinstance(node, ast.Name | ast.Attribute | ast.Lambda) and self.callee(node) is not None
        except CompileError:
            return False


def _has_function(value: Any) -> bool:
    """Whether a value is a user's function, or an object with nothing but functions, or holds one."""
    if isinstance(value, Mapping):
        return any(map(_has_function, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_function, value))
    if as_callee(value) is not None or callee_of_object(value) is not None:
        return True
    return never_changes(value) and not fields_of(type(value))


def _is_to_be_unrolled(value: Any) -> bool:
    """Whether a table holds functions, objects of several classes, or rows of several lengths."""
    if _has_function(value):
        return True
    rows = value if isinstance(value, list | tuple) else []
    objects = [row for row in rows if never_changes(row) and not isinstance(row, tuple)]
    if len({type(row) for row in objects}) > 1:
        return True
    return all(rows) and is_ragged(rows)


def _leaves(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Break | ast.Continue) for inner in ast.walk(node))


def _may_be_copied(node: ast.AST) -> bool:
    """Whether an expression may stand in several places: it computes nothing."""
    kinds = (ast.Name, ast.Attribute, ast.Constant, ast.Tuple, ast.List, ast.USub, ast.UnaryOp, ast.Load, ast.Lambda)
    return isinstance(node, ast.Lambda) or (
        isinstance(node, kinds) and all(map(_may_be_copied, ast.iter_child_nodes(node)))
    )


def _matched(target: ast.expr, row: ast.expr) -> dict[str, ast.expr] | None:
    """Match the variables of a loop's target with a row; None if they do not match."""
    if isinstance(target, ast.Name):
        return {target.id: row}
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(row, ast.Tuple | ast.List):
        return None
    if len(target.elts) != len(row.elts):
        return None
    bindings: dict[str, ast.expr] = {}
    for part, value in zip(target.elts, row.elts, strict=True):
        matched = _matched(part, value)
        if matched is None:
            return None
        bindings |= matched
    return bindings


class _Body(ast.NodeTransformer):
    """A loop's body with its variables replaced by what they stand for."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> Any:
        if isinstance(node.ctx, ast.Load) and node.id in self.given:
            return copy.deepcopy(self.given[node.id])
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        is_row = isinstance(node.value, ast.Name) and isinstance(self.given.get(node.value.id), ast.Tuple)
        self.generic_visit(node)
        match node:
            case ast.Subscript(ast.Tuple(parts), ast.Constant(int(index)), ast.Load()) if is_row:
                return parts[index] if 0 <= index < len(parts) else node
        return node


def _reduced(total: str, body: ast.expr, so_far: ast.expr, given: dict[str, ast.expr]) -> ast.expr:
    """What a function of a total and a row gives, with both written in."""
    written: ast.expr = _Body({**given, total: so_far}).visit(copy.deepcopy(body))
    return written


def _sorted_by_texts(rows: list[ast.expr]) -> list[ast.expr] | None:
    """Rows that are texts, or begin with texts of which no two are equal, in the order of these."""
    first = [row.elts[0] if isinstance(row, ast.Tuple) and row.elts else row for row in rows]
    texts = [part.value for part in first if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if len(texts) < len(rows) or (len(set(texts)) < len(rows) and first != rows):
        return None
    return [row for _, row in sorted(zip(texts, rows, strict=True), key=lambda pair: pair[0])]
