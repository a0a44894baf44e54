"""Engines: agents for other programs, and players written in any language."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

from knights_isolation.reports.answers import Result
from knights_isolation.reports.text.rendering import Section

from ..inputs import Agent, Size, agent_spec
from ..parameters import About, command
from ..surface import tell

if TYPE_CHECKING:
    from knights_isolation.isolation.checks.engine_checks import EngineCheckResult


@command()
def engine(
    spec: Agent | None = None,
    *,
    board: Size = "7x7",
    variants: Annotated[str, About(metavar="SIZES")] | None = None,
) -> str:
    """Run as a UGI or UCI engine on standard input and output (UCI as Fairy-Stockfish speaks it).

    --board is what `startpos` means in UGI; positions may be of any size.

    Args:
        variants: print a Fairy-Stockfish variants file for boards such as 7x7,9x11, and exit.

    Examples:
        isolation engine ID:territory
        isolation engine ID:territory@nodes=2000 --board 9x11

    Raises:
        ValueError: the agent or a board is invalid.
    """
    from knights_isolation.experiments.roster import parse_agent
    from knights_isolation.isolation.engines.engine_server import serve
    from knights_isolation.isolation.engines.protocol import variants_text
    from knights_isolation.isolation.processes.child import claim_stdio
    from knights_isolation.isolation.rules.geometry import parse_size

    if variants:
        return "\n".join(variants_text(parse_size(size)) for size in variants.split(",")).rstrip("\n")
    if spec is None:
        raise ValueError("spec: name the agent that plays, such as ID:territory")
    agent = parse_agent(agent_spec(spec))
    parse_size(board)
    lines, answers = claim_stdio()

    def say(line: str) -> None:
        answers.write(f"{line}\n".encode())
        answers.flush()

    with suppress(BrokenPipeError):
        serve(agent, (line.decode(errors="replace") for line in lines), say, board)
    return ""


@command("rows")
def check_engine(
    *command: Annotated[str, About(is_raw=True, is_needed=True)],
    protocol: Literal["ugi", "uci"] | None = None,
    option: Annotated[Sequence[str], About(metavar="NAME=VALUE")] = (),
) -> Result[list[EngineCheckResult]]:
    """Check an engine step by step: protocol, legal moves, time.

    Args:
        protocol: its protocol; detected by default.
        option: option sent with setoption.

    Examples:
        isolation test-engine ./my_engine
        isolation test-engine --protocol uci fairy-stockfish

    Raises:
        ValueError: there is no such program, or an option has no value.
    """
    from knights_isolation.isolation.checks.engine_checks import check_engine as checks
    from knights_isolation.isolation.engines.program import Program

    program = Program(command, protocol or "", tuple(map(_named, option)))
    program.find()
    findings = []
    for finding in checks(program):
        findings.append(finding)
        tell(_step_text(finding))
    failed = [finding for finding in findings if not finding.passed]
    lines = [f"{len(findings) - len(failed)} of {len(findings)} steps passed."]
    is_usable = not any(step.is_needed for step in failed)
    if failed and is_usable:
        lines.append("It can play here; the failed steps matter only to other programs.")
    section = Section("steps", f"Checks of {' '.join(command)}", tuple(map(asdict, findings)))
    return Result(findings, (section,), text="\n".join(lines), passes=is_usable)


def _named(text: str) -> tuple[str, str]:
    """Parse an option of an engine as name and value."""
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise ValueError(f"option: {text!r}: expected NAME=VALUE, such as Hash=16")
    return name.strip(), value


def _step_text(finding: EngineCheckResult) -> str:
    """Describe a step in one line; a failed one with what was sent, expected and seen."""
    if finding.passed or not finding.sent:
        return f"{'ok     ' if finding.passed else 'untried'} {finding.step}"
    word = "FAILED " if finding.is_needed else "lacking"
    return (
        f"{word} {finding.step}\n        sent      {finding.sent}\n        expected  {finding.expected}\n"
        f"        seen      {finding.seen}"
    )
