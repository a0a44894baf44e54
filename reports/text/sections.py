"""Titled tables with notes, in any output format."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knights_isolation.isolation.suggestions import did_you_mean

from .cell_values import Estimate, Range, WordedCell, plain_number
from .rendering import Format, render_rows, terminal_width, wrapped

# headings of columns whose keys are not clear enough
_HEADINGS = {"p_better": "one-sided p, unadjusted", "minutes": "time"}


@dataclass(frozen=True)
class Section:
    """A table with a `key` for programs, a `title` for readers, and notes.

    If it is wider than the terminal, `panels` distributes its columns over several tables, so that none is hidden.
    `verbatim`: column keys are names, such as those of agents, and are used as headings unchanged. `keep`: columns that
    contain the answer and are always shown; of the others the last are hidden first. `state` is that of the runs that
    the table is about, a column for programs, and `caveat` what follows from it, which is printed before anything else.
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


def _readable(section: Section, output: Format) -> str:
    rows, keep = worded_rows(section.rows, section.verbatim), tuple(map(_heading, section.keep))
    body = render_rows(rows, output, panels=section.panels, keep=keep) if rows else ""
    if output == "markdown":
        notes = "\n".join(f"- {note}" for note in section.notes)
        return "\n".join(part for part in (f"## {section.title}\n", body, "\n" * bool(notes), notes) if part)
    width = terminal_width()
    sentences = [wrapped(note, width) for note in section.notes]
    return "\n".join(filter(None, (wrapped(section.title, width), body, *sentences)))
