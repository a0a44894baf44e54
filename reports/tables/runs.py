"""The list of runs as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.record.run_directory import RunSummary, list_runs


def run_rows(home: Path) -> list[dict[str, Any]]:
    """A row for every run below a directory, oldest first, or for the run that it is itself."""
    return [_row(summary) for summary in list_runs(home)]


def _row(summary: RunSummary) -> dict[str, Any]:
    info = summary.info
    return {
        "run": str(info.path),
        "started": info.created_at[:19].replace("T", " "),
        "format": info.requested["format"],
        "board": info.requested["board"],
        "agents": len(info.agents),
        "games": summary.played,
        "of": info.games,
        "finished": summary.finished,
    }
