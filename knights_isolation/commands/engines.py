"""Engines: agents for other programs, and players written in any language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from ..inputs import Agent, Size, agent_spec
from ..parameters import About, command
from ..surface import tell

if TYPE_CHECKING:
    from knights_isolation.isolation.checks.engine_checks import EngineCheckResult
    from knights_isolation.reports.answers import Result


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
    """
    from knights_isolation.experiments.roster import parse_agent
    from knights_isolation.isolation.engines.engine_server import serve_stdio
    from knights_isolation.isolation.engines.protocol import variants_text
    from knights_isolation.isolation.rules.geometry import parse_size

    if variants:
        return "\n".join(variants_text(parse_size(size)) for size in variants.split(",")).rstrip("\n")
    if spec is None:
        raise ValueError("spec: name the agent that plays, such as ID:territory")
    serve_stdio(parse_agent(agent_spec(spec)), board)
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
    """
    from knights_isolation.isolation.engines.program import Program, read_option
    from knights_isolation.reports.studies.engine_checks import checked_engine

    return checked_engine(Program(command, protocol or "", tuple(map(read_option, option))), tell)
