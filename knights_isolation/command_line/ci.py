"""The command `ci`: is a commit's heuristic still as good as the main branch's?"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TextIO

import click

from knights_isolation.command_line.completion import complete_file
from knights_isolation.command_line.options import format_option, jobs_option, number
from knights_isolation.command_line.output import capture_user_output, print_sections
from knights_isolation.command_line.tournaments import play_kept_run
from knights_isolation.isolation.usercode.process_lifetime import continue_in_child
from knights_isolation.reports.text.rendering import Format
from knights_isolation.tried import note_screening

SUMMARY = "GITHUB_STEP_SUMMARY"
"""Environment variable with the file that GitHub shows beside a job."""


@click.command("ci")
@click.argument("references", metavar="FILE[:FUNCTION]...", nargs=-1, required=True, shell_complete=complete_file)
@click.option("--base", default="main", show_default=True, metavar="COMMIT", help="Compare with this commit.")
@click.option("--limit", default="nodes=1000", show_default=True, help="Limit of a move: nodes=N.")
@click.option("--sprt", default="-20,0", show_default=True, metavar="ELO0,ELO1", help="Fail if this test accepts ELO0.")
@click.option("--pairs", type=click.IntRange(min=1), default=10_000, show_default=True,
              help="Most openings to play, each with sides swapped.")  # fmt: skip
@jobs_option
@click.option("--summary", type=click.File("a", "utf-8", lazy=False), envvar=SUMMARY,
              show_envvar=True, metavar="PATH", help="Append the table to this file, in Markdown.")  # fmt: skip
@format_option
def check_commit(
    references: tuple[str, ...], base: str, limit: str, sprt: str, pairs: int, jobs: int, summary: TextIO | None,
    output: Format,
) -> None:  # fmt: skip
    """Check that no heuristic of a file is weaker than in another commit; exit code 1 if one is.

    Those that differ are screened on solved positions, then play the other version at equal cost until a sequential
    test is decided. The log of tries, runs/tries.jsonl, keeps its error rate over all commits: keep this file.
    """
    code = ", ".join(references)
    continue_in_child(code)
    from knights_isolation.experiments.analysis.commit_check import Terms, check_file
    from knights_isolation.isolation.files.git_revisions import revision_named
    from knights_isolation.reports.analysis.commit_summary import commit_section
    from knights_isolation.reports.text.sections import render_sections

    def guard() -> AbstractContextManager[None]:
        return capture_user_output(code)

    low, *high = (number("--sprt", word) for word in sprt.split(","))
    if len(high) != 1:
        raise ValueError("--sprt: two Elo differences required, such as -20,0")
    terms, results = Terms(limit, (low, high[0]), pairs, jobs), []
    for reference in references:
        main = revision_named(base, Path(reference.partition(".py:")[0]))
        for checked in check_file(reference, main, terms, play_kept_run, guard):
            results.append(checked)
            if checked.screening:
                costs = {checked.name: checked.cost.times} if checked.cost else {}
                note_screening("ci", [checked.screening], [checked.spec], "split screen", costs)
    section = commit_section(results, main.commit if base.startswith(main.commit) else f"{base} ({main.commit})")
    print_sections([section], output)
    if summary:
        summary.write(render_sections([section], "markdown") + "\n")
    if not all(checked.passes for checked in results):
        sys.exit(1)


COMMANDS = (check_commit,)
