"""The folder where compiled code is kept between runs."""

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
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType

from platformdirs import user_cache_path

from isolation.durable import write_text
from isolation.loading import expanded
from isolation.syntax import SilentLoader
from isolation.temporary import temporary_folder

ENVIRONMENT_VARIABLE = "ISOLATION_CACHE"
_LOOKS, _PAUSE = 20, 0.05
_loading = threading.RLock()


@cache
def folder() -> Path:
    """Where compiled code lies: $ISOLATION_CACHE, or `isolation` in the user's cache folder; made if missing.

    A folder that cannot be written is replaced by a temporary one for this process.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    path = expanded(chosen) if chosen else user_cache_path("isolation", appauthor=False)
    try:
        path.mkdir(parents=True, exist_ok=True)
        if os.access(path, os.W_OK):
            return path.resolve()
    except OSError:
        pass
    return temporary_folder("cache").path


def files() -> list[Path]:
    """Every file in the folder."""
    return [path for path in folder().rglob("*") if path.is_file()]


def size() -> int:
    """Bytes in the folder."""
    return sum(path.stat().st_size for path in files())


def clear() -> None:
    """Delete all compiled code."""
    for path in folder().iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def engine_sources() -> list[Path]:
    """The files that compiled code is made from, and those that judge whether a heuristic compiles, and say why not."""
    package = Path(__file__).parents[1]
    names = (
        "geometry",
        "outcome",
        "seeds",
        "board",
        "compiling/compiler",
        "compiling/explaining",
        "compiling/specialise",
    )
    return [*(package / f"{name}.py" for name in names), *sorted((package / "native").rglob("*.py"))]


@cache
def engine_fingerprint() -> str:
    """A hash of what compiled code depends on beside the heuristic: the engine's sources, Python and numba."""
    import llvmlite
    import numba

    digest = hashlib.sha256()
    for version in (platform.python_version(), numba.__version__, llvmlite.__version__):
        digest.update(version.encode())
    for path in engine_sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def fingerprint(*texts: str) -> str:
    """A name for code compiled from these texts by this engine."""
    return hashlib.sha256("\0".join((engine_fingerprint(), *texts)).encode()).hexdigest()[:24]


def write(path: Path, text: str) -> None:
    """Write a file so that it appears whole or not at all, its folder with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)


def load(path: Path, text: str) -> ModuleType:
    """Import the module with this text, kept at `path`, under a name of its own; once a process.

    It stays in `sys.modules` for good, since addresses of its functions may lie anywhere. One thread loads at a time:
    another would find the module half made.

    What lies there damaged is made anew, with a warning. Damaged native code has to be noticed before it is loaded,
    since it may end the process: so the checksums of all that numba has written stand beside it.
    """
    name = f"isolation_compiled_{path.parent.name}_{path.stem}"
    with _loading:
        if name in sys.modules:
            return sys.modules[name]
        _mend(path, text)
        made_before = bool(_native(path))
        try:
            module = _executed(name, path)
        except Exception:
            if not made_before:
                raise
            _make_anew(path, text, "cannot be loaded")
            module = _executed(name, path)
        _vouch(path)
        return module


class _FromSource(SilentLoader):
    """Reads the source, never bytecode, whose damage nobody would notice.

    What Python warns of in people's code was told when that code was read.
    """

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _executed(name: str, path: Path) -> ModuleType:
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
    return module


def _mend(path: Path, text: str) -> None:
    """See to it that a module's file has its text, and that the native code kept for it is what was written."""
    if path.exists() and _content(path) != text.encode():
        _make_anew(path, text, "is damaged")
    elif not _is_vouched_for_soon(path):
        was_finished = _vouchers(path).exists()
        _make_anew(path, text, "has damaged native code" if was_finished else "")
    elif not path.exists():
        write(path, text)


def _make_anew(path: Path, text: str, why: str) -> None:
    """Write a module again, and forget what was compiled from it; `why` is empty where a process died at it."""
    if why:
        warnings.warn(f"compiled code {why} and is made anew: {path}", stacklevel=2)
    for file in (path, _vouchers(path), *_native(path)):
        discard(file)
    write(path, text)


def discard(path: Path) -> None:
    """Remove what lies there, if anything does."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _native(path: Path) -> list[Path]:
    """The files in which numba keeps native code of a module."""
    return sorted(path.parent.glob(f"__pycache__/{path.stem}.*.nb[ic]"))


def _vouchers(path: Path) -> Path:
    """The file with the checksums of a module's native code: those of every version that any process has written."""
    return path.with_suffix(".sums")


def _is_vouched_for(path: Path) -> bool:
    known = _content(_vouchers(path)).decode(errors="replace").split()
    return all(_checksum(file) in known for file in _native(path))


def _is_vouched_for_soon(path: Path) -> bool:
    """Whether it is, or is within a second: another process may be between writing native code and vouching for it."""
    for _ in range(_LOOKS):
        if _is_vouched_for(path):
            return True
        time.sleep(_PAUSE)
    return _is_vouched_for(path)


def _vouch(path: Path) -> None:
    """Write down the checksums of native code that has just been made or loaded."""
    if not _is_vouched_for(path):
        with suppress(OSError), _vouchers(path).open("a", encoding="ascii") as file:
            file.write("".join(f"{_checksum(native)}\n" for native in _native(path)))


def _checksum(path: Path) -> str:
    return hashlib.sha256(_content(path)).hexdigest()


def _content(path: Path) -> bytes:
    """The bytes of a file; none if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
