"""Looks at verdicts of runs, as they are added to the log of tries."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..record.run_directory import HOME
from ..record.tries import Try, add_tries, code_of, is_kept, known_tries, source_path
from ..statistics.account import claim_of, look_of
from ..statistics.agent_results import relative_costs
from ..statistics.contender_verdicts import judge
from ..statistics.paired_differences import HeadToHead
from ..statistics.proportions import Interval
from ..statistics.run_results import RunResults, load_findings


def note_run(command: str, run: Path) -> None:
    """Add the verdicts of a finished run to the log."""
    if is_kept():
        _note_results(command, load_findings([run]), is_finished=True)


def note_look(findings: RunResults) -> None:
    """Add verdicts that are shown to the log, if they are a further look at games of this project."""
    on_openings = _openings(findings)
    logged = {each.agent for each in known_tries() if each.judged_on.startswith(on_openings)}
    is_logged = len(findings.sources) == 1 and not findings.is_interim and {*findings.contenders} <= logged
    if is_kept() and HOME.is_dir() and not is_logged:
        with suppress(OSError):  # a folder that cannot be written
            _note_results("results", findings, is_finished=False)


def _note_results(command: str, findings: RunResults, *, is_finished: bool) -> None:
    """Add each contender's result that has new openings; at the end of a run also those that are not judged by them."""
    if findings.baseline is None:
        return
    verdicts, costs, known, tries = judge(findings), relative_costs(findings), known_tries(), []
    for result in verdicts.results:
        name, claim = result.contender, claim_of(findings, result, known)
        if name in verdicts.controls or not (claim.is_new if claim else is_finished):
            continue
        spec, settings = findings.spec_and_settings(name)
        is_duel = isinstance(result, HeadToHead)
        points = (result.rate, 0.5, 200) if isinstance(result, HeadToHead) else (result.difference, 0.0, 100)
        tries.append(
            Try(
                command, name, findings.baseline, spec, code_of(settings), keep_source(spec),
                _openings(findings) + ", head to head" * is_duel, result.openings, in_points(*points),
                None if findings.sprt else result.p_value, costs[name].times if name in costs else None,
                **look_of(claim, findings, result),
            )
        )  # fmt: skip
    add_tries(tries)


def keep_source(spec: str, home: Path = HOME) -> str:
    """Keep the text of the file that a spec names, and return its hash; "" for agents without a file."""
    from knights_isolation.isolation.files.atomic_write import make_folder, write_text
    from knights_isolation.isolation.loading.load_user_code import expand_path

    from ..roster import parse_spec

    parsed = parse_spec(spec)
    if not parsed.is_file or not is_kept():
        return ""
    text = expand_path(parsed.path).read_text(encoding="utf-8", errors="replace")
    source = code_of(text)
    kept = source_path(source, home)
    if not kept.exists():
        make_folder(kept.parent)
        write_text(kept, text)
    return source


def _openings(findings: RunResults) -> str:
    asked: Mapping[str, Any] = findings.sources[0].info.requested
    at_cost = " at equal cost" if asked.get("equal_cost") else ""
    return f"openings {asked['openings']} with seed {asked['seed']} on {asked['board']}{at_cost}"


def in_points(interval: Interval, null: float, factor: float) -> tuple[float, float, float]:
    """Return a difference in percentage points; that of a share of games won head to head is twice its lead."""
    return factor * (interval.estimate - null), factor * (interval.low - null), factor * (interval.high - null)
