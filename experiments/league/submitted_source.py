"""What a submission's source shows without being run: duplicates, and what to look at before its rank is believed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from knights_isolation.isolation.checks.check_result import CheckResult
from knights_isolation.isolation.loading.load_user_code import sources
from knights_isolation.isolation.usercode.parsing import parse
from knights_isolation.isolation.usercode.user_exceptions import to_one_line

from .submissions import is_template

_FUNCTIONS = ("exec", "eval", "compile", "__import__")
_MODULES = (
    "_ctypes", "cffi", "ctypes", "gc", "glob", "importlib", "inspect", "linecache", "mmap", "multiprocessing", "pty",
    "runpy", "shutil", "signal", "socket", "subprocess", "zipimport",
)  # fmt: skip
_HARMLESS_OF_OS = ("cpu_count", "devnull", "environ", "fspath", "getcwd", "getenv", "linesep", "name", "path", "sep")
_OUTSIDE = re.compile(r"(~|/[\w.-]+)/\S*|\.\.(/\S*)?|\S*/\.\.(/\S*)?")
_LONGEST_PATH = 200


def source_remarks(file: Path) -> tuple[CheckResult, ...]:
    """Return a remark for each way to run other code, to reach the system, or to read outside its folder, with lines.

    The files beside a submission that it imports are included. The source is only read: nothing of it is run, and code
    that hides what it does is not recognised.
    """
    places: dict[str, list[str]] = {}
    for name, content in sorted(sources(file).items()):
        for what, line in _uses(content) if name.endswith(".py") else ():
            places.setdefault(what, []).append(f"line {line}" if name == file.name else f"{name} line {line}")
    return tuple(
        CheckResult("source", False, f"{what} ({', '.join(dict.fromkeys(where))})", is_note=True)
        for what, where in places.items()
    )


def _uses(content: bytes) -> Iterator[tuple[str, int]]:
    """Yield what is remarkable in a source, with its line, in the order of lines."""
    try:
        nodes = [node for node in ast.walk(parse(content)) if isinstance(node, ast.expr | ast.stmt)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # reported when the file is loaded
        return
    for node in sorted(nodes, key=lambda node: node.lineno):
        for what in _remarkable(node):
            yield what, node.lineno


def _remarkable(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Name(id=name) if name in _FUNCTIONS:
            yield f"uses {name}"
        case ast.Attribute(value=ast.Name(id="os"), attr=name) if name not in _HARMLESS_OF_OS:
            yield f"uses os.{name}"
        case ast.Import(names=names):
            yield from (f"imports {name.name}" for name in names if name.name.partition(".")[0] in _MODULES)
        case ast.ImportFrom(module=str(module), names=names, level=0):
            if module.partition(".")[0] in _MODULES:
                yield f"imports {module}"
            if module == "os":
                yield from (f"uses os.{name.name}" for name in names if name.name not in _HARMLESS_OF_OS)
        case ast.Constant(value=str(text)) if len(text) < _LONGEST_PATH and _OUTSIDE.fullmatch(text):
            yield f"names a path outside its folder, {to_one_line(text)}"


def code_hash_without_layout(file: Path) -> str:
    """Return a hash that is equal for submissions whose code differs only in comments, docstrings and layout.

    Local modules that it imports are included, except those of the course's templates.
    """
    parts = [
        f"{'' if name == file.name else name}\n{_normalised(name, content)}"
        for name, content in sorted(sources(file).items())
        if name == file.name or not is_template(Path(name).name)
    ]
    return sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


def _normalised(name: str, content: bytes) -> str:
    if not name.endswith(".py"):
        return sha256(content).hexdigest()
    try:
        tree = parse(content)
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                node.body = _without_docstring(node.body)
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return sha256(content).hexdigest()


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[1:]
    return body
