"""Detect and undo changes that user code makes to Python, NumPy, or this toolkit.

Assigned and deleted names of modules and classes are detected, and replaced code of functions. Changes inside lists and
dictionaries, and changes that native code makes in memory, are not.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

from knights_isolation.lazy_package import TOOLKIT

from ..usercode import output_capture
from ..usercode.imports import bare

_OWN = {f"{TOOLKIT}.{name}" for name in ("isolation", "heuristics", "experiments")}
_OTHERS = (
    "builtins", "_io", "_pickle", "_random", "collections", "copy", "functools", "itertools", "json", "math", "numpy",
    "numpy.linalg", "numpy.random", "operator", "os", "pickle", "posix", "random", "signal", "subprocess", "threading",
    "time",
)  # fmt: skip
"""Other modules that games depend on. The names of `sys` change all the time; only its recursion limit is checked."""
_BOOKKEEPING = ("__abstractmethods__", "__annotations__", "__dict__", "__doc__", "__weakref__", "_abc_impl", "_")
"""Names that Python changes by itself."""
_ABSENT = object()
_LEAST_RECURSION = 1000
Names = dict[str, Any]
_allowed: list[bool] = []


class ChangedError(Exception):
    """User code has changed Python, NumPy or this toolkit, as described by the message. The change has been undone."""


def allow_changes() -> None:
    """Allow user code to change anything from now on, in a process that is used for nothing else."""
    _allowed.append(True)


@contextmanager
def unchanged() -> Iterator[None]:
    """Undo changes that the enclosed code makes to Python, NumPy and this toolkit.

    Raises:
        ChangedError: the code has changed something, and raised no exception itself.
    """
    if _allowed:
        yield
        return
    before, recursion = _snapshot(), sys.getrecursionlimit()
    try:
        yield
    finally:
        changes = _put_back(before)
        if sys.getrecursionlimit() < min(recursion, _LEAST_RECURSION):
            sys.setrecursionlimit(recursion)
            changes.append("the recursion limit")
    if changes := list(dict.fromkeys(changes)):
        others = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
        raise ChangedError(f"it changes {changes[0]}{others}, which does not belong to it")


def _snapshot() -> list[tuple[str, ModuleType | type, Names]]:
    """Return the name, the object and the contents of every module and class to be checked."""
    homes: dict[str, ModuleType | type] = {}
    for name, module in list(sys.modules.items()):
        if (name in _OTHERS or _is_own(name)) and isinstance(module, ModuleType):
            homes[name] = module
            kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and _is_own(name)]
            homes |= {f"{name}.{kind.__name__}": kind for kind in kinds if kind.__module__ == name}
    return [(name, home, _contents(home)) for name, home in homes.items()]


def _is_own(name: str) -> bool:
    return ".".join(name.split(".")[:2]) in _OWN


def _contents(home: ModuleType | type) -> Names:
    """Return the contents of a module or class by name, and the code of its functions by name and ``()``."""
    contents = dict(vars(home))
    codes = {f"{name}()": value.__code__ for name, value in contents.items() if isinstance(value, FunctionType)}
    return contents | codes


def _put_back(before: list[tuple[str, ModuleType | type, Names]]) -> list[str]:
    """Undo all changes; return the dotted names of what was changed."""
    changes = []
    for where, home, contents in before:
        now = _contents(home)
        added = {name: _ABSENT for name in now.keys() - contents.keys() if _hides(home, name)}
        for name, value in {**contents, **added}.items():
            is_same = now.get(name, _ABSENT) is value or _is_guard(value) or _is_guard(now.get(name))
            if not is_same and name not in _BOOKKEEPING:
                changes.append(f"{bare(where)}.{name.removesuffix('()')}")
                _restore(home, name, value)
    return changes


def _is_guard(value: object) -> bool:
    """Return whether a value is a temporary replacement made by `prevent_exit`, possibly in another thread."""
    return isinstance(value, FunctionType) and value.__module__ == output_capture.__name__


def _hides(home: ModuleType | type, name: str) -> bool:
    """Return whether a new name in a class or in a module of this toolkit hides an existing one."""
    if isinstance(home, type):
        return any(name in vars(base) for base in home.__mro__[1:])
    return _is_own(home.__name__) and hasattr(builtins, name)


def _restore(home: ModuleType | type, name: str, value: Any) -> None:
    if isinstance(value, CodeType) and name.endswith("()"):
        vars(home)[name[:-2]].__code__ = value
    elif value is _ABSENT:
        type.__delattr__(home, name) if isinstance(home, type) else vars(home).pop(name)
    elif isinstance(home, type):
        type.__setattr__(home, name, value)
    else:
        vars(home)[name] = value
