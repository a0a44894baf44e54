"""Commands about engines: ours, external ones, their speed and compiled code."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from knights_isolation.command_line.options import board_option, format_option, moves_option
from knights_isolation.command_line.output import print_rows
from knights_isolation.reports.text.rendering import Format

if TYPE_CHECKING:
    from knights_isolation.isolation.checks.engine_checks import EngineCheckResult
    from knights_isolation.isolation.engines.program import Language


@click.command("perft")
@board_option
@click.option("--depth", type=click.IntRange(min=1), default=5, show_default=True, help="Depth in plies.")
@moves_option
@format_option
def count_moves(size: str, depth: int, moves: str, output: Format) -> None:
    """Count the move sequences of 1, 2, … plies."""
    from knights_isolation.isolation import perft
    from knights_isolation.isolation.games.transcript import board_after

    counts = perft(board_after(moves, size), depth)
    print_rows([{"depth": d, "sequences": count} for d, count in enumerate(counts, start=1)], output)


@click.command("bench")
@format_option
def bench(output: Format) -> None:
    """Measure the speed of searches, games and start-up, as ratios to a comparator in the same run."""
    from knights_isolation.experiments.bench import measure

    print_rows(measure(), output)


@click.command("cache")
@click.argument("action", type=click.Choice(["warm"]), required=False)
@click.option("--clear", is_flag=True, help="Delete all compiled code.")
def compiled_code(action: str | None, clear: bool) -> None:
    """Show the folder of compiled code and its size; `warm` first compiles what the default board needs."""
    from knights_isolation.isolation.compiling import code_cache

    if action:
        from knights_isolation.warming import warm

        warm()
    sizes = code_cache.file_sizes()
    click.echo(f"{code_cache.folder()}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB")
    if clear:
        code_cache.clear()
        click.echo("Cleared.")


def _print_variants(context: click.Context, parameter: click.Parameter, sizes: str | None) -> None:
    """Print a file of variants for boards of some sizes, and exit."""
    if not sizes or context.resilient_parsing:
        return
    from knights_isolation.isolation.engines.protocol import variants_text
    from knights_isolation.isolation.rules.geometry import parse_size

    click.echo("\n".join(variants_text(parse_size(size)) for size in sizes.split(",")), nl=False)
    context.exit()


@click.command("engine")
@click.argument("spec")
@board_option
@click.option(
    "--variants",
    metavar="SIZES",
    is_eager=True,
    expose_value=False,
    callback=_print_variants,
    help="Print a Fairy-Stockfish variants file for boards such as 7x7,9x11, and exit.",
)
def serve_engine(spec: str, size: str) -> None:
    """Run as a UGI or UCI engine on standard input and output (UCI as Fairy-Stockfish speaks it).

    --board is what `startpos` means in UGI; positions may be of any size.
    """
    from knights_isolation.experiments.roster import parse_agent
    from knights_isolation.isolation.engines.engine_server import serve
    from knights_isolation.isolation.processes.child import claim_stdio
    from knights_isolation.isolation.rules.geometry import parse_size

    agent = parse_agent(spec)
    parse_size(size)
    lines, answers = claim_stdio()

    def say(line: str) -> None:
        answers.write(f"{line}\n".encode())
        answers.flush()

    with suppress(BrokenPipeError):
        serve(agent, (line.decode(errors="replace") for line in lines), say, size)


@click.command("test-engine", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--protocol", type=click.Choice(["ugi", "uci"]), help="Its protocol; detected by default.")
@click.option(
    "options",
    "--option",
    metavar="NAME=VALUE",
    multiple=True,
    callback=lambda context, parameter, texts: tuple(_named(text) for text in texts),
    help="Option sent with setoption; may be repeated.",
)
@format_option
@click.argument("command", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def test_engine(
    context: click.Context,
    protocol: Language | None,
    options: tuple[tuple[str, str], ...],
    output: Format,
    command: tuple[str, ...],
) -> None:
    """Check an engine step by step: protocol, legal moves, time."""
    from knights_isolation.isolation.checks.engine_checks import check_engine
    from knights_isolation.isolation.engines.program import Program

    program = Program(command, protocol or "", options)
    program.find()
    findings = []
    for finding in check_engine(program):
        findings.append(finding)
        if output == "table":
            click.echo(_format_step(finding))
    failed = [finding for finding in findings if not finding.passed]
    if output == "table":
        click.echo(f"{len(findings) - len(failed)} of {len(findings)} steps passed.")
        if failed and not any(step.is_needed for step in failed):
            click.echo("It can play here; the failed steps matter only to other programs.")
    else:
        print_rows([asdict(finding) for finding in findings], output)
    if any(step.is_needed for step in failed):
        context.exit(1)


def _named(text: str) -> tuple[str, str]:
    """Parse an option of an engine as name and value.

    Raises:
        click.BadParameter: it has no name or no value.
    """
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise click.BadParameter(f"{text!r}: expected NAME=VALUE, such as Hash=16")
    return name.strip(), value


def _format_step(finding: EngineCheckResult) -> str:
    """Format a step in one line; a failed one with its subject."""
    if finding.passed or not finding.sent:
        return f"{'ok     ' if finding.passed else 'untried'} {finding.step}"
    word = "FAILED " if finding.is_needed else "lacking"
    return (
        f"{word} {finding.step}\n        sent      {finding.sent}\n        expected  {finding.expected}\n"
        f"        seen      {finding.seen}"
    )


COMMANDS = (count_moves, bench, compiled_code, serve_engine, test_engine)
