"""Lower containers that numba lacks or cannot type: deques, chains, dictionaries that count or have defaults."""

from __future__ import annotations

import ast
import collections
import copy
import dataclasses
import functools
import itertools
import operator
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from ...usercode.function_source import bound_names, definition
from ..compile_errors import CompileError, refuse
from ..source.rewrite import Replaced, Rewrite, at, call, name, statements, support, target, written_out
from ..source.scopes import Callee, Missing, Nested, free_names, scope_of
from ..source.stand_ins import OF_LENGTHS, counted, counted_elements, counts_joined, is_of_library, most_common
from .element_types import pairs

_OF_SETS = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)


class LowerContainers(Rewrite):
    """A deque becomes a list, a frozen set a set; `d[k] = d.get(k, 0) + 1` first makes sure of the key."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.longest: dict[str, ast.expr] = {}
        for place, value in (pair for inner in ast.walk(node) for pair in pairs(inner)):
            if not isinstance(value, ast.Call) or self.value_of(value.func, ast.AST) is not collections.deque:
                continue
            if isinstance(place, ast.Name) and (longest := self._longest(value)) is not None:
                self.longest[place.id] = longest
        self.views = _variables_of_views(node)

    @staticmethod
    def _longest(node: ast.Call) -> ast.expr | None:
        given = [*node.args[1:], *(word.value for word in node.keywords if word.arg == "maxlen")]
        is_none = bool(given) and isinstance(given[0], ast.Constant) and given[0].value is None
        return given[0] if given and not is_none else None

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(ast.Attribute(items, "append" | "appendleft" | "extend" | "extendleft" as method), [given]):
                done = self._extended_left(items, given, node) if method == "extendleft" else [self.generic_visit(node)]
                return [*done, *self._shortened(items, method, node)]
        return self.generic_visit(node)

    def _extended_left(self, items: ast.expr, given: ast.expr, node: ast.Expr) -> list[ast.stmt]:
        """Put items before the others one after another, so that they end up in the opposite order."""
        item = self.context.variable("item")
        lines = "for ITEM in GIVEN:\n    ITEMS.insert(0, ITEM)"
        parts = {"ITEM": name(item), "GIVEN": call(self.context.builtin("list"), self.visit(given)), "ITEMS": items}
        return [at(node, one) for one in statements(lines, **parts)]

    def _shortened(self, items: ast.expr, method: str, node: ast.Expr) -> list[ast.stmt]:
        """Drop what a deque with a `maxlen` has too much, at the other end than that at which it grew."""
        if not isinstance(items, ast.Name) or items.id not in self.longest:
            return []
        lines = "while len(ITEMS) > LONGEST:\n    ITEMS.pop(END)"
        end = ast.Constant(-1 if method.endswith("left") else 0)
        parts = {"ITEMS": items, "LONGEST": self.longest[items.id], "END": end}
        return [at(node, one) for one in statements(lines, **parts)]

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if self.builtin(node.func) == "frozenset":
            node.func = at(node, self.context.builtin("set"))
        match node:
            case ast.Call(made, [ast.Call(ordered, [ast.Tuple([first, second]) | ast.List([first, second])], [])]):
                if self.builtin(made) == "tuple" and self.builtin(ordered) == "sorted":
                    ends: list[ast.expr] = [call(self.context.builtin(end), first, second) for end in ("min", "max")]
                    return at(node, copy.deepcopy(ast.Tuple(ends, ast.Load())))
        callee = self.known(node.func)
        if callee is not None and callee.value is itertools.chain and len(node.args) > 1:
            joined: list[ast.expr] = [call(self.context.builtin("list"), argument) for argument in node.args]
            return at(node, functools.reduce(lambda left, right: ast.BinOp(left, ast.Add(), right), joined))
        if callee is not None and callee.value is operator.itemgetter and node.args:
            item = self.context.fresh("item")
            given = ast.arguments([], [ast.arg(item)], None, [], [], None, [])
            parts: list[ast.expr] = [ast.Subscript(name(item), index, ast.Load()) for index in node.args]
            return at(node, ast.Lambda(given, ast.Tuple(parts, ast.Load()) if len(parts) > 1 else parts[0]))
        if callee is not None and callee.value is itertools.product and [k.arg for k in node.keywords] == ["repeat"]:
            times = written_out(node.keywords[0].value)
            if isinstance(times, int) and 1 <= times <= 4 and len(node.args) == 1:
                return at(node, call(node.func, *(copy.deepcopy(node.args[0]) for _ in range(times))))
        if callee is not None and (stand_in := self._of_length(callee.value, node)):
            return at(node, call(self.context.value(stand_in), node.args[0]))
        if callee is not None and callee.value is collections.deque:
            longest = self._longest(node)
            made = support("new_list", *node.args[:1]) if node.args else ast.List([], ast.Load())
            if longest is None or not node.args:
                return at(node, made)
            return at(node, ast.Subscript(made, ast.Slice(ast.UnaryOp(ast.USub(), longest)), ast.Load()))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "popleft":
            return at(node, ast.Call(ast.Attribute(node.func.value, "pop", ast.Load()), [ast.Constant(0)], []))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "appendleft":
            node.func.attr, node.args = "insert", [ast.Constant(0), *node.args]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Make sets of the keys or items of dictionaries that are joined as sets are."""
        self.generic_visit(node)
        if isinstance(node.op, _OF_SETS) and (self._is_view(node.left) or self._is_view(node.right)):
            node.left, node.right = self._as_set(node.left), self._as_set(node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, _OF_SETS) and self._is_view(node.value) and isinstance(node.target, ast.Name):
            joined = ast.BinOp(name(node.target.id), node.op, self._as_set(node.value))
            return at(node, ast.Assign([node.target], joined))
        return node

    def _is_view(self, node: ast.expr) -> bool:
        return _makes_a_view(node) or (isinstance(node, ast.Name) and node.id in self.views)

    def _as_set(self, node: ast.expr) -> ast.expr:
        is_set = isinstance(node, ast.Set | ast.SetComp) or (
            isinstance(node, ast.BinOp) and any(map(self._is_made_a_set, (node.left, node.right)))
        )
        return node if is_set or self._is_made_a_set(node) else at(node, call(self.context.builtin("set"), node))

    def _is_made_a_set(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self.builtin(node.func) == "set"

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Look for a cell, not a list, in `tuple(place) in cells`; compare the keys of dictionaries as sets."""
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        looks_inside = any(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in node.ops)
        if not looks_inside and any(map(self._is_view, sides)):
            node.left, *node.comparators = map(self._as_set, sides)
        match node:
            case ast.Compare(ast.Call(made, [ast.Name() as items]), [ast.In() | ast.NotIn()]):
                if self.builtin(made) == "tuple":
                    node.left = at(node, support("pair_of", items))
        return node

    def _of_length(self, value: Any, node: ast.Call) -> Any:
        """Return the function that replaces `combinations(items, 2)` and the like; None for others."""
        lengths = OF_LENGTHS.get(value) if isinstance(value, Hashable) else None
        if lengths is None or len(node.args) != 2:
            return None
        return lengths.get(self.value_of(node.args[1], ast.AST))

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Put the default under the key before adding to it, so that numba learns the type of both."""
        self.generic_visit(node)
        target = node.targets[0]
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            return node
        gets = [inner for inner in ast.walk(node.value) if isinstance(inner, ast.Call) and _gets(inner, target)]
        if len(gets) != 1:
            return node
        absent = ast.Compare(target.slice, [ast.NotIn()], [ast.Name(target.value.id, ast.Load())])
        default = ast.Assign([ast.Subscript(target.value, target.slice, ast.Store())], gets[0].args[1])
        node.value = Replaced(gets[0], ast.Subscript(target.value, target.slice, ast.Load())).visit(node.value)
        return [at(node, ast.If(absent, [default], [])), at(node, node)]


def _makes_a_view(node: ast.expr) -> bool:
    """Whether an expression is `counts.keys()` or `counts.items()`."""
    match node:
        case ast.Call(ast.Attribute(_, "keys" | "items"), [], []):
            return True
    return False


def _variables_of_views(node: ast.AST) -> set[str]:
    """The variables that hold nothing but the keys or items of dictionaries."""
    given = [(place.id, value) for n in ast.walk(node) for place, value in pairs(n) if isinstance(place, ast.Name)]
    others = {called for called, value in given if not _makes_a_view(value)}
    return {called for called, value in given if _makes_a_view(value)} - others


def _gets(node: ast.Call, target: ast.Subscript) -> bool:
    """Whether a node is `d.get(k, default)` for the assigned place `d[k]`."""
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and len(node.args) == 2
        and ast.unparse(node.func.value) == ast.unparse(target.value)
        and ast.unparse(node.args[0]) == ast.unparse(target.slice)
    )


class LowerCounters(Rewrite):
    """`counts[kind] += 1` first makes sure of the key; `Counter(cells)` counts them in a loop."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        for place, value in (pair for statement in ast.walk(node) for pair in pairs(statement)):
            if isinstance(place, ast.Name) and isinstance(value, ast.Call | ast.BinOp):
                missing = self._missing_of(value)
                if missing is None and isinstance(value, ast.Call):
                    missing = self._missing_of_returned(value)
                if missing is not None:
                    self.scope.facts[place.id] = missing

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Put a missing value under a key, `counts.setdefault(row, 0)`, `groups[row].append(cell)`."""
        match node.value:
            case ast.Call(ast.Attribute(ast.Name() as table, "update" | "subtract" as method)) if self._counts(table):
                if (items := _one_collection(node.value)) is not None:
                    return self._counted_onto(table, "+" if method == "update" else "-", items, node)
            case ast.Call(ast.Attribute(ast.Name() as table, "update")):
                match _one_collection(node.value):
                    case ast.Dict(keys, values) if all(keys):
                        entries = [(key, value) for key, value in zip(keys, values, strict=True) if key]
                        put = [ast.Assign([ast.Subscript(table, key, ast.Store())], value) for key, value in entries]
                        return self.rewrite_body([at(node, one) for one in put])
            case ast.Call(ast.Attribute(ast.Name() as table, "setdefault"), [key, missing]):
                return self._put_first(ast.Subscript(table, key, ast.Load()), missing, node)[:-1]
            case ast.Call(ast.Attribute(ast.Subscript(ast.Name()) as place), [_]) if absent := self._missing_in(place):
                return self._put_first(place, absent, node)
            case ast.Call(ast.Attribute(ast.Call(ast.Attribute(table, "setdefault"), [key, missing]), method), [given]):
                there = ast.Subscript(table, key, ast.Load())
                done = ast.Expr(call(ast.Attribute(there, method, ast.Load()), self.visit(given)))
                return self._put_first(there, missing, at(node, done))
        return self.generic_visit(node)

    def _counted_onto(self, table: ast.Name, sign: str, items: ast.expr, node: ast.Expr) -> list[ast.stmt]:
        """Count items, or what a dictionary says of each, onto a counter or off it."""
        if isinstance(items, ast.Dict) and all(items.keys):
            adding: ast.operator = ast.Add() if sign == "+" else ast.Sub()
            entries = [(key, value) for key, value in zip(items.keys, items.values, strict=True) if key]
            put = [ast.AugAssign(ast.Subscript(table, key, ast.Store()), adding, value) for key, value in entries]
            return self.rewrite_body([at(node, one) for one in put])
        item, given = self.context.variable("item"), self.context.variable("given")
        lines = f"GIVEN = ITEMS\nfor ITEM in GIVEN:\n    TABLE[ITEM] {sign}= COUNT"
        parts = {"ITEM": name(item), "GIVEN": name(given), "ITEMS": items, "TABLE": table}
        written = statements(lines, **parts, COUNT=support("count_in", name(given), name(item)))
        return self.rewrite_body([at(node, one) for one in written])

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        joined = counts_joined.get(type(node.op)) if self._counts(node.left) and self._counts(node.right) else None
        self.generic_visit(node)
        return node if joined is None else at(node, call(self.context.value(joined), node.left, node.right))

    def _put_first(self, place: ast.Subscript, missing: ast.expr, node: ast.Expr | ast.AugAssign) -> list[ast.stmt]:
        """Put a missing value under a key before a statement uses what is there."""
        key = self.context.variable("key")
        lines = "KEY = GIVEN\nif KEY not in TABLE:\n    TABLE[KEY] = MISSING"
        given = self.visit(place.slice)
        parts = {"KEY": name(key), "GIVEN": given, "TABLE": place.value, "MISSING": self.visit(missing)}
        place.slice = name(key)
        return [*(at(node, statement) for statement in statements(lines, **parts)), node]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        place = node.target
        missing = self._missing_in(place)
        if missing is None or not isinstance(place, ast.Subscript):
            return self.generic_visit(node)
        node.value = self.visit(node.value)
        return self._put_first(place, missing, node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Read what may be missing."""
        missing = self._missing_in(node)
        self.generic_visit(node)
        if missing is None or not isinstance(node.ctx, ast.Load):
            return node
        fact = self._fact(node.value)
        assert fact is not None
        return at(node, support("put_and_get" if fact.is_kept else "get_or", node.value, node.slice, missing))

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        kind = self._kind(node)
        if kind is collections.Counter:
            items = self._written_out(_one_collection(node))
            if items is None or isinstance(items, ast.Dict):
                return at(node, items or ast.Dict([], []))
            if self._may_be_dictionary(items):
                return at(node, support("counter_of", items))
            return at(node, call(self.context.value(counted), items))
        if kind is collections.defaultdict:
            return at(node, ast.Dict([], []))
        if kind in (collections.OrderedDict, dict) and not node.keywords:
            match node.args:
                case [ast.Name()]:
                    return at(node, support("as_dict", *node.args))
        if kind in (collections.OrderedDict, dict) and (node.args or node.keywords or kind is not dict):
            return at(node, _written_as_display(node))
        match node:
            case ast.Call(ast.Attribute(ast.Name() as table, "total"), []) if self._counts(table):
                return at(node, call(self.context.builtin("sum"), call(ast.Attribute(table, "values", ast.Load()))))
            case ast.Call(ast.Attribute(ast.Name() as table, "elements"), []) if self._counts(table):
                return at(node, call(self.context.value(counted_elements), table))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "most_common":
            return at(node, call(self.context.value(most_common), node.func.value, *node.args))
        return node

    def _written_out(self, node: ast.expr | None) -> ast.expr | None:
        """A dictionary that never changes as a display of its entries; anything else as it is."""
        table = self.value_of(node) if node is not None else None
        if not isinstance(table, Mapping):
            return node
        return ast.Dict([*map(self.context.value, table)], [*map(self.context.value, table.values())])

    def _may_be_dictionary(self, node: ast.expr) -> bool:
        """Whether what is counted may be a dictionary of counts: a variable, or the value of a user function."""
        if isinstance(node, ast.Call):
            callee = self.callee(node.func)
            return callee is not None and not is_of_library(callee.target)
        return isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.DictComp) and self.known(node) is None

    def _kind(self, node: ast.AST) -> Any:
        kind = self.value_of(node.func, ast.AST) if isinstance(node, ast.Call) else None
        return kind if isinstance(kind, type) else None

    def _missing_of(self, node: ast.expr) -> Missing | None:
        """Return the value for missing keys of the dictionary that an expression makes."""
        kind = self._kind(node)
        is_joined = isinstance(node, ast.BinOp) and self._counts(node.left) and self._counts(node.right)
        if kind is collections.Counter or is_joined:
            return Missing(ast.Constant(0), is_kept=False)
        if kind is not collections.defaultdict or not isinstance(node, ast.Call) or not node.args:
            return None
        made = node.args[0]
        builtin = self.builtin(made)
        if builtin in ("int", "float", "bool"):
            return Missing(ast.Constant({"int": 0, "float": 0.0, "bool": False}[builtin]), is_kept=True)
        if isinstance(made, ast.Lambda) and not made.args.args:
            return Missing(made.body, is_kept=True)
        if builtin in ("list", "set"):
            empty: ast.expr = ast.List([], ast.Load()) if builtin == "list" else call(self.context.builtin("set"))
            return Missing(empty, is_kept=True)
        refuse("it makes a defaultdict of a function: write int, float, list, set, or a lambda", node)

    def _missing_of_returned(self, node: ast.Call) -> Missing | None:
        """Return the value for missing keys of the dictionary that a function of the user's returns."""
        try:
            callee = self.callee(node.func)
            return None if callee is None or is_of_library(callee.target) else self._missing_of_result(callee)
        except CompileError:  # reported where the function itself is rewritten
            return None

    def _missing_of_result(self, callee: Callee) -> Missing | None:
        called = callee.target.node if isinstance(callee.target, Nested) else definition(callee.target)
        scope = scope_of(callee.target, called, {}, {})
        returned = [inner.value for inner in ast.walk(called) if isinstance(inner, ast.Return)]
        if not returned or not all(isinstance(value, ast.Name | ast.Call) for value in returned):
            return None
        inside = LowerCounters(dataclasses.replace(self.context, scope=scope))
        for place, value in (pair for statement in ast.walk(called) for pair in pairs(statement)):
            if isinstance(place, ast.Name) and (missing := inside._missing_of(value)) is not None:
                inside.scope.facts[place.id] = missing
        found = [inside._fact(value) or inside._missing_of(value) for value in returned if value is not None]
        return found[0] if all(found) else None

    def _counts(self, node: ast.expr) -> bool:
        missing = self._fact(node) or self._missing_of(node)
        return missing is not None and not missing.is_kept

    def _fact(self, node: ast.expr) -> Missing | None:
        fact = self.scope.fact(node.id) if isinstance(node, ast.Name) else None
        return fact if isinstance(fact, Missing) else None

    def _missing_in(self, node: ast.expr) -> ast.expr | None:
        """Return the value for missing keys at a place where a dictionary is read."""
        fact = self._fact(node.value) if isinstance(node, ast.Subscript) else None
        return copy.deepcopy(fact.value) if fact is not None else None


def _one_collection(node: ast.Call) -> ast.expr | None:
    """The argument of `Counter(items)`, or the dictionary that its names make; None if there is none, or more."""
    match node:
        case ast.Call(_, [items], []):
            return items
        case ast.Call(_, [], [_, *_] as words) if all(word.arg for word in words):
            return ast.Dict([ast.Constant(word.arg) for word in words], [word.value for word in words])
    return None


def _written_as_display(node: ast.Call) -> ast.expr:
    """`{"own": 1}` for `dict(own=1)` and `OrderedDict([("own", 1)])`; a call that is none of these as it is."""
    items = node.args[0] if node.args else ast.List([], ast.Load())
    rows = items.elts if isinstance(items, ast.List | ast.Tuple) else [items]
    found = [row.elts for row in rows if isinstance(row, ast.Tuple | ast.List) and len(row.elts) == 2]
    if len(found) < len(rows) or len(node.args) > 1 or not all(keyword.arg for keyword in node.keywords):
        return node
    keys: list[ast.expr | None] = [
        *(key for key, _ in found),
        *(ast.Constant(keyword.arg) for keyword in node.keywords),
    ]
    return ast.Dict(keys, [*(value for _, value in found), *(keyword.value for keyword in node.keywords)])


class SplitDictionaries(Rewrite):
    """`lines = {"row": cells, "column": others}` becomes two variables, which may hold what no dictionary can."""

    def apply(self, node: ast.FunctionDef) -> None:
        bound = Counter(name for statement in node.body for name in bound_names(statement))
        read = Counter(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
        inside = self._read_by_inner_functions()
        variables: dict[str, dict[Any, str]] = {}
        for statement in node.body:
            match statement:
                case ast.Assign([ast.Name(called)], ast.Dict(keys)) if keys and bound[called] == 1:
                    uses = _keys_asked(node, called)
                    known = [key.value for key in keys if isinstance(key, ast.Constant)]
                    is_known = len(set(known)) == len(keys) and set(uses) <= set(known)
                    if is_known and read[called] == len(uses) + 1 and called not in inside:
                        variables[called] = {key: self.context.fresh(called) for key in known}
                        self.scope.names.update(variables[called].values())
        if variables:
            _Split(variables).visit(node)

    def _read_by_inner_functions(self) -> set[str]:
        inner = [known.target for known in self.scope.known.values() if isinstance(known, Callee)]
        return {name for target in inner if isinstance(target, Nested) for name, _ in free_names(target.node)}


class _Split(ast.NodeTransformer):
    def __init__(self, variables: dict[str, dict[Any, str]]) -> None:
        self.variables = variables

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign([ast.Name(called)], ast.Dict(keys, values)) if called in self.variables:
                variables = self.variables[called]
                pairs = zip(keys, values, strict=True)
                given = [(key.value, self.visit(value)) for key, value in pairs if isinstance(key, ast.Constant)]
                return [at(node, ast.Assign([target(variables[key])], value)) for key, value in given]
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        match node:
            case ast.Subscript(ast.Name(called), ast.Constant(key)) if called in self.variables:
                return at(node, ast.Name(self.variables[called][key], node.ctx))
        return self.generic_visit(node)


def _keys_asked(node: ast.AST, called: str) -> list[Any]:
    """The keys, as far as they are written out, by which a function looks into a dictionary or sets its values."""
    keys = []
    for inner in ast.walk(node):
        match inner:
            case ast.Subscript(ast.Name(name), ast.Constant(key), ast.Load() | ast.Store()) if name == called:
                keys.append(key)
    return keys
