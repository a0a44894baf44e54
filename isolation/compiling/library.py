"""The folder where compiled code is kept between runs."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from types import ModuleType

from platformdirs import user_cache_path

from isolation.durable import write_text
from isolation.syntax import SilentLoader

ENVIRONMENT_VARIABLE = "ISOLATION_CACHE"
_loading = threading.RLock()


@cache
def folder() -> Path:
    """Where compiled code lies: $ISOLATION_CACHE, or `isolation` in the user's cache folder; made if missing.

    A folder that cannot be written is replaced by a temporary one for this process.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    path = Path(chosen).expanduser() if chosen else user_cache_path("isolation", appauthor=False)
    try:
        path.mkdir(parents=True, exist_ok=True)
        if os.access(path, os.W_OK):
            return path.resolve()
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="isolation-"))


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
    """
    name = f"isolation_compiled_{path.parent.name}_{path.stem}"
    with _loading:
        if name in sys.modules:
            return sys.modules[name]
        if not path.exists():
            write(path, text)
        # What Python warns of in people's code was told when that code was read.
        spec = importlib.util.spec_from_file_location(name, path, loader=SilentLoader(name, str(path)))
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
