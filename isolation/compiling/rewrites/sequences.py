"""Write out generators, iterators that `next` is asked of, `*` and `**`, and texts made from numbers.

Texts such as `str(count)`, f-strings, `%` and `format` are what keys of tables are made of.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import itertools
import math
import re
import string
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ...usercode.function_source import definition, is_name
from ..compile_errors import CompileError, refuse
from ..source import stand_ins
from ..source.rewrite import Rewrite, at, call, function, name, statements, support, target, written_out
from ..source.scopes import Nested
from .element_types import pairs, with_values

_LONGEST = 10_000


class LowerGenerators(Rewrite):
    """`yield cell` appends to a list.

    It must end by itself. Where it may not, by a `while`, compiled code gives up on a list that grows too long.
    """

    def apply(self, node: ast.FunctionDef) -> None:
        own = [one for statement in node.body for one in _own_nodes(statement)]
        if not any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own):
            return
        loops = [one for one in own if isinstance(one, ast.While)]
        for loop in loops:
            leaves = any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(loop))
            if isinstance(loop.test, ast.Constant) and not leaves:
                refuse("it yields in a loop that never ends: build a list", loop)
        self.may_never_end = bool(loops)
        self.yielded = self.context.variable("yielded")
        first = at(node, ast.Assign([target(self.yielded)], ast.List([], ast.Load())))
        super().apply(node)
        node.body = [first, *node.body, at(node, ast.Return(name(self.yielded)))]

    def visit_Expr(self, node: ast.Expr) -> Any:
        value = node.value
        if isinstance(value, ast.Yield) and value.value is not None:
            put = ast.Expr(call(ast.Attribute(name(self.yielded), "append", ast.Load()), value.value))
            if not self.may_never_end:
                return at(node, put)
            length = call(self.context.builtin("len"), name(self.yielded))
            too_long = ast.Compare(length, [ast.Gt()], [ast.Constant(_LONGEST)])
            return [at(node, put), at(node, ast.Expr(support("give_up", too_long)))]
        if isinstance(value, ast.YieldFrom):
            item = self.context.variable("item")
            put = ast.Expr(call(ast.Attribute(name(self.yielded), "append", ast.Load()), name(item)))
            return at(node, ast.For(target(item), value.value, [put], []))
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        return at(node, ast.Return(name(self.yielded)))


def _own_nodes(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return []
    return [node, *(one for child in ast.iter_child_nodes(node) for one in _own_nodes(child))]


class LowerIterators(Rewrite):
    """`cells = iter(moves)`, `first = next(cells)`, `rest = list(cells)`: a list whose first element is taken."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        given = {place.id for inner in ast.walk(node) for place, _ in pairs(inner) if isinstance(place, ast.Name)}
        self.iterators = {
            inner.args[0].id
            for inner in ast.walk(node)
            if isinstance(inner, ast.Call) and inner.args and is_name(inner.func, "next")
            if isinstance(inner.args[0], ast.Name) and inner.args[0].id in given and self.builtin(inner.func)
        }

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        values = [
            call(self.context.builtin("list"), value) if self._is_iterator(place) else value
            for place, value in pairs(node)
        ]
        return with_values(node, values)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        iterators = [argument.id for argument in node.args if self._is_iterator(argument)]  # type: ignore[attr-defined]
        if len(set(iterators)) < len(iterators):
            refuse(
                f"it runs over the iterator {iterators[0]} in two places at once: write cells[::2], cells[1::2]", node
            )
        asked = self.builtin(node.func)
        if asked == "iter" and len(node.args) == 1:
            return node.args[0]
        if asked != "next" or not iterators:
            return node
        if len(node.args) == 1:
            return at(node, self._taken(iterators[0]))
        is_left = ast.Compare(call(self.context.builtin("len"), name(iterators[0])), [ast.Gt()], [ast.Constant(0)])
        return at(node, ast.IfExp(is_left, self._taken(iterators[0]), node.args[1]))

    def visit_For(self, node: ast.For) -> Any:
        """Take the elements that are left one after another: whoever leaves the loop may go on later."""
        self.generic_visit(node)
        if not self._is_iterator(node.iter) or not isinstance(node.iter, ast.Name):
            return node
        first = ast.Assign([node.target], self._taken(node.iter.id))
        is_left = ast.Compare(call(self.context.builtin("len"), node.iter), [ast.Gt()], [ast.Constant(0)])
        return at(node, ast.While(is_left, [first, *node.body], node.orelse))

    def _is_iterator(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.iterators

    def _taken(self, called: str) -> ast.expr:
        return call(ast.Attribute(name(called), "pop", ast.Load()), ast.Constant(0))


_COLUMNS = {2: stand_ins.two_columns, 3: stand_ins.three_columns}
_TAKEN = {math.hypot: 2, divmod: 2, pow: 2}
"""How many arguments those builtins take that do not say so."""


_PLACES = {"enumerate": ("start", 1), "sum": ("start", 1), "round": ("ndigits", 1), "pow": ("mod", 2)}
"""The keyword of a builtin, and how many arguments stand before it."""


class LowerUnpacking(Rewrite):
    """`f(*cell)` becomes a call with each part, `zip(*cells)` lists of columns, `[*a, *b]` a sum of lists."""

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Unpack columns, `rows, columns = zip(*cells)`, and what is left over, `first, *others = cells`."""
        place = node.targets[0]
        if len(node.targets) == 1 and isinstance(place, ast.Tuple | ast.List):
            if rows := self._transposed(node.value):
                self._unpack_columns(node, place, rows)
            elif any(isinstance(part, ast.Starred) for part in place.elts):
                return self._unpack_with_rest(node, place)
        return self.generic_visit(node)

    def _unpack_columns(self, node: ast.Assign, place: ast.Tuple | ast.List, rows: ast.expr) -> None:
        columns = _COLUMNS.get(len(place.elts))
        if columns is not None:
            node.value = at(node, call(self.context.value(columns), rows))

    def _unpack_with_rest(self, node: ast.Assign, place: ast.Tuple | ast.List) -> list[ast.stmt]:
        parts = place.elts
        rest = next(index for index, part in enumerate(parts) if isinstance(part, ast.Starred))
        after = len(parts) - rest - 1
        whole = self.context.variable("whole")
        lines = f"WHOLE = VALUE\nif len(WHOLE) < {len(parts) - 1}:\n    raise ValueError('too few values to unpack')"
        value = call(self.context.builtin("list"), self.visit(node.value))
        written = statements(lines, WHOLE=name(whole), VALUE=value)
        for index, part in enumerate(parts):
            if isinstance(part, ast.Starred):
                taken: ast.expr = ast.Slice(ast.Constant(rest), ast.Constant(-after) if after else None)
                part = part.value
            else:
                taken = ast.Constant(index if index < rest else index - len(parts))
            written.append(ast.Assign([part], ast.Subscript(name(whole), taken, ast.Load())))
        return [at(node, statement) for statement in written]

    def visit_Call(self, node: ast.Call) -> Any:
        """Write out the arguments after `*` and `**`; make lists of the tuples that grow from call to call."""
        if self.context.attempt and self._is_users(node.func):
            node.args = [_grown(argument) for argument in node.args]
        self._spell_keywords(node)
        self._place_keywords(node)
        self._spell_constants(node)
        if not any(isinstance(argument, ast.Starred) for argument in node.args):
            return self.generic_visit(node)
        rows = self._transposed(node)
        if rows is not None:
            return at(node, call(self.context.value(stand_ins.columns), self.visit(rows)))
        node.args = [part for argument in node.args for part in _written_parts(argument)]
        starred = [argument.value for argument in node.args if isinstance(argument, ast.Starred)]
        if not starred:
            return self.generic_visit(node)
        taken = self._taken_whole(node, starred[0]) if len(node.args) == 1 else None
        return self.visit(taken if taken is not None else self._spread(node, starred))

    def _is_users(self, function: ast.expr) -> bool:
        with suppress(CompileError):
            return self.callee(function) is not None
        return False

    def _transposed(self, node: ast.expr) -> ast.expr | None:
        """The rows of `zip(*rows)`."""
        if not isinstance(node, ast.Call) or self.builtin(node.func) != "zip" or len(node.args) != 1 or node.keywords:
            return None
        return node.args[0].value if isinstance(node.args[0], ast.Starred) else None

    def _taken_whole(self, node: ast.Call, items: ast.expr) -> ast.expr | None:
        """A call that takes any number of arguments as one of all of them."""
        if self.builtin(node.func) in ("max", "min"):
            items = call(self.context.value(stand_ins.two_or_more), items)
            return at(node, ast.Call(node.func, [items], node.keywords))
        callee = self.known(node.func)
        if callee is not None and callee.value is itertools.chain:
            return at(node, call(self.context.value(itertools.chain.from_iterable), items))
        match node.func:
            case ast.Attribute(ast.Call(ast.Name() as made, []), "union") if self.builtin(made) == "set":
                return at(node, call(self.context.value(stand_ins.joined_sets), items))
            case ast.Attribute(ast.Name() as made, "union") if self.builtin(made) == "set":
                return at(node, call(self.context.value(stand_ins.joined_sets), items))
        return None

    def _spread(self, node: ast.Call, starred: list[ast.expr]) -> ast.expr:
        """A call with as many parts of the starred arguments, of each the same number, as the function still takes."""
        count, left_over = divmod(self._places_left(node, len(node.args) - len(starred)), len(starred))
        if count < 1 or left_over:
            refuse(f"it calls {ast.unparse(node.func)} with *: write the arguments one by one", node)
        wholes = [self.context.fresh("whole") for _ in starred]
        unpacked: list[ast.stmt] = []
        given: list[ast.expr] = []
        remaining = iter(wholes)
        for argument in node.args:
            if not isinstance(argument, ast.Starred):
                given.append(argument)
                continue
            parts = [self.context.fresh("part") for _ in range(count)]
            places = ast.Tuple([target(part) for part in parts], ast.Store())
            unpacked.append(ast.Assign([places], name(next(remaining))))
            given += map(name, parts)
        called = ast.Call(node.func, given, node.keywords)
        spread = at(node, function("spread", wholes, [*unpacked, ast.Return(called)]))
        return at(node, call(name(self.context.define("spread", spread)), *starred))

    def _places_left(self, node: ast.Call, before: int) -> int:
        """How many arguments without a default a call with so many before its `*` still lacks; 0 if unknown."""
        callee = self.callee(node.func)
        if callee is None:
            known = self.known(node.func)
            return self._of_library(known.value) - before if known is not None else 0
        written = callee.target.node if isinstance(callee.target, Nested) else definition(callee.target)
        if written.args.vararg:
            return 0
        taken = [argument.arg for argument in (*written.args.posonlyargs, *written.args.args)]
        given = callee.target.__defaults__ if not isinstance(callee.target, Nested) else written.args.defaults
        needed = [name for name in taken[: len(taken) - len(given or ())] if name not in callee.defaults]
        return len([name for name in needed[before:] if name not in {word.arg for word in node.keywords}])

    def _of_library(self, value: Any) -> int:
        if value in _TAKEN:
            return _TAKEN[value]
        try:
            return len(inspect.signature(value).parameters)
        except (TypeError, ValueError):
            return 0

    def _spell_keywords(self, node: ast.Call) -> None:
        """Write `**WEIGHTS`, a dictionary that never changes, as keywords."""
        spelled: list[ast.keyword] = []
        for keyword in node.keywords:
            known = None if keyword.arg else self.known(keyword.value)
            if known is not None and isinstance(known.value, Mapping):
                spelled += [ast.keyword(str(key), self.context.value(value)) for key, value in known.value.items()]
            else:
                spelled.append(keyword)
        node.keywords = spelled

    def _place_keywords(self, node: ast.Call) -> None:
        """Write `enumerate(cells, start=1)` and the like without the keyword."""
        called, before = _PLACES.get(self.builtin(node.func) or "", ("", 0))
        if called and len(node.args) == before and [keyword.arg for keyword in node.keywords] == [called]:
            node.args, node.keywords = [*node.args, node.keywords[0].value], []

    def _spell_constants(self, node: ast.Call) -> None:
        """Write `*WEIGHTS`, a tuple or list that never changes, as arguments."""
        spelled: list[ast.expr] = []
        for argument in node.args:
            known = self.value_of(argument.value, ast.AST) if isinstance(argument, ast.Starred) else None
            if isinstance(known, Sequence) and self.builtin(node.func) is None:
                spelled += [self.context.value(value) for value in known]
            else:
                spelled.append(argument)
        node.args = spelled

    def visit_List(self, node: ast.List) -> Any:
        return self._joined(node, "list") if isinstance(node.ctx, ast.Load) else node

    def visit_Set(self, node: ast.Set) -> Any:
        return self._joined(node, "set")

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        return self._joined(node, "tuple") if isinstance(node.ctx, ast.Load) else self.generic_visit(node)

    def _joined(self, node: Any, kind: str) -> Any:
        self.generic_visit(node)
        if not any(isinstance(part, ast.Starred) for part in node.elts):
            return node
        parts: list[ast.expr] = []
        for starred, group in itertools.groupby(node.elts, lambda part: isinstance(part, ast.Starred)):
            elements = list(group)
            if starred:
                parts += [call(self.context.builtin(kind), copy.deepcopy(part.value)) for part in elements]
            else:
                parts.append(type(node)(elements) if kind == "set" else type(node)(elements, ast.Load()))
        if kind == "tuple":
            return at(node, functools.reduce(functools.partial(support, "joined"), parts))
        sign = ast.BitOr() if kind == "set" else ast.Add()
        return at(node, functools.reduce(lambda left, right: ast.BinOp(left, sign, right), parts))


def _grown(node: ast.expr) -> ast.expr:
    """A list for `path + (cell,)`: a function that calls itself with a longer tuple is another for each length."""
    match node:
        case ast.BinOp(ast.Name() as before, ast.Add(), ast.Tuple([_]) as another):
            return at(node, support("grown", before, another))
    return node


def _written_parts(node: ast.expr) -> list[ast.expr]:
    """The parts of `*(a, b)`; any other argument alone."""
    if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List):
        return node.value.elts
    return [node]


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
