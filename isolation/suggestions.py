"""Suggest what a mistyped name may have been meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


def did_you_mean(name: str, known: Iterable[str], most: int = 1) -> str:
    """A question that names what comes nearest, with a blank behind it; empty if nothing is near.

    >>> did_you_mean("forrest", ["forest", "heatmap"]), did_you_mean("x", ["forest"])
    ('did you mean forest? ', '')
    """
    near = get_close_matches(name, list(known), n=most)
    return f"did you mean {' or '.join(near)}? " if near else ""


def file_meant(path: str | Path) -> str:
    """What comes nearest to the name of a missing file in its folder, as a question behind a semicolon; or nothing."""
    path = Path(path)
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    meant = f"{path.name}.py" if f"{path.name}.py" in names else next(iter(get_close_matches(path.name, names, 1)), "")
    return f"; did you mean {path.with_name(meant)}?" if meant else ""
