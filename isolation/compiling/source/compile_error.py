"""`CompileError`: why a heuristic cannot be compiled."""

from __future__ import annotations

import ast
from typing import NoReturn

from knights_isolation.isolation.usercode.user_exceptions import LONGEST_LINE, to_one_line

CHANCE_AND_TIME = {
    "random": "chance",
    "secrets": "chance",
    "uuid": "chance",
    "numpy.random": "chance",
    "time": "the time",
    "datetime": "the time",
    "timeit": "the time",
}
"""Modules, and what the value of a heuristic that uses them depends on."""


class CompileError(Exception):
    """A heuristic cannot be compiled: `reason` in plain words, `line` in the user's file where it is known.

    `is_unrepeatable` says that the reason is chance, time, memory between calls, or an order that changes: its values
    may differ another time; `is_difference` that it compiles, and computes something else than Python.
    """

    def __init__(
        self, reason: str, line: int | None = None, is_unrepeatable: bool = False, is_difference: bool = False
    ) -> None:
        reason = to_one_line(reason, LONGEST_LINE)
        super().__init__(reason, line)
        self.reason = reason
        self.line = line
        self.is_unrepeatable = is_unrepeatable
        self.is_difference = is_difference

    def __str__(self) -> str:
        return self.reason if self.line is None else f"line {self.line}: {self.reason}"


def refuse(reason: str, node: ast.AST | None = None) -> NoReturn:
    """Raise the CompileError for a construct."""
    raise CompileError(reason, getattr(node, "lineno", None))


def refuse_unrepeatable(reason: str, node: ast.AST) -> NoReturn:
    """Raise the CompileError for chance, time, memory between calls, or an order that changes."""
    raise CompileError(reason, getattr(node, "lineno", None), is_unrepeatable=True)
