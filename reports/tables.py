"""Tables for people and programs: the same rows as a terminal table, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

Format = Literal["table", "json", "csv", "markdown"]
FORMATS: tuple[Format, ...] = ("table", "json", "csv", "markdown")


def render_rows(rows: Sequence[Mapping[str, Any]], output: Format, title: str = "") -> str:
    """Rows of the same keys as text in one of the formats.

    JSON and CSV keep the values as they are; table and Markdown show numbers to four significant digits and mark
    what is missing with a dash.
    """
    if output == "json":
        return json.dumps([{key: _plain(value) for key, value in row.items()} for row in rows], indent=2)
    columns = list(rows[0]) if rows else []
    if output == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_plain(row[column]) for column in columns] for row in rows)
        return text.getvalue().rstrip("\n")
    shown = [[show(row[column]) for column in columns] for row in rows]
    if output == "markdown":
        lines = [columns, ["---:" if _is_number(rows[0][column]) else "---" for column in columns] if rows else []]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines + shown)
    return _terminal_table(title, columns, rows, shown)


def show(value: Any) -> str:
    """A value as people read it; one that has a text of its own, such as those of `cells`, says it as `shown`."""
    if hasattr(value, "shown"):
        return str(value.shown)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 and math.isfinite(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _is_number(value: Any) -> bool:
    return hasattr(value, "shown") or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _plain(value: Any) -> Any:
    """A value as JSON and CSV hold it; they know neither NaN nor infinities, which become null and text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _terminal_table(
    title: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], shown: Sequence[Sequence[str]]
) -> str:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=escape(title) or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False
    )
    for column in columns:
        numeric = bool(rows) and all(_is_number(row[column]) or row[column] is None for row in rows)
        table.add_column(escape(column), justify="right" if numeric else "left", overflow="fold")
    for cells in shown:
        table.add_row(*(escape(cell) for cell in cells))
    text = io.StringIO()
    Console(file=text, width=terminal_width()).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).strip("\n")


def terminal_width() -> int:
    """Columns of the terminal; into a file or a pipe, as many as a table wants."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 400
