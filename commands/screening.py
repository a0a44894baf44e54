"""Commands about suites: `screen` and `suite build`."""

from __future__ import annotations

from pathlib import Path

import click

from commands.cli_errors import interruptible
from commands.completion import complete_spec
from commands.options import board_option, cluster_option, format_option, jobs_option, table_option
from commands.output import print_sections
from isolation.shell import command
from reports.text.rendering import Format

MISTAKES = 5


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
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Threads and worker processes; 0: one per core.")
@cluster_option
@click.option("--html", type=click.Path(path_type=Path), help="Write a page with pictures of the worst mistakes.")
@table_option
@format_option
def screen_agents(
    specs: tuple[str, ...], baseline: str, name: str, limit: str, split: str, sample: int | None, repeats: int,
    seed: int, jobs: int, cluster: str | None, html: Path | None, only: str | None, output: Format,
) -> None:  # fmt: skip
    """Score agents on positions with proven answers: a verdict in seconds.

    A SPEC names an agent, as in ID:territory or ID:mine.py:score; 'ID:*' is all shipped heuristics. With one contender,
    it also reports where the contender errs and shows its clearest mistakes.
    """
    from experiments.roster import parse_limit
    from experiments.suite import read_suite
    from experiments.suite.agent_answers import collect_answers, costs_over_first, failing_positions
    from experiments.suite.gauntlet_agreement import known_agreements
    from experiments.suite.screening import screen, where_it_errs, worst_mistakes
    from isolation.files.atomic_write import write_text
    from reports.studies.screening import (
        mistake_texts,
        mistakes_section,
        parts_section,
        screening_page,
        screening_sections,
    )
    from reports.watch.run_progress import counting

    suite = read_suite(name, None if split == "all" else split)  # type: ignore[arg-type]
    suite = suite if sample is None else suite.sample(sample, seed)
    with counting("agents") as show:
        own, *others = collect_answers(
            (baseline, *specs), suite.positions, limit=parse_limit(limit), repeats=repeats, seed=seed,
            jobs=jobs, cluster=cluster, show=show,
        )  # fmt: skip
    if not others:
        raise ValueError(f"{own.name} is the baseline itself: name another contender or another --baseline")
    costs = costs_over_first([own.spec, *(other.spec for other in others)], suite.size)
    failing = failing_positions([own, *others], suite.positions)
    screening = screen(suite, own, others)
    sections = list(screening_sections(screening, known_agreements(suite.name), costs=costs, failing=failing))
    mistakes = {other.name: worst_mistakes(suite, other, own, MISTAKES) for other in others}
    if len(others) == 1:
        sections.append(parts_section(others[0].name, own.name, where_it_errs(suite, others[0], own)))
        sections.append(mistakes_section(others[0].name, mistakes[others[0].name], suite.size))
    print_sections(sections, output, only)
    if len(others) == 1 and mistakes[others[0].name] and output == "table" and only is None:
        click.echo("\n" + mistake_texts(mistakes[others[0].name], suite.size))
    if html:
        write_text(html, screening_page(sections, mistakes, suite.size, command("screen", *specs)))
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
@click.option("--out", type=click.Path(path_type=Path), help="Output file; suite_BOARD.parquet by default.")
def build(
    size: str, specs: tuple[str, ...], first_ply: int | None, last_ply: int | None, openings: int | None, nodes: int,
    seed: int, jobs: int, cluster: str | None, out: Path | None,
) -> None:  # fmt: skip
    """Build a suite: positions of a board with exact results, and the trouble that moves make.

    What is there already is kept: the same command goes on from there.
    """
    from experiments.suite.build_suite import Recipe, build_suite, usual_plies
    from experiments.suite.position_sources import field_of, sources_of
    from reports.text.cell_values import pluralise
    from reports.watch.run_progress import counting

    path = out or Path(f"suite_{size}.parquet")
    first, last = usual_plies(size)
    plies = (first_ply - 1 if first_ply else first, last_ply - 1 if last_ply else last)
    recipe = Recipe(size, *plies, seed, openings, nodes, sources_of(specs), field_of(specs))
    with interruptible("what was found", path), counting("openings") as show:
        table = build_suite(recipe, path, jobs=jobs, cluster=cluster, show=show)
    click.echo(f"{pluralise(len(table), 'position')} in {path}. Next: {command('screen', 'ID:*', '--suite', path)}")


COMMANDS = (screen_agents, suite_commands)
