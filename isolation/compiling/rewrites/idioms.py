"""Write in a plain form what has one: `moves.__len__()`, `(own, both)[own > 3]`, `:=`, and functions by other names."""

from __future__ import annotations

import ast
import copy
import fractions
import functools
import itertools
import re
from collections import Counter
from itertools import count
from typing import Any

from ...usercode.function_source import definition, is_name, names_in
from ..compile_errors import CompileError, refuse
from ..source.rewrite import Rewrite, at, call, function, name, target
from ..source.scopes import Nested

_BUILTINS = {f"__{name}__": name for name in ("len", "abs", "bool", "int", "float", "str", "round", "reversed")}
_SIGNS: dict[str, type[ast.unaryop]] = {"__neg__": ast.USub, "__pos__": ast.UAdd, "__invert__": ast.Invert}
_OPERATORS: dict[str, type[ast.operator]] = {"add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div}
_OPERATORS |= {"floordiv": ast.FloorDiv, "mod": ast.Mod, "pow": ast.Pow, "lshift": ast.LShift, "rshift": ast.RShift}
_OPERATORS |= {"and": ast.BitAnd, "or": ast.BitOr, "xor": ast.BitXor}
_COMPARISONS: dict[str, type[ast.cmpop]] = {"__eq__": ast.Eq, "__ne__": ast.NotEq, "__lt__": ast.Lt, "__le__": ast.LtE}
_COMPARISONS |= {"__gt__": ast.Gt, "__ge__": ast.GtE}


class LowerIdioms(Rewrite):
    """`own.__len__()` becomes `len(own)`, `cells.__getitem__(0)` becomes `cells[0]`, `f.__call__(x)` becomes `f(x)`."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        names = names_in(node)
        made_numbers = [
            inner.args[0].id
            for inner in ast.walk(node)
            if isinstance(inner, ast.Call) and len(inner.args) == 1 and is_name(inner.func, "float")
            if isinstance(inner.args[0], ast.Name) and self.builtin(inner.func)
        ]
        self.only_numbers = {
            called
            for called in made_numbers
            if names.count(called) == made_numbers.count(called) + 1  # where it is assigned
        }
        self.of_keys_alone = _read_by_keys(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Round a number whose text is read as a number again, and only so."""
        match node.targets:
            case [ast.Name(called)] if called in self.only_numbers and (rounded := self._rounded(node.value)):
                node.value = at(node, rounded)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        method = node.func
        match node:
            case ast.Call(ast.Attribute(kind, "fromkeys"), [items, *values], []) if self._makes_dictionaries(kind):
                if not values and id(node) not in self.of_keys_alone:
                    refuse("it makes a dictionary of None by fromkeys: give the values, as in fromkeys(cells, 0)", node)
                return at(node, self._from_keys(items, values[0] if values else ast.Constant(0)))
            case ast.Call(islice, [items, *bounds], []) if bounds and self._is(islice, itertools.islice):
                start, stop, step = [*([None] if len(bounds) == 1 else []), *bounds, None, None][:3]
                listed = call(self.context.builtin("list"), items)
                return at(node, ast.Subscript(listed, ast.Slice(start, stop, step), ast.Load()))
            case ast.Call(made, [text], []) if self._is(made, float) and (rounded := self._rounded(text)):
                return at(node, rounded)
            case ast.Call(made, [ast.Call(fraction, [above, below], [])], []):
                if self._is(made, float) and self._is(fraction, fractions.Fraction):
                    return at(node, ast.BinOp(above, ast.Div(), below))
        if not isinstance(method, ast.Attribute) or not method.attr.startswith("__") or node.keywords:
            return node
        if any(isinstance(argument, ast.Starred) for argument in node.args) or self._is_class(method.value):
            return node
        return at(node, self._written(method.value, method.attr, node.args) or node)

    def _makes_dictionaries(self, node: ast.expr) -> bool:
        kind = self.value_of(node, ast.AST)
        return isinstance(kind, type) and issubclass(kind, dict)

    def _is(self, node: ast.expr, value: object) -> bool:
        return self.value_of(node) is value

    def _rounded(self, node: ast.expr) -> ast.expr | None:
        """`round(x, 2)` for the number that `"%.2f" % x`, `f"{x:.2f}"` or another text of it says."""
        match node:
            case ast.BinOp(ast.Constant(str(template)), ast.Mod(), number):
                template = template.removeprefix("%")
            case ast.JoinedStr([ast.FormattedValue(number, -1, ast.JoinedStr([ast.Constant(str(template))]))]):
                pass
            case ast.Call(ast.Attribute(ast.Constant(str(template)), "format"), [number], []):
                template = template.removeprefix("{:").removesuffix("}")
            case ast.Call(ast.Name() as formats, [number, ast.Constant(str(template))], []):
                if self.builtin(formats) != "format":
                    return None
            case _:
                return None
        places = re.fullmatch(r"\.(\d)f", template)
        if places is None or isinstance(number, ast.Tuple):
            return None
        number = call(self.context.builtin("float"), number)
        return call(self.context.builtin("round"), number, ast.Constant(int(places[1])))

    def _from_keys(self, items: ast.expr, value: ast.expr) -> ast.expr:
        """`{key: value for key in items}`."""
        key = self.context.fresh("key")
        return ast.DictComp(name(key), value, [ast.comprehension(target(key), items, [], 0)])

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Choose by a condition between two values of any kinds: `(own, both)[own > 3]`."""
        self.generic_visit(node)
        match node:
            case ast.Subscript(ast.Tuple([no, yes]) | ast.List([no, yes]), test) if _is_condition(test):
                if not isinstance(no, ast.Starred) and not isinstance(yes, ast.Starred):
                    return at(node, self._choice(test, yes, no))
        is_of_players = isinstance(node.value, ast.Attribute) and node.value.attr == "locs"
        if _is_condition(node.slice) and (is_of_players or self._is_listed(node.value)):
            node.slice = at(node, call(self.context.builtin("int"), node.slice))
        return node

    def _choice(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> ast.expr:
        """One of two values, both of which are computed: either may raise an exception."""
        names = [self.context.fresh(what) for what in ("test", "yes", "no")]
        chosen = ast.IfExp(*map(name, names))
        written = at(test, function("choice", names, [ast.Return(chosen)]))
        return call(name(self.context.define("choice", written)), test, yes, no)

    def _is_listed(self, node: ast.expr) -> bool:
        """Whether an expression is a list or tuple that never changes, or is in one, and no array."""
        while isinstance(node, ast.Subscript):
            node = node.value
        return isinstance(self.value_of(node), list | tuple)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Write an assignment for `table.__setitem__(key, value)`."""
        self.generic_visit(node)
        match node.value:
            case ast.Call(ast.Attribute(owner, "__setitem__"), [key, value], []) if not self._is_class(owner):
                return at(node, ast.Assign([ast.Subscript(owner, key, ast.Store())], value))
        return node

    def _is_class(self, node: ast.expr) -> bool:
        """Whether the method is looked up in a class, or in the class above: `super().__len__()`."""
        return isinstance(self.value_of(node, ast.Name | ast.Attribute | ast.Call), type | super)

    def _written(self, owner: ast.expr, method: str, given: list[ast.expr]) -> ast.expr | None:
        if method == "__call__":
            return call(owner, *given)
        if not given and method in _BUILTINS:
            return call(self.context.builtin(_BUILTINS[method]), owner)
        if not given and method in _SIGNS:
            return ast.UnaryOp(_SIGNS[method](), owner)
        if len(given) != 1:
            return None
        if method == "__getitem__":
            return ast.Subscript(owner, given[0], ast.Load())
        if method == "__contains__":
            return ast.Compare(given[0], [ast.In()], [owner])
        if method in _COMPARISONS:
            return ast.Compare(owner, [_COMPARISONS[method]()], [given[0]])
        operator = method.strip("_")
        if operator in _OPERATORS:
            return ast.BinOp(owner, _OPERATORS[operator](), given[0])
        if operator[:1] == "r" and operator[1:] in _OPERATORS:
            return ast.BinOp(given[0], _OPERATORS[operator[1:]](), owner)
        return None


def _read_by_keys(node: ast.AST) -> set[int]:
    """The ids of expressions of which only the keys are asked, if they are dictionaries: `list(d)`, `cell in d`."""
    places: list[ast.expr] = []
    for inner in ast.walk(node):
        match inner:
            case ast.Call(
                ast.Name("list" | "tuple" | "set" | "frozenset" | "sorted" | "len" | "enumerate"), [first, *_]
            ):
                places.append(first)
            case ast.For(iter=items) | ast.comprehension(iter=items):
                places.append(items)
            case ast.Compare(_, [ast.In() | ast.NotIn()], [items]):
                places.append(items)
    asked = {id(place) for place in places}
    read = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)]
    others = {inner.id for inner in read if id(inner) not in asked}
    for inner in ast.walk(node):
        match inner:
            case ast.Assign([ast.Name(called)], value) if called not in others:
                asked.add(id(value))
    return asked


def _is_condition(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(map(_is_condition, node.values))
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


class ResolveAliases(Rewrite):
    """Call functions by their own names where they are called by aliases, inner functions included."""

    def apply(self, node: ast.FunctionDef) -> None:
        inside = list(ast.walk(node))
        given = Counter(names_in(node, ast.Store))
        given.update(inner.arg for inner in inside if isinstance(inner, ast.arg))
        called = {inner.func.id for inner in inside if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)}
        meanings = {
            alias: statement
            for statement in inside
            if isinstance(statement, ast.Assign)
            if (alias := _alias(statement)) in called
            if given[alias] == 1 and given[_root(statement.value)] <= 1
        }
        if meanings:
            _Meant(meanings).visit(node)
        choices = {
            statement.targets[0].id: statement.value
            for statement in inside
            if isinstance(statement, ast.Assign)
            if isinstance(statement.targets[0], ast.Name) and isinstance(statement.value, ast.IfExp)
            if given[statement.targets[0].id] == 1
            if self.builtin(statement.value.body) and self.builtin(statement.value.orelse)
        }
        if choices.keys() & called:
            _Chosen(choices).visit(node)


def _alias(statement: ast.Assign) -> str:
    """The name that `name = a.b`, or `name = a.b.c`, gives; empty if a statement is none of these."""
    target = statement.targets[0]
    is_attribute = isinstance(statement.value, ast.Attribute) and bool(_root(statement.value))
    return target.id if len(statement.targets) == 1 and isinstance(target, ast.Name) and is_attribute else ""


def _root(node: ast.expr) -> str:
    """The variable that an attribute, or an attribute of one, is read of; empty if it is no variable."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


class _Meant(ast.NodeTransformer):
    def __init__(self, meanings: dict[str, ast.Assign]) -> None:
        self.meanings = meanings

    def visit_Assign(self, node: ast.Assign) -> Any:
        if node in self.meanings.values():
            return at(node, ast.Pass())
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        if isinstance(node.ctx, ast.Load) and node.id in self.meanings:
            return copy.deepcopy(self.meanings[node.id].value)
        return node


class _Chosen(ast.NodeTransformer):
    def __init__(self, choices: dict[str, ast.IfExp]) -> None:
        self.choices = choices

    def visit_Assign(self, node: ast.Assign) -> Any:
        if isinstance(node.value, ast.IfExp) and node.value in self.choices.values():
            node.value = node.value.test
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        choice = self.choices.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if choice is None:
            return node
        other = copy.deepcopy(node)
        either, node.func, other.func = node.func, copy.deepcopy(choice.body), copy.deepcopy(choice.orelse)
        return at(node, ast.IfExp(either, node, other))


class LowerPartials(Rewrite):
    """`partial(distance, here)` takes what `distance` still lacks."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        try:
            if self.value_of(node.func) is not functools.partial or not node.args:
                return node
        except CompileError:
            return node
        callee = self.callee(node.args[0])
        if callee is None or any(isinstance(argument, ast.Starred) for argument in node.args):
            return node
        written = callee.target.node if isinstance(callee.target, Nested) else definition(callee.target)
        named = {keyword.arg for keyword in node.keywords}
        taken = [argument.arg for argument in written.args.args if argument.arg not in callee.defaults]
        defaults = written.args.defaults if isinstance(callee.target, Nested) else callee.target.__defaults__ or ()
        lacks = [each for each in taken[: len(taken) - len(defaults)][len(node.args) - 1 :] if each not in named]
        fresh = [self.context.fresh(each) for each in lacks]
        given = ast.arguments([], [ast.arg(each) for each in fresh], None, [], [], None, [])
        called = ast.Call(node.args[0], [*node.args[1:], *map(name, fresh)], node.keywords)
        return at(node, ast.Lambda(given, called))


def lower_walrus(tree: ast.AST) -> None:
    """Rewrite the statements of a tree in place so that none holds `:=`.

    Raises:
        CompileError: one stands where it is not always evaluated and cannot be moved.
    """
    _LowerWalrus().visit(tree)


class _LowerWalrus(ast.NodeTransformer):
    def __init__(self) -> None:
        self.names = (f"_v_test{number}" for number in count())

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if not _holds_walrus(node.test):
            return node
        before, node.test = self._lower(node.test)
        return [*before, node]

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        if not _holds_walrus(node.test):
            return node
        if node.orelse:
            refuse(
                "it assigns (:=) in the condition of a loop with an else, which compiled code does not support", node
            )
        before, test = self._lower(node.test)
        leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        loop = ast.While(ast.Constant(True), [*before, leave, *node.body], [])
        return ast.fix_missing_locations(ast.copy_location(loop, node))

    def visit_simple(self, node: ast.stmt) -> ast.AST | list[ast.stmt]:
        value = getattr(node, "value", None)
        if value is None or not _holds_walrus(value):
            return node
        before: list[ast.stmt] = []
        node.value = self._hoist(value, before)  # type: ignore[attr-defined]
        return [*before, node]

    visit_Assign = visit_AugAssign = visit_AnnAssign = visit_Return = visit_Expr = visit_simple  # noqa: N815

    def _lower(self, test: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Statements to run before, and what is then tested; `and` and `or` stop where they did."""
        before: list[ast.stmt] = []
        if not isinstance(test, ast.BoolOp):
            return before, self._hoist(test, before)
        first, *others = test.values
        name = next(self.names)
        if len(others) > 1:
            others = [ast.copy_location(ast.BoolOp(test.op, others), test)]
        first_before, first_test = self._lower(first)
        rest_before, rest_test = self._lower(others[0])
        flag = ast.Name(name, ast.Load())
        goes_on = flag if isinstance(test.op, ast.And) else ast.UnaryOp(ast.Not(), flag)
        before = [
            *first_before,
            _assign(name, _truth(first_test), test),
            ast.If(goes_on, [*rest_before, _assign(name, _truth(rest_test), test)], []),
        ]
        return [
            ast.fix_missing_locations(ast.copy_location(statement, test)) for statement in before
        ], ast.copy_location(flag, test)

    def _hoist(self, expression: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """The expression without its assignments, which are put at the end of `before` in the order of evaluation."""
        if not _holds_walrus(expression):
            return expression
        if isinstance(expression, ast.IfExp):
            return self._hoist_choice(expression, before)
        if isinstance(expression, (ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            refuse(
                "it assigns with := conditionally (for example after and), which compiled code does not support",
                expression,
            )
        for field, value in ast.iter_fields(expression):
            if isinstance(value, ast.expr):
                setattr(expression, field, self._hoist(value, before))
            elif isinstance(value, list):
                value[:] = [self._hoist(item, before) if isinstance(item, ast.expr) else item for item in value]
        if isinstance(expression, ast.NamedExpr):
            before.append(_assign(expression.target.id, expression.value, expression))
            return ast.copy_location(ast.Name(expression.target.id, ast.Load()), expression)
        return expression

    def _hoist_choice(self, choice: ast.IfExp, before: list[ast.stmt]) -> ast.expr:
        """The assignments of a condition are always made, those of the values as they are chosen."""
        tested, choice.test = self._lower(choice.test)
        before += tested
        if not _holds_walrus(choice):
            return choice
        name = next(self.names)
        bodies: list[list[ast.stmt]] = []
        for value in (choice.body, choice.orelse):
            body: list[ast.stmt] = []
            chosen = self._hoist(value, body)
            bodies.append([*body, _assign(name, chosen, value)])
        before.append(ast.fix_missing_locations(ast.copy_location(ast.If(choice.test, *bodies), choice)))
        return ast.copy_location(ast.Name(name, ast.Load()), choice)


def _holds_walrus(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node))


def _assign(name: str, value: ast.expr, node: ast.AST) -> ast.stmt:
    statement = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)
    return ast.fix_missing_locations(statement)


def _truth(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("bool", ast.Load()), [value], [])
