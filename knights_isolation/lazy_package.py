"""How the toolkit's packages are found: their public names on first use, and one copy whatever they are imported as."""

from __future__ import annotations

import sys
import warnings
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

TOOLKIT = "knights_isolation"
BARE = ("isolation", "heuristics", "experiments", "reports")
"""The packages inside, which a checkout also has by these bare names; see `isolation.usercode.imports`."""
_IMPORTS = f"{TOOLKIT}.isolation.usercode.imports"


def lazy_package(name: str, kind: type[ModuleType] | None = None) -> None:
    """Have a package load its public names on first use; one imported by its bare name becomes that of the toolkit."""
    if name in BARE:
        sys.modules[name] = import_module(f"{TOOLKIT}.{name}")
        import_module(_IMPORTS).install()
    else:
        sys.modules[name].__class__ = kind or LazyPackage


class LazyPackage(ModuleType):
    """A package whose public names are loaded from the modules that its stub imports them from; it has a `__version__`.

    Where a module of the package is named like a public name, as `isolation.search` is, importing that module does not
    replace the public name. Packages inside it are public names as well.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            value: Any = version("knights-isolation")
        elif name == "__all__":
            value = [public for public, (_, is_exported) in self._homes.items() if is_exported]
        elif name in self._homes:
            import_module(_IMPORTS).refuse_hidden()
            home = self._homes[name][0]
            value = import_module(f"{home}.{name}") if home == self.__name__ else getattr(import_module(home), name)
        elif self.__name__ == TOOLKIT and name in (registry := import_module(f"{TOOLKIT}.registry")).OLD:
            present = registry.function_name(registry.OLD[name])
            warnings.warn(f"ki.{name} is now ki.{present}", DeprecationWarning, stacklevel=2)
            return getattr(self, present)
        else:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        is_module = isinstance(value, ModuleType) and self._homes.get(name, (self.__name__,))[0] != self.__name__
        super().__setattr__(name, getattr(value, name) if is_module else value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self._homes, "__version__"})

    @cached_property
    def _homes(self) -> dict[str, tuple[str, bool]]:
        """The module of each name in the stub, and whether it is exported, as type checkers see it; of commands too."""
        import ast

        commands = import_module(f"{TOOLKIT}.registry").homes() if self.__name__ == TOOLKIT else {}
        tree = ast.parse(Path(str(self.__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
        return commands | {
            alias.name: (str(node.module), alias.asname == alias.name)
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.name != "*"
        }


class CatalogueOfHeuristics(LazyPackage):
    """The package `knights_isolation.heuristics`, which is called like the function that lists what it holds."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Return the listing of `isolation heuristics`."""
        return import_module("knights_isolation.commands.heuristics").list_heuristics(*arguments, **options)
