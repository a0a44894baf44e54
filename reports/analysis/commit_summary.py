"""The summary of `isolation ci`: what became of a commit's heuristics, compared with the main branch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knights_isolation.experiments.analysis.commit_check import Checked

from ..studies.screening import verdict
from ..tables.costs import times_cell
from ..text.cell_values import Points, estimate_of, pluralise
from ..text.sections import Section
from ..text.wording import decision_cell, stopped_cell


def commit_section(results: Sequence[Checked], main: str) -> Section:
    """Return the verdicts on a commit's heuristics; `main` is what they are compared with."""
    failed = [each.name for each in results if not each.passes]
    title = f"{pluralise(len(results), 'heuristic')} compared with {main}: " + (
        f"{', '.join(failed)} failed" if failed else "passed"
    )
    return Section("ci", title, tuple(map(_row, results)), tuple(_notes(results)))


def _row(each: Checked) -> dict[str, Any]:
    against = each.screening.contenders[0][1] if each.screening else None
    return {
        "heuristic": each.name,
        "verdict": _word(each),
        "games": decision_cell(each.test) if each.test else None,
        "pairs": each.test.observations if each.test else None,
        "elo": stopped_cell(each.test) if each.test else None,
        "solved_positions": verdict(against) if against else None,
        "difference": estimate_of(against.both, Points) if against else None,
        "cost": times_cell(each.cost) if each.cost else None,
    }


def _word(each: Checked) -> str:
    if each.test:
        return {"H0": "failed", "H1": "passed"}.get(each.test.path.decision or "", "undecided")
    if each.failures:
        return "failed"
    if each.is_new:
        return "new"
    return "screened" if each.screening else "unchanged"


def _notes(results: Sequence[Checked]) -> list[str]:
    notes = []
    for each in results:
        if each.failures and each.screening:
            score = each.screening.contenders[0][0]
            notes.append(f"{each.name} fails in {each.failures:,} of {len(each.screening.suite):,} solved positions, "
                         f"first by {score.detail}.")  # fmt: skip
    tests = [each.test for each in results if each.test]
    if tests:
        rates = " and ".join(f"{test.path.sprt.alpha:.2g}" for test in tests)
        notes.append(
            f"Games: a sequential test at equal processor time, {tests[0].low:g} against {tests[0].high:g} Elo. Its "
            f"error rate ({rates}) falls from one test to the next: over all in the log of tries it stays below 5 % on "
            f"each side."
        )
    if any(each.screening for each in results):
        notes.append(
            "Solved positions: the share of a win that a decision is worth, in points over the main branch's version; "
            "of a new heuristic, over ID:improved. Cost: processor time a node over the same."
        )
    return notes
