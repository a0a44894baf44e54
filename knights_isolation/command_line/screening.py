"""Commands about suites: `screen` and `suite build`."""

from __future__ import annotations

from pathlib import Path

import click

from knights_isolation.command_line.cli_errors import interruptible
from knights_isolation.command_line.completion import complete_spec
from knights_isolation.command_line.options import (
    PAGE,
    OutputPath,
    board_option,
    cluster_option,
    equal_cost_option,
    format_option,
    jobs_option,
    table_option,
)
from knights_isolation.command_line.output import print_sections
from knights_isolation.isolation.shell import command
from knights_isolation.reports.text.rendering import Format


@click.command("screen")
@click.argument("specs", metavar="SPEC...", nargs=-1, required=True, shell_complete=complete_spec)
@click.option("--baseline", default="ID:improved", show_default=True, metavar="SPEC", help="Compare with this agent.")
@click.option(
    "--suite", "name", default="7x7", show_default=True, metavar="NAME|FILE", help="A shipped suite, or a file."
)
@click.option("--limit", default="nodes=1000", show_default=True, help="Default limit for agents without one.")
@click.option("--split", type=click.Choice(["screen", "fit", "all"]), default="screen", show_default=True,
              help="Openings to use; heuristics are fitted on those of fit.")  # fmt: skip
@click.option("--sample", type=click.IntRange(min=2), help="Use a random sample of this many positions.")
@click.option("--repeats", type=click.IntRange(min=1), default=4, show_default=True,
              help="Answers per position of nondeterministic agents.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of the sample and the agents."
)
@equal_cost_option
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Threads and worker processes; 0: one per core.")
@cluster_option
@click.option("--html", type=PAGE, help="Write a page with pictures of the worst mistakes.")
@table_option
@format_option
def screen_agents(
    specs: tuple[str, ...], baseline: str, name: str, limit: str, split: str, sample: int | None, repeats: int,
    seed: int, equal_cost: bool | None, jobs: int, cluster: str | None, html: Path | None, only: str | None,
    output: Format,
) -> None:  # fmt: skip
    """Score agents on positions with proven answers: a verdict in seconds.

    A SPEC names an agent, as in ID:territory or mine.py:score; mine.py is all of its heuristics, 'ID:*' is all shipped
    ones. With one contender, it also reports where the contender errs and shows its clearest mistakes.
    """
    from knights_isolation import screen
    from knights_isolation.isolation.files.atomic_write import write_text
    from knights_isolation.reports.studies.screening import mistake_texts, screening_page

    result = screen(
        *specs, baseline=baseline, suite=name, limit=limit, split=split, sample=sample, repeats=repeats, seed=seed,  # type: ignore[arg-type]
        equal_cost=bool(equal_cost), jobs=jobs, cluster=cluster,
    )  # fmt: skip
    mistakes, size = result.value.mistakes, result.value.screening.suite.size
    print_sections(result.sections, output, only)
    if len(mistakes) == 1 and output == "table" and only is None:
        (shown,) = mistakes.values()
        click.echo("\n" + mistake_texts(shown, size) if shown else "", nl=bool(shown))
    if html:
        write_text(html, screening_page(result.sections, mistakes, size, command("screen", *specs)))
        click.echo(f"Wrote {html}", err=True)


@click.group("suite")
def suite_commands() -> None:
    """Build suites of test positions."""


@suite_commands.command("build")
@board_option
@click.option("--field", "specs", multiple=True, metavar="SPEC", help="Use these agents as the reference field.")
@click.option("--first-ply", type=click.IntRange(min=3),
              help="First ply to include; ply 1 is the first placement; 11 on 7x7 by default.")  # fmt: skip
@click.option("--last-ply", type=click.IntRange(min=3),
              help="Last ply to include; 32 on 7x7 by default.")  # fmt: skip
@click.option("--openings", type=click.IntRange(min=1), help="Maximum number of openings, up to symmetry.")
@click.option("--limit", "nodes", type=click.IntRange(min=1), default=20_000_000, show_default=True,
              help="Node limit per solved position; unsolved positions are excluded.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of games and choices."
)
@jobs_option
@cluster_option
@click.option("--out", type=OutputPath(makes_folders=True), help="Output file; suite_BOARD.parquet by default.")
def build(
    size: str, specs: tuple[str, ...], first_ply: int | None, last_ply: int | None, openings: int | None, nodes: int,
    seed: int, jobs: int, cluster: str | None, out: Path | None,
) -> None:  # fmt: skip
    """Build a suite: positions of a board with exact results, and the trouble that moves make.

    What is there already is kept: the same command goes on from there.
    """
    from knights_isolation import suite_build
    from knights_isolation.experiments.suite import read_suite
    from knights_isolation.reports.text.cell_values import pluralise

    path = out or Path(f"suite_{size}.parquet")
    with interruptible("what was found", path):
        suite_build(
            size, field=specs, first_ply=first_ply, last_ply=last_ply, openings=openings, nodes=nodes, seed=seed,
            jobs=jobs, cluster=cluster, out=path,
        )  # fmt: skip
    found = pluralise(len(read_suite(path)), "position")
    click.echo(f"{found} in {path}. Next: {command('screen', 'ID:*', '--suite', path)}")


COMMANDS = (screen_agents, suite_commands)
