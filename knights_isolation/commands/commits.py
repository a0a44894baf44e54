"""Continuous integration: is a commit's heuristic still as good as that of another commit?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from knights_isolation.reports.answers import Result

from ..inputs import Count, HeuristicFile, Jobs
from ..parameters import About, command
from ..surface import captured, play_kept_run

if TYPE_CHECKING:
    from knights_isolation.experiments.analysis.commit_check import Checked


@command("tables")
def ci(
    *heuristics: Annotated[HeuristicFile, About(is_needed=True)],
    base: Annotated[str, About(help="Compare with this commit.", metavar="COMMIT")] = "main",
    limit: str = "nodes=1000",
    sprt: Annotated[str, About(help="Fail if this test accepts ELO0.", metavar="ELO0,ELO1")] = "-20,0",
    pairs: Count = 10_000,
    jobs: Jobs = 0,
    summary: Annotated[str | Path, About(metavar="PATH", variable="GITHUB_STEP_SUMMARY", suffixes=("",))] | None = None,
) -> Result[list[Checked]]:
    """Check that no heuristic of a file is weaker than in another commit; exit code 1 if one is.

    Those that differ are screened on solved positions, then play the other version at equal cost until a sequential
    test is decided. The log of tries, runs/tries.jsonl, keeps its error rate over all commits: keep this file.

    Args:
        limit: limit of a move: nodes=N.
        pairs: most openings to play, each with sides swapped.
        summary: append the table to this file, in Markdown.

    Examples:
        isolation ci my_heuristic.py
        isolation ci my_heuristic.py --base HEAD~1 --summary summary.md

    Raises:
        ValueError: a file cannot be read, or there is no such commit.
    """
    from knights_isolation.experiments.analysis.commit_check import Terms, check_file
    from knights_isolation.experiments.noting import note_screening
    from knights_isolation.experiments.roster import reference_of
    from knights_isolation.isolation.files.git_revisions import revision_named
    from knights_isolation.reports.analysis.quick_trial import commit_section
    from knights_isolation.reports.text.rendering import render_sections

    try:
        low, high = map(float, sprt.split(","))
    except ValueError:
        raise ValueError("sprt: two Elo differences required, such as -20,0") from None
    references = list(map(reference_of, heuristics))
    terms, checks, main = Terms(limit, (low, high), pairs, jobs), [], None
    for reference in references:
        main = revision_named(base, Path(reference.partition(".py:")[0]))
        for checked in check_file(reference, main, terms, play_kept_run, partial(captured, ", ".join(references))):
            checks.append(checked)
            if checked.screening:
                costs = {checked.name: checked.cost.times} if checked.cost else {}
                note_screening("ci", [checked.screening], [checked.spec], "split screen", costs)
    assert main is not None
    section = commit_section(checks, main.commit if base.startswith(main.commit) else f"{base} ({main.commit})")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(render_sections([section], "markdown") + "\n")
    return Result(checks, (section,), passes=all(checked.passes for checked in checks))
