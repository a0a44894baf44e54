"""On-disk cache of compiled code."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import CodeType, ModuleType
from typing import IO

from ..codegen import object_code
from ..files.atomic_write import write_atomic, write_text
from ..files.cache_folder import ENVIRONMENT_VARIABLE as ENVIRONMENT_VARIABLE
from ..files.cache_folder import folder as folder
from ..usercode.parsing import SilentLoader

_LONGEST_WAIT = 60.0
_LOOKS_EVERY = 0.02
"""Seconds that one process waits for what another is making, which may have been suspended, and between two looks."""
_SEAL = hashlib.sha256().digest_size
_loading = threading.RLock()


def described() -> str:
    """Return the folder, the number of its files and their size, without those that other processes take away."""
    sizes = []
    for path, _, names in os.walk(folder()):
        for name in names:
            with suppress(FileNotFoundError):
                sizes.append(os.stat(os.path.join(path, name)).st_size)
    return f"{folder()}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB"


def clear() -> None:
    """Delete all compiled code; folders that other processes write into meanwhile stay."""
    for path, _, names in os.walk(folder(), topdown=False):
        for name in names:
            Path(path, name).unlink(missing_ok=True)
        if path != str(folder()):
            with suppress(OSError):
                os.rmdir(path)


def engine_sources() -> list[Path]:
    """The files that compiled code is made from, and those that judge whether a heuristic compiles, and say why not."""
    package = Path(__file__).parents[1]
    folders = {
        "rules": ("board", "classic_board", "game", "geometry", "net", "parameters", "seeds", "third_edition"),
        "usercode": ("timeouts",),
        "compiling": (*("comparison", "compile_errors", "compile_heuristic", "linking", "llvm_ir", "specialise"),),
        "codegen": ("object_code", "score"),
    }
    return [
        *(package / folder / f"{name}.py" for folder, names in folders.items() for name in names),
        *sorted((package / "native").rglob("*.py")),
    ]


@cache
def engine_fingerprint() -> str:
    """A hash of what compiled code depends on beside the heuristic: the engine's sources, Python, numba, processor."""
    digest = hashlib.sha256()
    for what in (platform.python_version(), version("numba"), version("llvmlite"), *object_code.processor()):
        digest.update(what.encode())
    for path in engine_sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def fingerprint(*texts: str) -> str:
    """A name for code compiled from these texts by this engine."""
    return hashlib.sha256("\0".join((engine_fingerprint(), *texts)).encode()).hexdigest()[:24]


def engine_folders() -> list[Path]:
    """The folders of compiled code that belongs to no heuristic, as far as it was compiled."""
    paths = (folder() / fingerprint(part) for part in ("kernels", "no heuristic"))
    return [path for path in paths if path.is_dir()]


def copy_engine(target: Path) -> None:
    """Copy compiled code that belongs to no heuristic to another folder, so that it need not be compiled there."""
    for path in engine_folders():
        if not (target / path.name).exists():
            shutil.copytree(path, target / path.name, ignore=shutil.ignore_patterns(".*"))


def share_engine(target: Path) -> None:
    """Let another folder refer to compiled code that belongs to no heuristic, for whoever may only read it there."""
    for path in engine_folders():
        (target / path.name).symlink_to(path)


def move_to(target: Path) -> None:
    """Keep compiled code in another folder from now on; what was loaded stays."""
    os.environ[ENVIRONMENT_VARIABLE] = str(target)
    folder.cache_clear()


def write(path: Path, text: str) -> None:
    """Write a file so that it appears whole or not at all, its folder with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)


@contextmanager
def build_lock() -> Iterator[None]:
    """One thread at a time makes and loads code: another would find it half made."""
    with _loading:
        yield


def load(path: Path, text: str) -> ModuleType:
    """Import the module with this text, kept at `path`, under a name of its own; once a process.

    A damaged file is rewritten, with a warning.
    """
    name = f"isolation_compiled_{path.parent.name}_{path.stem}"
    with build_lock():
        if name not in sys.modules:
            if not path.exists():
                write(path, text)
            elif _content(path) != text.encode():
                _discard_damaged(path)
                write(path, text)
            _execute(name, path)
        return sys.modules[name]


def load_or_make(path: Path, make: Callable[[], bytes]) -> bytes:
    """The content of a file, made if it is missing; recreated, with a warning, if it is damaged.

    Damaged machine code may end the process that runs it, so a checksum stands before it.
    """
    content = _content(path)
    code = content[_SEAL:]
    if content and content[:_SEAL] == _checksum(code):
        return code
    if path.exists():
        _discard_damaged(path)
    code = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, lambda file: file.write(_checksum(code) + code))
    return code


def load_or_make_locked(path: Path, text: str, make: Callable[[], bytes]) -> bytes:
    """Like `load_or_make`, for the module with this text at `path`; waits up to 60 s while another process makes it.

    So processes that begin with the same want the same once.
    """
    target = path.with_suffix(".bc")
    if target.exists():
        return load_or_make(target, make)
    if _content(path) != text.encode():
        write(path, text)
    with path.open("rb") as module, _claimed(module, time.monotonic() + _LONGEST_WAIT):
        return load_or_make(target, make)


@contextmanager
def _claimed(file: IO[bytes], deadline: float) -> Iterator[None]:
    """Hold the lock on a file, or go on without it where that takes too long or there are no locks."""
    import fcntl  # here, so that what only reads runs works where there is none

    while time.monotonic() < deadline:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(_LOOKS_EVERY)
        except OSError:
            break
    yield


class _FromSource(SilentLoader):
    """Reads the source, never bytecode, whose damage nobody would notice.

    What Python warns of in user code was told when that code was read.
    """

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _execute(name: str, path: Path) -> None:
    spec = importlib.util.spec_from_file_location(name, path, loader=_FromSource(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _discard_damaged(path: Path) -> None:
    warnings.warn(f"compiled code is damaged; compiling again: {path}", stacklevel=2)
    discard(path)


def discard(path: Path) -> None:
    """Remove what lies there, if anything does."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _checksum(code: bytes) -> bytes:
    return hashlib.sha256(code).digest()


def _content(path: Path) -> bytes:
    """The bytes of a file; none if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
