"""Serialize agents for another process on the same machine.

Values loaded from a user's file are pickled as the file and the name, and loaded again. Functions and classes of
importable modules are pickled by name; those of scripts, lambdas and local functions by value.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

from ..loading.load_user_code import content_hash, data_hash, load, origin_of
from ..usercode.user_exceptions import name_of, to_one_line


class AgentPicklingError(ValueError):
    """An agent cannot be recreated in another process; the message is one line with its name and the reason."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} cannot play in its own process, which a hard cap needs: {why}")
        self.why = why


def recipe(make: Callable[..., object], *arguments: Any) -> bytes:
    """Pickle a call that is made when the bytes are unpickled.

    Raises:
        Exception: an argument holds something that cannot leave this process.
    """
    return to_bytes(_Recipe(make, arguments))


class _Recipe:
    def __init__(self, make: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._call = make, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self._call


def to_bytes(value: object) -> bytes:
    """Pickle agents, heuristics and plain data.

    Raises:
        Exception: the value holds something that cannot leave this process.
    """
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, value: Any) -> tuple[str, str, str, str] | None:
            loaded = origin_of(value)
            return (str(loaded.path), loaded.name, loaded.content_hash, data_hash(loaded.path)) if loaded else None

    file = io.BytesIO()
    Pickler(file).dump(value)
    return file.getvalue()


def from_bytes(data: bytes) -> Any:
    """Unpickle a value.

    Raises:
        Exception: a user's file has changed or is missing, or a module cannot be imported here.
    """
    return _Unpickler(io.BytesIO(data)).load()


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, origin: Any) -> Any:
        path, name, content, data = origin
        if content_hash(path) != content:
            raise ValueError(f"{path} has changed since it was loaded")
        value = load(path, name).value
        if data_hash(path) != data:
            raise ValueError(f"a file that {path} reads has changed since it was loaded")
        return value


def one_line(error: BaseException) -> str:
    """Format an exception in one line."""
    return to_one_line(error) or name_of(error)
