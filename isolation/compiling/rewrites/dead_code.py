"""Code that never runs: left out where it alone would keep a heuristic from compiling."""

from __future__ import annotations

import ast
from collections import Counter

from isolation.compiling.source.function_source import bound_names, parameters
from isolation.compiling.source.rewrite import Rewrite

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_PLAIN = (type(None), bool, int, float, str)


class Prune(Rewrite):
    """Nothing follows a `return`; a variable given once, as a switch is, is known, so that `folding` decides by it."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        given = Counter([*parameters(node), *(name for statement in node.body for name in bound_names(statement))])
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
                value = statement.value.value
                names = [place.id for place in statement.targets if isinstance(place, ast.Name)]
                once = {name: value for name in names if given[name] == 1 and isinstance(value, _PLAIN)}
                self.scope.known.update(once)
        for inner in ast.walk(node):
            for block in ("body", "orelse", "finalbody"):
                statements = getattr(inner, block, None)
                if isinstance(statements, list):
                    setattr(inner, block, _reached(statements))


def _reached(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block up to the first that leaves it."""
    ends = [place for place, statement in enumerate(statements) if isinstance(statement, _ENDS)]
    return statements[: ends[0] + 1] if ends else statements
