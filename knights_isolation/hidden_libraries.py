"""Refuse files of the user's that are imported in place of a library which the toolkit needs."""

from __future__ import annotations

import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

LIBRARIES = {
    **{"annotated_types": "annotated-types", "PIL": "pillow"},
    **dict.fromkeys(("click", "cloudpickle", "jinja2", "joblib", "llvmlite", "loky", "markupsafe"), ""),
    **dict.fromkeys(("matplotlib", "numba", "numpy", "pandas", "platformdirs", "psutil", "pyarrow"), ""),
    **dict.fromkeys(("pydantic", "rich", "scipy", "starlette", "uvicorn"), ""),
}
"""What is imported from others, with the distribution it is in where that is called otherwise."""


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
    if any(_is_of(distribution, info.name) for info in folder.glob("*-info")):
        return None  # installed there, as by `pip install --target`
    others = [entry for entry in sys.path if Path(entry or ".").resolve() != folder]
    other = PathFinder.find_spec(library, others)
    return file if other is not None and other.origin else None


def _is_of(distribution: str, metadata: str) -> bool:
    """Whether a folder such as `annotated_types-0.7.0.dist-info` belongs to a distribution."""
    return metadata.lower().replace("_", "-").startswith((f"{distribution}-", f"{distribution}."))
