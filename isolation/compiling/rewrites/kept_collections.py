"""Rewrite what dictionaries and lists hold such as numba's can hold it: lists as they are kept, sets as lists."""

from __future__ import annotations

import ast
from typing import Any

from ..source.rewrite import FunctionContext, Rewrite, at, call, support
from ..source.scopes import Missing
from .element_types import is_empty, pairs
from .guesses import Examples

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
