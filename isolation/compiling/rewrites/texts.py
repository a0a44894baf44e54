"""Lower texts made from numbers: `str(count)`, f-strings, `%` and `format`, as keys of tables have them."""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import re
import string
from collections.abc import Sequence
from typing import Any

from ..source.compile_error import refuse
from ..source.rewrite import Rewrite, at, call, support, written_out

_PERCENT = r"(%[-+ 0]*\d*[ds]|%%)"
_SPEC = re.compile(r"(?:(.)?([<>=^]))?([-+ ]?)(0?)(\d*)(d?)")
_ADVICE = "only %s, %d, %+d, %3d, {:+d} and the like compile: write round(x, 2), or a tuple as key"


class LowerTexts(Rewrite):
    """Write the making of texts as sums of texts."""

    def visit_Raise(self, node: ast.Raise) -> Any:
        """Leave messages of exceptions, which nobody reads."""
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        node.msg = None
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
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
        texts, signs = (re.split(_PERCENT, template)[part::2] for part in (0, 1))
        if "%" in "".join(texts) or len(signs) - signs.count("%%") != len(given):
            refuse(f"it formats text with {template!r} % …: {_ADVICE}", node)
        values = iter(given)
        filled = [ast.Constant("%") if sign == "%%" else self._of_percent(sign, next(values)) for sign in signs]
        return at(node, _joined(_between(texts, filled)))

    def _of_percent(self, sign: str, value: ast.expr) -> ast.expr:
        """The text that `%d`, `%+d`, `%03d` or `%-3s` makes of a value."""
        flags, width, kind = re.fullmatch(r"%([-+ 0]*)(\d*)([ds])", sign).groups()  # type: ignore[union-attr]
        made: ast.expr = support("whole" if kind == "d" else "text", self.visit(value))
        if not flags and not width:
            return support("text", made)
        shown = "+" if "+" in flags else " " if " " in flags else ""
        align = "<" if "-" in flags else "=" if "0" in flags and kind == "d" else ">"
        return _padded(made, "0" if align == "=" else " ", align, shown if kind == "d" else "", width)

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
        """The text of `"{} {1} {name:+d}".format(...)`."""
        given = {str(place): argument for place, argument in enumerate(node.args)}
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        unnamed = itertools.count()
        parts: list[ast.expr] = []
        for text, field, spec, conversion in string.Formatter().parse(template):
            parts += [ast.Constant(text)] if text else []
            if field is None:
                continue
            argument = given.get(field or str(next(unnamed)))
            if argument is None or conversion not in (None, "s"):
                refuse(f"it formats text with {ast.unparse(node)}: {_ADVICE}", node)
            parts.append(self._of_spec(spec or "", copy.deepcopy(argument), node))
        return _joined(parts)

    def _part(self, part: ast.expr, node: ast.AST) -> ast.expr:
        if isinstance(part, ast.Constant):
            return part
        assert isinstance(part, ast.FormattedValue)
        spec = "" if part.format_spec is None else written_out(_joined(part.format_spec.values))  # type: ignore[attr-defined]
        if not isinstance(spec, str) or part.conversion not in (-1, ord("s")):
            refuse(f"it formats text with {ast.unparse(node)}: {_ADVICE}", node)
        return self._of_spec(spec, part.value, node)

    def _of_spec(self, spec: str, value: ast.expr, node: ast.AST) -> ast.expr:
        """The text that a format such as `+d`, `03` or `>4` makes of a value."""
        match = _SPEC.fullmatch(spec)
        if match is None:
            refuse(f"it formats a value with {spec!r} in a text: {_ADVICE}", node)
        fill, align, sign, zero, width, kind = match.groups(default="")
        made: ast.expr = support("whole", self.visit(value)) if kind else self.visit(value)
        if not spec.removesuffix("d"):
            return support("text", made)
        return _padded(made, fill or zero or " ", align or (zero and "="), sign.replace("-", ""), width)


def _between(texts: Sequence[str], values: Sequence[ast.expr]) -> list[ast.expr]:
    turns: list[ast.expr] = []
    for index, text in enumerate(texts):
        turns += [ast.Constant(text)] if text else []
        turns += values[index : index + 1]
    return turns


def _joined(parts: list[ast.expr]) -> ast.expr:
    if not parts:
        return ast.Constant("")
    return functools.reduce(lambda left, right: ast.BinOp(left, ast.Add(), right), parts)


def _padded(value: ast.expr, fill: str, align: str, sign: str, width: str) -> ast.expr:
    return support("padded", value, *(ast.Constant(how) for how in (fill, align, sign, int(width or 0))))
