"""Last pass: resolve every name that is not a variable to a constant, a helper, or a numba function."""

from __future__ import annotations

import ast
import copy
import enum
import math
from collections.abc import Mapping
from types import FunctionType, MethodType, ModuleType
from typing import Any, Protocol

import numpy as np

from ...rules.net import Net
from ...rules.parameters import opened
from ...usercode import function_source
from ...usercode.function_source import Definition, definition, never_changes, parameters, taken
from ...usercode.parsing import parse_expression
from ..compile_errors import CHANCE_AND_TIME, instead_of_call, refuse, refuse_unrepeatable
from ..source import rewrite
from ..source.rewrite import Rewrite, at, call, holds_constants, is_asked, name, support, written_out
from ..source.scopes import SUPPORT, Callee, Kind, Nested, builtin_name, scope_of, variables_read
from ..source.stand_ins import is_stand_in
from . import constants

_BUILTINS = {abs, bool, chr, complex, dict, divmod, enumerate, float, int, isinstance, len, list, max, min, pow, range}
_BUILTINS |= {ord, reversed, round, set, slice, sum, tuple, zip}
_UNREPEATABLE = CHANCE_AND_TIME | {
    "os": "the computer it runs on",
    "sys": "the computer it runs on",
    "threading": "other threads",
}

_UNKNOWN: dict[type[ast.AST], tuple[str, str]] = {
    ast.ClassDef: ("a class of its own", "define it outside the function"),
    ast.With: ("with", "read files outside the function, into a constant"),
    ast.Match: ("match", "write if and elif"),
    ast.Starred: ("* to pack or unpack", "name each part"),
    ast.Yield: ("yield", "return a list"),
    ast.YieldFrom: ("yield", "return a list"),
    ast.Await: ("await", "call a plain function"),
    ast.AsyncFor: ("async", "write a plain loop"),
    ast.AsyncWith: ("async", "write a plain function"),
}
"""What numba does not know, and what to write instead."""


_INSTEAD = {
    "count": "write range(...)",
    "eval": "write the expression itself",
    "format": "write round(x, 2), or a tuple as key",
    "getattr": "read the attribute by its name",
    "hasattr": "decide outside the function",
    "iter": "write moves[0] and moves[1:]",
    "open": "read the file outside the function",
    "super": "write self.method(...), with a name of its own",
    "vars": "name each attribute",
}
"""What to write instead of a call, by the name of the called function."""


class Writer(Protocol):
    """The module being written, which takes helpers and constants."""

    def helper(self, callee: Callee, given: dict[str, Any], kinds: dict[str, Kind], node: ast.AST) -> str:
        """Write a function, with these parameters known, where `node` calls it, and return its name."""

    def composite(self, composite: Any, node: ast.AST) -> str:
        """Write a composite as a function of (game, player) and return its name."""

    def constant(self, value: ast.expr, what: str) -> str:
        """Write a module-level constant and return its name."""

    def table(self, value: constants.Table, node: ast.AST, what: str) -> str:
        """Write the look-up functions of a dictionary and return the prefix of their names."""

    def flattened(self, value: constants.Table) -> constants.Table | None:
        """Return a dictionary of dictionaries as one by pairs of keys; None for others."""


class ResolveNames(Rewrite):
    """Names and calls become those of the generated module."""

    def __init__(self, context: rewrite.FunctionContext, writer: Writer) -> None:
        super().__init__(context)
        self.writer = writer

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load) or node.id == SUPPORT:
            return node
        value = self.known(node)
        return node if value is None else self._constant(value.value, node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Write a known attribute of a module, such as math.pi, in its place."""
        if isinstance(node.value, ast.Name) and node.value.id == SUPPORT:
            return node
        if isinstance(node.ctx, ast.Store):
            known = self.known(node.value)
            refusal = refuse if known is None else refuse_unrepeatable
            refusal(f"it changes {ast.unparse(node)}" + (", which outlives the call" if known else ""), node)
        value = self.known(node)
        if value is not None:
            return self._constant(value.value, node)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        table = self._table(node.value)
        if table is None and (column := self._column(node)) is not None:
            return self.visit(column)
        if table is None and (pair := self._of_two_keys(node)) is not None:
            return pair
        if table is None:
            return self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            refuse_unrepeatable(f"it changes {ast.unparse(node.value)}, which outlives the call", node)
        key = self.known(node.slice)
        if key is not None and isinstance(key.value, str):
            if key.value not in table:
                refuse(f"{ast.unparse(node.value)} has no {key.value!r}", node)
            return self._constant(table[key.value], node)
        return at(node, self._asked(table, "look_up", node.value, [node.slice]))

    def _of_two_keys(self, node: ast.Subscript) -> ast.expr | None:
        """`DISTANCE[cell][other]`, of a dictionary of dictionaries, as what a dictionary of pairs has."""
        match node:
            case ast.Subscript(ast.Subscript(outer, first), second, ast.Load()):
                table = self._table(outer)
                flat = None if table is None else self.writer.flattened(table)
                if flat is not None:
                    pair = at(node, ast.Tuple([first, second], ast.Load()))
                    return at(node, self._asked(flat, "look_up", outer, [pair]))
        return None

    def _column(self, node: ast.Subscript) -> ast.expr | None:
        """`WEIGHTS[phase]["own"]` as a look-up in a table that has the weight for each phase."""
        known = self.known(node.slice) if isinstance(node.slice, ast.Constant) else None
        outer = self._table(node.value.value) if isinstance(node.value, ast.Subscript) else None
        if known is None or outer is None or not isinstance(node.value, ast.Subscript):
            return None
        if not all(isinstance(row, Mapping) and known.value in row for row in outer.values()):
            return None
        column = {key: row[known.value] for key, row in outer.items()}
        return at(node, ast.Subscript(self.context.value(column), node.value.slice, ast.Load()))

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            table = self._table(node.comparators[0])
            if table is None:
                element = self.visit(node.left)
                result: ast.expr = support("contains", self.visit(node.comparators[0]), element)
            else:
                result = self._asked(table, "has", node.comparators[0], [node.left])
            return at(node, result if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), result))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        """Call what is known: a helper, a composite, a builtin, a function of a library."""
        if isinstance(node.func, ast.Attribute):
            method = self._method(node, node.func)
            if method is not None:
                return method
        known = self.known(node.func)
        if known is None:
            if isinstance(node.func, ast.Name) and node.func.id != SUPPORT:
                refuse(f"it calls {node.func.id}, which is not known at compile time", node)
            return self.generic_visit(node)
        _refuse_chance(known.value, node)
        callee = self.callee(node.func)
        if callee is not None:
            return self._call_helper(callee, node)
        if hasattr(opened(known.value), "phases"):
            composite = self.writer.composite(opened(known.value), node)
            return at(node, call(name(composite), *map(self.visit, node.args)))
        if isinstance(known.value, Net):
            return at(
                node, support("value_of_net", *map(self.visit, node.args), self._constant(known.value, node.func))
            )
        return self._call_library(known.value, node)

    def visit_Raise(self, node: ast.Raise) -> Any:
        """Raise a plain exception: whoever evaluates only learns that there was one."""
        return at(node, ast.Raise(call(name("ValueError"), ast.Constant("raised by the heuristic"))))

    def visit(self, node: ast.AST) -> Any:
        """Refuse statements that numba does not know."""
        if type(node) in _UNKNOWN:
            what, instead = _UNKNOWN[type(node)]
            refuse(f"it uses {what}, which compiled code does not support: {instead}", node)
        return super().visit(node)

    # --- calls -----------------------------------------------------------------------------------------------------

    def _method(self, node: ast.Call, function: ast.Attribute) -> ast.expr | None:
        """Rewrite a method of a known value; refuse one that changes it."""
        owner = self.known(function.value)
        if (
            owner is None
            or owner.value is SUPPORT
            or isinstance(owner.value, ModuleType | type | super)
            or is_asked(owner.value)
        ):
            return None
        what = ast.unparse(function.value)
        if function.attr in function_source.CHANGING_METHODS:
            refuse_unrepeatable(f"it changes {what}, which outlives the call", node)
        if isinstance(owner.value, np.ndarray) or (holds_constants(owner.value) and self.callee(function) is not None):
            return None
        table = self._table(function.value)
        if table is not None:
            return self._table_method(table, node, function)
        if function.attr in ("index", "count", "intersection", "union", "difference", "issubset", "copy"):
            return None
        if function.attr == "join" and isinstance(owner.value, str):
            return None
        if isinstance(getattr(type(owner.value), function.attr, None), FunctionType) and not is_asked(owner.value):
            refuse_unrepeatable(f"it calls {what}.{function.attr}, of an object that changes between calls", node)
        refuse(f"it calls {what}.{function.attr}, which compiled code does not support", node)

    def _table_method(self, table: constants.Table, node: ast.Call, function: ast.Attribute) -> ast.expr:
        what = ast.unparse(function.value)
        if function.attr == "get" and node.args:
            get = "get" if len(node.args) == 2 else "get_or_none"
            return at(node, self._asked(table, get, function.value, node.args))
        if function.attr in ("keys", "values", "items") and not node.args:
            listed = tuple(getattr(table, function.attr)())
            return at(node, constants.expression(listed, node, what))
        refuse(f"it calls {what}.{function.attr}, which compiled code does not support", node)

    def _call_library(self, value: Any, node: ast.Call) -> ast.expr:
        what = ast.unparse(node.func)
        called = getattr(value, "__name__", "")
        module = _home(value)
        if builtin_name(value) is not None:
            if value not in _BUILTINS:
                refuse(f"it calls {called}, {_unsupported(called)}", node)
            node.func = self._builtin(called)
        elif called and getattr(math, called, None) is value:
            node.func = _dotted(f"{SUPPORT}.math.{called}")
        elif module.partition(".")[0] == "numpy":
            if isinstance(value, type) and value not in (np.float64, np.int64, np.bool_):
                refuse(f"it computes with {what}: compiled code has float64 and int64", node)
            node.func = _dotted(f"{SUPPORT}.np.{_numpy_path(value, called)}")
        elif isinstance(value, type) and function_source.is_users(value):
            advice = f"write x = {called}(...) once, outside of loops, and use only x.attribute and x.method(...)"
            refuse(f"it makes a new {called}, an object that changes: {advice}", node)
        else:
            refuse(f"it calls {what}, {_unsupported(called)}", node)
        node.args = [self.visit(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def _builtin(self, called: str) -> ast.expr:
        shadowed = called in self.scope.names
        return _dotted(f"{SUPPORT}.builtins.{called}") if shadowed else name(called)

    def _call_helper(self, callee: Callee, node: ast.Call) -> ast.expr:
        """Call a helper with positional arguments; what is known of them is written into the helper."""
        callee, node = self._without_further_names(callee, node)
        wanted, values = self._arguments(callee, node)
        given: dict[str, Any] = {}
        kinds: dict[str, Kind] = {}
        passed: list[ast.expr] = []
        for parameter in wanted:
            value = values[parameter]
            known = self._given(value)
            if known is not None:
                given[parameter] = known.value
                continue
            kind = self.kind(value)
            if kind is not None:
                kinds[parameter] = kind
            passed.append(self.visit(value))
        hidden = [read for value in given.values() if isinstance(value, Callee) for read in variables_read(value)]
        reads = variables_read(callee)
        function = self.writer.helper(callee, given, kinds, node)
        return at(node, call(name(function), *passed, *map(name, hidden), *map(name, reads)))

    @staticmethod
    def _without_further_names(callee: Callee, node: ast.Call) -> tuple[Callee, ast.Call]:
        """A function that takes any names (`**options`) as one that takes those of a call."""
        target = callee.target
        written = target.node if isinstance(target, Nested) else definition(target)
        if not written.args.kwarg or any(keyword.arg is None for keyword in node.keywords):
            return callee, node
        written, node = spelled(written, node)
        scope = target.scope if isinstance(target, Nested) else scope_of(target, written, {}, {})
        return Callee(Nested(written, scope), callee.reads, callee.defaults), node

    def _given(self, value: ast.expr) -> Any:
        """Return the value of an argument that the helper is to be written for: a function, None, text, a table."""
        known = self.known(value)
        if known is None:
            return None
        callee = None if never_changes(known.value) else self.callee(value)
        if callee is not None:
            return type(known)(Callee(callee.target, variables_read(callee), callee.defaults))
        whole = isinstance(known.value, str | Mapping | list | set | np.ndarray) or callable(known.value)
        whole = whole or holds_constants(known.value) or constants.loses_its_order(known.value)
        return known if known.value is None or whole else None

    def _arguments(self, callee: Callee, node: ast.Call) -> tuple[list[str], dict[str, ast.expr]]:
        """Match the arguments of a call with the parameters of a function."""
        target = callee.target
        definition_node = target.node if isinstance(target, Nested) else definition(target)
        called = definition_node.name if isinstance(definition_node, ast.FunctionDef) else "lambda"
        called = called.removeprefix("_") if is_stand_in(target) else called
        wanted = taken(definition_node)
        further = definition_node.args.vararg
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if starred or any(keyword.arg is None for keyword in node.keywords):
            refuse(f"it calls {called} with * or **, which compiled code does not support", node)
        values = self._defaults(callee, definition_node)
        positional = [argument.arg for argument in (*definition_node.args.posonlyargs, *definition_node.args.args)]
        positional = [parameter for parameter in positional if parameter not in callee.defaults]
        if len(node.args) > len(positional) and further is None:
            refuse(f"it gives {called} too many arguments", node)
        values |= dict(zip(positional, node.args, strict=False))
        if further is not None:
            others = node.args[len(positional) :]
            rest = ast.Tuple(others, ast.Load()) if others else support("empty_list", ast.Constant(0))
            values[further.arg] = at(node, rest)
        values |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        missing = [parameter for parameter in wanted if parameter not in values]
        if missing or len(values) > len(wanted):
            refuse(
                f"it calls {called} without its argument {missing[0]}" if missing else f"{called} lacks a parameter",
                node,
            )
        return wanted, values

    def _defaults(self, callee: Callee, node: Definition) -> dict[str, ast.expr]:
        positional = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        if isinstance(callee.target, Nested):
            by_name: dict[str, ast.expr] = dict(
                zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults, strict=True)
            )
            keyword_only = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            by_name |= {argument.arg: default for argument, default in keyword_only if default}
            for default in by_name.values():
                if self.known(default) is None and written_out(default) is None and not rewrite.is_fresh(default):
                    refuse(f"the default {ast.unparse(default)} is not a constant", default)
            return by_name | {parameter: self.context.value(value) for parameter, value in callee.defaults.items()}
        defaults = callee.target.__defaults__ or ()
        values = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
        values |= callee.target.__kwdefaults__ or {}
        values |= callee.defaults
        return {parameter: self.context.value(value) for parameter, value in values.items()}

    # --- values ----------------------------------------------------------------------------------------------------

    def _constant(self, value: Any, node: ast.expr) -> ast.expr:
        what = ast.unparse(node)
        if isinstance(value, Callee | FunctionType | MethodType) or hasattr(value, "phases"):
            refuse(f"it keeps the function {what} as a value, which compiled code does not support", node)
        if isinstance(value, ModuleType):
            refuse(f"it keeps the module {what} as a value, which compiled code does not support", node)
        called = builtin_name(value)
        if called is not None:
            return at(node, self._builtin(called))
        if isinstance(value, enum.EnumType):
            value = tuple(value)
        if isinstance(value, type):
            refuse(f"it uses the class {what}, which compiled code does not support", node)
        written = at(node, constants.expression(value, node, what))
        if isinstance(written, ast.Call) and not isinstance(written.func, ast.Name):
            return at(node, name(self.writer.constant(written, what)))
        return written

    def _table(self, node: ast.expr) -> constants.Table | None:
        table = self.value_of(node, ast.Name | ast.Attribute | ast.Subscript)
        return table if isinstance(table, Mapping) else None

    def _asked(self, table: constants.Table, function: str, node: ast.expr, given: list[ast.expr]) -> ast.expr:
        """The call of a function of a table; a key that is the text of a number is looked up as that number."""
        key, *others = map(self.visit, given)
        number = _number_of_text(key)
        if number is not None and (numbered := constants.by_number(table)):
            table, key = numbered, support("whole", number)
        return call(name(f"{self.writer.table(table, node, ast.unparse(node))}_{function}"), key, *others)


def _unsupported(called: str) -> str:
    return f"which compiled code does not support: {_INSTEAD.get(called) or instead_of_call(called)}"


def _number_of_text(node: ast.expr) -> ast.expr | None:
    """Return the argument of `text`."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(id=room), "text"), [number]) if room == SUPPORT:
            return number
    return None


def _home(value: Any) -> str:
    """The module that a function comes from; of a method its owner's, where that draws random numbers."""
    owner = getattr(value, "__self__", None)
    if isinstance(owner, type):
        return owner.__module__
    owner = getattr(owner, "__class__", None)
    if owner is not None and owner.__module__ in ("random", "numpy.random.mtrand"):
        return "random"
    return getattr(value, "__module__", None) or getattr(type(value), "__module__", "") or ""


def _refuse_chance(value: Any, node: ast.Call) -> None:
    module = _home(value)
    for forbidden, on_what in _UNREPEATABLE.items():
        if module == forbidden or module.startswith(f"{forbidden}."):
            refuse_unrepeatable(f"it calls {ast.unparse(node.func)}, so its value depends on {on_what}", node)


def _dotted(path: str) -> ast.expr:
    return parse_expression(path)


def _numpy_path(value: Any, called: str) -> str:
    return called if getattr(np, called, None) is value else f"linalg.{called}"


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
