# ruff: noqa: N802 -- visit_Call and the like are named by ast
"""Lower texts made from numbers: `str(count)`, f-strings, `%` and `format`, as keys of tables have them."""

from __future__ import annotations

import ast
import functools
import re
import string
from collections.abc import Sequence
from typing import Any

from isolation.compiling.source.compile_error import refuse
from isolation.compiling.source.rewrite import Rewrite, at, call, support, written_out


class LowerTexts(Rewrite):
    """Write the making of texts as sums of texts."""

    def visit_Raise(self, node: ast.Raise) -> Any:
        """Leave messages of exceptions, which nobody reads."""
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        """Drop the message of an assertion."""
        node.msg = None
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """Join the parts of an f-string."""
        parts = [self._part(part, node) for part in node.values]
        return at(node, _joined(parts))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Fill in a text with `%d` and `%s`."""
        if not isinstance(node.op, ast.Mod) or not isinstance(node.left, ast.Constant):
            return self.generic_visit(node)
        template = node.left.value
        if not isinstance(template, str):
            return self.generic_visit(node)
        given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        pieces = re.split(r"%[ds]", template)
        if len(pieces) != len(given) + 1 or "%" in "".join(pieces):
            refuse("it formats text with %, which compiled code only does with %d and %s: write round(x, 2)", node)
        makes = ["whole_text" if sign == "%d" else "text" for sign in re.findall(r"%[ds]", template)]
        filled: list[ast.expr] = [support(make, self.visit(value)) for make, value in zip(makes, given, strict=True)]
        return at(node, _joined(_between(pieces, filled)))

    def visit_Call(self, node: ast.Call) -> Any:
        """Make a text of a number or a cell, and fill in a text with `{}`."""
        if self.builtin(node.func) == "getattr":  # the name of an attribute is known, or it is refused
            return node
        if self.builtin(node.func) == "str" and len(node.args) == 1 and not node.keywords:
            return at(node, support("text", self.visit(node.args[0])))
        match node:
            case ast.Call(ast.Attribute(ast.Constant(str()), "join"), [parts]):
                node.args = [at(parts, call(self.context.builtin("list"), parts))]
                return self.generic_visit(node)
        if (number := self._bits_counted(node)) is not None:
            return at(node, support("count_ones", self.visit(number)))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            template = written_out(node.func.value)
            if isinstance(template, str):
                return at(node, self._formatted(template, node))
        return self.generic_visit(node)

    def _bits_counted(self, node: ast.Call) -> ast.expr | None:
        """The number of ``bin(number).count("1")`` and ``number.bit_count()``, but for the board of a state."""
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Name() as made, [number]), "count"), [ast.Constant("1")]):
                is_board = isinstance(number, ast.Attribute) and number.attr == "board"
                return number if self.builtin(made) == "bin" and not is_board else None
            case ast.Call(ast.Attribute(number, "bit_count"), []):
                return number
        return None

    def _formatted(self, template: str, node: ast.Call) -> ast.expr:
        pieces = [(text, field, f"{spec}{conversion or ''}") for text, field, spec, conversion in _fields(template)]
        fields = [field for _, field, _ in pieces if field is not None]
        if node.keywords or len(fields) != len(node.args) or any(fields) or any(how for _, _, how in pieces):
            refuse("it calls format, which compiled code only does with {}: use numbers or tuples", node)
        texts = [text for text, _, _ in pieces] + [""] * (len(pieces) == len(node.args))
        return _joined(_between(texts, [support("text", self.visit(argument)) for argument in node.args]))

    def _part(self, part: ast.expr, node: ast.AST) -> ast.expr:
        if isinstance(part, ast.Constant):
            return part
        assert isinstance(part, ast.FormattedValue)
        if part.format_spec is not None or part.conversion not in (-1, ord("s")):
            refuse(
                "it formats a number in a text, which compiled code does not do: write round(x, 2), or a tuple as key",
                node,
            )
        return support("text", self.visit(part.value))


def _fields(template: str) -> list[tuple[str, str | None, str, str | None]]:
    return [(text, field, spec or "", how) for text, field, spec, how in string.Formatter().parse(template)]


def _between(texts: Sequence[str], values: Sequence[ast.expr]) -> list[ast.expr]:
    """Texts and values in turn, the empty texts left out."""
    turns: list[ast.expr] = []
    for index, text in enumerate(texts):
        turns += [ast.Constant(text)] if text else []
        turns += values[index : index + 1]
    return turns


def _joined(parts: list[ast.expr]) -> ast.expr:
    if not parts:
        return ast.Constant("")
    return functools.reduce(lambda left, right: ast.BinOp(left, ast.Add(), right), parts)
