"""The command `discover`."""

from __future__ import annotations

from pathlib import Path

import click

from knights_isolation.command_line.cli_errors import interruptible
from knights_isolation.command_line.completion import complete_spec
from knights_isolation.command_line.options import PICTURE, OutputPath, board_option, format_option, jobs_option
from knights_isolation.command_line.output import print_sections
from knights_isolation.reports.text.rendering import Format


@click.command("discover")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), default=5.0, show_default=True,
              help="Processor minutes of the search; more of them continue a shorter search.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of all steps.")
@board_option
@click.option("--against", default="ID:learned", show_default=True, metavar="SPEC", shell_complete=complete_spec,
              help="A search by a heuristic, to be beaten at equal cost.")  # fmt: skip
@click.option("--out", type=OutputPath(makes_folders=True, file_okay=False), metavar="DIR",
              help="Folder of the journal and of what is found; default: one below runs/.")  # fmt: skip
@click.option("--pairs", type=click.IntRange(min=10), default=3000, show_default=True,
              help="Held-out openings of each verdict, each played twice.")  # fmt: skip
@click.option("--plot", type=PICTURE, help="Draw strength over processor time as .svg or .png.")
@jobs_option
@format_option
def discover_heuristics(
    minutes: float, seed: int, size: str, against: str, out: Path | None, pairs: int, plot: Path | None, jobs: int,
    output: Format,
) -> None:  # fmt: skip
    """Search for evaluation functions among set programs, and judge the best one at equal cost.

    What is found is written as Python files. Ctrl-C keeps the search; run again, it continues.
    """
    from knights_isolation import discover

    with interruptible("what was searched is in the journal"):
        result = discover(
            minutes=minutes, seed=seed, board=size, against=against, out=out, pairs=pairs, jobs=jobs,
            show=lambda line: click.echo(line, err=True),
        )  # fmt: skip
    print_sections(result.sections, output)
    if plot:
        from knights_isolation.reports.plots.style import save

        click.echo(f"Wrote {save(result.plot(), plot)}", err=True)


COMMANDS = (discover_heuristics,)
