"""Commands about heuristics and players: write, try, list, check."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from knights_isolation.command_line.completion import complete_file
from knights_isolation.command_line.options import (
    board_option,
    fen_option,
    format_option,
    moves_option,
    position_asked_for,
)
from knights_isolation.command_line.output import capture_user_output, print_rows, write_new
from knights_isolation.isolation.shell import command
from knights_isolation.isolation.usercode.process_lifetime import continue_in_child
from knights_isolation.reports.text.rendering import Format, terminal_width, wrapped

if TYPE_CHECKING:
    from knights_isolation.experiments.plan.catalogue import CatalogueEntry


@click.command("new")
@click.argument("file", type=click.Path(path_type=Path))
def new_heuristic(file: Path) -> None:
    """Write a commented template of a heuristic."""
    from knights_isolation.experiments.heuristic_template import TEMPLATE

    if file.suffix != ".py":
        raise ValueError(f"{file} is not a Python file: use a name such as {file.with_suffix('.py')}")
    write_new(file, TEMPLATE)
    click.echo(f"Wrote {file}. Next: {command('try', file)}")


@click.command("eval")
@board_option
@moves_option
@fen_option
@click.option("--file", "references", multiple=True, metavar="FILE[:FUNCTION]",
              help="A heuristic of your own; may be repeated.")  # fmt: skip
@format_option
def evaluate_position(
    size: str, moves: str, fen: str | None, references: tuple[str, ...], output: Format
) -> None:  # fmt: skip
    """Evaluate a position with every heuristic, for both players; exit code 1 if one of yours fails."""
    if references:
        continue_in_child(", ".join(references))
    from knights_isolation.experiments.plan.catalogue import evaluate, failures, registered, user_heuristics
    from knights_isolation.isolation.boards.render import to_text

    board = position_asked_for(moves, size, fen)
    with capture_user_output(", ".join(references)):
        own = user_heuristics(references)
        rows = evaluate(registered() | own, board)
    if output == "table":
        click.echo(to_text(board) + "\n")
    print_rows(shown_values(rows) if output in ("table", "markdown") else rows, output)
    if failed := failures([row for row in rows if row["heuristic"] in own]):
        raise click.ClickException("; ".join(failed))


def shown_values(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with their numbers formatted as values of positions."""
    from knights_isolation.reports.text.cell_values import HeuristicValue

    return [
        {key: HeuristicValue(cell) if isinstance(cell, float) else cell for key, cell in row.items()} for row in rows
    ]


@click.command("heuristics")
@click.option("--file", "file", type=click.Path(path_type=Path), help="List the functions of this file instead.")
@format_option
def list_heuristics(file: Path | None, output: Format) -> None:
    """List the heuristics: name, meaning, parameters with ranges, and whether they compile."""
    if file:
        continue_in_child(str(file))
    from knights_isolation.catalogues import heuristics

    with capture_user_output(str(file or "")):
        listings = heuristics(file).value
    if file and not listings and output == "table":
        click.echo(
            f"{file} has no heuristic: expected a function of (game, player) or of (state, player_id), or a method "
            f"CustomPlayer.METHOD of (self, state), that returns a number"
        )
        return
    if output != "table":
        print_rows([asdict(listing) for listing in listings], output)
        return
    print_rows([_answer_first(listing) for listing in listings], output)
    names: dict[str, list[str]] = {}
    for listing in listings:
        names.setdefault(listing.compiles, []).append(listing.name)
    for compiles, alike in names.items():
        answer, _, reason = compiles.partition(": ")
        if reason:
            verdict = ("do" if alike[1:] else "does") + " not compile"
            if answer != "no":
                verdict = ("run" if alike[1:] else "runs") + " interpreted"
            click.echo(wrapped(f"{', '.join(alike)} {verdict}: {reason}", terminal_width()))


def _answer_first(listing: CatalogueEntry) -> dict[str, str]:
    """Return a listing as a row, most important columns first: narrow terminals hide the last ones."""
    answer = listing.compiles.partition(":")[0]
    return {
        "name": listing.name, "compiles": answer, "meaning": listing.meaning, "parameters": listing.parameters,
    }  # fmt: skip


@click.command("test-agent")
@click.argument("reference", metavar="FILE[:CLASS]", shell_complete=complete_file)
def test_agent(reference: str) -> None:
    """Check a classic player: signature, legal moves, time limit, fixed-depth search."""
    continue_in_child(reference)
    from knights_isolation.experiments.plan.catalogue import player_named
    from knights_isolation.isolation.checks.agent_checks import check_player
    from knights_isolation.isolation.loading.load_user_code import load_player

    with capture_user_output(reference):
        path, name = player_named(reference)
        findings = check_player(load_player(path, name).value)
    click.echo(f"{path}:{name}")
    for finding in findings:
        word = "ok  " if finding.ok else "note" if finding.is_note else "FAIL"
        click.echo(f"  {word}  {finding.check}: {finding.seen}")
    if not all(finding.ok or finding.is_note for finding in findings):
        sys.exit(1)


COMMANDS = (new_heuristic, evaluate_position, list_heuristics, test_agent)
