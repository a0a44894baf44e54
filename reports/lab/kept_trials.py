"""Trials of heuristics, kept in the cache folder until their source changes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from knights_isolation.experiments.record.checked_json import read_json, write_json
from knights_isolation.isolation.compiling.code_cache import folder
from knights_isolation.isolation.usercode.inputs import changed_input

from .own_files import OwnHeuristic

_VERSION = 1
"""Increased when trials measure something else, so that kept ones are not shown."""


def read_trial(heuristic: OwnHeuristic) -> dict[str, Any] | None:
    """Return what the last trial of a heuristic found; None without one, or if its source or data has changed since."""
    try:
        trial = read_json(_file(heuristic))
    except (OSError, ValueError):
        return None
    folder_of_code = Path(heuristic.reference.rpartition(":")[0]).parent
    return None if changed_input(trial.pop("inputs", {}), folder_of_code) else trial


def keep_trial(heuristic: OwnHeuristic, trial: str) -> None:
    """Keep what a trial found, as JSON."""
    file = _file(heuristic)
    file.parent.mkdir(exist_ok=True)
    write_json(file, json.loads(trial))


def _file(heuristic: OwnHeuristic) -> Path:
    """Return the file of a heuristic's trial, named by all that its values depend on: its source, and its file's."""
    path = Path(heuristic.reference.rpartition(":")[0])
    around = path.read_bytes() if path.is_file() else b""
    parts = (str(_VERSION).encode(), heuristic.reference.encode(), heuristic.source.encode(), around)
    return folder() / "trials" / f"{hashlib.sha256(b'|'.join(parts)).hexdigest()[:24]}.json"
