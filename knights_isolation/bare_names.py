"""The packages by their bare names, by which course code and its pickles know them: `isolation`, for one.

A bare name leads to the package inside `knights_isolation`, never to a second copy of it, and only where no other
package of that name is found: in a course's repository, `isolation` is the course's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

TOOLKIT = "knights_isolation"
BARE = ("isolation", "heuristics", "experiments", "reports")
HOME = Path(__file__).parent
FOLDERS = tuple(dict.fromkeys(map(str, (HOME, HOME.resolve(), *((HOME / name).resolve() for name in BARE)))))
"""Where the toolkit's files are: in a checkout, `knights_isolation` has links to the other packages."""


def bare(module: str) -> str:
    """Return a module's name as course code has it, and as the hashes of code have it: `isolation.search`."""
    inner = module.removeprefix(f"{TOOLKIT}.")
    return inner if inner.partition(".")[0] in BARE else module


def hand_over(name: str) -> None:
    """Put the package inside `knights_isolation` in place of one being imported by its bare name from a checkout."""
    sys.modules[name] = import_module(f"{TOOLKIT}.{name}")
    install()


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
