"""The command that says what features are worth."""

from __future__ import annotations

import click

from commands.options import format_option, table_option
from commands.output import check_tables, print_sections
from reports.text.rendering import Format


@click.command("features")
@click.argument("names", nargs=-1, metavar="[FEATURE...]")
@click.option("--at", default="depth=1", show_default=True, metavar="LIMIT",
              help="How far a search looks before features are asked: depth=N or nodes=N.")  # fmt: skip
@click.option("--guide", default="territory", show_default=True, help="The heuristic that this search goes by.")
@click.option(
    "--suite", "name", default="7x7", show_default=True, metavar="NAME|FILE", help="A shipped one, or a file."
)
@click.option("--most", type=click.IntRange(min=1), default=5, show_default=True, help="Choose so many at most.")
@table_option
@format_option
def rank_features(
    names: tuple[str, ...], at: str, guide: str, name: str, most: int, only: str | None, output: Format
) -> None:
    """Say what features are worth, and choose some: each time the one that helps most for what it costs.

    A FEATURE is one of those in docs/features.md, or any shipped heuristic; all features if none is named. Weights are
    fitted and features chosen on a suite's split fit; how they rank moves is judged on its split screen.
    """
    import heuristics
    from experiments.learn.feature_selection import select_features
    from experiments.roster import parse_limit
    from experiments.suite import read_suite
    from reports.studies.feature_selection import feature_sections
    from reports.watch.run_progress import counting

    check_tables(only, ("alone", "chosen"))
    limit = parse_limit(at)
    if not limit.is_reproducible:
        raise ValueError(f"--at: features are asked at depth=N or nodes=N, not at {at}")
    chosen = list(dict.fromkeys(map(heuristics.canonical_name, names))) or list(heuristics.FEATURES)
    leader = heuristics.canonical_name(guide)
    with counting("features") as show:
        found = select_features(
            read_suite(name, "fit"), read_suite(name, "screen"), chosen, limit, leader, most, show
        )  # fmt: skip
    print_sections(list(feature_sections(found)), output, only)


COMMANDS = (rank_features,)
