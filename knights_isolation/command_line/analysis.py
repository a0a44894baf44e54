"""Commands that take a file: `analyse` and its quick form, `try`."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path

import click

from knights_isolation.command_line.cli_errors import same_again
from knights_isolation.command_line.completion import complete_file, complete_spec
from knights_isolation.command_line.options import PAGE, OutputPath, format_option
from knights_isolation.command_line.output import capture_user_output, print_rows
from knights_isolation.command_line.tournaments import play_kept_run
from knights_isolation.isolation.shell import command
from knights_isolation.isolation.usercode.process_lifetime import continue_in_child, write_real_stderr
from knights_isolation.reports.text.rendering import Format
from knights_isolation.tried import note_screening

baseline_option = click.option(
    "--baseline", metavar="SPEC", shell_complete=complete_spec,
    help="Compare with this agent instead of ID_Improved.",
)  # fmt: skip


@click.command("analyse")
@click.argument("reference", metavar="FILE[:FUNCTION]", shell_complete=complete_file)
@baseline_option
@click.option("--limit", help="Limit of a move: nodes=N, depth=N, ms=N or cpu_ms=N; nodes=10000 by default.")
@click.option("--opponent", "--opponents", "opponents", multiple=True, metavar="SPEC", shell_complete=complete_spec,
              help="An opponent instead of the seven classic ones; may be repeated.")  # fmt: skip
@click.option("--board", help="Board size, ROWSxCOLUMNS; by default 7x7, or that of the file's edition.")
@click.option("--pairs", type=click.IntRange(min=1), help="Openings against each opponent, each with sides swapped.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of all games.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Worker processes; 0: one per core.")
@click.option("--quick", is_flag=True, help="Only check, compile, and play a quick match: seconds instead of a minute.")
@click.option("--markdown", type=OutputPath(), help="Also write it as Markdown, with a picture beside.")
@click.option("--html", type=PAGE, help="Also write it as a page.")
def analyse_file(
    reference: str, baseline: str | None, limit: str | None, opponents: tuple[str, ...], board: str | None,
    pairs: int | None, seed: int, jobs: int, quick: bool, markdown: Path | None, html: Path | None,
) -> None:  # fmt: skip
    """Analyse a file: a verdict on each of its heuristics and players, in about a minute.

    Checks, compiles and screens every heuristic, plays them against the seven classic opponents at equal nodes and at
    equal cost, and says how each compares with ID_Improved. Run again, it continues or repeats the answer.
    """
    if quick:
        if markdown or html or opponents or pairs:
            raise ValueError("--quick plays no gauntlet: leave out --opponent, --pairs, --markdown and --html")
        try_file(reference, baseline, limit, "table")
        return
    continue_in_child(reference)
    from dataclasses import replace

    from knights_isolation.experiments.analysis.analyse_file import Analysis, analyse
    from knights_isolation.experiments.analysis.file_contents import read_file
    from knights_isolation.experiments.analysis.gauntlets import TrialConditions
    from knights_isolation.reports.analysis.analysis_page import analysis_text, keep_page, write_markdown, write_page

    def guard() -> AbstractContextManager[None]:
        return capture_user_output(reference)

    with guard():
        contents = read_file(reference)
    contents = replace(contents, size=board or contents.size)
    question = TrialConditions(baseline, opponents, limit or "nodes=10000", contents.size, pairs, seed)
    done: list[Analysis] = []
    try:
        done.extend(analyse(contents, question, play_kept_run, jobs, show_step, guard))
    finally:
        if done:
            click.echo(analysis_text(done[-1]))
    analysis = done[-1]
    keep_page(analysis, same_again())
    if html:
        write_page(analysis, html, same_again())
        click.echo(f"Wrote {html}", err=True)
    if markdown:
        written = write_markdown(analysis, markdown, same_again())
        click.echo(f"Wrote {' and '.join(map(str, written))}", err=True)
    if not all(trial.is_sound for trial in analysis.trials.values()):
        sys.exit(1)


def show_step(what: str) -> None:
    """Report progress on standard error, even while output of user code is captured."""
    write_real_stderr(f"… {what}")


@click.command("try")
@click.argument("reference", metavar="FILE[:FUNCTION]", shell_complete=complete_file)
@baseline_option
@click.option("--limit", help="Limit of a move in games and solved positions; nodes=1000 by default.")
@format_option
def try_out(reference: str, baseline: str | None, limit: str | None, output: Format) -> None:
    """Check a heuristic, or all of a file: compilation, cost, return values, and a quick match."""
    try_file(reference, baseline, limit, output)


def try_file(reference: str, baseline: str | None, limit: str | None, output: Format) -> None:
    """Try the heuristics of a file: one in detail, or several with a line each; exit code 1 if one fails."""
    continue_in_child(reference)
    from knights_isolation.experiments.analysis.analyse_file import QUICK_LIMIT, try_functions
    from knights_isolation.experiments.analysis.file_contents import read_file
    from knights_isolation.experiments.roster.default_names import only_heuristic
    from knights_isolation.isolation.loading.load_user_code import load_warnings
    from knights_isolation.reports.analysis.quick_trial import (
        describe_trial,
        shown_trial_rows,
        skipped_sentence,
        trial_problems,
        trial_rows,
    )
    from knights_isolation.reports.text.rendering import terminal_width, wrapped

    with capture_user_output(reference):
        contents = read_file(reference)
        if not contents.functions:
            only_heuristic(contents.path)  # raises an error that lists the file's contents
        is_single = len(contents.functions) == 1
        trials = try_functions(contents, baseline, limit or QUICK_LIMIT, in_python=is_single, show=show_step)
        warned = load_warnings(contents.path)
    if output != "table":
        print_rows(trial_rows(trials), output)
    elif is_single:
        ((name, trial),) = trials.items()
        click.echo(describe_trial(f"{contents.path}:{name}", trial, warned))
    else:
        print_rows(shown_trial_rows(trials), output)
        for line in trial_problems(contents.path, trials):
            click.echo(wrapped(line, terminal_width()))
    players = {name: f"is a player: {command('test-agent', f'{contents.path}:{name}')}" for name in contents.players}
    if skipped := skipped_sentence(contents.skipped | players):
        click.echo(wrapped(skipped, terminal_width()), err=output != "table")
    screened = {f"ID:{contents.path}:{name}@{limit or QUICK_LIMIT}": trial.screening for name, trial in trials.items()}
    if asked := {spec: screening for spec, screening in screened.items() if screening}:
        note_screening("try", list(asked.values()), list(asked), "split screen", {})
    if not all(trial.is_sound for trial in trials.values()):
        sys.exit(1)


COMMANDS = (analyse_file, try_out)
