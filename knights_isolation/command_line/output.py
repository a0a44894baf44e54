"""Print tables and write files."""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from knights_isolation.isolation.suggestions import did_you_mean
from knights_isolation.isolation.usercode.output_capture import WantsToEnd, capture_output, discard_output, prevent_exit
from knights_isolation.reports.text.rendering import Format, render_rows, terminal_width, wrapped

if TYPE_CHECKING:
    from knights_isolation.reports.tables.headlines import Headline
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


def print_headline(headline: Headline) -> None:
    """Print the headline, and how to see the rest."""
    print_sections([headline.section], "table")
    click.echo(wrapped(f"More: --table {'|'.join(headline.tables)}; --full for everything.", terminal_width()))


@contextmanager
def capture_user_output(code: str) -> Iterator[None]:
    """Capture the output of user code during a command, and report its amount on stderr.

    `code` is the name of the code in the report. What the code prints when this process ends is discarded.

    Raises:
            click.ClickException: the code tried to end the process.
    """
    try:
        with capture_output() as printed, prevent_exit():
            yield
    except WantsToEnd as error:
        raise click.ClickException(f"{code}: the code {error}") from error
    finally:
        atexit.register(discard_output)  # called before what the code has registered so far
    if sentence := printed.sentence(code or "the code"):
        click.echo(f"Note: {sentence}", err=True)


def write_new(path: Path, text: str) -> None:
    """Write a file that must not exist yet."""
    try:
        with path.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise ValueError(f"{path} already exists: choose another name, or remove it") from None
