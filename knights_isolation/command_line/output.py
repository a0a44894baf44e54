"""Print tables and write files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from knights_isolation.isolation.suggestions import did_you_mean
from knights_isolation.reports.text.rendering import Format, render_rows

if TYPE_CHECKING:
    from knights_isolation.reports.text.sections import Section


def print_rows(rows: Sequence[dict[str, Any]], output: Format, title: str = "", keep: Sequence[str] = ()) -> None:
    """Print rows as a table or in another format; `keep` names the columns that a narrow terminal does not hide."""
    click.echo(render_rows(rows, output, title, keep=keep))


def print_sections(sections: Sequence[Section], output: Format, only: str | None = None) -> None:
    """Print tables with their notes; CSV is one table, and the rest is named on stderr."""
    from knights_isolation.reports.text.sections import render_sections

    click.echo(render_sections(sections, output, only))
    if output == "csv":
        others = [section.key for section in sections[1:]] if only is None else []
        more = f"--table {'|'.join(others)}" if _has_tables() else "--format json"
        rest = f"CSV is one table, {sections[0].key}. Others: {more}." if others else ""
        for sentence in filter(None, [sections[0].caveat, rest]):
            click.echo(sentence, err=True)


def _has_tables() -> bool:
    """Return whether the command has the option --table."""
    return any(parameter.name == "only" for parameter in click.get_current_context().command.params)


def check_tables(only: str | None, keys: Sequence[str]) -> None:
    """Raise an error for the name of a table that a command does not print, before it computes."""
    if only is not None and only not in keys:
        raise ValueError(f"--table: no table {only!r}; {did_you_mean(only, keys)}choose one of {', '.join(keys)}")
