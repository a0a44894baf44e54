"""What user code depends on beside its source: files that it opens, folders that it lists, variables that it reads.

Python's audit events say what is opened and listed; in a process of a candidate's own, `os.stat` and the environment
are watched as well. Only what code of a user's file causes counts, and nothing of Python, of installed packages and of
this toolkit. What native code reads is not seen: `unseen_by_inputs` names the imports that may.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec, source_from_cache
from pathlib import Path
from typing import Any

from knights_isolation.lazy_package import BARE, TOOLKIT

from .parsing import parse
from .user_exceptions import is_user_file

Inputs = dict[str, str]
"""State of what was read, by kind and name: `file weights.json`; names below the code's folder are relative to it."""
_DENIED = "denied"
NO_FILE = (_MISSING, _SPECIAL) = ("missing", "no regular file")
"""States of what is opened and is no file."""
_KINDS = {"open": "file", "os.listdir": "folder", "os.scandir": "folder"}
_HARMLESS = re.compile(
    r"PATH|HOME|LANG|LANGUAGE|LC_\w+|TZ|TZDIR|TMPDIR|(DY)?LD_LIBRARY_PATH|PYTHON\w*|VIRTUAL_ENV|\w+_NUM_THREADS|NUMBA_\w+"
    r"|ISOLATION_\w+|XDG_CACHE_HOME"
)
_SEEN = (TOOLKIT, *BARE, "numpy", "scipy", "numba")
_UNSEEN = ("ctypes", "importlib")
_recorders: list[_Recorder] = []
_stat = os.stat


class _Recorder:
    """Records inputs of the code in a namespace, each as it is when it is first looked at."""

    def __init__(self, folder: Path, space: str) -> None:
        self.folder, self.space, self.inputs, self._is_busy = folder, space, Inputs(), False

    def note(self, kind: str, name: str) -> None:
        if self._is_busy:
            return
        self._is_busy = True
        try:
            if kind != "variable":
                name = os.path.abspath(name)
                if name.endswith(".pyc"):
                    with suppress(ValueError):
                        name = source_from_cache(name)
                if _is_fixed(name):
                    return
                name = os.path.relpath(name, self.folder) if Path(name).is_relative_to(self.folder) else name
            state = state_of(kind, name, self.folder)
            if not (state == _DENIED and os.path.isabs(name)):  # what a sandbox denies is not read
                self.inputs.setdefault(f"{kind} {name}", state)
        finally:
            self._is_busy = False


@contextmanager
def recorded_inputs(folder: Path, space: str) -> Iterator[Inputs]:
    """Record the files and folders that the code of a folder, with modules named SPACE.*, reads meanwhile."""
    _install()
    recorder = _Recorder(folder, space)
    _recorders.append(recorder)
    try:
        yield recorder.inputs
    finally:
        _recorders.remove(recorder)


@contextmanager
def all_inputs(folder: Path, space: str) -> Iterator[Inputs]:
    """Record what `recorded_inputs` does, and also which files exist and which variables are read.

    For a process that runs nothing else: it replaces `os.stat`, and what `os.environ` holds.
    """
    with recorded_inputs(folder, space) as inputs:
        for name in ("stat", "lstat", "access"):
            setattr(os, name, _watched(getattr(os, name)))
        os.environ._data = _Variables(os.environ._data)  # type: ignore[attr-defined]
        yield inputs


def changed_input(inputs: Mapping[str, str], folder: Path) -> str:
    """Return the first input that is not any more as it was; empty if all are."""
    states = ((each, was, *each.split(" ", 1)) for each, was in inputs.items())
    return next((each for each, was, kind, name in states if state_of(kind, name, folder) != was), "")


def digest_of_inputs(inputs: Mapping[str, str]) -> str:
    """Return a hash of inputs; empty if there are none."""
    text = "\n".join(f"{name} {state}" for name, state in sorted(inputs.items()))
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:16] if inputs else ""


def unseen_by_inputs(sources: Iterable[bytes]) -> str:
    """Return a package that sources import whose native code may read files unseen; empty if there is none."""
    for source in sources:
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):  # reported when it is loaded
            for node in ast.walk(parse(source)):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
                for name in (name.partition(".")[0] for name in names):
                    if name in _UNSEEN or (name not in _SEEN and _is_installed(name)):
                        return name
    return ""


def _is_installed(name: str) -> bool:
    spec = None if name in sys.stdlib_module_names else find_spec(name)
    return spec is not None and _is_fixed(str(spec.origin))


def _is_fixed(path: str) -> bool:
    """Return whether a path belongs to the system, Python, an installed package or this toolkit."""
    return f"{path}{os.sep}".startswith(("/proc/", "/dev/", "/sys/")) or not is_user_file(f"{path}{os.sep}")


@cache
def _install() -> None:
    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if _recorders and event in _KINDS and isinstance(arguments[0], str | bytes):
            flags = arguments[2] if event == "open" and isinstance(arguments[2], int) else os.O_RDONLY
            is_written = flags & os.O_ACCMODE == os.O_WRONLY
            importing = event != "open" and "importlib" in sys._getframe(1).f_globals.get("__name__", "")
            if not is_written and not importing:
                _note(_KINDS[event], os.fsdecode(arguments[0]), sys._getframe(1))

    sys.addaudithook(audit)


def _note(kind: str, name: str, frame: Any) -> None:
    """Record an input of whichever user's code has called the frame that looks at it."""
    while frame is not None and not (kind == "presence" and frame.f_code.co_name == "user_import"):
        space, _, _ = str(frame.f_globals.get("__name__", "")).rpartition(".")
        for recorder in list(_recorders):
            if space == recorder.space or space.startswith(f"{recorder.space}."):
                recorder.note(kind, name)
        frame = frame.f_back


def _watched(function: Any) -> Any:
    def look(path: Any, *arguments: Any, **options: Any) -> Any:
        if not isinstance(path, int):
            _note("presence", os.fsdecode(path), sys._getframe(1))
        return function(path, *arguments, **options)

    return look


class _Variables(dict[Any, Any]):
    """The variables of the environment; which of them are read is noted."""

    def __getitem__(self, key: Any) -> Any:
        _note("variable", os.fsdecode(key), sys._getframe(1))
        return super().__getitem__(key)


def visible_variables() -> dict[str, str]:
    """Return the environment variables of the user that a sandboxed process has; others may be secrets."""
    return {name: value for name, value in os.environ.items() if _HARMLESS.fullmatch(name)}


def state_of(kind: str, name: str, folder: Path) -> str:
    """Return how something is now: the hash of a file or of a folder's names, whether a path exists, or a value."""
    path = folder / name
    if kind == "variable":
        value = os.environ.get(name) if _HARMLESS.fullmatch(name) else None
        return _MISSING if value is None else hashlib.sha256(value.encode(errors="surrogateescape")).hexdigest()
    try:
        status = _stat(path)
        if kind == "presence":
            return f"{stat.S_IFMT(status.st_mode):o} {status.st_size if stat.S_ISREG(status.st_mode) else ''}"
        if kind == "folder":
            return hashlib.sha256("\0".join(sorted(os.listdir(path))).encode(errors="surrogateescape")).hexdigest()
        if not stat.S_ISREG(status.st_mode):
            return _SPECIAL
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        return _DENIED
    except OSError:
        return _MISSING
