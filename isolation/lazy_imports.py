"""Packages whose public names are imported on first use."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """A package whose public names are loaded from the modules listed in its table `_HOMES`; it has a `__version__`.

    A package becomes one by ``sys.modules[__name__].__class__ = LazyPackage``. Where a module of the package is named
    like a public name, as `isolation.search` is, importing that module does not replace the public name.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            value: Any = version("knights-isolation")
        elif name in self._homes():
            value = getattr(import_module(self._homes()[name]), name)
        else:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        is_module = isinstance(value, ModuleType) and name in self._homes()
        super().__setattr__(name, getattr(value, name) if is_module else value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self._homes(), "__version__"})

    def _homes(self) -> dict[str, str]:
        homes: dict[str, str] = self.__dict__.get("_HOMES", {})
        return homes
