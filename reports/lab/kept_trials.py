"""Trials of heuristics, kept in the cache folder until their source changes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from isolation.compiling.code_cache import folder
from isolation.files.atomic_write import write_text
from reports.lab.own_files import OwnHeuristic

_VERSION = 1
"""Increased when trials measure something else, so that kept ones are not shown."""


def read_trial(heuristic: OwnHeuristic) -> dict[str, Any] | None:
    """Return what the last trial of a heuristic found; None without one, or if its source has changed since."""
    try:
        trial: dict[str, Any] = json.loads(_file(heuristic).read_text(encoding="utf-8"))
        return trial
    except (OSError, ValueError):
        return None


def keep_trial(heuristic: OwnHeuristic, trial: str) -> None:
    """Keep what a trial found, as JSON."""
    file = _file(heuristic)
    file.parent.mkdir(exist_ok=True)
    write_text(file, trial)


def _file(heuristic: OwnHeuristic) -> Path:
    """Return the file of a heuristic's trial, named by all that its values depend on: its source, and its file's."""
    path = Path(heuristic.reference.rpartition(":")[0])
    around = path.read_bytes() if path.is_file() else b""
    parts = (str(_VERSION).encode(), heuristic.reference.encode(), heuristic.source.encode(), around)
    return folder() / "trials" / f"{hashlib.sha256(b'|'.join(parts)).hexdigest()[:24]}.json"
