"""Lower dictionaries that a function writes out, and only looks into by keys that are written out, to variables."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from knights_isolation.isolation.compiling.source.function_source import bound_names
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, target
from knights_isolation.isolation.compiling.source.scopes import Callee, Nested, free_names


class SplitDictionaries(Rewrite):
    """`lines = {"row": cells, "column": others}` becomes two variables, which may hold what no dictionary can."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
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
