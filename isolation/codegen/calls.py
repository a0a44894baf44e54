"""Calls: arguments to parameters, functions written in where they are called, objects of users' classes."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import linecache
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType
from typing import Any

from ..usercode.parsing import parse
from . import library
from .flow import Edge, Flow
from .functions import compiled_call, is_pure
from .methods import call_method
from .operations import run_python
from .values import (
    Bound,
    Choice,
    Closure,
    Entries,
    Fields,
    Items,
    Lazy,
    Partial,
    Reference,
    Static,
    Tuple,
    UnsupportedError,
    Value,
    parts_of,
    whole,
)

Function = ast.FunctionDef | ast.Lambda
_DEEPEST = 60
_MOST_AT_ONCE = 12
"""How often a function may stand in itself."""


@dataclass(eq=False)
class Frame:
    """A function while its code is emitted.

    Attributes:
        node: its syntax tree.
        space: the module's variables.
        cells: variables of functions around it that are known.
        parent: the frame of the function around it, while that is compiled, too.
        number: tells its variables from those of other calls.
        site: tells this call from all others, the same whenever the code is emitted again.
    """

    node: Function
    space: dict[str, Any]
    cells: dict[str, Value]
    parent: Frame | None
    number: int
    site: Hashable
    returns: list[Edge]
    loops: list[tuple[list[Edge], list[Edge]]] = field(default_factory=list)
    nonlocals: set[str] = field(default_factory=set)
    yielded: Reference | None = None

    @functools.cached_property
    def own_names(self) -> frozenset[str]:
        """The names that are the function's variables."""
        return names_assigned_in(self.node)


def names_assigned_in(node: Function) -> frozenset[str]:
    """The names that a function binds, its parameters included; not those that functions in it bind."""
    names: set[str] = set()

    def visit(part: ast.AST, is_top: bool = False) -> None:
        if isinstance(part, ast.FunctionDef | ast.Lambda) and not is_top:
            names.update([part.name] if isinstance(part, ast.FunctionDef) else [])
            return
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            names.add(part.id)
        elif isinstance(part, ast.arg):
            names.add(part.arg)
        elif isinstance(part, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in part.names)
        for child in ast.iter_child_nodes(part):
            visit(child)

    visit(node, True)
    return frozenset(names)


# --- the source of a function


@functools.lru_cache(maxsize=64)
def _tree(file: str, text: str) -> ast.Module:
    return parse(text)


def node_of(function: FunctionType) -> Function:
    """The syntax tree of a function.

    Raises:
        UnsupportedError: it is not known.
    """
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename))
    found = [node for node in ast.walk(_tree(code.co_filename, text)) if _may_be(node, code)]
    if len(found) > 1:
        ends = {(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None}
        found = [
            node for node in found if isinstance(node, ast.Lambda) and (node.body.lineno, node.body.col_offset) in ends
        ]
    if len(found) != 1:
        raise UnsupportedError(f"the source of {code.co_name} is not found")
    return found[0]  # type: ignore[return-value]


def _may_be(node: ast.AST, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) == code.co_firstlineno


# --- calls


def call(flow: Flow, function: Value, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable) -> Value:
    """What a call gives; `site` is where it stands, and tells it from other calls in the same function."""
    if flow.is_dead:
        return Static(None)
    if isinstance(function, Closure):
        bound = _bound(
            flow, function.node.args, arguments, keywords, function.defaults, dict(function.keyword_defaults)
        )
        return _written_in(flow, function.node, function.frame.space, {}, function.frame, bound, site)
    if isinstance(function, Partial):
        given = dict(function.keywords) | keywords
        return call(flow, function.function, [*function.arguments, *arguments], given, site)
    if isinstance(function, Bound):
        return call_method(flow, function.owner, function.name, arguments, keywords, site)
    if isinstance(function, Choice):
        return _call_choice(flow, function, arguments, keywords, site)
    if isinstance(flow.content(function), Fields):
        return call_method(flow, function, "__call__", arguments, keywords, site)
    if isinstance(function, Static):
        return _call_object(flow, function.value, arguments, keywords, site)
    raise UnsupportedError("a call of what is no function")


def _call_object(
    flow: Flow, function: Any, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable
) -> Value:
    if isinstance(function, functools.partial):
        given = {name: Static(value) for name, value in function.keywords.items()} | keywords
        return call(flow, Static(function.func), [*map(Static, function.args), *arguments], given, site)
    if is_pure(function) and all(isinstance(value, Static) for value in (*arguments, *keywords.values())):
        values = [argument.value for argument in arguments]  # type: ignore[attr-defined]
        named = {name: value.value for name, value in keywords.items()}  # type: ignore[attr-defined]
        result = run_python(flow, lambda: _kept(function(*values, **named)))
        is_list = isinstance(result, Static) and isinstance(result.value, list)
        return flow.new(Items(tuple(map(Static, result.value)))) if is_list else result  # type: ignore[attr-defined]
    compiled = compiled_call(flow, function, arguments, keywords, site)
    if compiled is not None:
        return compiled
    if isinstance(function, MethodType):
        return _call_object(flow, function.__func__, [Static(function.__self__), *arguments], keywords, site)
    if isinstance(function, FunctionType):
        return _call_function(flow, function, arguments, keywords, site)
    if isinstance(function, type):
        return _construct(flow, function, arguments, keywords, site)
    special = getattr(type(function), "__call__", None)
    if isinstance(special, FunctionType):
        return _call_function(flow, special, [Static(function), *arguments], keywords, site)
    raise UnsupportedError(f"a call of {getattr(function, '__name__', type(function).__name__)}")


def _kept(result: Any) -> Any:
    """An iterator's items, which can be looked at more than once."""
    return tuple(result) if hasattr(result, "__next__") else result


def _call_function(
    flow: Flow, function: FunctionType, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable
) -> Value:
    function = inspect.unwrap(function)
    cells: dict[str, Value] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            cells[name] = Static(cell.cell_contents)
        except ValueError:
            continue
    node = node_of(function)
    defaults = tuple(map(Static, function.__defaults__ or ()))
    by_keyword = {name: Static(value) for name, value in (function.__kwdefaults__ or {}).items()}
    bound = _bound(flow, node.args, arguments, keywords, defaults, by_keyword)
    return _written_in(flow, node, function.__globals__, cells, None, bound, site)


def _bound(
    flow: Flow,
    parameters: ast.arguments,
    arguments: Sequence[Value],
    keywords: dict[str, Value],
    defaults: Sequence[Value],
    keyword_defaults: dict[str, Any],
) -> dict[str, Value]:
    """The values of a function's parameters in a call.

    Raises:
        UnsupportedError: the call does not fit.
    """
    names = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
    by_keyword = [parameter.arg for parameter in parameters.kwonlyargs]
    bound = dict(zip(names, arguments, strict=False))
    rest = tuple(arguments[len(names) :])
    if parameters.vararg:
        bound[parameters.vararg.arg] = Tuple(rest)
    elif rest:
        raise UnsupportedError("a call with too many arguments")
    others = {name: value for name, value in keywords.items() if name not in (*names, *by_keyword)}
    bound |= {name: value for name, value in keywords.items() if name not in others}
    if parameters.kwarg:
        bound[parameters.kwarg.arg] = flow.new(Entries(tuple(map(Static, others)), tuple(others.values())))
    elif others:
        raise UnsupportedError("a call with an unknown keyword")
    for name, default in zip(names[len(names) - len(defaults) :], defaults, strict=True):
        bound.setdefault(name, default)
    for name, default in keyword_defaults.items():
        bound.setdefault(name, default)
    if missing := [name for name in (*names, *by_keyword) if name not in bound]:
        raise UnsupportedError(f"a call without its argument {missing[0]}")
    return bound


def refuse_kept(value: Value) -> None:
    """Refuse an iterator that has a name, as it is empty when it is used again."""
    if any(isinstance(part, Lazy) and not part.is_range for part in parts_of(value)):
        raise UnsupportedError("an iterator that is kept")


def _written_in(
    flow: Flow,
    node: Function,
    space: dict[str, Any],
    cells: dict[str, Value],
    parent: Frame | None,
    bound: dict[str, Value],
    site: Hashable,
) -> Value:
    """Emit a function's code where it is called; what it returns."""
    frames: list[Frame] = flow.frames
    if space is not vars(library):
        for value in bound.values():
            refuse_kept(value)
    if len(frames) > _DEEPEST or sum(frame.node is node for frame in frames) > _MOST_AT_ONCE:
        raise UnsupportedError("recursion whose depth is not known")
    path = (frames[-1].site if frames else None, site, id(node))
    frame = Frame(node, space, cells, parent, next(flow.numbers), hash(path), flow.collect())
    for name, value in bound.items():
        flow.here()["local", frame.number, name] = value
    frames.append(frame)
    flow.operations.run_body(flow, frame)
    flow.merge_pending(frame.returns)
    frames.pop()
    if flow.is_dead:
        return Static(None)
    result = flow.here().pop(("result", frame.number), None)
    if result is None:
        raise UnsupportedError("a function returns values of different kinds")
    if not _is_kept(flow, frame):
        for key in [key for key in flow.here() if isinstance(key, tuple) and key[:2] == ("local", frame.number)]:
            del flow.here()[key]
    return result


def _is_kept(flow: Flow, frame: Frame) -> bool:
    """Whether a function that was defined in a frame may still be called."""
    return any(
        isinstance(part, Closure) and part.frame is frame for value in flow.here().values() for part in parts_of(value)
    ) or any(
        isinstance(node, ast.Lambda | ast.FunctionDef | ast.GeneratorExp)
        for node in ast.walk(frame.node)
        if node is not frame.node
    )


def _call_choice(
    flow: Flow, function: Choice, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable
) -> Value:
    """What a call of one of several functions gives."""
    result = ("hidden", (site, "choice", next(flow.numbers)))
    ends = flow.collect()
    for place, option in enumerate(function.options):
        is_last = place == len(function.options) - 1
        yes, no = flow.ways(Static(True) if is_last else flow.build.icmp_signed("==", function.signal, whole(place)))
        flow.merge(yes)
        flow.here()[result] = call(flow, option, arguments, keywords, (site, place))
        if not flow.is_dead:
            ends.append(flow.edge())
        flow.merge(no)
    flow.merge_pending(ends)
    return flow.here().pop(result) if not flow.is_dead else Static(None)


# --- objects


def _construct(
    flow: Flow, owner: type, arguments: Sequence[Value], keywords: dict[str, Value], site: Hashable
) -> Value:
    """A new object of a user's class."""
    if issubclass(owner, tuple) and hasattr(owner, "_fields"):
        fields = {name: Static(value) for name, value in owner._field_defaults.items()}  # type: ignore[attr-defined]
        fields |= dict(zip(owner._fields, arguments, strict=False)) | keywords
        if set(fields) == set(owner._fields):
            return Tuple(tuple(fields[name] for name in owner._fields), owner)
    is_ours = issubclass(owner, library.Table)
    if not is_ours and (owner.__mro__[1:] != (object,) or type(owner) is not type):
        raise UnsupportedError(f"an object of the class {owner.__name__}")
    made = flow.new(Fields(owner, (), ()))
    if dataclasses.is_dataclass(owner):
        return _construct_dataclass(flow, owner, made, arguments, keywords, site)
    if isinstance(owner.__init__, FunctionType):
        call(flow, Static(owner.__init__), [made, *arguments], keywords, (site, "init"))
    return made


def _construct_dataclass(
    flow: Flow,
    owner: type,
    made: Reference,
    arguments: Sequence[Value],
    keywords: dict[str, Value],
    site: Hashable,
) -> Value:
    fields: dict[str, Value] = {}
    names = [item.name for item in dataclasses.fields(owner) if item.init]  # type: ignore[arg-type]
    given = dict(zip(names, arguments, strict=False)) | keywords
    for item in dataclasses.fields(owner):  # type: ignore[arg-type]
        if item.name in given:
            fields[item.name] = given[item.name]
        elif item.default is not dataclasses.MISSING:
            fields[item.name] = Static(item.default)
        elif item.default_factory is not dataclasses.MISSING:
            fields[item.name] = call(flow, Static(item.default_factory), [], {}, (site, item.name))
        else:
            raise UnsupportedError(f"an object of {owner.__name__} without its field {item.name}")
    flow.change(made, Fields(owner, tuple(fields), tuple(fields.values())))
    if hasattr(owner, "__post_init__"):
        call_method(flow, made, "__post_init__", [], {}, (site, "post"))
    return made
