"""Files by patterns: a spec with `*`, `?` or `[…]` in its path stands for every file that matches."""

from __future__ import annotations

from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path

from experiments.roster.spec import Spec, raise_spec_error
from isolation.loading.load_user_code import expand_path


def is_pattern(spec: Spec) -> bool:
    """Whether the path of a spec is a pattern; a file whose own name looks like one is that file."""
    return spec.is_file and has_magic(_path(spec)) and not expand_path(_path(spec)).is_file()


def matching(spec: Spec) -> list[Spec]:
    """One spec for every file that matches the pattern of a spec, in the order of their paths.

    `**` stands for any number of folders; hidden files and folders do not match.

    Raises:
        SpecError: no file matches.
    """
    pattern, name = str(expand_path(_path(spec))), spec.target.rpartition(":")[2]
    paths = sorted(path for path in glob(pattern, recursive=True) if Path(path).is_file())
    if not paths:
        raise_spec_error("no file matches", spec.text, spec.start, spec.end)
    return [replace(spec, target=f"{path}:{name}", pattern=pattern) for path in paths]


def open_parts(pattern: str, path: str) -> int:
    """How many parts at the end of a path a pattern leaves open, those between included.

    >>> open_parts("class/*/src/player.py", "class/ann/src/player.py")
    3
    """
    fixed = 0
    for part in Path(pattern).parts:
        if has_magic(part):
            break
        fixed += 1
    return len(Path(path).parts) - fixed


def _path(spec: Spec) -> str:
    return spec.target.rpartition(":")[0]
