"""The log of tries: what was ever compared in a project, so that the best of many is not taken for a single one.

`runs/tries.jsonl` has a JSON object a line, which is only ever appended (`checked_lines`). The sources that were tried
are kept beside it by their hash, in `runs/tried/`. The environment variable `ISOLATION_TRIES=off` turns the log off.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from experiments.record.checked_lines import append_lines, read_lines
from experiments.record.run_directory import HOME
from experiments.roster import complete, make_agent, named, parse_spec, settings_text
from isolation.files.atomic_write import make_folder, write_text
from isolation.loading.load_user_code import expand_path

LOG, SOURCES = "tries.jsonl", "tried"
SETTING = "ISOLATION_TRIES"


@dataclass(frozen=True)
class Try:
    """One comparison of an agent with a baseline.

    Attributes:
        command: the command that compared them.
        agent, baseline: their names.
        spec: the agent's spec.
        code: hash of everything that influences the agent's play; equal code at the same limit has the same one.
        source: hash of the file with the agent's code, by which its text is kept; empty for shipped code.
        judged_on: the openings or positions, in words: equal for equal ones.
        n: how many there are.
        difference: to the baseline in percentage points, with the ends of its interval.
        p_value: of the difference alone; None if a sequential test decided when to stop.
        cost: processor time a node, over the baseline's; None if it was not measured.
        when: time of the comparison, in UTC.
        held_out: the held-out split that they are drawn from, in words; empty for others. Whichever openings or
            positions of one split a seed draws, its tries are corrected for together.
    """

    command: str
    agent: str
    baseline: str
    spec: str
    code: str
    source: str
    judged_on: str
    n: int
    difference: tuple[float, float, float]
    p_value: float | None
    cost: float | None
    when: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    held_out: str = ""

    @property
    def family(self) -> str:
        """What tries share that are corrected for together."""
        return self.held_out or self.judged_on

    @property
    def test(self) -> tuple[str, str]:
        """What makes a test of its own: the same code on the same openings or positions is no second one."""
        return self.code, self.judged_on


_TRY = TypeAdapter(Try)


def is_kept() -> bool:
    """Return whether tries are logged."""
    return os.environ.get(SETTING, "").lower() not in ("off", "0", "no")


def add_tries(tries: Iterable[Try], home: Path = HOME) -> None:
    """Append tries to the log, after those of other processes that write at the same time; durable on return."""
    if is_kept():
        append_lines(home / LOG, map(asdict, tries))


def read_tries(home: Path = HOME) -> list[Try]:
    """Return all tries, the oldest first.

    Raises:
        DamagedFileError: a line was damaged or edited; the message names it.
    """
    remedy = "restore the file from a backup, or delete the line, whose try is then not counted"
    return read_lines(home / LOG, _TRY.validate_python, remedy)


def earlier_p_values(tries: Sequence[Try], family: str) -> dict[tuple[str, str], float]:
    """Return the first p-value of each test of a family, in order."""
    p_values: dict[tuple[str, str], float] = {}
    for each in tries:
        if each.family == family and each.p_value is not None:
            p_values.setdefault(each.test, each.p_value)
    return p_values


def code_of(settings: str) -> str:
    """Return the hash of an agent's settings, as `settings_text` writes them and `run.json` has them."""
    return hash_of_text(settings)


def named_settings(spec: str) -> tuple[str, str]:
    """Return the name and the settings of the agent that a spec names."""
    parsed = complete(named(parse_spec(spec)), None)
    agent = make_agent(parsed)
    return agent.name, settings_text(parsed, agent)


def keep_source(spec: str, home: Path = HOME) -> str:
    """Keep the text of the file that a spec names, and return its hash; "" for agents without a file."""
    parsed = parse_spec(spec)
    if not parsed.is_file or not is_kept():
        return ""
    text = expand_path(parsed.target.rpartition(":")[0]).read_text(encoding="utf-8", errors="replace")
    source = hash_of_text(text)
    kept = source_path(source, home)
    if not kept.exists():
        make_folder(kept.parent)
        write_text(kept, text)
    return source


def source_path(source: str, home: Path = HOME) -> Path:
    """Return where the text of a source is kept."""
    return home / SOURCES / f"{source}.py"


def hash_of_text(text: str) -> str:
    """Return the hash by which the text of a source is kept."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
