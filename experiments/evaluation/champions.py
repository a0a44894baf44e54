"""The hall of champions: candidates that beat the baseline, against which later ones play as well.

A champion is a folder with its source and `champion.json`, which is written last. Folders are only ever added.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from experiments.evaluation.evaluation import Evaluation, EvaluationTask
from isolation.files.atomic_write import make_folder, write_text
from isolation.loading.load_user_code import sources

HALL, FACTS = "champions", "champion.json"
MOST = 3
"""Number of champions that a candidate meets, the latest ones."""


@dataclass(frozen=True)
class Champion:
    """A candidate that beat the baseline: its file, its function, its cost a node over the baseline's, and when."""

    file: str
    name: str
    cost: float
    when: str


_CHAMPION = TypeAdapter(Champion)


def champions(home: Path, question: EvaluationTask) -> tuple[Champion, ...]:
    """Return the latest champions of a baseline and a board, the latest last."""
    found = []
    for path in _hall(home, question).glob(f"*/{FACTS}"):
        with suppress(OSError, ValidationError):
            found.append(_CHAMPION.validate_json(path.read_bytes()))
    return tuple(sorted(found, key=lambda champion: (champion.when, champion.file))[-MOST:])


def is_champion(evaluation: Evaluation) -> bool:
    """Return whether a candidate beat the baseline in games, and won at least as many against champions as they did."""
    has_won = evaluation.games is not None and (evaluation.passed or evaluation.held_out is not None)
    return has_won and (evaluation.champions is None or evaluation.champions.estimate >= 0)


def admit(home: Path, question: EvaluationTask, key: str, file: Path, name: str, cost: float) -> None:
    """Add a candidate to the champions, with its source and the files beside it that it imports."""
    folder = _hall(home, question) / key
    for path, content in sources(file).items():
        make_folder((folder / path).parent)
        (folder / path).write_bytes(content)
    when = datetime.now(UTC).isoformat(timespec="microseconds")
    write_text(folder / FACTS, json.dumps(asdict(Champion(str((folder / file.name).resolve()), name, cost, when))))


def _hall(home: Path, question: EvaluationTask) -> Path:
    digest = hashlib.sha256(f"{question.baseline}\0{question.size}".encode()).hexdigest()[:12]
    return home / HALL / digest
