"""Files of users that are imported in place of a package of the toolkit."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def refuse_shadows(*packages: str) -> None:
    """Raise an error if a user's file shadows one of the toolkit's packages."""
    home = Path(__file__).resolve().parents[1]
    for package in packages:
        spec = find_spec(package)
        if spec is not None and spec.origin and Path(spec.origin).resolve().parents[1] != home:
            raise ImportError(f"{spec.origin} shadows the toolkit's package {package}: rename it")
