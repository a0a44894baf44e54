"""The log of tries: the command `tried`."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

import click

from knights_isolation.command_line.options import PICTURE, format_option
from knights_isolation.command_line.output import print_sections
from knights_isolation.reports.text.rendering import Format

if TYPE_CHECKING:
    from knights_isolation.experiments.record.tries import Try


@click.command("tried")
@click.argument("home", required=False, type=click.Path(path_type=Path))
@click.option("--agent", default="", help="Only agents whose name contains this.")
@click.option("--command", "by", default="", help="Only tries of this command.")
@click.option("--diff", nargs=2, type=int, metavar="N M", help="Show how the sources of two tries differ.")
@click.option("--plot", type=PICTURE, help="Draw the differences as .svg or .png.")
@format_option
def show_tries(
    home: Path | None, agent: str, by: str, diff: tuple[int, int] | None, plot: Path | None, output: Format
) -> None:  # fmt: skip
    """Show what was tried in this project, with estimates, p-values and costs.

    screen, try, fit, features, evaluate, match and tournament note each comparison in runs/tries.jsonl;
    ISOLATION_TRIES=off turns this off.
    """
    from knights_isolation import tried
    from knights_isolation.experiments.record.run_directory import HOME
    from knights_isolation.experiments.record.tries import read_tries

    if diff:
        click.echo(source_diff(read_tries(home or HOME), *diff, home or HOME), nl=False)
        return
    result = tried(home, agent=agent, command=by)
    print_sections(result.sections, output)
    if plot:
        from knights_isolation.reports.plots.style import save

        click.echo(f"Wrote {save(result.plot(), plot)}", err=True)


def source_diff(tries: list[Try], first: int, second: int, home: Path) -> str:
    """Return how the sources of two tries differ, by their numbers.

    Raises:
        ValueError: there is no such try, or its code is shipped.
    """
    from knights_isolation.experiments.record.tries import source_path

    texts: list[list[str]] = []
    names = []
    for number in (first, second):
        if not 1 <= number <= len(tries):
            raise ValueError(f"--diff: there is no try {number}; isolation tried lists them")
        tried = tries[number - 1]
        if not tried.source:
            raise ValueError(f"--diff: try {number}, {tried.agent}, has no file of yours")
        texts.append(source_path(tried.source, home).read_text(encoding="utf-8").splitlines(keepends=True))
        names.append(f"{number} {tried.agent}")
    return "".join(unified_diff(texts[0], texts[1], names[0], names[1]))


COMMANDS = (show_tries,)
