"""Write new defaults of a user's function as a patch; the file itself is not touched."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping
from difflib import unified_diff
from pathlib import Path

from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.isolation.usercode.parsing import parse


def check_patch(target: str, names: Iterable[str]) -> None:
    """Check that FILE:FUNCTION has defaults of these names to be patched.

    Raises:
        ValueError: the heuristic is not from a user's file, or has no defaults of these names there.
    """
    path, _, function = target.rpartition(":")
    if not path.endswith(".py"):
        raise ValueError("--patch needs a heuristic from your own file, FILE.py:FUNCTION")
    patch_of_defaults(Path(path), function, dict.fromkeys(names, 0.0))


def write_patch(patch: Path, target: str, values: Mapping[str, float], is_better: bool) -> str:
    """Write new defaults of FILE:FUNCTION as a patch if they were found better; return how to apply it, or why not.

    Raises:
        ValueError: the file cannot be written.
    """
    path, _, function = target.rpartition(":")
    if not is_better:
        why = "the new values are not significantly better" if values else "no value changed"
        return f"Did not write {patch}: {why}."
    try:
        write_text(patch, patch_of_defaults(Path(path), function, values))
    except OSError as error:
        raise ValueError(f"--patch: {patch} cannot be written: {error.strerror}") from None
    return f"Wrote {patch}; {path} is unchanged. To apply the new defaults: patch {path} {patch}"


def patch_of_defaults(path: Path, name: str, values: Mapping[str, float]) -> str:
    """A unified diff, for `patch` or `git apply`, that gives a function's keyword-only arguments these defaults.

    Raises:
        ValueError: the file does not define the function with these arguments and their defaults itself.
    """
    text = path.read_text(encoding="utf-8")
    defaults = _defaults(text, name)
    missing = [value for value in values if value not in defaults]
    if missing:
        raise ValueError(
            f"{path} has no `def {name}` with a default for {missing[0]} to patch: change weights of a composite and "
            f"imported functions by hand"
        )
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for parameter, node in sorted(
        defaults.items(), key=lambda item: (item[1].lineno, item[1].col_offset), reverse=True
    ):
        if parameter in values:
            _replace(lines, node, _literal(values[parameter], node))
    new = b"".join(lines).decode()
    file = _from_here(path)
    return "".join(
        unified_diff(text.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{file}", f"b/{file}")
    )


def _from_here(path: Path) -> str:
    """A file's path as `git apply` wants it: from the current directory if it is below, else from the root."""
    whole = Path(os.path.abspath(path))
    here = Path.cwd()
    return (whole.relative_to(here) if whole.is_relative_to(here) else whole).as_posix().lstrip("/")


def _defaults(text: str, name: str) -> dict[str, ast.expr]:
    """The defaults of the keyword-only arguments of the last function of that name at the top of a file."""
    definitions = [node for node in parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not definitions:
        return {}
    arguments = definitions[-1].args
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {argument.arg: default for argument, default in pairs if default is not None}


def _literal(value: float, node: ast.expr) -> str:
    is_whole = isinstance(node, ast.Constant) and isinstance(node.value, int)
    return str(int(value)) if is_whole and value == int(value) else repr(float(value))


def _replace(lines: list[bytes], node: ast.expr, text: str) -> None:
    assert node.end_lineno is not None
    first, last = node.lineno - 1, node.end_lineno - 1
    before, behind = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
    lines[first : last + 1] = [before + text.encode() + behind, *[b""] * (last - first)]
