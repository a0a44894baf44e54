"""`CompileError`: a heuristic cannot be compiled."""

from __future__ import annotations

from .user_exceptions import LONGEST_LINE, to_one_line


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
