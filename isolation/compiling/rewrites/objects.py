"""Lower objects: those that change to variables, those that never do to tuples; inner functions' variables to lists.

Objects that never change are named tuples, dataclasses, and those of classes whose `__init__` sets everything.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import enum
import inspect
from types import FunctionType
from typing import Any

from ...rules.classic_board import Board
from ...rules.third_edition import Isolation
from ...usercode import function_source
from ...usercode.function_source import assigned, definition, fields_of, is_name, maker_of, names_in, parameters
from ..compile_errors import CompileError, refuse
from ..source.rewrite import FunctionContext, Replaced, Rewrite, at, call, is_asked, name, support, target
from ..source.scopes import Callee, Nested, free_names, scope_of
from .element_types import pairs


class LowerObjects(Rewrite):
    """One object after another: each is made by a statement of the function itself, and kept in one variable."""

    def apply(self, node: ast.FunctionDef) -> None:
        body = [one for statement in node.body for one in self._made_first(statement)]
        bound = [called for statement in body for called in function_source.bound_names(statement)]
        for statement in list(body):
            written = pairs(statement)
            if len(written) != 1 or not isinstance(written[0][0], ast.Name) or bound.count(written[0][0].id) != 1:
                continue
            lowered = self._lowered(written[0][0].id, written[0][1], body)
            if lowered is not None:
                place = body.index(statement)
                body[place : place + 1] = [at(statement, one) for one in lowered]
        node.body = body

    def _made_first(self, statement: ast.stmt) -> list[ast.stmt]:
        """`return Tally(0).mean()` with the object made before."""
        if not isinstance(statement, ast.Return | ast.Assign | ast.Expr) or statement.value is None:
            return [statement]
        first = statement.value
        while isinstance(first, ast.Attribute | ast.Call) and not (isinstance(first, ast.Call) and self._kind(first)):
            first = first.value if isinstance(first, ast.Attribute) else first.func
        if not isinstance(first, ast.Call) or first is statement.value:
            return [statement]
        made = self.context.variable("object")
        return [at(statement, ast.Assign([target(made)], first)), Replaced(first, name(made)).visit(statement)]

    def _kind(self, node: ast.expr) -> type | None:
        """The class of the object that an expression makes, if it changes and is written in the function's file."""
        kind = self.value_of(node.func, ast.Name) if isinstance(node, ast.Call) else None
        if not isinstance(kind, type) or (made := maker_of(kind)) is None:
            return None
        is_lowered_here = function_source.changes_itself(kind) or _calls_itself(made, kind)
        return kind if made.__globals__ is self.scope.file and is_lowered_here else None

    def _lowered(self, called: str, value: ast.expr, body: list[ast.stmt]) -> list[ast.stmt] | None:
        """The statements that stand for making an object, once its uses are replaced; None if it does more."""
        kind = self._kind(value)
        if kind is None or not isinstance(value, ast.Call):
            return None
        place = next(at for at, statement in enumerate(body) if any(inner is value for inner in ast.walk(statement)))
        inside = [inner for at, statement in enumerate(body) if at != place for inner in ast.walk(statement)]
        if any(_is_bound(inner, called) for inner in inside):
            return None
        try:
            lowered = _Object(self.context, kind, value)
            uses = _Uses(called, lowered)
            tried = [uses.visit(copy.deepcopy(statement)) for statement in body]
            made = lowered.written()
        except (CompileError, _NotLowerable):
            return None
        is_kept = any(is_name(inner, called) for at, one in enumerate(tried) if at != place for inner in ast.walk(one))
        if is_kept or lowered.reads & self.scope.names or _asks_for_a_value(tried, lowered.without_value):
            return None
        body[:] = [*tried[:place], body[place], *tried[place + 1 :]]
        self.scope.names |= lowered.names
        return made


class _NotLowerable(Exception):
    """An object does what variables cannot."""


class _Object:
    """The variables and functions that stand for an object."""

    def __init__(self, context: FunctionContext, kind: type, made: ast.Call) -> None:
        self.context, self.kind, self.made = context, kind, made
        self.prefix = context.fresh(kind.__name__)
        self.reads: set[str] = set()
        self.without_value: set[str] = set()
        self.methods: dict[str, ast.FunctionDef] = {}
        self.names: set[str] = set()
        maker = maker_of(kind)
        assert maker is not None
        self.maker = self._copied(maker)
        own = self.maker.args.args[0].arg
        set_first = [place for statement in self.maker.body for place, _ in pairs(statement)]
        self.attributes = {
            place.attr for place in set_first if isinstance(place, ast.Attribute) and is_name(place.value, own)
        }

    def part(self, node: ast.Attribute) -> ast.expr:
        """The variable or the function that an attribute is."""
        if node.attr in self.attributes:
            return ast.Name(self.variable(node.attr), node.ctx)
        found = vars(self.kind).get(node.attr)
        if isinstance(found, FunctionType) and isinstance(node.ctx, ast.Load):
            return name(self._method(node.attr, found))
        if found is None or callable(found) or hasattr(found, "__get__") or not isinstance(node.ctx, ast.Load):
            raise _NotLowerable
        return self.context.value(found)

    def written(self) -> list[ast.stmt]:
        """The statements of the `__init__`, and the methods as functions."""
        wanted = self.maker.args
        positional = [one.arg for one in wanted.args[1:]]
        values: dict[str, ast.expr | None] = dict(zip(reversed(positional), reversed(wanted.defaults), strict=False))
        values |= {one.arg: value for one, value in zip(wanted.kwonlyargs, wanted.kw_defaults, strict=True)}
        values |= dict(zip(positional, self.made.args, strict=False))
        values |= {keyword.arg: keyword.value for keyword in self.made.keywords if keyword.arg}
        named = [*positional, *(one.arg for one in wanted.kwonlyargs)]
        if wanted.vararg or wanted.kwarg or set(named) != {called for called, value in values.items() if value}:
            raise _NotLowerable
        own = {called: self.variable(f"init_{called}") for called in {*parameters(self.maker), *assigned(self.maker)}}
        body = [_Renamed(own).visit(_Uses(wanted.args[0].arg, self).visit(one)) for one in self.maker.body]
        if any(isinstance(inner, ast.Return) for one in body for inner in ast.walk(one)):
            raise _NotLowerable
        set_first = [ast.Assign([target(own[called])], value) for called, value in values.items() if value]
        return [*set_first, *body, *self.methods.values()]

    def variable(self, called: str) -> str:
        """The name of what stands for an attribute or method."""
        self.names.add(f"{self.prefix}_{called}")
        return f"{self.prefix}_{called}"

    def _method(self, called: str, method: FunctionType) -> str:
        """The name of the function that a method becomes, which is written once."""
        own = self.variable(called)
        if called not in self.methods:
            written = self.methods[called] = self._copied(method)
            first = written.args.args.pop(0).arg
            written.name = own
            match written.body[-1]:
                case ast.Return(ast.Name(returned)) if returned == first and len(written.body) > 1:
                    written.body.pop()
                    self.without_value.add(own)
            _Uses(first, self).visit(written)
            if any(is_name(one, first) for one in ast.walk(written)):
                raise _NotLowerable
        return own

    def _copied(self, method: FunctionType) -> ast.FunctionDef:
        """A copy of the definition of a method that takes an object, without decorators."""
        node = copy.deepcopy(definition(method))
        if not isinstance(node, ast.FunctionDef) or node.decorator_list or not node.args.args:
            raise _NotLowerable
        self.reads |= {free for free, _ in free_names(node)}
        return node


class _Uses(ast.NodeTransformer):
    """Attributes of an object as the variables and functions that stand for them."""

    def __init__(self, called: str, lowered: _Object) -> None:
        self.called, self.lowered = called, lowered

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if not is_name(node.value, self.called):
            return self.generic_visit(node)
        return ast.copy_location(self.lowered.part(node), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        if changed := sorted(set(names_in(node, ast.Store)) & set(map(self.lowered.variable, self.lowered.attributes))):
            node.body.insert(0, at(node.body[0], ast.Nonlocal(changed)))
        return node


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> Any:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)


def _calls_itself(made: FunctionType, kind: type) -> bool:
    """Whether the `__init__` of a class calls one of its methods."""
    node = definition(made)
    own = parameters(node)[0] if parameters(node) else ""
    called = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return any(
        isinstance(each, ast.Attribute) and is_name(each.value, own) and each.attr in vars(kind) for each in called
    )


def _asks_for_a_value(body: list[ast.stmt], methods: set[str]) -> bool:
    """Whether a body uses the value of one of the functions that return their object, `tally.add(cell).mean()`."""
    inside = [inner for statement in body for inner in ast.walk(statement)]
    named = [inner for inner in inside if isinstance(inner, ast.Name) and inner.id in methods]
    called = [one.value.func for one in inside if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    return any(all(one is not function for function in called) for one in named)


def _is_bound(node: ast.AST, called: str) -> bool:
    is_variable = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node.id == called
    return is_variable or (isinstance(node, ast.arg) and node.arg == called)


class LowerNonlocals(Rewrite):
    """`count = 0` becomes a list that holds 0, in the function that has the variable and in those that change it."""

    def apply(self, node: ast.FunctionDef) -> None:
        inner = [one for statement in node.body for one in ast.walk(statement) if isinstance(one, ast.FunctionDef)]
        changed = {called for one in inner for called in _declared(one)}
        if not changed:
            return
        node.body = [part for statement in node.body for part in _one_by_one(statement, changed)]
        first = {
            statement.targets[0].id: statement
            for statement in reversed(node.body)
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        }
        own = {called for called in changed & first.keys() if called not in parameters(node)}
        lists = {called: self.context.fresh(called) for called in sorted(own)}
        self.scope.names.update(lists.values())
        if lists:
            _InLists(lists, {id(first[called]) for called in own}).visit(node)


def _one_by_one(statement: ast.stmt, changed: set[str]) -> list[ast.stmt]:
    """The assignments of `count, found = 0, []`, if one is to such a variable and no value reads another."""
    written = pairs(statement) if isinstance(statement, ast.Assign) else []
    places = {place.id for place, _ in written if isinstance(place, ast.Name)}
    read = {one.id for _, value in written for one in ast.walk(value) if isinstance(one, ast.Name)}
    if len(places) < 2 or len(places) < len(written) or not places & changed or places & read:
        return [statement]
    return [at(statement, ast.Assign([place], value)) for place, value in written]


def _declared(function: ast.FunctionDef) -> set[str]:
    """The variables that a function declares as those of functions around it."""
    return {called for one in ast.walk(function) if isinstance(one, ast.Nonlocal) for called in one.names}


class _InLists(ast.NodeTransformer):
    def __init__(self, lists: dict[str, str], first: set[int]) -> None:
        self.lists = lists
        self.first = first

    def visit_Assign(self, node: ast.Assign) -> Any:
        if id(node) in self.first and isinstance(node.targets[0], ast.Name):
            value = self.visit(node.value)
            made = support("new_list", ast.Tuple([value], ast.Load()))
            return at(node, ast.Assign([target(self.lists[node.targets[0].id])], made))
        return self.generic_visit(node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        node.names = [called for called in node.names if called not in self.lists]
        return node if node.names else at(node, ast.Pass())

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        own = (assigned(node) | set(parameters(node))) - _declared(node)
        hidden = {called: self.lists.pop(called) for called in own & self.lists.keys()}
        self.generic_visit(node)
        self.lists |= hidden
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id not in self.lists:
            return node
        return at(node, ast.Subscript(name(self.lists[node.id]), ast.Constant(0), node.ctx))


_OF_OTHERS = {"board", "locs", "ply_count", "T", "size", "shape", "real", "imag", "width", "height", "move_count"}
"""Attributes of states, games, arrays and numbers, which say nothing of the class of an unknown object."""

_METHODS_OF_OTHERS = {called for kind in (Board, Isolation) for called in dir(kind) if callable(getattr(kind, called))}
"""What is called by one of these names is a method of a game or state, whatever fields objects of the user have."""

_OPERATORS = {ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__"}


def _starts_at(method: Any, line: int) -> bool:
    method = method.fget if isinstance(method, property) else method
    try:
        return isinstance(method, FunctionType) and definition(method).lineno == line
    except CompileError:
        return False


class LowerRecords(Rewrite):
    """`Point(row, column)` becomes a tuple, `point.row` its element, `point.near(cell)` a call with it."""

    def apply(self, node: ast.FunctionDef) -> None:
        self.classes = {id(kind): kind for kind in self.scope.file.values() if fields_of(kind)}
        self.without_fields = [kind for kind in self.scope.file.values() if function_source.has_only_methods(kind)]
        self.has_enums = any(isinstance(kind, enum.EnumType) for kind in self.scope.file.values())
        if not self.classes and not self.has_enums:
            return
        for kind in self.classes.values():
            methods = (method for called, method in vars(kind).items() if called != "__init__")  # see `_maker_of`
            if node.args.args and any(_starts_at(method, node.lineno) for method in methods):
                self.scope.facts[node.args.args[0].arg] = kind
        for place, given in (pair for statement in node.body for pair in pairs(statement)):
            made = self._class_of(given) or self._enum_of(given)
            if made is not None and isinstance(place, ast.Name):
                self.scope.facts[place.id] = made
        super().apply(node)

    def visit_Call(self, node: ast.Call) -> Any:
        node = self._made_of_items(node)
        if (replaced := self._replaced(node)) is not None:
            return self.visit(at(node, replaced))
        called = self._called(node.func)
        if called is not None:
            return self.visit(at(node, ast.Call(self.context.value(called), [node.func, *node.args], node.keywords)))
        method = self._method(node.func)
        node.func.is_called = True  # type: ignore[attr-defined]
        self.generic_visit(node)
        if method is not None and isinstance(node.func, ast.Attribute):
            own = [] if self._is_static(node.func.attr, method) else [node.func.value]
            return at(node, ast.Call(self.context.value(method), [*own, *node.args], node.keywords))
        kind = self._class_of(node)
        return node if kind is None else at(node, self._record(kind, node))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        kind = self.scope.fact(node.left.id) if isinstance(node.left, ast.Name) else self._class_of(node.left)
        method = getattr(kind, _OPERATORS.get(type(node.op), ""), None) if isinstance(kind, type) else None
        self.generic_visit(node)
        if not isinstance(method, FunctionType):
            return node
        return at(node, call(self.context.value(method), node.left, node.right))

    def _made_of_items(self, node: ast.Call) -> ast.Call:
        """`Point(*cell)` for `Point._make(cell)`."""
        match node:
            case ast.Call(ast.Attribute(kind, "_make"), [items], []):
                if id(self.value_of(kind, ast.AST)) in self.classes:
                    return at(node, ast.Call(kind, [ast.Starred(items, ast.Load())], []))
        return node

    def _replaced(self, node: ast.Call) -> ast.expr | None:
        """The tuple that `point._replace(row=3)` makes of one in a variable."""
        match node:
            case ast.Call(ast.Attribute(ast.Name() as owner, "_replace"), [], keywords):
                given = {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
                kinds = [fields_of(kind) for kind in self.classes.values() if issubclass(kind, tuple)]
                fitting = [fields for fields in kinds if given.keys() <= set(fields)]
                if len(fitting) == 1:
                    kept = [ast.Subscript(owner, ast.Constant(place), ast.Load()) for place in range(len(fitting[0]))]
                    parts = [given.get(field, part) for field, part in zip(fitting[0], kept, strict=True)]
                    return ast.Tuple(parts, ast.Load())
        return None

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        owner = self._owner(node)
        is_unknown = owner is None or isinstance(owner, enum.EnumType)
        is_of_enum = self.has_enums and is_unknown and node.attr == "value" and self.known(node) is None
        self.generic_visit(node)
        if is_of_enum and isinstance(node.ctx, ast.Load):  # a member is written as its value
            return node.value
        if owner is None or not isinstance(node.ctx, ast.Load):
            return node
        fields = fields_of(owner)
        if node.attr in fields:
            return at(node, ast.Subscript(node.value, ast.Constant(fields.index(node.attr)), ast.Load()))
        asked = getattr(owner, node.attr, None)
        if isinstance(asked, property) and isinstance(asked.fget, FunctionType):
            return at(node, call(self.context.value(asked.fget), node.value))
        return node if callable(asked) else self.context.value(asked)

    def _class_of(self, node: ast.AST) -> Any:
        kind = self.value_of(node.func, ast.AST) if isinstance(node, ast.Call) else None
        return kind if id(kind) in self.classes else None

    def _enum_of(self, node: ast.expr) -> Any:
        """The enumeration of which an expression is a member, so far as it says so."""
        if isinstance(node, ast.IfExp):
            return self._enum_of(node.body) or self._enum_of(node.orelse)
        member = self.value_of(node, ast.Attribute)
        return type(member) if isinstance(member, enum.Enum) else None

    def _owner(self, node: ast.Attribute) -> Any:
        """The class of the object whose attribute is read, if it is one of these."""
        if self.kind(node.value) is not None or self.known(node) is not None or not self._is_variable(node.value):
            return None
        if isinstance(node.value, ast.Name) and isinstance(known := self.scope.fact(node.value.id), type):
            return known
        if node.attr in _OF_OTHERS:
            return None
        if (made := self._class_of(node.value)) is not None:
            return made
        owners = [kind for kind in self.classes.values() if node.attr in fields_of(kind) or node.attr in vars(kind)]
        is_method = getattr(node, "is_called", False) and node.attr in _METHODS_OF_OTHERS
        if self._is_shared(node.attr, owners) or (is_method and any(node.attr in fields_of(kind) for kind in owners)):
            return None
        places = {[*fields_of(kind), node.attr].index(node.attr) for kind in owners}
        if len(places) > 1:
            called = " and ".join(kind.__name__ for kind in owners)
            refuse(f"it reads .{node.attr}, which {called} both have: give it another name in one of them", node)
        return owners[0] if owners else None

    def _is_shared(self, attribute: str, owners: list[Any]) -> bool:
        """Whether a class without fields, too, has what these classes have by this name: a method, or a value."""
        is_method = any(isinstance(vars(kind).get(attribute), FunctionType) for kind in owners)
        others = (kind for kind in self.without_fields if not any(issubclass(owner, kind) for owner in owners))
        return any(
            isinstance(vars(kind)[attribute], FunctionType) is is_method for kind in others if attribute in vars(kind)
        )

    def _is_variable(self, node: ast.expr) -> bool:
        known = self.known(node)
        return known is None or not (isinstance(known.value, type) or is_asked(known.value))

    def _method(self, node: ast.expr) -> FunctionType | None:
        owner = self._owner(node) if isinstance(node, ast.Attribute) else None
        found = getattr(owner, node.attr, None) if isinstance(node, ast.Attribute) and owner is not None else None
        return found if isinstance(found, FunctionType) and found.__module__ == owner.__module__ else None

    def _is_static(self, attribute: str, method: FunctionType) -> bool:
        found = (inspect.getattr_static(kind, attribute, None) for kind in self.classes.values())
        return any(isinstance(each, staticmethod) and each.__func__ is method for each in found)

    def _called(self, node: ast.expr) -> FunctionType | None:
        """The `__call__` of the object that an expression makes or a variable holds."""
        kind = self.scope.fact(node.id) if isinstance(node, ast.Name) else self._class_of(node)
        called = vars(kind).get("__call__") if isinstance(kind, type) else None
        return called if isinstance(called, FunctionType) else None

    def _record(self, kind: Any, node: ast.Call) -> ast.expr:
        made = maker_of(kind)
        if made is not None and not dataclasses.is_dataclass(kind) and not issubclass(kind, tuple):
            return ast.Call(name(self._maker_of(kind, made)), node.args, node.keywords)
        return ast.Tuple(self._values(kind, node), ast.Load())

    def _values(self, kind: Any, node: ast.Call) -> list[ast.expr]:
        """The values of all fields of a named tuple or dataclass, in their order."""
        fields = fields_of(kind)
        match node.args:
            case [ast.Starred(whole)]:
                node.args = [
                    ast.Subscript(copy.deepcopy(whole), ast.Constant(at), ast.Load()) for at in range(len(fields))
                ]
        values = {field: self.context.value(value) for field, value in _defaults(kind).items()}
        values |= dict(zip(fields, node.args, strict=False))
        values |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        if missing := [field for field in fields if field not in values]:
            refuse(f"it makes a {kind.__name__} without its {missing[0]}", node)
        return [values[field] for field in fields]

    def _maker_of(self, kind: Any, made: FunctionType) -> str:
        """Define the function of an `__init__` that returns what that sets as a tuple."""
        node = copy.deepcopy(definition(made))
        assert isinstance(node, ast.FunctionDef)
        own = node.args.args.pop(0).arg
        scope = scope_of(made, node, {}, {})
        node = _Unbound(own, kind, scope.known).visit(node)
        variables: list[ast.expr] = [name(f"{own}_{field}") for field in fields_of(kind)]
        node.body.append(at(node.body[-1], ast.Return(ast.Tuple(variables, ast.Load()))))
        called = self.context.fresh(kind.__name__)
        self.scope.known[called] = Callee(Nested(node, scope))
        return called


def _defaults(kind: Any) -> dict[str, Any]:
    if issubclass(kind, tuple):
        return dict(kind._field_defaults)
    given = {field.name: field.default for field in dataclasses.fields(kind)}
    return {field: value for field, value in given.items() if value is not dataclasses.MISSING}


class _Unbound(ast.NodeTransformer):
    """The attributes that an `__init__` sets as variables, those of the class as what they are."""

    def __init__(self, own: str, kind: Any, known: dict[str, Any]) -> None:
        self.own, self.kind, self.known = own, kind, known

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if not is_name(node.value, self.own):
            return self.generic_visit(node)
        called = f"{self.own}_{node.attr}"
        if node.attr not in fields_of(self.kind):
            value = getattr(self.kind, node.attr, None)
            if value is None or callable(value):
                refuse(f"its __init__ calls {self.own}.{node.attr}: write a function outside of the class", node)
            self.known[called] = value
        return ast.copy_location(ast.Name(called, node.ctx), node)
