"""The archive: runs that the list hides. Nothing is moved or deleted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.isolation.files.received import read_plain

from ..board.request_models import Name, StrictModel

FILE = "archive.json"
"""File in the folder of the runs with the names of the archived ones."""


class Archiving(StrictModel):
    """Request to archive runs, or to bring them back."""

    runs: Annotated[list[Name], Field(min_length=1, max_length=1000)]
    is_archived: bool


def archived(home: Path | None) -> frozenset[str]:
    """Return the names of the archived runs of a folder; none if its file cannot be read."""
    try:
        return frozenset(json.loads(read_plain(home / FILE))) if home else frozenset()
    except (OSError, ValueError, TypeError):
        return frozenset()


def set_archived(home: Path, runs: Sequence[str], is_archived: bool) -> None:
    """Add runs to the archive of a folder, or remove them from it."""
    names = archived(home) | set(runs) if is_archived else archived(home) - set(runs)
    write_text(home / FILE, json.dumps(sorted(names)))
