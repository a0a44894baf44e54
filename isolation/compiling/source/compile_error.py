"""`CompileError`: why a heuristic cannot be compiled, and what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NoReturn

from ...usercode.user_exceptions import LONGEST_LINE, to_one_line

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


_LOOP = "write a loop, or compute it outside of the function"
_METHODS = {
    "rotate": "write q.append(q.pop(0)), or q.insert(0, q.pop())",
    "tolist": "leave it out: the elements of an array are read as those of a list",
    "item": "write array[index]",
    "popitem": "keep the keys in a list as well",
    "fromkeys": "write {key: value for key in keys}",
    "translate": "write a dictionary, and look up each sign",
    "encode": "look texts up in a dictionary, or compare them",
    "astype": "write float(x) or int(x) for each element",
}
_CALLS = {
    "einsum": "write a @ b, or loops",
    "hex": 'write "%d" % x, or compare numbers',
    "oct": 'write "%d" % x, or compare numbers',
    "bytearray": "write a list of numbers",
    "bytes": "write a list of numbers",
    "lru_cache": "call the function itself",
    "trace": "write a sum over the diagonal",
    "zip": "write for i in range(len(rows)), and rows[i]",
    "enumerate": "write for i in range(len(rows)), and rows[i]",
}


def instead_of_call(called: str) -> str:
    """Return what to write instead of a call of a function of a library."""
    return _CALLS.get(called, _LOOP)


def instead_of_method(called: str) -> str:
    """Return what to write instead of an attribute or method."""
    return _METHODS.get(called, "check its spelling, or write a loop")


def instead_of_operator(sign: str, kinds: Sequence[str]) -> str:
    """Return what to write instead of an operation on two kinds of values."""
    first, second = kinds
    if sign in ("-=", "&=", "|=") and first.endswith("of cells"):
        return f"write a = a {sign[0]} b instead of a {sign} b"
    if "None" in first or "None" in second:
        return "test for None first, or write a number such as -1 for what is missing"
    if "text" in (first, second):
        return "write str(x), or int(x), so that both are of one kind"
    if any("number" in kind and " of " not in kind for kind in kinds) and any("list" in kind for kind in kinds):
        return "write len(...) for how many, or [index] for one of them"
    if "cell" in kinds:
        return "write cell[0] and cell[1]"
    return "write it part by part, in a loop"
