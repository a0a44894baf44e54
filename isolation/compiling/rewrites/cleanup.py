"""Drop what has no part in the value, such as docstrings and prints; collect imports and functions."""

from __future__ import annotations

import ast
import builtins
import logging
from typing import Any

from ..source.compile_error import refuse
from ..source.function_source import Definition, bound_names, names_in
from ..source.rewrite import Rewrite, at, target, written_out
from ..source.scopes import Callee, Nested


class CleanUp(Rewrite):
    """Inner definitions and imports become known names; statements without effect on the value go."""

    def apply(self, node: ast.FunctionDef) -> None:
        bound = [name for statement in node.body for name in bound_names(statement)]
        self.repeated = {name for name in bound if bound.count(name) > 1}
        for name in self.repeated:
            self._learn_game(name, bound.count(name), node)
        super().apply(node)
        _DropTexts(node).visit(node)

    def _learn_game(self, name: str, times: int, node: ast.FunctionDef) -> None:
        """Take a variable for a game that is given a game every time."""
        assigned = [
            inner.value
            for inner in ast.walk(node)
            if isinstance(inner, ast.Assign) and [getattr(target, "id", "") for target in inner.targets] == [name]
        ]
        if len(assigned) == times and self.kind(assigned[0]) == "game":
            self.scope.kinds[name] = "game"
            if not all(self.kind(value) == "game" for value in assigned):
                del self.scope.kinds[name]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        defaults: list[ast.stmt] = self._kept_defaults(node)
        called = node.name
        if called in self.repeated:  # which one is meant is found out by a number: see `choices`
            called = self.context.fresh(called)
            defaults.append(at(node, ast.Assign([target(node.name)], ast.Name(called, ast.Load()))))
        self._learn(called, Callee(Nested(node, self.scope)), node)
        return defaults

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Make a lambda known that is given a name, and which variables are games and players."""
        place = node.targets[0]
        lambdas = _lambdas_assigned(place, node.value) if len(node.targets) == 1 else []
        if lambdas:
            return self.rewrite_body([at(node, one) for one in lambdas])
        if len(node.targets) != 1 or not isinstance(place, ast.Name):
            return node
        name, kind = place.id, self.kind(node.value)
        if isinstance(node.value, ast.Lambda):
            defaults = self._kept_defaults(node.value)
            callee = Callee(Nested(node.value, self.scope))
            if name in self.repeated:
                name = self.context.fresh(name)
                node.value = at(node.value, ast.Name(name, ast.Load()))
                defaults.append(node)
            self._learn(name, callee, node)
            return defaults
        if kind is not None and name not in self.repeated:
            self.scope.kinds[name] = kind
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return at(node, ast.Assign([node.target], node.value)) if node.value else None

    def visit_Import(self, node: ast.Import) -> Any:
        for alias in node.names:
            module = self._import(alias.name, ["*"] if alias.asname else [], 0, node)
            self._learn(alias.asname or alias.name.partition(".")[0], module, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        for alias in node.names:
            module = self._import(node.module or "", [alias.name], node.level, node)
            if not hasattr(module, alias.name):
                refuse(f"{node.module} has no {alias.name}", node)
            self._learn(alias.asname or alias.name, getattr(module, alias.name), node)

    def visit_Delete(self, node: ast.Delete) -> Any:
        """Drop the deletion of variables, which nothing reads from then on."""
        node.targets = [place for place in node.targets if not isinstance(place, ast.Name)]
        return self.generic_visit(node) if node.targets else None

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Constant | ast.Name):
            return None
        if isinstance(node.value, ast.Call) and self._only_speaks(node.value.func):
            return None
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """Catch every exception where one kind is named: numba knows no other way."""
        node.type = None if node.type is None else at(node, ast.Name("Exception", ast.Load()))
        self.generic_visit(node)
        read = {inner.id for part in node.body for inner in ast.walk(part) if isinstance(inner, ast.Name)}
        if node.name in read:
            refuse(f"it reads the exception {node.name}, which compiled code does not support: leave it out", node)
        node.name = None
        return node

    def _import(self, module: str, names: list[str], level: int, node: ast.AST) -> Any:
        """Import as the file itself would: it may have siblings and an `__import__` of its own."""
        own = self.scope.file.get("__builtins__", builtins)
        importer = own["__import__"] if isinstance(own, dict) else own.__import__
        try:
            return importer(module, self.scope.file, None, names, level)
        except ImportError:
            refuse(f"it imports {module}, which cannot be found", node)

    def _kept_defaults(self, node: Definition) -> list[ast.stmt]:
        """Variables for those defaults of an inner function that are computed where it is defined."""
        kept: list[ast.stmt] = []
        for defaults in (node.args.defaults, node.args.kw_defaults):
            for index, default in enumerate(defaults):
                if default is None or self.known(default) is not None or written_out(default) is not None:
                    continue
                variable = self.context.variable("default")
                kept.append(self.visit_Assign(at(default, ast.Assign([target(variable)], default))))
                defaults[index] = at(default, ast.Name(variable, ast.Load()))
        return kept

    def _learn(self, name: str, value: object, node: ast.AST) -> None:
        if name in self.repeated:
            refuse(f"{name} is assigned more than once", node)
        self.scope.known[name] = value

    def _only_speaks(self, function: ast.expr) -> bool:
        if self.builtin(function) == "print":
            return True
        callee = self.known(function)
        if callee is not None:
            return getattr(callee.value, "__module__", None) in ("logging", "pprint", "warnings", "_warnings")
        owner = self.known(function.value) if isinstance(function, ast.Attribute) else None
        return owner is not None and isinstance(owner.value, logging.Logger)


class _DropTexts(ast.NodeTransformer):
    """Drop texts that are put together and read nowhere, as what was printed."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.read = names_in(node, ast.Load)

    def visit_Assign(self, node: ast.Assign) -> Any:
        is_read = any(not isinstance(place, ast.Name) or place.id in self.read for place in node.targets)
        return node if is_read or not _is_formatted(node.value) else at(node, ast.Pass())


def _is_formatted(node: ast.expr) -> bool:
    match node:
        case ast.JoinedStr() | ast.Call(ast.Attribute(ast.Constant(str()), "format")):
            return True
        case ast.BinOp(ast.Constant(str()), ast.Mod()):
            return True
    return False


def _lambdas_assigned(place: ast.expr, value: ast.expr) -> list[ast.stmt]:
    """The assignments of `own, opp = lambda: ..., lambda: ...`; none if other values are among them."""
    if not isinstance(place, ast.Tuple) or not isinstance(value, ast.Tuple) or len(place.elts) != len(value.elts):
        return []
    if not all(isinstance(each, ast.Lambda) for each in value.elts):
        return []
    return [ast.Assign([part], each) for part, each in zip(place.elts, value.elts, strict=True)]
