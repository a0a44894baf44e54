"""Why a heuristic cannot be compiled."""

from __future__ import annotations

import ast
from typing import NoReturn

from isolation.faults import clean


class CompileError(Exception):
    """A heuristic cannot be compiled: `reason` in plain words, `line` in the user's file where it is known."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        reason = clean(reason)
        super().__init__(reason, line)
        self.reason = reason
        self.line = line

    def __str__(self) -> str:
        return self.reason if self.line is None else f"line {self.line}: {self.reason}"


def refuse(reason: str, node: ast.AST | None = None) -> NoReturn:
    """Raise the CompileError for a construct."""
    raise CompileError(reason, getattr(node, "lineno", None))
