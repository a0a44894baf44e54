"""Functions and classes from scripts and notebook cells, written to files, so that specs can name them.

A file is named by a hash of its text: the same code is the same agent, and other code another one. It contains the
definition, without comments, and what it uses at module level: functions and classes of the user's own by their source,
what Python or an installed package provides by an import, and plain values (numbers, texts, tuples, lists, sets,
dictionaries, arrays, dataclasses) as they are now. A closure's variables and the values of defaults are treated alike.
ValueError is raised if the source cannot be read, or uses what cannot be written to a file.
"""

from __future__ import annotations

import ast
import builtins
import dis
import hashlib
import inspect
import math
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from knights_isolation import heuristics
from knights_isolation.isolation.compiling.compile_errors import CompileError
from knights_isolation.isolation.files.atomic_write import make_folder, write_text
from knights_isolation.isolation.loading.load_user_code import is_player, origin_of
from knights_isolation.isolation.usercode.function_source import codes_in, definition, essence, file_tree
from knights_isolation.isolation.usercode.imports import bare
from knights_isolation.isolation.usercode.parsing import suppress_warnings
from knights_isolation.lazy_package import TOOLKIT

from ..agent_like import AgentLike
from .agent_kinds import number_text, parse_limit

FOLDER = "functions"
_MOST_IN_A_NAME = 4
_BOUND = "_bound"
_HINT = "save it in a file, and name that: FILE.py:NAME"
_Definition = ast.FunctionDef | ast.ClassDef | ast.Lambda


def spec_of(agent: AgentLike, method: str = "ID", *, limit: str = "", name: str = "") -> str:
    """Return the spec of an agent: of a function of (game, player), or of a class of players.

    Specs are returned as they are; `improved`, the name of a heuristic, stands for `ID:improved`. The source is written
    to the user's cache, and every run keeps a copy.

    Args:
        method: the search that asks the function: ID, AB, MM, BF or MCTS.
        limit: of a move, as in `nodes=2000`.
        name: the agent's name; by default `ID_` and the function's own.

    Raises:
        ValueError: the source cannot be read, or uses what cannot be written to a file; or options are given for a
            spec, which has its own.
    """
    if isinstance(agent, str) and agent not in heuristics.names():
        if limit or name or method != "ID":
            raise ValueError(f"{agent} is a spec: write its method, limit and name into it")
        return agent
    unwrapped = agent if isinstance(agent, str | partial) else inspect.unwrap(agent)
    reference = reference_of(agent)
    player = reference if isinstance(unwrapped, type) and is_player(unwrapped) else f"{method}:{reference}"
    at = f"@{parse_limit(limit)}" if limit else ""
    return f"{f'{name}=' * bool(name)}{player}{at}"


def reference_of(function: AgentLike) -> str:
    """Return `FILE.py:NAME` of a function or class, written to a file if need be, or its name if it is shipped.

    Texts are returned as they are.
    """
    if isinstance(function, str):
        return function
    from knights_isolation.isolation.compiling.code_cache import folder as cache_folder

    if shipped := next((name for name in heuristics.names() if heuristics.get(name) is function), None):
        return shipped
    if origin := origin_of(function):
        return f"{origin.path}:{origin.name}"
    if not callable(function):
        raise ValueError(f"an agent is a spec, a function of (game, player) or a class, not {function!r}")
    source = _Source()
    name = source.add(function)
    text = source.text()
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = cache_folder() / FOLDER / digest / f"{source.label(name)}.py"
    if not path.exists():
        _write(path, text)
    return f"{path}:{name}"


def _write(path: Path, text: str) -> None:
    make_folder(path.parent)
    write_text(path, text)


def is_function_file(path: str | Path) -> bool:
    """Return whether a file was written for a function."""
    return _kept_path(Path(path)) is not None


def keep_function_files(run: Path, paths: Iterable[str]) -> None:
    """Copy the files that were written for functions into the directory of a run."""
    for path in map(Path, paths):
        if kept := _kept_path(path):
            _write(run / kept, path.read_text(encoding="utf-8"))


def restore_function_files(run: Path, specs: Iterable[str]) -> None:
    """Write files of functions again that are missing, from the copies in the directory of a run."""
    for spec in specs:
        if match := re.search(rf"(/.*/{FOLDER}/[0-9a-f]{{16}}/[^/]*\.py):", spec):
            path = Path(match[1])
            kept = _kept_path(path)
            if kept and not path.exists() and (run / kept).exists():
                _write(path, (run / kept).read_text(encoding="utf-8"))


def _kept_path(path: Path) -> Path | None:
    """Return the path of a function's file relative to a run that keeps it; None for other files."""
    parts = path.parts[-3:]
    is_ours = len(parts) == 3 and parts[0] == FOLDER and re.fullmatch(r"[0-9a-f]{16}", parts[1])
    return Path(*parts) if is_ours else None


class _Source:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._values: dict[str, Any] = {}
        self._closed: list[tuple[str, Any]] = []
        self._has_text_annotations = False

    def text(self) -> str:
        first = ["from __future__ import annotations"] if self._has_text_annotations else []
        imports = [part for part in self._parts if part.startswith(("import ", "from "))]
        others = [part for part in self._parts if part not in imports]
        return "\n".join([*first, *imports]) + "\n\n" * bool(first or imports) + "\n\n".join(others) + "\n"

    def label(self, name: str) -> str:
        parts = [f"{variable}{_short(value)}" for variable, value in self._closed]
        if len(parts) > _MOST_IN_A_NAME:
            parts = [hashlib.sha256(self.text().encode()).hexdigest()[:6]]
        return re.sub(r"[^\w.+-]", "_", "_".join([name.removesuffix(_BOUND), *parts]))

    def add(self, function: Callable[..., Any]) -> str:
        if isinstance(function, partial):
            inner = self.add(function.func)
            self._closed += sorted(function.keywords.items())
            self._require("partial", partial)
            given = [self._expression(value, inner) for value in function.args]
            given += [f"{name}={self._expression(value, inner)}" for name, value in function.keywords.items()]
            return self._bind(f"{inner}{_BOUND}", f"partial({', '.join([inner, *given])})")
        defined = inspect.unwrap(function)
        if isinstance(defined, FunctionType | type):
            self._closed += _closure(defined)
            if isinstance(defined, FunctionType):
                self._closed += _computed_defaults(defined)
        return self._added(function)

    def _added(self, function: Callable[..., Any]) -> str:
        defined = inspect.unwrap(function)
        if not isinstance(defined, FunctionType | type):
            return self._bind("score", self._expression(function, "the agent"))
        name = defined.__name__
        if not name.isidentifier():
            name = f"lambda_{hashlib.sha256(ast.unparse(_definition(defined)).encode()).hexdigest()[:4]}"
        self._require(name, function)
        return name

    def _bind(self, name: str, expression: str) -> str:
        self._parts.append(f"{name} = {expression}")
        return name

    def _require(self, name: str, value: Any) -> None:
        if name in self._values:
            known = self._values[name]
            if known is not value and (
                callable(value) or self._expression(known, name) != self._expression(value, name)
            ):
                raise ValueError(f"two different things are called {name}: rename one of them")
            return
        self._values[name] = value
        defined = inspect.unwrap(value) if callable(value) else value
        if isinstance(value, ModuleType):
            self._parts.append(_module_import(name, value))
        elif statement := _import_of(name, value):
            self._parts.append(statement)
        elif isinstance(defined, FunctionType | type):
            self._define(name, defined)
        else:
            self._bind(name, self._expression(value, name))

    def _define(self, name: str, defined: FunctionType | type) -> None:
        node = _definition(defined)
        if isinstance(defined, FunctionType) and isinstance(node, ast.FunctionDef | ast.Lambda):
            self._fix_defaults(node.args, defined)
            self._has_text_annotations |= bool(defined.__code__.co_flags & _TEXT_ANNOTATIONS)
        if isinstance(node, ast.Lambda):
            text = f"{name} = {ast.unparse(node)}"
        else:
            node.name = name
            text = ast.unparse(node)
        known = {**_globals(defined), **dict(_closure(defined))}
        for used in _names_used(text):
            if used != name and used in known:
                self._require(used, known[used])
            elif used != name and not hasattr(builtins, used):
                raise ValueError(f"{name} uses {used}, which is not defined")
        self._parts.append(text)

    def _fix_defaults(self, arguments: ast.arguments, function: FunctionType) -> None:
        """Write the values of defaults that are not literals: what they were computed from may have changed."""
        for nodes, index, _, value in _defaults(arguments, function):
            if not isinstance(nodes[index], ast.Constant):
                text = self._expression(value, function.__name__)
                nodes[index] = ast.parse(text, mode="eval").body

    def _expression(self, value: Any, name: str) -> str:
        if value is None or isinstance(value, bool | int | str | bytes):
            return repr(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if type(value) in _COLLECTIONS:
            parts = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
            inner = [self._expression(part, name) for part in parts]
            return _COLLECTIONS[type(value)].format(", ".join(inner) + "," * (len(inner) == 1))
        if type(value) is dict:
            pairs = (f"{self._expression(key, name)}: {self._expression(part, name)}" for key, part in value.items())
            return f"{{{', '.join(pairs)}}}"
        if type(value).__module__ == "numpy" and value.dtype.kind in "biuf":
            self._require("numpy", sys.modules["numpy"])
            text = f"numpy.array({self._expression(value.tolist(), name)}, {value.dtype.name!r})"
            return text if value.ndim else f"{text}[()]"
        if callable(value) and isinstance(inspect.unwrap(value), FunctionType):
            return self._added(value)
        if is_dataclass(value) and not isinstance(value, type):
            self._require(type(value).__name__, type(value))
            names = [field.name for field in fields(value) if field.init]
            given = (f"{field}={self._expression(getattr(value, field), name)}" for field in names)
            return f"{type(value).__name__}({', '.join(given)})"
        raise ValueError(f"{name} is or uses a {type(value).__name__}, which cannot be written to a file: {_HINT}")


_COLLECTIONS: dict[Any, str] = {tuple: "({})", list: "[{}]", set: "set([{}])", frozenset: "frozenset([{}])"}
_TEXT_ANNOTATIONS = 0x1000000  # __future__.annotations.compiler_flag


def _short(value: Any) -> str:
    if isinstance(value, int | float):
        return number_text(float(value)) if math.isfinite(value) else str(value)
    name = getattr(value, "__name__", None) if callable(value) else None
    return str(name) if name else hashlib.sha256(repr(value).encode()).hexdigest()[:4]


def _definition(defined: FunctionType | type) -> _Definition:
    try:
        node: _Definition = definition(defined) if isinstance(defined, FunctionType) else _class_definition(defined)
    except CompileError as error:
        raise ValueError(f"{error.reason}: {_HINT}") from None
    fresh = ast.parse(ast.unparse(node)).body[0]
    fresh = fresh.value if isinstance(fresh, ast.Expr) else fresh  # type: ignore[assignment]
    assert isinstance(fresh, ast.FunctionDef | ast.ClassDef | ast.Lambda)
    if isinstance(defined, FunctionType):
        _check_current(defined)
    return fresh


def _class_definition(defined: type) -> ast.ClassDef:
    methods = [value for value in vars(defined).values() if isinstance(value, FunctionType)]
    own = [method for method in methods if method.__qualname__.startswith(f"{defined.__qualname__}.")]
    for method in own:
        line = method.__code__.co_firstlineno
        for node in ast.walk(file_tree(method)):
            if not isinstance(node, ast.ClassDef) or node.name != defined.__name__:
                continue
            if node.lineno <= line <= (node.end_lineno or line):
                return node
    raise ValueError(f"the source of the class {defined.__name__} is not available: {_HINT}")


def _check_current(function: FunctionType) -> None:
    """Raise an error if the source has changed since the function was defined, as after editing an imported file."""
    with suppress_warnings():
        codes = codes_in(compile(file_tree(function), "<source>", "exec", dont_inherit=True))
    if not any(essence(code) == essence(function.__code__) for code in codes):
        what = f"the source of {function.__name__} has changed since it was defined"
        raise ValueError(f"{what}: define or import it again")


def _names_used(text: str) -> list[str]:
    """Return the names that a definition looks up outside itself, in the order of their first use."""
    names = dict.fromkeys(_loaded(compile(text, "<function>", "exec", dont_inherit=True)))
    return [name for name in names if not name.startswith("__")]


def _loaded(code: CodeType) -> Iterator[str]:
    for part in codes_in(code):
        steps = list(dis.get_instructions(part))
        own = {step.argval for step in steps if step.opname == "STORE_NAME"}
        for step in steps:
            if step.opname == "LOAD_GLOBAL" or (step.opname == "LOAD_NAME" and step.argval not in own):
                yield step.argval


def _closure(defined: FunctionType | type) -> list[tuple[str, Any]]:
    functions = [defined] if isinstance(defined, FunctionType) else vars(defined).values()
    closed: dict[str, Any] = {}
    for function in functions:
        if isinstance(function, FunctionType) and function.__closure__:
            for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
                if name != "__class__":
                    try:
                        closed[name] = cell.cell_contents
                    except ValueError:
                        raise ValueError(f"{function.__name__} uses {name}, which has no value yet") from None
    return sorted(closed.items())


def _computed_defaults(function: FunctionType) -> list[tuple[str, Any]]:
    """Return the defaults of a function that are not literals, as those that bind the variable of a loop."""
    every = _defaults(_definition(function).args, function)  # type: ignore[union-attr]
    return [(name, value) for nodes, index, name, value in every if isinstance(nodes[index], ast.Name)]


def _defaults(arguments: ast.arguments, function: FunctionType) -> Iterator[tuple[list[Any], int, str, Any]]:
    """Yield where the expression of each default is in a list of expressions, the parameter's name, and the value."""
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    values = function.__defaults__ or ()
    for index, (name, value) in enumerate(zip(positional[len(positional) - len(values) :], values, strict=True)):
        yield arguments.defaults, index, name, value
    for index, (argument, node) in enumerate(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
        if node:
            yield arguments.kw_defaults, index, argument.arg, (function.__kwdefaults__ or {})[argument.arg]


def _globals(defined: FunctionType | type) -> Mapping[str, Any]:
    return defined.__globals__ if isinstance(defined, FunctionType) else vars(sys.modules[defined.__module__])


def _import_of(name: str, value: Any) -> str | None:
    """Return the statement that imports a function or class of Python or of an installed package."""
    home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if not callable(value) or not home or not own.isidentifier() or not _is_installed(home):
        return None
    if getattr(sys.modules.get(home), own, None) is not value:
        return None
    return f"from {bare(home)} import {own}" + (f" as {name}" if name != own else "")


def _module_import(name: str, module: ModuleType) -> str:
    if not _is_installed(module.__name__):
        remedy = f"write `from {module.__name__} import …` for what is used"
        raise ValueError(f"the module {module.__name__} is your own: {remedy}")
    home = bare(module.__name__)
    return f"import {home}" if home == name else f"import {home} as {name}"


def _is_installed(module: str) -> bool:
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top in sys.builtin_module_names or top == TOOLKIT:
        return not module.startswith("knights_isolation.user_")
    file = getattr(sys.modules.get(top), "__file__", None)
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return bool(file) and any(Path(str(file)).is_relative_to(folder) for folder in folders)
