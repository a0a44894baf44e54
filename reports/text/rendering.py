"""Titled tables with notes, as text for the terminal, JSON, CSV or Markdown.

On a terminal, names are shortened, text is wrapped, and columns are hidden until a table fits.
"""

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
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Literal

from click import style

from knights_isolation.isolation.suggestions import did_you_mean

from .cell_values import CopiedName, Estimate, Range, WordedCell, plain_number, pluralise

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


GAP = 2
"""Spaces between two columns."""
_SHORTEST_NAME = 16
_NARROWEST_PROSE = 14
_FEWEST_ALIKE = 3  # minimum number of rows for hiding a column because all its cells are equal


@dataclass(frozen=True)
class Column:
    """A displayed column; numbers are right-aligned and never shortened.

    Attributes:
        title: its heading.
        cells: its texts, one per row.
        is_number: whether it contains numbers.
        is_exact: whether users copy its texts, such as names of runs, so that they must not be shortened.
        is_kept: whether it contains the answer, and is never hidden.
    """

    title: str
    cells: tuple[str, ...]
    is_number: bool
    is_exact: bool = False
    is_kept: bool = False

    @property
    def width(self) -> int:
        """Width of its widest line."""
        lines = [line for text in (self.title, *self.cells) for line in text.split("\n")]
        return max(map(len, lines))

    @property
    def is_prose(self) -> bool:
        """Return whether it can be wrapped: text of several words."""
        return not self.is_number and any(" " in cell for cell in self.cells)

    @property
    def narrowest(self) -> int:
        """Minimum width."""
        if self.is_number or self.is_exact:
            return self.width
        return min(self.width, max(len(self.title), _NARROWEST_PROSE if self.is_prose else _SHORTEST_NAME))


def without_constants(columns: Sequence[Column]) -> tuple[list[Column], str]:
    """Return the columns whose cells differ, and a sentence with the values of the constant ones, or nothing.

    >>> games = Column("games", ("1,400", "1,400", "1,400"), True)
    >>> without_constants([Column("agent", ("A", "B", "C"), False), games])[1]
    'Constant columns: games: 1,400.'
    """
    if len(columns[0].cells) < _FEWEST_ALIKE:
        return list(columns), ""
    alike = [column for column in columns[1:] if len(set(column.cells)) == 1 and not column.is_kept]
    if not alike:
        return list(columns), ""
    constants = "; ".join(f"{column.title}: {column.cells[0]}" for column in alike if column.cells[0])
    return [column for column in columns if column not in alike], f"Constant columns: {constants}." if constants else ""


def fit_columns(columns: Sequence[Column], width: int) -> tuple[list[Column], list[str]]:
    """Return the columns, fitted to `width`, and the titles of those that had to be hidden.

    The last are hidden first, but never the first column or those that are kept.

    >>> agent, cost, verdict = (Column(name, ("x" * 9,), True) for name in ("agent", "cost", "verdict"))
    >>> fit_columns([agent, cost, replace(verdict, is_kept=True)], 20)[1]
    ['cost']
    """
    kept = list(columns)
    while total([column.narrowest for column in kept]) > width:
        spare = [index for index, column in enumerate(kept) if index and not column.is_kept]
        if not spare:
            break
        del kept[spare[-1]]
    left_out = [column.title for column in columns if not any(column is other for other in kept)]
    return [_narrowed(column, room) for column, room in _rooms(kept, width)], left_out


def total(widths: Sequence[int]) -> int:
    """Return the total width of a table, given the widths of its columns.

    >>> total([5, 10])
    17
    """
    return sum(widths) + GAP * (len(widths) - 1)


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Shorten names to `width` characters by cutting the middle; to more if two would become equal.

    >>> shortened(["ID_Edge_Distance_Weighted", "ID_Edge_Distance_Dynamic", "Random"], 16)
    ['ID_Edge…Weighted', 'ID_Edge…_Dynamic', 'Random']
    """
    different = list(dict.fromkeys(names))
    while True:
        for tail in sorted(range(1, max(2, width - 1)), key=lambda tail: abs(2 * tail - width)):
            short = {name: in_the_middle(name, width, tail) for name in different}
            if len(set(short.values())) == len(different):
                return [short[name] for name in names]
        width += 1


def in_the_middle(name: str, width: int, tail: int) -> str:
    """Cut the middle out of a name that is longer than `width`, and keep `tail` characters behind it."""
    if len(name) <= width:
        return name
    return f"{name[: width - 1 - tail]}…{name[-tail:]}"


def _rooms(columns: Sequence[Column], width: int) -> list[tuple[Column, int]]:
    # the widest columns that can be narrowed are narrowed first
    rooms = [column.width for column in columns]
    while total(rooms) > width:
        spare = [room if room > column.narrowest else -inf for column, room in zip(columns, rooms, strict=True)]
        if max(spare) == -inf:
            break
        rooms[spare.index(max(spare))] -= 1
    return list(zip(columns, rooms, strict=True))


def _narrowed(column: Column, width: int) -> Column:
    if column.width <= width or column.is_exact:
        return column
    if column.is_prose:
        folded = (textwrap.fill(cell, width, break_long_words=True, break_on_hyphens=False) for cell in column.cells)
        return replace(column, cells=tuple(folded))
    return replace(column, cells=tuple(shortened(column.cells, width)))


_AROUND = 9  # number of terminal lines for the sentences around a table
_FEWEST = 5  # number of rows shown even on the smallest terminal
# headings of columns whose keys are not clear enough
_HEADINGS = {"p_better": "one-sided p, unadjusted", "minutes": "time"}


@dataclass(frozen=True)
class Spare:
    """Rows that a low terminal has no room for: their numbers, the first to go first, and what they are in words."""

    rows: tuple[int, ...] = ()
    what: str = ""
    more: str = ""


@dataclass(frozen=True)
class Section:
    """A table with a `key` for programs, a `title` for readers, and notes.

    If it is wider than the terminal, `panels` distributes its columns over several tables, so that none is hidden.
    `verbatim`: column keys are names, such as those of agents, and are used as headings unchanged. `keep`: columns that
    contain the answer and are always shown; of the others the last are hidden first. `state` is that of the runs that
    the table is about, a column for programs, and `caveat` what follows from it, which is printed before anything else.
    `spare`: rows that are hidden where the terminal is too low.
    """

    key: str
    title: str
    rows: tuple[dict[str, Any], ...]
    notes: tuple[str, ...] = ()
    panels: bool = False
    verbatim: bool = False
    keep: tuple[str, ...] = ("difference", "verdict", "head_to_head", "decision")
    state: str = ""
    caveat: str = ""
    spare: Spare = Spare()

    @property
    def flat(self) -> list[dict[str, Any]]:
        """The rows for programs; see `flat_rows`."""
        rows = flat_rows(self.rows)
        return [{**row, "run_state": self.state} for row in rows] if self.state else rows


def render_sections(sections: Sequence[Section], output: Format, only: str | None = None) -> str:
    """Render the sections as one text; with `only`, just the table of that key.

    JSON is one object: each table under its key, and all notes under "notes". CSV is the first table alone.

    Raises:
        ValueError: there is no table called `only`.
    """
    if only is not None:
        sections = [section_called(sections, only)]
    caveats = list(dict.fromkeys(section.caveat for section in sections if section.caveat))
    if output == "json":
        tables: dict[str, Any] = {section.key: json.loads(render_rows(section.flat, "json")) for section in sections}
        tables["notes"] = [*caveats, *(note for section in sections for note in section.notes)]
        return json.dumps(tables, indent=2, ensure_ascii=False)
    if output == "csv":
        return render_rows(sections[0].flat, "csv")
    marked = [f"**{caveat}**\n" if output == "markdown" else wrapped(caveat, terminal_width()) for caveat in caveats]
    return "\n".join([*marked, "\n\n".join(_readable(section, output) for section in sections)])


def section_called(sections: Sequence[Section], key: str) -> Section:
    """Return the section of a key; the ValueError for an unknown one lists the keys."""
    for section in sections:
        if section.key == key:
            return section
    keys = [section.key for section in sections]
    raise ValueError(f"no table is called {key!r}; {did_you_mean(key, keys)}there are {', '.join(keys)}")


def flat_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows for programs: estimates and worded cells are split into their values.

    An estimate becomes its value and its two ends in every row of its column; a sentence becomes the facts it
    expresses.
    """
    kinds = {key: type(value) for row in rows for key, value in row.items() if isinstance(value, (Estimate, Range))}
    return [
        {
            name: plain_number(part)
            for key, value in row.items()
            for name, part in _parts(key, value, kinds.get(key)).items()
        }
        for row in rows
    ]


def worded_rows(rows: Sequence[Mapping[str, Any]], verbatim: bool = False) -> list[dict[str, Any]]:
    """Return rows for display: the same cells under readable headings, and sentences unchanged."""
    return [
        {
            key if verbatim else _heading(key): value.text if isinstance(value, WordedCell) else value
            for key, value in row.items()
        }
        for row in rows
    ]


def _heading(key: str) -> str:
    return _HEADINGS.get(key, key.replace("_", " "))


def _parts(key: str, value: Any, kind: type[Estimate] | type[Range] | None) -> dict[str, Any]:
    if isinstance(value, WordedCell):
        return {key: value.value, **value.details}
    if kind is None:
        return {key: value}
    estimate = value or Estimate(None, None, None)
    by_itself = {} if kind is Range else {key: estimate.value}
    return {**by_itself, f"{key}_low": estimate.low, f"{key}_high": estimate.high}


def _fitted(section: Section) -> Section:
    """Return a table with as many rows as the terminal has room for, and how many more there are."""
    lines = terminal_height()
    surplus = len(section.rows) - max(lines - _AROUND, _FEWEST) if lines else 0
    hidden = section.spare.rows[: max(surplus, 0)]
    if not hidden:
        return section
    rows = tuple(row for number, row in enumerate(section.rows) if number not in hidden)
    more = f"{pluralise(len(hidden), section.spare.what)} more{section.spare.more}: --full."
    return replace(section, rows=rows, notes=(*section.notes, more))


def _readable(section: Section, output: Format) -> str:
    section = _fitted(section) if output == "table" else section
    rows, keep = worded_rows(section.rows, section.verbatim), tuple(map(_heading, section.keep))
    body = render_rows(rows, output, panels=section.panels, keep=keep) if rows else ""
    if output == "markdown":
        notes = "\n".join(f"- {note}" for note in section.notes)
        return "\n".join(part for part in (f"## {section.title}\n", body, "\n" * bool(notes), notes) if part)
    width = terminal_width()
    sentences = [wrapped(note, width) for note in section.notes]
    return "\n".join(filter(None, (wrapped(section.title, width), body, *sentences)))
