"""What a command prints, and the files that its result is written into."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from knights_isolation.isolation.files.atomic_write import check_output, write_text
from knights_isolation.isolation.suggestions import did_you_mean
from knights_isolation.reports.answers import Result
from knights_isolation.reports.text.rendering import (
    Format,
    Section,
    render_rows,
    render_sections,
    terminal_width,
    wrapped,
)

from ..surface import Stopped
from .cli_errors import same_again

_ENDINGS = {"plot": (".svg", ".png"), "html": (".html", ".htm")}


def check_views(views: Mapping[str, Any], tables: Sequence[str]) -> None:
    """Check, before a command computes, the files to write and the table to print; it prints any if none are listed.

    Raises:
        ValueError: a file cannot be written, or there is no such table.
    """
    for name, endings in _ENDINGS.items():
        if path := views.get(f"view_{name}"):
            try:
                check_output(Path(path), endings)
            except ValueError as error:
                raise ValueError(f"--{name}: {error}") from None
    only = views.get("view_table")
    if only and tables and only not in tables:
        raise ValueError(f"--table: no table {only!r}; {did_you_mean(only, tables)}choose one of {', '.join(tables)}")


def show(result: Any, views: Mapping[str, Any]) -> None:
    """Print what a command has found, and write the files that were asked for; exit with 1 if its checks fail."""
    if isinstance(result, Path):
        result = f"Wrote {result}"
    if isinstance(result, str) and result:
        click.echo(result)
    if not isinstance(result, Result):
        return
    output, only = views.get("view_format", "table"), views.get("view_table")
    is_plain = output == "table" and only is None
    if is_plain:
        _show_first(result, views)
    elif "view_table" not in views and len(result.sections) == 1:
        click.echo(render_rows(result.sections[0].rows, output))
    else:
        _print_sections(result.sections[1 if result.more else 0 :], output, only, "view_table" in views)
    if result.closing:
        click.echo(result.closing, err=not is_plain)
    _write_files(result, views)
    if result.stopped:
        raise Stopped(result.stopped)
    if not result.passes:
        sys.exit(1)


def _show_first(result: Result[Any], views: Mapping[str, Any]) -> None:
    """Print a result for people who asked for no table in particular."""
    if result.step and sys.stdin.isatty() and sys.stdout.isatty():
        result.step()
    elif result.text:
        click.echo(result.text)
    elif result.more and not views.get("view_full"):
        _print_sections(result.sections[:1], "table", None, True)
        click.echo(wrapped(f"More with --table: {', '.join(result.more)}; with --full all of them.", terminal_width()))
    elif "view_table" in views or len(result.sections) > 1:
        _print_sections(result.sections[1 if result.more else 0 :], "table", None, True)
    else:
        for section in result.sections:
            click.echo(render_rows(section.rows, "table", keep=section.keep))


def _print_sections(sections: Sequence[Section], output: Format, only: str | None, has_tables: bool) -> None:
    """Print tables with their notes; CSV is one table, and the rest is named on stderr."""
    click.echo(render_sections(sections, output, only))
    if output == "csv":
        others = [section.key for section in sections[1:]] if only is None else []
        more = f"--table {'|'.join(others)}" if has_tables else "--format json"
        rest = f"CSV is one table, {sections[0].key}. Others: {more}." if others else ""
        for sentence in filter(None, [sections[0].caveat, rest]):
            click.echo(sentence, err=True)


def _write_files(result: Result[Any], views: Mapping[str, Any]) -> None:
    written = list(result.written)
    if path := views.get("view_plot"):
        from knights_isolation.reports.plots.style import save

        written.append(save(result.plot(), Path(path)))
    if path := views.get("view_html"):
        if result.page is None:
            raise ValueError("--html: there is no page of this")
        write_text(Path(path), result.page(same_again()))
        written.append(Path(path))
    for each in written:
        click.echo(f"Wrote {each}", err=True)
