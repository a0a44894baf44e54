"""Answers about finished runs, kept so that they are computed once.

They are kept in the user's cache folder, never in a run: whoever hands on a run cannot hand on an answer with it. What
an answer rests on is the runs, the runs beside them, the log of tries, and the toolkit's own code; when one of these
changes, the answer is made again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from knights_isolation.experiments.record.run_directory import HOME, keeps_tries, state_of
from knights_isolation.isolation.files.cache_folder import folder
from knights_isolation.isolation.suggestions import COMMAND

from .answers import Deferred, Result, RunLike, read_runs, run_paths
from .text import cell_values, rendering

if TYPE_CHECKING:
    from knights_isolation.experiments.statistics.run_results import RunResults

_SEAL = sha256().digest_size
_KIND = "$kind"
_KINDS = {
    name: kind for part in (cell_values, rendering) for name, kind in vars(part).items() if isinstance(kind, type)
}


def results_of(
    runs: Sequence[RunLike], baseline: str | None = None, mixed: bool = False, worth: float = 2.0
) -> Result[RunResults]:
    """Return what runs say of their contenders, the latest run if none is named; see `headlines.run_answer`.

    Args:
        worth: a difference worth having, in percentage points.
    """

    def answer(of: Sequence[RunLike]) -> Result[RunResults]:
        from .studies.headlines import run_answer

        return run_answer(read_runs(of, baseline, mixed), worth / 100)

    return _kept(runs, ("results", baseline, mixed, worth), answer)


def ratings_of(
    runs: Sequence[RunLike], baseline: str | None = None, mixed: bool = False, zero: str | None = None
) -> Result[RunResults]:
    """Return the ratings of runs, the latest run if none is named; see `headlines.ratings_headline`."""

    def answer(of: Sequence[RunLike]) -> Result[RunResults]:
        from .studies.headlines import ratings_headline

        return ratings_headline(read_runs(of, baseline, mixed), zero)

    return _kept(runs, ("ratings", baseline, mixed, zero), answer)


def _kept(
    runs: Sequence[RunLike], question: object, make: Callable[[Sequence[RunLike]], Result[RunResults]]
) -> Result[RunResults]:
    """Return the answer to a question about runs: as it was kept, or else made now, and kept if the runs are finished.

    A kept one has no value, which the command line does not need; in Python answers are always made. Its tables behind
    the first, and its plot, are made when they are asked for.
    """
    if not COMMAND.get():
        return make(runs)
    paths = run_paths(runs)
    made = cache(lambda: make(paths))
    try:
        asked = repr((os.getcwd(), list(map(str, paths)), question, keeps_tries()))
        file, rests_on = folder() / "answers" / sha256(asked.encode()).hexdigest(), _rests_on(paths)
    except OSError:  # a file has gone meanwhile, or the working directory
        return made()
    with suppress(OSError):
        content = file.read_bytes()
        seal, body = content[:_SEAL], content[_SEAL:]
        if seal == _seal(body, rests_on):
            kept = json.loads(body, object_hook=_decoded)
            sections = Deferred(kept["first"], lambda: made().sections[1:])
            return Result(cast("RunResults", None), sections, lambda: made().plot(), more=tuple(kept["more"]))
    answer = made()
    with suppress(OSError):
        # What has changed meanwhile may be in the answer or not.
        if all(state_of(run) == "finished" for run in paths) and _rests_on(paths) == rests_on:
            from knights_isolation.isolation.files.atomic_write import write_atomic

            body = json.dumps(_encoded({"first": answer.sections[0], "more": answer.more})).encode()
            file.parent.mkdir(exist_ok=True)
            write_atomic(file, lambda writable: writable.write(_seal(body, rests_on) + body))
    return answer


def _seal(body: bytes, rests_on: str) -> bytes:
    """Return what stands before a kept answer: it differs if that was damaged or edited, or rests on something else."""
    return sha256(rests_on.encode() + body).digest()


def _rests_on(runs: Sequence[Path]) -> str:
    """Return a digest of the names, sizes and times of the files that an answer about runs rests on."""
    # Answers name what runs beside these say at equal cost. Pages in runs rest on answers.
    own = (file for run in runs for file in run.glob("*") if file.suffix != ".html")
    beside = (
        file for run in runs for part in ("*.json", "games/*") for file in run.absolute().parent.glob(f"*/{part}")
    )
    code = (Path(__file__).parents[1] / room for room in ("experiments", "isolation", "reports"))
    ours = (
        Path(path, name) for room in code for path, _, names in os.walk(room) for name in names if ".pyc" not in name
    )
    stats = ((str(file), file.stat()) for file in sorted({*own, *beside, *HOME.glob("*.jsonl"), *ours}))
    facts = [(name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in stats]
    return sha256(repr(facts).encode()).hexdigest()


def _encoded(value: Any) -> Any:
    """Return a value for JSON: cells and tables by their kind and their parts."""
    if isinstance(value, dict):
        return {key: _encoded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encoded(each) for each in value]
    if is_dataclass(value):
        return {_KIND: type(value).__name__, "of": [_encoded(getattr(value, field.name)) for field in fields(value)]}
    for plain in (float, int, str):
        if isinstance(value, plain) and type(value) not in (plain, bool):
            return {_KIND: type(value).__name__, "of": [plain(value)]}
    return value


def _decoded(value: dict[str, Any]) -> Any:
    if _KIND not in value:
        return value
    parts = (tuple(part) if isinstance(part, list) else part for part in value["of"])
    return _KINDS[value[_KIND]](*parts)
