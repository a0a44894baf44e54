"""The hall of champions: candidates that beat the baseline, against which later ones play as well.

A champion is a folder with its source and `champion.json`, which is written last. Folders are only ever added.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from knights_isolation.isolation.files.atomic_write import make_folder
from knights_isolation.isolation.loading.load_user_code import sources
from knights_isolation.isolation.usercode.inputs import NO_FILE, Inputs, changed_input, digest_of_inputs, state_of

from ..record.checked_lines import DamagedFileError, read_json, write_json
from ..roster import parse_spec
from .evaluation import Evaluation, EvaluationTask

HALL, FACTS = "champions", "champion.json"
_REMEDY = "delete the folder, and later candidates do not meet it"
MOST = 3
"""Number of champions that a candidate meets, the latest ones."""


@dataclass(frozen=True)
class Champion:
    """A candidate that beat the baseline: the copy of its file, the function, and when it was admitted.

    `cost` is that of a node, over the baseline's. `inputs` are its sources and all else that it depends on; none in
    those of older versions.
    """

    file: str
    name: str
    cost: float
    when: str
    inputs: Inputs = field(default_factory=dict)


_CHAMPION = TypeAdapter(Champion)


def champions(home: Path, question: EvaluationTask) -> tuple[Champion, ...]:
    """Return the latest champions of a baseline and a board, the latest last.

    Raises:
        DamagedFileError: one of them was damaged or edited, or something else that it depends on is not as it was.
    """
    found = []
    for path in _hall(home, question).glob(f"*/{FACTS}"):
        try:
            champion = _CHAMPION.validate_python(read_json(path))
        except (OSError, ValueError):
            raise DamagedFileError(f"{path}: damaged or edited by hand; {_REMEDY}") from None
        if changed := changed_input(champion.inputs, path.parent):
            raise DamagedFileError(f"{path.parent}: {changed} is not as it was when this won; {_REMEDY}")
        found.append(replace(champion, file=str((path.parent / Path(champion.file).name).resolve())))
    return tuple(sorted(found, key=lambda champion: (champion.when, champion.file))[-MOST:])


def is_champion(evaluation: Evaluation) -> bool:
    """Return whether a candidate beat the baseline in games, and won at least as many against champions as they did."""
    has_won = evaluation.games is not None and (evaluation.passed or evaluation.held_out is not None)
    return has_won and (evaluation.champions is None or evaluation.champions.estimate >= 0)


def admit(home: Path, question: EvaluationTask, file: Path, name: str, cost: float, inputs: Inputs) -> str:
    """Add a candidate to the champions, with its source and the files in its folder that it reads.

    Return why it cannot be added, if so: it depends on something that is not the same there; otherwise "".
    """
    read = (each.split(" ", 1)[1] for each, was in inputs.items() if each.startswith("file ") and was not in NO_FILE)
    own = [path for path in read if not Path(path).is_absolute()]
    owned = {path: (file.parent / path).read_bytes() for path in (*sources(file), *own)}
    inputs = inputs | {f"file {path}": state_of("file", path, file.parent) for path in owned}
    folder = _hall(home, question) / digest_of_inputs(inputs)
    for path, content in owned.items():
        make_folder((folder / path).parent)
        (folder / path).write_bytes(content)
    if changed := changed_input(inputs, folder):
        return f"it depends on {changed}"
    when = datetime.now(UTC).isoformat(timespec="microseconds")
    write_json(folder / FACTS, asdict(Champion(file.name, name, cost, when, inputs)))
    return ""


def _hall(home: Path, question: EvaluationTask) -> Path:
    """Return the folder of the champions of a baseline, whose code is part of its name if it is a user's."""
    code = question.code if parse_spec(question.baseline).is_file else ""
    digest = hashlib.sha256(f"{question.baseline}\0{question.size}{code}".encode()).hexdigest()[:12]
    return home / HALL / digest
