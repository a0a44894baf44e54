"""Export games of a run: PGN, CSV, JSON lines. For damaged runs and foreign games see `check_log` and `log`."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from knights_isolation.isolation.games.pgn import write_pgn

from ..record.log import PER_PLY, SCHEMA, games_folder, live_files, read_part
from ..record.log_validation import check_log
from ..record.run_directory import check_run

Kind = Literal["pgn", "csv", "jsonl"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_LISTS = ("opening", *PER_PLY)


def exported(run: str | Path, kind: Kind) -> Iterator[str]:
    """Yield the games of a run as pieces of text, in log order, one part of the log at a time."""
    path = Path(run)
    check_log(check_run(path))
    if kind == "csv":
        yield csv_head()
    for file in live_files(games_folder(path)):
        for row in read_part(file).sort_by("game_id").to_pylist():
            yield export_row(row, kind, path.resolve().name)


def csv_head() -> str:
    """Return the header line of CSV."""
    return _csv_line(SCHEMA.names)


def export_row(row: Mapping[str, Any], kind: Kind, event: str) -> str:
    """Format a row of the log in one of the formats; as CSV one line without the header."""
    if kind == "pgn":
        return _as_pgn(row, event)
    if kind == "csv":
        return _csv_line([_as_cell(name, row[name]) for name in SCHEMA.names])
    return json.dumps({name: _plain(row[name]) for name in SCHEMA.names}, ensure_ascii=False) + "\n"


def _as_pgn(row: Mapping[str, Any], event: str) -> str:
    tags = {
        "Event": event,
        "Site": "?",
        "Date": row["started_at"].strftime("%Y.%m.%d"),
        "Round": f"{row['pair_id'] + 1}.{row['game_id'] % 2 + 1}",
        "White": row["agent_1"],
        "Black": row["agent_2"],
        "GameId": str(row["game_id"]),
        "OpeningPlies": str(len(row["opening"])),
        "PlyCount": str(row["plies"]),
        "Termination": row["reason"],
        **({"Detail": row["detail"]} if row["detail"] else {}),
    }
    comments = [
        _comment(*ply) if ply_index >= len(row["opening"]) else ""
        for ply_index, ply in enumerate(zip(row["score"], row["depth"], row["time_us"], strict=True))
    ]
    size = f"{row['rows']}x{row['columns']}"
    return write_pgn(tags, size, tuple(row["moves"]), tuple(comments), row["winner"]) + "\n"


def _comment(score: float, depth: int, time_us: int) -> str:
    """Format score, depth and seconds of a move like match runners do: `+1.50/6 0.012s`."""
    search = "" if math.isnan(score) else f"{score:+.2f}/{depth} "
    return f"{search}{time_us / 1e6:.3f}s"


def _as_cell(name: str, value: Any) -> str:
    if name in _LISTS:
        return " ".join(str(int(element)) if isinstance(element, bool) else str(element) for element in value)
    return value.isoformat() if name == "started_at" else str(value)


def _plain(value: Any) -> Any:
    """Convert a value to JSON: NaN becomes null, infinite scores become words."""
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def _csv_line(values: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()
