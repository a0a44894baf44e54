"""Chance, time and changed globals in the code of functions, found without rewriting it."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from .compile_error import CHANCE_AND_TIME

_CHANGES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_MOST_FUNCTIONS = 300


def unrepeatable_code(heuristic: Any) -> str:
    """Return the first thing in a heuristic's functions that depends on more than the position."""
    seen: set[int] = set()
    waiting = [heuristic]
    while waiting and len(seen) < _MOST_FUNCTIONS:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        for function in _functions(value):
            for code in _codes(function.__code__):
                if why := _in_instructions(code, function):
                    return why
                waiting += [known for name in code.co_names if _is_own(known := function.__globals__.get(name))]
            cells = function.__closure__ or ()
            waiting += [cell.cell_contents for cell in cells if _is_filled(cell) and _is_own(cell.cell_contents)]
    return ""


def _in_instructions(code: CodeType, function: FunctionType) -> str:
    known = [value for name in code.co_names if (value := function.__globals__.get(name)) is not None]
    imported = [i.argval for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME"]
    modules = [value for value in known if isinstance(value, ModuleType)]
    known += [inner for module in modules for name in code.co_names if _is_module(inner := getattr(module, name, 0))]
    for name in [*imported, *(_home(value) for value in known)]:
        for module, on_what in CHANCE_AND_TIME.items():
            if name == module or name.startswith(f"{module}."):
                return f"it uses {module}, so its value depends on {on_what}"
    changed = [i.argval for i in dis.get_instructions(code) if i.opname in _CHANGES]
    return f"it changes {changed[0]}, which outlives the call" if changed else ""


def _home(value: Any) -> str:
    """The module that a value is, or that a function or the class of an object comes from."""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(getattr(value, "__self__", None), ModuleType) or isinstance(value, FunctionType | type):
        home = getattr(value, "__module__", None)
    else:  # an object, or a method of one, such as `random.random`
        home = type(getattr(value, "__self__", value)).__module__
    home = home if isinstance(home, str) else ""
    return "numpy.random" if home.startswith("numpy.random") else home


def _is_module(value: Any) -> bool:
    return isinstance(value, ModuleType)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _is_own(value: Any) -> bool:
    """Whether a value is the user's code, not that of Python or of a package."""
    home = getattr(value if isinstance(value, type | FunctionType) else type(value), "__module__", "") or ""
    return isinstance(home, str) and (home.startswith("knights_isolation.user_") or home == "__main__")


def _functions(value: Any) -> Iterator[FunctionType]:
    while isinstance(value, partial):
        value = value.func
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    if isinstance(value, MethodType):
        value = value.__func__
    if isinstance(value, FunctionType):
        yield value
        return
    kind = value if isinstance(value, type) else type(value)
    yield from (member for member in vars(kind).values() if isinstance(member, FunctionType))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
