"""Pages of analyses and discoveries: each is kept in a run that was played for it, or in a folder of its own."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from knights_isolation.isolation.files.received import read_plain

PAGE = "analysis.html"
_HEAD = 2000  # characters of a page that its title is looked for in


@dataclass(frozen=True)
class KeptPage:
    """A page: the name of its run or folder, its title, and when it was written, in seconds since 1970."""

    run: str
    title: str
    written: float


def kept_pages(folders: Mapping[str, Path]) -> list[KeptPage]:
    """Return the pages that are kept in some folders, the latest first; those that cannot be read are left out."""
    found = []
    for name, folder in folders.items():
        try:
            head = read_plain(folder / PAGE)[:_HEAD]
            found.append(KeptPage(name, _title(head) or name, (folder / PAGE).stat().st_mtime))
        except (OSError, ValueError):
            continue
    return sorted(found, key=lambda page: page.written, reverse=True)


def with_pages(runs: Mapping[str, Path], home: Path | None) -> dict[str, Path]:
    """Return the runs by name, and the folders of `home` that are no runs and hold a page."""
    pages = sorted(home.glob(f"*/{PAGE}")) if home else []
    known = {run.resolve() for run in runs.values()}
    folders = [page.parent for page in pages if not page.parent.is_symlink()]
    others = {folder.name: folder for folder in folders if folder.resolve() not in known}
    return {**others, **runs}


def _title(head: str) -> str:
    title = re.search(r"<title>(.*?)</title>", head, re.DOTALL)
    return html.unescape(title[1]) if title else ""
