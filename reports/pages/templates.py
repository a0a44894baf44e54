"""Jinja environment, shared template values, page security, and the pages that are kept in runs."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, Template
from markupsafe import Markup, escape

from knights_isolation.isolation.files.received import read_plain

from ..text.rendering import Section, is_number_cell, render_rows, shown_column, worded_rows

_HERE = Path(__file__).parents[1] / "templates"
STYLE = _HERE / "lab.css"
"""The style sheet of all pages."""
SCRIPT = _HERE / "report.js"
"""The script of most pages."""


_PLAIN = "!$'()*+,-./:;=?@_~"


def page_template(name: str) -> Template:
    """Return a template with the style of our pages, which escapes its values."""
    return _environment().get_template(name)


def page_with_script(name: str, script: str = "", **values: Any) -> str:
    """Return a page from a template, with an inlined script that its security policy permits: by default report.js."""
    script = script or SCRIPT.read_text(encoding="utf-8")
    return page_template(name).render(script=Markup(script), script_hash=policy_of(script), **values)


@cache
def _environment() -> Environment:
    templates = Environment(loader=FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    templates.filters["breakable"] = breakable
    style = Markup(STYLE.read_text(encoding="utf-8"))
    templates.globals.update(
        shown=_texts_by_column, worded=worded_rows, is_number=is_number_cell, csv_url=csv_url, style=style
    )
    return templates


def policy_of(script: str) -> str:
    """Return the source expression by which a page's security policy permits an inline script."""
    return "sha256-" + base64.b64encode(sha256(script.encode()).digest()).decode()


def breakable(text: str) -> Markup:
    """Return a name that may be broken after its underscores."""
    return escape(text).replace("_", Markup("_<wbr>"))


def csv_url(section: Section) -> str:
    """Return a section's table as CSV in a data URL."""
    return data_url("text/csv;charset=utf-8", render_rows(section.flat, "csv") + "\n")


def data_url(kind: str, text: str) -> str:
    """Return a text as a data URL."""
    # shorter than base64: most characters of tables and settings stand for themselves
    return f"data:{kind},{quote(text, safe=_PLAIN)}"


def _texts_by_column(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    return {name: shown_column([row[name] for row in rows]) for name in rows[0]}


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
        with suppress(OSError, ValueError):
            titled = re.search(r"<title>(.*?)</title>", read_plain(folder / PAGE)[:_HEAD], re.DOTALL)
            title = html.unescape(titled[1]) if titled else ""
            found.append(KeptPage(name, title or name, (folder / PAGE).stat().st_mtime))
    return sorted(found, key=lambda page: page.written, reverse=True)


def with_pages(runs: Mapping[str, Path], home: Path | None) -> dict[str, Path]:
    """Return the runs by name, and the folders of `home` that are no runs and hold a page."""
    pages = sorted(home.glob(f"*/{PAGE}")) if home else []
    known = {run.resolve() for run in runs.values()}
    folders = [page.parent for page in pages if not page.parent.is_symlink()]
    others = {folder.name: folder for folder in folders if folder.resolve() not in known}
    return {**others, **runs}
