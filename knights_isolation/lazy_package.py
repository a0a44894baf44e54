"""How Python finds the toolkit's packages: loaded on first use, hidden by no file of the user's.

This module stands beside the packages, under a name nobody else uses, because it looks before any of them is imported.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

HOME = Path(__file__).resolve().parent
PACKAGES = ("isolation", "heuristics", "experiments", "reports", "knights_isolation", "knights_isolation.command_line")
LIBRARIES = {
    **{"annotated_types": "annotated-types", "PIL": "pillow"},
    **dict.fromkeys(("click", "cloudpickle", "jinja2", "joblib", "llvmlite", "loky", "markupsafe"), ""),
    **dict.fromkeys(("matplotlib", "numba", "numpy", "pandas", "platformdirs", "psutil", "pyarrow"), ""),
    **dict.fromkeys(("pydantic", "rich", "scipy", "starlette", "uvicorn"), ""),
}
"""What is imported from others, with the distribution it is in where that is called otherwise."""


class LazyPackage(ModuleType):
    """A package whose public names are loaded from the modules that its stub imports them from; it has a `__version__`.

    A package becomes one by ``sys.modules[__name__].__class__ = LazyPackage``. Where a module of the package is named
    like a public name, as `isolation.search` is, importing that module does not replace the public name.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            value: Any = version("knights-isolation")
        elif name == "__all__":
            value = [public for public, (_, is_exported) in self._homes().items() if is_exported]
        elif name in self._homes():
            value = getattr(import_module(self._homes()[name][0]), name)
        else:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        is_module = isinstance(value, ModuleType) and name in self._homes()
        super().__setattr__(name, getattr(value, name) if is_module else value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self._homes(), "__version__"})

    def _homes(self) -> dict[str, tuple[str, bool]]:
        """The module of each name in the stub, and whether the stub exports it: as type checkers read it."""
        if "_stub" not in self.__dict__:
            tree = ast.parse(Path(str(self.__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
            self.__dict__["_stub"] = {
                alias.name: (str(node.module), alias.asname == alias.name)
                for node in tree.body
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
        stub: dict[str, tuple[str, bool]] = self.__dict__["_stub"]
        return stub


def refuse_hidden(*packages: str) -> None:
    """Raise an ImportError that names the file imported in place of one of these packages, or of a library."""
    for name in packages:
        file = _found(name)
        if file is not None and _folder(file) != HOME:
            raise ImportError(_refusal(file, f"the toolkit's package {name}"))
    _refuse_hidden_libraries(tuple(sys.path))


@cache  # each package of the toolkit asks, and looking for all libraries takes milliseconds
def _refuse_hidden_libraries(path: tuple[str, ...]) -> None:
    for name, distribution in LIBRARIES.items():
        if file := _hiding(name, distribution or name):
            raise ImportError(_refusal(file, f"the library {name}, which the toolkit needs"))


def _hiding(library: str, distribution: str) -> Path | None:
    """The user's file that is imported in place of a library: the library itself lies further on in the path."""
    file = _found(library)
    if file is None or _folder(file).name in {"site-packages", "dist-packages"}:
        return None
    folder = _folder(file)
    if any(_is_of(distribution, info.name) for info in folder.glob("*-info")):
        return None  # installed there, as by `pip install --target`
    others = [entry for entry in sys.path if Path(entry or ".").resolve() != folder]
    other = PathFinder.find_spec(library, others)
    return file if other is not None and other.origin else None


def _is_of(distribution: str, metadata: str) -> bool:
    """Whether a folder such as `annotated_types-0.7.0.dist-info` belongs to a distribution."""
    return metadata.lower().replace("_", "-").startswith((f"{distribution}-", f"{distribution}."))


def _found(name: str) -> Path | None:
    """The file that importing a package or module reads."""
    spec = find_spec(name)
    return None if spec is None or spec.origin is None else Path(spec.origin).resolve()


def _folder(file: Path) -> Path:
    """The folder in the path that a module's file was found in."""
    return file.parents[1] if file.name.startswith("__init__.") else file.parent


def _refusal(file: Path, what: str) -> str:
    hides = file.parent if file.name.startswith("__init__.") else file
    return f"{hides} hides {what}: rename it, or remove its folder from PYTHONPATH"
