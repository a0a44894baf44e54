"""Pages of analyses, each kept in a run that was played for it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PAGE = "analysis.html"
_HEAD = 2000
"""Characters of a page that its title is looked for in."""


@dataclass(frozen=True)
class KeptPage:
    """The page of an analysis: the name of its run, its title, and when it was written, in seconds since 1970."""

    run: str
    title: str
    written: float


def kept_pages(runs: Mapping[str, Path]) -> list[KeptPage]:
    """Return the pages that are kept in some runs, the latest first; those that cannot be read are left out."""
    found = []
    for name, run in runs.items():
        try:
            with (run / PAGE).open(encoding="utf-8") as file:
                head = file.read(_HEAD)
            found.append(KeptPage(name, _title(head) or name, (run / PAGE).stat().st_mtime))
        except (OSError, ValueError):
            continue
    return sorted(found, key=lambda page: page.written, reverse=True)


def _title(head: str) -> str:
    title = re.search(r"<title>(.*?)</title>", head, re.DOTALL)
    return html.unescape(title[1]) if title else ""
