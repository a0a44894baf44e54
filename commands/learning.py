"""Commands that look for better parameters of a heuristic: fit, tune, sweep."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from commands.options import format_option, table_option
from commands.output import containing, print_sections
from isolation.shell import command
from isolation.survival import go_on_in_a_child
from reports.tables import Format


@click.command("fit")
@click.argument("reference", metavar="FILE[:FUNCTION]")
@click.option("--at", default="depth=1", show_default=True, metavar="LIMIT",
              help="How far a search looks before the heuristic is asked: depth=N or nodes=N.")  # fmt: skip
@click.option(
    "--suite", "name", default="7x7", show_default=True, metavar="NAME|FILE", help="A shipped one, or a file."
)
@click.option("--parameter", "wanted", multiple=True, metavar="PARAMETER", help="Fit only this one; may be repeated.")
@click.option("--limit", default="nodes=1000", show_default=True, help="Of the screening in the end.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of further starts.")
@click.option("--patch", type=click.Path(path_type=Path), help="Write the new defaults as a patch to this file.")
@table_option
@format_option
def fit_heuristic(
    reference: str, at: str, name: str, wanted: tuple[str, ...], limit: str, seed: int, patch: Path | None,
    only: str | None, output: Format,
) -> None:  # fmt: skip
    """Fit a heuristic's parameters to proven results, and screen it before and after on positions held out.

    Fitted is on the openings of a suite's split fit: of two moves of one position, the one that keeps the win should
    look better. Judged is on those of its split screen.
    """
    go_on_in_a_child(reference)
    from experiments.catalogue import heuristic_named
    from experiments.learn.fitting import fit
    from experiments.learn.judging import screened
    from experiments.roster import parse_limit
    from experiments.suite import read_suite
    from isolation.loading import load_heuristic
    from reports.learning import fit_sections
    from reports.screening import screening_sections

    at_limit, screen_limit = parse_limit(at), parse_limit(limit)
    if not at_limit.is_reproducible:
        raise ValueError(f"--at: a fit looks at depth=N or nodes=N, not at {at}")
    with containing(reference):
        path, function = heuristic_named(reference)
        heuristic = load_heuristic(path, function).value
        held_out = read_suite(name, "screen")
        found = fit(heuristic, read_suite(name, "fit"), held_out, at_limit, wanted, seed)
        screening = screened(heuristic, found.values, held_out, screen_limit)
    sections = [*fit_sections(found), *screening_sections(screening)[:1]]
    print_sections(sections, output, only)
    if output == "table" and only is None:
        say_how_to_go_on(f"ID:{path}:{function}", found.values)
    if patch:
        write_patch(patch, path, function, found.values)


def say_how_to_go_on(spec: str, values: Mapping[str, float]) -> None:
    """The agent under its new parameters, and how games judge it."""
    from experiments.learn.subject import options_text

    new = f"{spec}{',' if '@' in spec else '@'}{options_text(dict(values))}"
    click.echo(f"\nThe new agent: {new}\nNext: {command('match', new, spec)}")


def write_patch(patch: Path, path: str, function: str, values: Mapping[str, float]) -> None:
    """Write new defaults as a patch."""
    from experiments.learn.patching import patch_of_defaults
    from isolation.durable import write_text

    text = patch_of_defaults(Path(path), function, values)
    write_text(patch, text)
    click.echo(f"Wrote {patch}. {path} is as it was; to take the new defaults over: patch {path} {patch}", err=True)


COMMANDS = (fit_heuristic,)
