"""A failing disk: all operations on files below a folder are counted, and one of them goes wrong.

`Disk.attach` replaces Python's functions for files for the rest of the process, so use it in a process of its own. A
power cut is simulated by restoring the contents that files and folders had when they were last synced: see `Disk.cut`.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

Harm = Literal[
    "disk full, once", "disk full, for good", "I/O error, once", "I/O error, for good",
    "killed", "killed in the middle of a write",
    "power cut: what was not synced is gone", "power cut: names are there, what was not synced is empty",
    "power cut: names are there, half of what was not synced",
]  # fmt: skip
HARMS: tuple[Harm, ...] = Harm.__args__  # type: ignore[attr-defined]
CUT = 97
"""Exit code after a power cut."""

_CREATING = os.O_CREAT | os.O_TRUNC
_NAMES = ("replace", "rename", "unlink", "remove", "mkdir", "rmdir")
_real = {name: getattr(os, name) for name in (*_NAMES, "fsync", "open")}
_open = io.open


class Disk:
    """Counts the operations on files below `root`, and does harm at operation number `at` (from 0).

    `harm` may also be a function: it is called before that operation, which then continues.
    """

    def __init__(self, root: Path, at: int = -1, harm: Harm | Callable[[], object] = "killed") -> None:
        self.root = root.resolve()
        self.at = at
        self.harm = harm
        self.operations: list[str] = []
        self._entries: dict[int, dict[str, int]] = {}
        self._contents: dict[int, bytes] = {}
        self._held: list[int] = []
        self._remember(self.root)

    def attach(self) -> None:
        """Replace the real functions by this disk's."""
        for name in _NAMES:
            setattr(os, name, self._on_path(name))
        os.fsync = self._fsync
        os.open = self._open_descriptor
        builtins.open = io.open = self._open_file  # type: ignore[assignment]

    def meet(self, operation: str, path: object) -> None:
        """Count an operation, and do the harm if it is due."""
        self.operations.append(f"{operation} {os.path.relpath(str(path), self.root)}")
        number = len(self.operations) - 1
        if callable(self.harm):
            if number == self.at:
                self.harm()
        elif self.at >= 0 and (number == self.at or (number > self.at and self.harm.endswith("for good"))):
            self._strike(self.harm)

    def is_torn(self) -> bool:
        """Return whether the harm is to occur in the middle of the next write."""
        return self.harm == "killed in the middle of a write" and len(self.operations) == self.at

    def owns(self, path: object) -> bool:
        """Return whether a path is below the root."""
        with suppress(TypeError, ValueError):
            return Path(os.path.abspath(os.fsdecode(path))).is_relative_to(self.root)  # type: ignore[arg-type]
        return False

    def cut(self, kept: str) -> None:
        """Save what a power cut leaves of the root in `ROOT-ruins`, and end the process."""
        self._restore(self.root, self.root.with_name(f"{self.root.name}-ruins"), kept)
        os._exit(CUT)

    def _strike(self, harm: Harm) -> None:
        if harm.startswith("disk full"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if harm.startswith("I/O error"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if harm.startswith("power cut"):
            self.cut(harm)
        os.kill(os.getpid(), signal.SIGKILL)

    # Replacements of the real functions

    def _on_path(self, name: str) -> Callable[..., Any]:
        def operation(path: Any, *args: Any, **options: Any) -> Any:
            if self.owns(path):
                self.meet(name, path)
                self._hold(*(lost for lost in (path, *args) if isinstance(lost, str | Path)))
            return _real[name](path, *args, **options)

        return operation

    def _fsync(self, descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if self.owns(path):
            self.meet("fsync", path)
            if path.is_dir():
                self._entries[path.stat().st_ino] = _names(path)
            else:
                self._contents[path.stat().st_ino] = path.read_bytes()
        _real["fsync"](descriptor)

    def _open_descriptor(self, path: Any, flags: int, *args: Any, **options: Any) -> int:
        if flags & _CREATING and self.owns(path):
            self.meet("create", path)
        return int(_real["open"](path, flags, *args, **options))

    def _open_file(self, path: Any, mode: str = "r", buffering: int = -1, *args: Any, **options: Any) -> Any:
        if not (set(mode) & set("wxa+") and not isinstance(path, int) and self.owns(path)):
            return _open(path, mode, buffering, *args, **options)
        self.meet("create", path)
        file = _buffered(_File(self, path, mode), mode)
        return file if "b" in mode else io.TextIOWrapper(file, *args[:3], **options)

    # Contents at the last sync

    def _remember(self, folder: Path) -> None:
        """Record that everything in a folder has been synced."""
        self._entries[folder.stat().st_ino] = _names(folder)
        for path in folder.iterdir():
            if path.is_dir():
                self._remember(path)
            else:
                self._contents[path.stat().st_ino] = path.read_bytes()

    def _hold(self, *paths: Any) -> None:
        """Keep files open that are about to lose their names, so that their inode numbers are not reused."""
        for path in paths:
            if os.path.isfile(path):
                self._held.append(_real["open"](path, os.O_RDONLY))

    def forget(self, path: Path) -> None:
        """Forget the synced contents of a new file's inode number, which were another file's."""
        self._contents.pop(path.stat().st_ino, None)

    def _restore(self, folder: Path, ruins: Path, kept: str) -> None:
        _real["mkdir"](ruins)
        now = _names(folder) if folder.exists() else {}
        number = folder.stat().st_ino if folder.exists() else -1
        names = self._entries.get(number, {}) if kept.endswith("is gone") else now
        paths = {path.stat().st_ino: path for path in self.root.rglob("*")}
        for name, inode in names.items():
            path = paths.get(inode)
            if path is not None and path.is_dir():
                self._restore(path, ruins / name, kept)
                continue
            content = self._contents.get(inode, b"")
            if inode not in self._contents and kept.endswith("half of what was not synced") and path is not None:
                whole = path.read_bytes()
                content = whole[: len(whole) // 2]
            with _open(ruins / name, "wb") as file:
                file.write(content)


class _File(io.FileIO):
    """A file whose writes are counted, and may fail."""

    def __init__(self, disk: Disk, path: Any, mode: str) -> None:
        is_new = not os.path.exists(path)
        super().__init__(path, mode.replace("b", "").replace("t", ""))
        self._disk = disk
        if is_new:
            disk.forget(Path(path))

    def write(self, data: Any) -> int:
        if self._disk.is_torn():
            super().write(bytes(data)[: len(data) // 2])
        self._disk.meet("write", self.name)
        return int(super().write(data))

    def truncate(self, size: int | None = None) -> int:
        self._disk.meet("truncate", self.name)
        return super().truncate(size)


def _buffered(raw: _File, mode: str) -> Any:
    return io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)


def _names(folder: Path) -> dict[str, int]:
    with os.scandir(folder) as entries:
        return {entry.name: entry.inode() for entry in entries}
