"""Send user files to other machines, named by their hash.

What travels is a file and the siblings that its import statements reach: what `content_hash` covers. Where the very
same file lies at the same place, as on a shared disk, that one is used, with whatever else lies beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from experiments.play.pools.worker import Task
from experiments.roster import parse_spec
from isolation.compiling import code_cache
from isolation.files.atomic_write import write_atomic
from isolation.loading.load_user_code import LoadError, content_hash, sources

_FOLDER = "files"


@dataclass(frozen=True)
class UserFile:
    """A user's file: where it lies, its content hash, and the sources it is made of, by their place beside it."""

    path: str
    content: str
    sources: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class TaskBundle:
    """What a machine must know to play a task, with all the files that the task needs."""

    task: Task
    files: tuple[UserFile, ...]


def packed_file(path: str | Path) -> UserFile:
    """A user's file, ready to travel.

    Raises:
        LoadError: there is no such file.
    """
    return UserFile(str(path), content_hash(path), tuple(sorted(sources(path).items())))


def install_file(file: UserFile) -> Path:
    """Where the file lies on this machine; it is put into the folder of compiled code if it is not there already.

    Raises:
        OSError: it cannot be written.
    """
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


def parcel_of(task: Task) -> TaskBundle:
    """A task with the files that its agents come from.

    Raises:
        LoadError: one of them is gone.
    """
    return TaskBundle(task, files_of(task.specs))


def unpack_task(parcel: TaskBundle) -> Task:
    """The task, its specs naming the files where they lie on this machine.

    Raises:
        OSError: they cannot be written.
    """
    return replace(parcel.task, specs=placed_specs(parcel.task.specs, parcel.files))


def files_of(specs: Iterable[str]) -> tuple[UserFile, ...]:
    """The users' files that agents come from, ready to travel.

    Raises:
        LoadError: one of them is gone.
    """
    paths = dict.fromkeys(path for path in map(_file_of, specs) if path)
    return tuple(packed_file(path) for path in paths)


def placed_specs(specs: Iterable[str], files: Iterable[UserFile]) -> tuple[str, ...]:
    """The specs, with these files where they lie on this machine.

    Raises:
        OSError: they cannot be written.
    """
    paths = {file.path: str(install_file(file)) for file in files}
    return tuple(_renamed(spec, paths) for spec in specs)


def users_in(specs: Iterable[str]) -> frozenset[int]:
    """The agents, by their places, that come from users' files."""
    return frozenset(index for index, spec in enumerate(specs) if _file_of(spec))


def _file_of(text: str) -> str:
    spec = parse_spec(text)
    return spec.target.rpartition(":")[0] if spec.is_file else ""


def _renamed(text: str, paths: dict[str, str]) -> str:
    spec = parse_spec(text)
    path, _, name = spec.target.rpartition(":")
    return str(replace(spec, target=f"{paths[path]}:{name}")) if path in paths else text
