"""What commands print and write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reports.tables import Format, render_rows

if TYPE_CHECKING:
    from reports.sections import Section


def print_rows(rows: Sequence[dict[str, Any]], output: Format, title: str = "") -> None:
    """Print rows as a table or in another format."""
    click.echo(render_rows(rows, output, title))


def print_sections(sections: Sequence[Section], output: Format, only: str | None = None) -> None:
    """Print tables with their notes."""
    from reports.sections import render_sections

    click.echo(render_sections(sections, output, only))


def write_new(path: Path, text: str) -> None:
    """Write a file that must not exist yet."""
    try:
        with path.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise ValueError(f"{path} exists already: choose another name, or remove it first") from None
