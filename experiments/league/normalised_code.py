"""Hash of a submission's code without comments, docstrings and layout, to find duplicates."""

from __future__ import annotations

import ast
from hashlib import sha256
from pathlib import Path

from knights_isolation.experiments.league.submissions import is_template
from knights_isolation.isolation.loading.load_user_code import sources
from knights_isolation.isolation.usercode.parsing import parse


def code_hash_without_layout(file: Path) -> str:
    """Return a hash that is equal for submissions whose code differs only in comments, docstrings and layout.

    Local modules that it imports are included, except those of the course's templates.

    Raises:
        LoadError: there is no such file.
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
