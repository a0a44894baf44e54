"""Published results as CSV: one agent's wins and losses against one opponent."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from isolation.files.shipped_data import read_shipped

FILE = Path(__file__).parents[1] / "data" / "published_results.csv"
REQUIRED = ("agent", "opponent", "wins", "losses")


@dataclass(frozen=True)
class PublishedRow:
    """Wins and losses of `agent` against `opponent` in one `table` of one `source`."""

    source: str
    table: str
    agent: str
    protocol: str
    opponent: str
    wins: int
    losses: int


@dataclass(frozen=True)
class PublishedTables:
    """Rows in the order of the text, and its problems: see `parse_classic_text`."""

    rows: tuple[PublishedRow, ...]
    problems: tuple[str, ...] = ()


def bundled_csv() -> str:
    """Return the text of the published evaluations that ship with the project."""
    return read_shipped(FILE).decode().replace("\r\n", "\n")


def parse_csv(text: str, source: str = "") -> PublishedTables:
    """Parse CSV with the columns agent, opponent, wins, losses and, optionally, source, table and protocol.

    `source` is used if there is no such column. Raises ValueError, naming the line, for a missing column or value,
    invalid counts, and an opponent listed twice for the same agent of the same table.
    """
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
    if missing:
        raise ValueError(f"line 1: a table needs the columns {', '.join(REQUIRED)}; {', '.join(missing)} missing")
    rows = []
    seen = set()
    for record in reader:
        line = reader.line_num
        cells = {name: (record.get(name) or "").strip() for name in (*REQUIRED, "source", "table", "protocol")}
        if not cells["agent"] or not cells["opponent"]:
            raise ValueError(f"line {line}: agent and opponent must not be empty")
        row = PublishedRow(
            source=cells["source"] or source,
            table=cells["table"],
            agent=cells["agent"],
            protocol=cells["protocol"],
            opponent=cells["opponent"],
            wins=_count(cells["wins"], "wins", line),
            losses=_count(cells["losses"], "losses", line),
        )
        key = row.source, row.table, row.agent, row.opponent
        if key in seen:
            raise ValueError(f"line {line}: {row.agent} against {row.opponent} is listed twice in one table")
        seen.add(key)
        rows.append(row)
    return PublishedTables(tuple(rows))


def _count(text: str, name: str, line: int) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"line {line}: {name} must be a whole number of at least 0, not {text!r}")
    return int(text)
