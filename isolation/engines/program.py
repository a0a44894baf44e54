"""External engines: command, protocol and options."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

Language = Literal["", "ugi", "uci"]
"""A protocol; empty to detect it."""


@dataclass(frozen=True)
class Program:
    """An engine as plain data.

    Attributes:
        command: the program and its arguments.
        protocol: the protocol it uses.
        options: names and values set before its first game.
        directory: its working directory; empty for that of this process.
    """

    command: tuple[str, ...]
    protocol: Language = ""
    options: tuple[tuple[str, str], ...] = ()
    directory: str = ""

    def find(self) -> tuple[str, ...]:
        """Return the command with the path of its program.

        Raises:
            ValueError: the directory or program does not exist, or the program is not executable; in one line.
        """
        if self.directory and not Path(self.directory).is_dir():
            raise ValueError(f"no such directory: {self.directory}")
        first, *arguments = self.command
        path = os.path.join(self.directory, first) if os.path.dirname(first) else first
        executable = shutil.which(path)
        if executable is None:
            raise ValueError(f"{path} {_why_not(path)}")
        return (str(Path(executable).absolute()), *arguments)

    def facts(self) -> dict[str, object]:
        """Return everything that influences its play, ready for JSON: files by name and content, not by path.

        Raises:
            ValueError: the program does not exist.
        """
        words = []
        for word, path in zip(self.command, self.find(), strict=True):
            file = Path(self.directory, path)
            words.append(f"{file.name} {_content(file)}" if file.is_file() else word)
        options = [f"{name}={value}" for name, value in self.options]
        return {"command": words, "protocol": self.protocol, "options": options}


def read_option(text: str) -> tuple[str, str]:
    """Parse an option, NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise ValueError(f"option: {text!r}: expected NAME=VALUE, such as Hash=16")
    return name.strip(), value


def _why_not(path: str) -> str:
    if not Path(path).is_file():
        return "is not a program"
    if os.path.dirname(path):
        return "is not executable: use chmod +x"
    return f"is not a program; did you mean ./{path}?"


def _content(path: Path) -> str:
    seen = path.stat()
    return _hash(str(path), seen.st_size, seen.st_mtime_ns)


@lru_cache(maxsize=64)
def _hash(path: str, size: int, changed: int) -> str:
    with open(path, "rb") as file:
        digest = sha256()
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()[:16]
