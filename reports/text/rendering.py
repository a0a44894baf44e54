"""Render rows as a terminal table, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from click import style

from .cell_values import CopiedName
from .column_widths import GAP, Column, fit_columns, total, without_constants

Format = Literal["table", "json", "csv", "markdown"]
FORMATS: tuple[Format, ...] = ("table", "json", "csv", "markdown")
UNLIMITED = 100_000
"""Width without a limit."""
_SMALLEST = 1e-4  # columns with smaller numbers format each of them separately
# headings of columns that contain verdicts
_VERDICTS = ("verdict", "verdict before", "verdict after", "decision", "stands")
_GOOD, _BAD = ("better", "yes"), ("worse", "no ", "control differs")
_OPEN = ("no significant", "no difference")  # beginnings of neutral verdicts that start like bad ones


def render_rows(
    rows: Sequence[Mapping[str, Any]],
    output: Format,
    title: str = "",
    panels: bool = False,
    elsewhere: str = "--format csv",
    keep: Collection[str] = (),
) -> str:
    """Render rows with the same keys as text in one of the formats.

    JSON and CSV contain exact values. Tables and Markdown show numbers with four significant digits, all of a column
    with equally many decimals, and a dash for missing values. A table is at most as wide as the terminal: names are
    shortened in the middle, then columns are hidden, the last first but never those named in `keep`. A line below names
    the hidden columns and `elsewhere`, where they are shown. With `panels` the columns after the second are distributed
    over several tables instead.
    """
    names = list(rows[0]) if rows else []
    plain = [{name: _finite(row[name]) for name in names} for row in rows]
    if output == "json":
        return json.dumps(plain, indent=2)
    if output == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(plain)
        return text.getvalue().rstrip("\n")
    columns = [_column(name, [row[name] for row in rows], name in keep) for name in names]
    if output == "markdown":
        lines = [["---:" if column.is_number else "---" for column in columns]] if rows else []
        lines = [names, *lines, *(list(cells) for cells in zip(*(column.cells for column in columns), strict=True))]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return _terminal_table(title, columns, panels, elsewhere)


def shown_column(values: Sequence[Any]) -> list[str]:
    """Format the values of a column: plain numbers with equally many decimals.

    The largest has at least four significant digits, the smallest at least one.

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
    """Return a number with a minus sign instead of a hyphen, as in all tables.

    >>> with_minus("-4.00"), with_minus("1e-05")
    ('−4.00', '1e-05')
    """
    return f"−{number[1:]}" if number.startswith("-") else number


def show(value: Any) -> str:
    """Format a value; values with a `text`, such as those of `cell_values`, are formatted by it."""
    if hasattr(value, "text"):
        return str(value.text)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return with_minus(f"{value:,.0f}" if abs(value) >= 10_000 and math.isfinite(value) else f"{value:.4g}")
    return with_minus(f"{value:,}") if isinstance(value, int) else str(value)


def is_number_cell(value: Any) -> bool:
    """Return whether a cell is a number, which tables align to the right."""
    return hasattr(value, "text") or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _finite(value: Any) -> Any:
    # in JSON and CSV, NaN and infinities are null and an empty cell
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _column(name: str, values: Sequence[Any], is_kept: bool = False) -> Column:
    is_number = bool(values) and all(is_number_cell(value) or value is None for value in values)
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
    """Return the columns that do not fit on the terminal in a table of these rows."""
    columns = [_column(name, [row[name] for row in rows]) for name in (rows[0] if rows else ())]
    return fit_columns(without_constants(columns)[0], terminal_width())[1] if columns else []


def _panels(columns: Sequence[Column], width: int) -> list[list[Column]]:
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


def coloured_verdict(heading: str, text: str) -> str:
    """Return a cell with its verdict in green, red or dim, as in the report, unless NO_COLOR is set; others unchanged.

    >>> coloured_verdict("verdict", "better ") != "better ", coloured_verdict("agent", "better")
    (True, 'better')
    """
    if heading not in _VERDICTS or not text.strip() or heading == text.strip() or os.environ.get("NO_COLOR"):
        return text
    if text.startswith(_GOOD) or "(H1)" in text:
        return style(text, fg="green")
    if (f"{text} ".startswith(_BAD) and not text.startswith(_OPEN)) or "(H0)" in text:
        return style(text, fg="red")
    return style(text, dim=True)


def wrapped(sentence: str, width: int) -> str:
    """Wrap a text to the terminal's width; unchanged if there is no limit."""
    if width >= UNLIMITED:
        return sentence
    words = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    lines = (words.fill(line) for line in sentence.split("\n"))
    return "\n".join(lines)


def terminal_width() -> int:
    """Return the columns of the terminal; unlimited for a file or a pipe."""
    return shutil.get_terminal_size().columns if is_terminal() else UNLIMITED


def terminal_height() -> int | None:
    """Return the lines of the terminal; None if output does not go to one."""
    return shutil.get_terminal_size().lines if is_terminal() else None


def speaks_ascii_only() -> bool:
    """Return whether the terminal cannot show the pieces."""
    try:
        "♘♞░·┼".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def is_terminal() -> bool:
    """Return whether output goes to a terminal."""
    return sys.stdout.isatty()
