# ruff: noqa: N802 -- visit_Call and the like are named by ast
"""Lower objects that never change to tuples: named tuples, dataclasses, classes whose `__init__` sets everything."""

from __future__ import annotations

import ast
import copy
import dataclasses
import enum
import inspect
from types import FunctionType
from typing import Any

from ...editions.classic_board import Board
from ...editions.third.state import Isolation
from ..source.compile_error import CompileError, refuse
from ..source.function_source import definition
from ..source.record_classes import fields_of, has_only_methods, is_name, maker_of
from ..source.rewrite import Rewrite, at, call, is_asked, name
from ..source.scopes import Callee, Nested, scope_of
from .element_types import pairs

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
        self.without_fields = [kind for kind in self.scope.file.values() if has_only_methods(kind)]
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
                known = self.known(kind)
                if known is not None and id(known.value) in self.classes:
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
        known = self.known(node.func) if isinstance(node, ast.Call) else None
        return known.value if known is not None and id(known.value) in self.classes else None

    def _enum_of(self, node: ast.expr) -> Any:
        """The enumeration of which an expression is a member, so far as it says so."""
        if isinstance(node, ast.IfExp):
            return self._enum_of(node.body) or self._enum_of(node.orelse)
        known = self.known(node) if isinstance(node, ast.Attribute) else None
        return type(known.value) if known is not None and isinstance(known.value, enum.Enum) else None

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
