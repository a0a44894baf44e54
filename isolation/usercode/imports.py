"""What imports find: the toolkit's packages by their bare names too, and no file of the user's in place of a library.

Course code and its pickles know the packages by bare names, such as `isolation`. A bare name leads to the package
inside `knights_isolation`, never to a second copy of it, and only where no other package of that name is found: in a
course's repository, `isolation` is the course's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from knights_isolation.lazy_package import BARE, TOOLKIT

HOME = Path(__file__).parents[2]
FOLDERS = tuple(dict.fromkeys(map(str, (HOME, HOME.resolve(), *((HOME / name).resolve() for name in BARE)))))
"""Where the toolkit's files are: in a checkout, `knights_isolation` has links to the other packages."""
LIBRARIES = {
    **{"annotated_types": "annotated-types", "PIL": "pillow"},
    **dict.fromkeys(("click", "cloudpickle", "jinja2", "joblib", "llvmlite", "loky", "markupsafe"), ""),
    **dict.fromkeys(("matplotlib", "numba", "numpy", "pandas", "platformdirs", "psutil", "pyarrow"), ""),
    **dict.fromkeys(("pydantic", "rich", "scipy", "starlette", "uvicorn"), ""),
}
"""What is imported from others, with the distribution it is in where that is called otherwise."""


def bare(module: str) -> str:
    """Return a module's name as course code has it, and as the hashes of code have it: `isolation.search`."""
    inner = module.removeprefix(f"{TOOLKIT}.")
    return inner if inner.partition(".")[0] in BARE else module


def install() -> None:
    """Have bare names be found from now on."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(_is_inside_ours))
        sys.meta_path.append(_Finder(BARE.__contains__))


def _is_inside_ours(name: str) -> bool:
    """Whether a module is inside one of the packages, imported by its bare name."""
    top, _, inner = name.partition(".")
    return bool(inner) and top in BARE and sys.modules.get(top) is sys.modules.get(f"{TOOLKIT}.{top}")


class _Finder(MetaPathFinder):
    """Finds modules by their bare names: those of which a function of the name says so."""

    def __init__(self, is_found: Callable[[str], bool]) -> None:
        self._is_found = is_found

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not self._is_found(fullname) or find_spec(f"{TOOLKIT}.{fullname}") is None:
            return None
        return spec_from_loader(fullname, _Alias())


class _Alias(Loader):
    """Loads the module inside `knights_isolation` as the one of a bare name."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(f"{TOOLKIT}.{spec.name}")
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # Python has replaced it


def refuse_hidden() -> None:
    """Raise an ImportError that names the file imported in place of a library."""
    _refuse_hidden(tuple(sys.path))


@cache  # every public name asks, and looking for all libraries takes milliseconds
def _refuse_hidden(path: tuple[str, ...]) -> None:
    for name, distribution in LIBRARIES.items():
        if file := _hiding(name, distribution or name):
            hides = file.parent if file.name.startswith("__init__.") else file
            raise ImportError(
                f"{hides} hides the library {name}, which the toolkit needs: "
                "rename it, or remove its folder from PYTHONPATH"
            )


def _hiding(library: str, distribution: str) -> Path | None:
    """The user's file that is imported in place of a library: the library itself lies further on in the path."""
    spec = find_spec(library)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).resolve()
    folder = file.parents[1] if file.name.startswith("__init__.") else file.parent
    if folder.name in {"site-packages", "dist-packages"}:
        return None
    metadata = (info.name.lower().replace("_", "-") for info in folder.glob("*-info"))
    if any(name.startswith((f"{distribution}-", f"{distribution}.")) for name in metadata):
        return None  # installed there, as by `pip install --target`
    others = [entry for entry in sys.path if Path(entry or ".").resolve() != folder]
    other = PathFinder.find_spec(library, others)
    return file if other is not None and other.origin else None
