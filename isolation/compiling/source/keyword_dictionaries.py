"""Functions that take any names, `def side(game, who, **options)`, as each call writes them."""

from __future__ import annotations

import ast
import copy
from typing import Any

from knights_isolation.isolation.compiling.source.function_source import Definition, parameters
from knights_isolation.isolation.compiling.source.rewrite import at, name


def spelled(node: Definition, call: ast.Call) -> tuple[Definition, ast.Call]:
    """Return a definition with a parameter for each further name that a call gives it, and the call of it."""
    assert node.args.kwarg is not None
    options = node.args.kwarg.arg
    own = parameters(node)
    further = {word.arg: f"{options}_{word.arg}" for word in call.keywords if word.arg and word.arg not in own}
    written = _Spelled(options, further).visit(copy.deepcopy(node))
    written.args.kwarg = None
    written.args.kwonlyargs += [ast.arg(parameter) for parameter in further.values()]
    written.args.kw_defaults += [None] * len(further)
    keywords = [ast.keyword(further.get(word.arg or "", word.arg), word.value) for word in call.keywords]
    return written, at(call, ast.Call(call.func, call.args, keywords))


class _Spelled(ast.NodeTransformer):
    """What is done with a dictionary of names, done with the parameters it consists of."""

    def __init__(self, options: str, further: dict[str, str]) -> None:
        self.options, self.further = options, further

    def visit_Call(self, node: ast.Call) -> Any:
        match node:
            case ast.Call(ast.Attribute(ast.Name(self.options), "get" | "pop"), [ast.Constant(str(key)), *default]):
                missing = default[0] if default else ast.Constant(None)
                return at(node, self._option(key) or self.visit(missing))
        keywords: list[ast.keyword] = []
        for word in node.keywords:
            if word.arg is None and self._is_meant(word.value):
                keywords += [ast.keyword(key, name(parameter)) for key, parameter in self.further.items()]
            else:
                keywords.append(word)
        node.keywords = keywords
        return self.generic_visit(at(node, node))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        match node:
            case ast.Subscript(ast.Name(self.options), ast.Constant(str(key))) if option := self._option(key):
                return at(node, option)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        match node:
            case ast.Compare(ast.Constant(str(key)), [ast.In() | ast.NotIn() as sign], [options]):
                if self._is_meant(options):
                    return at(node, ast.Constant((key in self.further) == isinstance(sign, ast.In)))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        if not self._is_meant(node):
            return node
        keys: list[ast.expr | None] = [ast.Constant(key) for key in self.further]
        return at(node, ast.Dict(keys, [name(parameter) for parameter in self.further.values()]))

    def _is_meant(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.options and isinstance(node.ctx, ast.Load)

    def _option(self, key: str) -> ast.expr | None:
        return name(self.further[key]) if key in self.further else None
