"""Render rows as a terminal table, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from reports.text.cell_values import CopiedName
from reports.text.colours import coloured_verdict
from reports.text.column_widths import GAP, Column, fit_columns, total, without_constants

Format = Literal["table", "json", "csv", "markdown"]
FORMATS: tuple[Format, ...] = ("table", "json", "csv", "markdown")
UNLIMITED = 100_000
"""The width where nothing is cut."""
_SMALLEST = 1e-4
"""Columns with smaller numbers show each by itself."""


def render_rows(
    rows: Sequence[Mapping[str, Any]],
    output: Format,
    title: str = "",
    panels: bool = False,
    elsewhere: str = "--format csv",
    keep: Collection[str] = (),
) -> str:
    """Rows of the same keys as text in one of the formats.

    JSON and CSV keep the values as they are; table and Markdown show numbers to four significant digits, those of a
    column to as many decimals, and mark what is missing with a dash. A table is as wide as the terminal at most: names
    are shortened in the middle, then columns left out, the last first but never those of the names `keep`; a line below
    says which, and what has them all: `elsewhere`. With `panels` the columns behind the second are spread over several
    tables instead.
    """
    if output == "json":
        return json.dumps([{key: _plain(value) for key, value in row.items()} for row in rows], indent=2)
    names = list(rows[0]) if rows else []
    if output == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_plain(row[name]) for name in names] for row in rows)
        return text.getvalue().rstrip("\n")
    columns = [_column(name, [row[name] for row in rows], name in keep) for name in names]
    if output == "markdown":
        lines = [["---:" if column.is_number else "---" for column in columns]] if rows else []
        lines = [names, *lines, *(list(cells) for cells in zip(*(column.cells for column in columns), strict=True))]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return _terminal_table(title, columns, panels, elsewhere)


def shown_column(values: Sequence[Any]) -> list[str]:
    """The values of a column as people read them: plain numbers with as many decimals, all of them.

    The largest has four significant digits at least, the smallest one.

    >>> shown_column([8.694, 10.13, 9.0]), shown_column([1.0, 25.0]), shown_column([0.04, 12345.6])
    (['8.69', '10.13', '9.00'], ['1', '25'], ['0.04', '12,345.60'])
    """
    numbers = [abs(value) for value in values if type(value) is float and math.isfinite(value) and value]
    if not numbers or min(numbers) < _SMALLEST:
        return [show(value) for value in values]
    if all(number.is_integer() for number in numbers):
        decimals = 0
    else:
        decimals = max(0, 3 - math.floor(math.log10(max(numbers))), -math.floor(math.log10(min(numbers))))
    return [
        with_minus(f"{value:,.{decimals}f}") if type(value) is float and math.isfinite(value) else show(value)
        for value in values
    ]


def with_minus(number: str) -> str:
    """A number with a minus sign instead of a hyphen, so that all tables have the same.

    >>> with_minus("-4.00"), with_minus("1e-05")
    ('−4.00', '1e-05')
    """
    return f"−{number[1:]}" if number.startswith("-") else number


def show(value: Any) -> str:
    """A value as people read it; one that has a text of its own, such as those of `cells`, says it as `text`."""
    if hasattr(value, "text"):
        return str(value.text)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return with_minus(f"{value:,.0f}" if abs(value) >= 10_000 and math.isfinite(value) else f"{value:.4g}")
    return with_minus(f"{value:,}") if isinstance(value, int) else str(value)


def _is_number(value: Any) -> bool:
    return hasattr(value, "text") or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _plain(value: Any) -> Any:
    """A value as JSON and CSV hold it; they know neither NaN nor infinities, which become null and text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _column(name: str, values: Sequence[Any], is_kept: bool = False) -> Column:
    is_number = bool(values) and all(_is_number(value) or value is None for value in values)
    is_exact = any(isinstance(value, CopiedName) for value in values)
    return Column(name, tuple(shown_column(values)), is_number, is_exact, is_kept)


def _terminal_table(title: str, columns: Sequence[Column], panels: bool, elsewhere: str) -> str:
    width = terminal_width()
    head = [wrapped(title, width)] if title else []
    if not columns:
        return "\n".join(head)
    if panels:
        return "\n".join([*head, "\n\n".join(_drawn(panel) for panel in _panels(columns, width))])
    telling, alike = without_constants(columns)
    kept, left_out = fit_columns(telling, width)
    below = [alike] if alike else []
    if left_out:
        below.append(f"Columns hidden (narrow terminal): {', '.join(left_out)}; use a wider terminal or {elsewhere}.")
    return "\n".join([*head, _drawn(kept), *(wrapped(sentence, width) for sentence in below)])


def without_room(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns for which a table of these rows has no room on the terminal."""
    columns = [_column(name, [row[name] for row in rows]) for name in (rows[0] if rows else ())]
    return fit_columns(without_constants(columns)[0], terminal_width())[1] if columns else []


def _panels(columns: Sequence[Column], width: int) -> list[list[Column]]:
    """Columns in groups that fit, each behind the first two."""
    heads, remaining = list(columns[:2]), list(columns[2:])
    room = width - total([column.narrowest for column in heads])
    panels: list[list[Column]] = []
    while remaining:
        taken = max(
            [n for n in range(1, len(remaining) + 1) if total([0, *(c.width for c in remaining[:n])]) <= room],
            default=1,
        )
        panels.append(fit_columns([*heads, *remaining[:taken]], width)[0])
        remaining = remaining[taken:]
    return panels or [heads]


def _drawn(columns: Sequence[Column]) -> str:
    widths = [column.width for column in columns]
    lines = [_line([column.title for column in columns], columns, widths), "─" * total(widths)]
    for cells in zip(*(column.cells for column in columns), strict=True):
        folded = [cell.split("\n") for cell in cells]
        for line in range(max(map(len, folded))):
            lines.append(_line([parts[line] if line < len(parts) else "" for parts in folded], columns, widths))
    return "\n".join(lines)


def _line(texts: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    cells = zip(texts, columns, widths, strict=True)
    padded = [text.rjust(width) if column.is_number else text.ljust(width) for text, column, width in cells]
    padded[-1] = padded[-1].rstrip()
    if is_terminal():
        padded = [coloured_verdict(column.title, text) for text, column in zip(padded, columns, strict=True)]
    return (" " * GAP).join(padded).rstrip()


def wrapped(sentence: str, width: int) -> str:
    """A text whose lines break between words where the terminal ends; not at all where there is no end."""
    if width >= UNLIMITED:
        return sentence
    words = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    lines = (words.fill(line) for line in sentence.split("\n"))
    return "\n".join(lines)


def terminal_width() -> int:
    """Columns of the terminal; into a file or a pipe, as many as a table wants."""
    return shutil.get_terminal_size().columns if is_terminal() else UNLIMITED


def terminal_height() -> int | None:
    """Lines of the terminal; None where what is printed is not looked at on one."""
    return shutil.get_terminal_size().lines if is_terminal() else None


def is_terminal() -> bool:
    """Whether what is printed is looked at on a terminal."""
    return sys.stdout.isatty()
