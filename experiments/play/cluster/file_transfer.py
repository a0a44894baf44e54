"""Send user files to other machines, named by their hash.

A transfer contains a file and the siblings that its import statements reach, which is what `content_hash` covers. If an
identical file exists at the same path, as on a shared disk, that file is used, including everything else beside it. A
file that is gone raises LoadError, one that cannot be written OSError.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.files.atomic_write import write_atomic
from knights_isolation.isolation.loading.load_user_code import LoadError, content_hash, sources

from ...roster import parse_spec
from ..pools.game_worker import Task

_FOLDER = "files"


@dataclass(frozen=True)
class UserFile:
    """A user's file: its path, its content hash, and its sources by their path relative to it."""

    path: str
    content: str
    sources: tuple[tuple[str, bytes], ...]


def install_file(file: UserFile) -> Path:
    """Return the file's path on this machine; it is written to the folder of compiled code if it is missing."""
    there = Path(file.path)
    try:
        if content_hash(there) == file.content:
            return there
    except (LoadError, OSError):
        pass
    folder = code_cache.folder() / _FOLDER / file.content
    for name, content in file.sources:
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, lambda writable, content=content: writable.write(content))  # type: ignore[misc]
    return folder / there.name


def bundle_of(task: Task) -> bytes:
    """Bundle a task with the files of its agents, ready to be sent to a machine."""
    return pickle.dumps((task, files_of(task.specs)))


def unpack_task(bundle: bytes) -> Task:
    """Unpack a task, with specs that name the files' paths on this machine."""
    task: Task
    task, files = pickle.loads(bundle)
    return replace(task, specs=placed_specs(task.specs, files))


def files_of(specs: Iterable[str]) -> tuple[UserFile, ...]:
    """Read the user files of agents for transfer."""
    paths = dict.fromkeys(spec.path for spec in map(parse_spec, specs) if spec.is_file)
    return tuple(UserFile(path, content_hash(path), tuple(sorted(sources(path).items()))) for path in paths)


def placed_specs(specs: Iterable[str], files: Iterable[UserFile]) -> tuple[str, ...]:
    """Return the specs with these files at their paths on this machine."""
    paths = {file.path: str(install_file(file)) for file in files}
    return tuple(_renamed(spec, paths) for spec in specs)


def users_in(specs: Iterable[str]) -> frozenset[int]:
    """Return the indices of the agents from user files."""
    return frozenset(index for index, spec in enumerate(map(parse_spec, specs)) if spec.is_file)


def _renamed(text: str, paths: dict[str, str]) -> str:
    spec = parse_spec(text)
    return str(replace(spec, target=f"{paths[spec.path]}:{spec.member}")) if spec.path in paths else text
