"""Commands that run the whole way to a verdict: `evaluate`, for programs, and `research`, for people."""

from __future__ import annotations

import sys
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from knights_isolation.command_line.cli_errors import interruptible
from knights_isolation.command_line.completion import complete_file, complete_spec
from knights_isolation.command_line.options import board_option, format_option, jobs_option
from knights_isolation.command_line.output import capture_user_output, print_rows, print_sections
from knights_isolation.experiments.evaluation.evaluation import BUDGETS
from knights_isolation.isolation.usercode.process_lifetime import continue_in_child
from knights_isolation.reports.text.cell_values import Estimate, Points
from knights_isolation.reports.text.rendering import Format, terminal_width, wrapped

if TYPE_CHECKING:
    from knights_isolation import Evaluation


@click.command("evaluate")
@click.argument("references", metavar="FILE[:FUNCTION]...", nargs=-1, required=True, shell_complete=complete_file)
@click.option("--baseline", default="ID:improved", show_default=True, metavar="SPEC", shell_complete=complete_spec,
              help="Compare with this search, at equal cost.")  # fmt: skip
@click.option("--budget", type=click.Choice(BUDGETS), default="games", show_default=True,
              help="The last stage; held-out is for your best alone.")  # fmt: skip
@click.option("--reveal", is_flag=True, help="Say the lead on held-out positions, too: not to a program that searches.")
@board_option
@jobs_option
@format_option
@click.option("--json", "output", flag_value="json", help="The same as --format json.")
def evaluate_files(
    references: tuple[str, ...], baseline: str, budget: str, reveal: bool, size: str, jobs: int, output: Format
) -> None:  # fmt: skip
    """Evaluate heuristics by stages of rising cost, until one says no; made to be called by programs.

    Values, compilation, cost, 300 solved positions, all of the split fit, games until a sequential test decides,
    held-out positions: from the cost on, everything is at equal cost. Exit code 1 if a file failed, whatever the
    reason.
    """
    from knights_isolation import evaluate_all

    with interruptible():
        evaluations = evaluate_all(
            references, budget=budget, baseline=baseline, board=size, jobs=jobs, reveal=reveal  # type: ignore[arg-type]
        )  # fmt: skip
    answers = list(zip(references, evaluations, strict=True))
    if output == "table":
        print_rows([_row(name, evaluation) for name, evaluation in answers], output)
        for name, evaluation in answers:
            click.echo(wrapped(f"{name}: {evaluation.feedback}", terminal_width()))
    else:
        print_rows([{"candidate": name, **asdict(evaluation)} for name, evaluation in answers], output)
    if any(evaluation.error_kind for evaluation in evaluations):
        sys.exit(1)


def _row(name: str, evaluation: Evaluation) -> dict[str, Any]:
    """Return what a table shows of an evaluation; the score in points of wins kept."""
    line = f", line {evaluation.error_line}" if evaluation.error_line else ""
    score = Estimate(*(Points(end / 100) for end in (evaluation.score, evaluation.low, evaluation.high)))
    return {
        "candidate": name,
        "stage": evaluation.stage,
        "passed": evaluation.passed,
        "error": f"{evaluation.error_kind}{line}" if evaluation.error_kind else "–",
        "score": score.text if evaluation.low != evaluation.high else "–",
        "cost": f"{evaluation.cost:.2f}" if evaluation.cost else "–",
    }


@click.command("research")
@click.argument("reference", metavar="FILE[:FUNCTION]", shell_complete=complete_file)
@click.option("--against", default="ID:learned", show_default=True, metavar="SPEC", shell_complete=complete_spec,
              help="A search by a heuristic, to be beaten at equal cost.")  # fmt: skip
@click.option("--games", type=click.IntRange(min=160), default=20_000, show_default=True, help="Games to tune with.")
@click.option("--pairs", type=click.IntRange(min=10), default=10_000, show_default=True,
              help="Most openings of the last test, each played twice.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of all steps.")
@jobs_option
@format_option
def research_heuristic(
    reference: str, against: str, games: int, pairs: int, seed: int, jobs: int, output: Format
) -> None:  # fmt: skip
    """Take a heuristic through cost, fit, screening, tuning and a sequential test, all at equal cost.

    It stops at the first no, and writes one page. Run again, it continues or repeats the answer. Exit code 1 if the
    heuristic fails.
    """
    continue_in_child(reference)
    from knights_isolation import research

    with interruptible("what was played is in runs/"), capture_user_output(reference):
        result = research(reference, against=against, games=games, pairs=pairs, seed=seed, jobs=jobs)
    print_sections(result.sections, output)
    click.echo(f"Wrote {result.value.page}", err=True)
    if isnan(result.value.cost):
        sys.exit(1)


COMMANDS = (evaluate_files, research_heuristic)
