"""Results: tables, a plot and a compact card for notebooks; and the runs that results and names stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from .text.rendering import Section, render_sections, section_called, shown_column, worded_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from knights_isolation.experiments.statistics.run_results import RunResults

    from .charts.chart import Chart

T = TypeVar("T")


class Deferred(Sequence[Section]):
    """Tables of which all but the first are made when they are asked for."""

    def __init__(self, first: Section, behind: Callable[[], Sequence[Section]]) -> None:
        self._first, self._behind = first, cache(behind)

    def __getitem__(self, index: Any) -> Any:
        is_first = index in (0, slice(None, 1))
        return ((self._first,) if is_first else (self._first, *self._behind()))[index]

    def __len__(self) -> int:
        return 1 + len(self._behind())


RunLike: TypeAlias = "str | Path | RunResults | Result[RunResults]"
"""A run: its directory, its name below `runs/`, what was read of it, or the result of a function that played it."""
_ROWS_ON_CARD = 12
_STYLE = "border-collapse:collapse;margin:.4em 0"


@dataclass(frozen=True, repr=False)
class Result(Generic[T]):
    """What a function found out, as a plain object and as tables.

    `print(result)` shows the first table with its notes; a notebook shows it as a card.

    Attributes:
        value: the plain result, with everything unrounded.
        sections: its tables; the first one has the answer.
        figure: draws the plot; None if there is none.
        card: makes the card of what is not a table, such as a game; None for that of the first table.
        more: names of the tables behind the first, if that is a first look at them.
        text: printed instead of the tables on a terminal; empty for the tables.
        step: steps through it on a terminal, instead of the text.
        closing: printed below the tables on a terminal.
        remark: the same, but on stderr beside another format or a single table.
        page: makes the page for `--html` of the command line that got this result.
        written: files and folders that were written.
        passes: whether all checks passed, if it is about checks.
        stopped: what Ctrl-C kept of it, in words, if it is not whole.
    """

    value: T
    sections: Sequence[Section]
    figure: Callable[[], Figure] | None = None
    card: Callable[[], str] | None = None
    more: tuple[str, ...] = ()
    text: str = ""
    step: Callable[[], None] | None = None
    closing: str = ""
    remark: str = ""
    page: Callable[[str], str] | None = None
    written: tuple[Path, ...] = ()
    passes: bool = True
    stopped: str = ""

    def to_frame(self, table: str | None = None) -> DataFrame:
        """Return a table as a pandas frame, by default the first one; numbers are not rounded, shares between 0 and 1.

        Raises:
            ValueError: there is no such table; the message lists them.
        """
        import pandas as pd

        section = section_called(self.sections, table) if table else self.sections[0]
        return pd.DataFrame([{key: _plain(cell) for key, cell in row.items()} for row in section.flat])

    def plot(self) -> Figure:
        """Return the plot, a matplotlib figure; a notebook shows it as SVG; ValueError if there is nothing to draw."""
        if self.figure is None:
            raise ValueError("this result has no plot; its tables are in to_frame()")
        return self.figure()

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables, for `to_frame`."""
        return tuple(section.key for section in self.sections)

    def __str__(self) -> str:
        return render_sections(self.sections[:1], "table") if self.sections else self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return a card: the title, the first table and its notes, and the names of the other tables."""
        if self.card is not None:
            return self.card()
        if not self.sections:
            return f"<p>{escape(self.text)}</p>"
        section = self.sections[0]
        others = ", ".join(f"<code>{escape(name)}</code>" for name in self.tables[1:])
        hidden = len(section.rows) - _ROWS_ON_CARD
        notes = [f"{hidden} rows more in <code>to_frame()</code>."] if hidden > 0 else []
        notes += map(escape, section.notes)
        notes += [f"More tables for <code>to_frame</code>: {others}."] if others else []
        listed = "".join(f"<p>{note}</p>" for note in notes)
        details = f"<details><summary>Notes</summary>{listed}</details>" if notes else ""
        caveat = f"<p>{escape(section.caveat)}</p>" if section.caveat else ""
        return f"<div>{caveat}<b>{escape(section.title)}</b>{_html_table(section)}{details}</div>"


def is_run_like(what: object) -> bool:
    """Return whether something names a run: results, a path, or a text that is a run's directory or name."""
    from knights_isolation.experiments.record.run_directory import is_run, run_called
    from knights_isolation.experiments.statistics.run_results import RunResults

    if isinstance(what, str):
        return is_run(run_called(what))
    return isinstance(what, Path | RunResults | Result)


def read_runs(runs: Sequence[RunLike], baseline: str | None = None, mixed: bool = False) -> RunResults:
    """Read runs for analysis; the latest one if none is named.

    Raises:
        ValueError: there is no such run, or runs cannot be pooled.
    """
    from knights_isolation.experiments.statistics.run_results import RunResults, load_findings

    read = runs[0].value if len(runs) == 1 and isinstance(runs[0], Result) else runs[0] if len(runs) == 1 else None
    if isinstance(read, RunResults) and baseline is None:
        return read
    return load_findings(run_paths(runs), baseline, mixed)


def run_paths(runs: Sequence[RunLike]) -> list[Path]:
    """Return the directories of runs; that of the latest one if none is named.

    Raises:
        ValueError: none is named, and there is none; or something else is named, such as a function.
    """
    from knights_isolation.experiments.record.run_directory import latest_run, load_run, run_called

    paths: list[Path] = []
    for run in runs:
        read = run.value if isinstance(run, Result) else run
        if isinstance(read, str | Path):
            named = run_called(read)
            paths.append(named if named.exists() else load_run(named).path)
        elif sources := getattr(read, "sources", ()):
            paths += [source.info.path for source in sources]
        elif callable(read):
            raise ValueError(
                f"{getattr(read, '__name__', read)} is a function, not a run: play it first, with compare() or match()"
            )
        else:
            raise ValueError(
                f"a run is needed: its directory, or a result of compare() or match(), not {type(read).__name__}"
            )
    return paths or [latest_run()]


def run_path(run: RunLike | None) -> Path:
    """Return the directory of one run; that of the latest one if none is named.

    Raises:
        ValueError: none is named and there is none, or several were pooled.
    """
    paths = run_paths([] if run is None else [run])
    if len(paths) > 1:
        raise ValueError(f"one run is needed, not {len(paths)}")
    return paths[0]


def drawn(chart: Chart | None, missing: str = "") -> Figure:
    """Draw a chart, or the reason why there is none."""
    from .plots.draw_chart import draw_chart

    return draw_chart(chart, missing)


def _html_table(section: Section) -> str:
    """Return the first rows of a table as HTML."""
    rows = worded_rows(section.rows[:_ROWS_ON_CARD], section.verbatim)
    if not rows:
        return ""
    columns = {
        name: shown_column([row.get(name) for row in rows])
        for name in dict.fromkeys(key for row in rows for key in row)
    }
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in line) for line in zip(*columns.values(), strict=True))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table cellpadding="4" style="{_STYLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _plain(cell: Any) -> Any:
    """Return a cell as a plain Python value."""
    for kind in (bool, int, float, str):
        if isinstance(cell, kind):
            return kind(cell)
    return cell
