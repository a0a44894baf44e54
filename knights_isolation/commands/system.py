"""Engines and their speed, the shell, and several machines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.reports.answers import Result
from knights_isolation.reports.text.rendering import Section

from ..inputs import Agent, Count, Jobs, NewFile, Position, Size
from ..parameters import About, command
from . import rooms

if TYPE_CHECKING:
    from knights_isolation.isolation.checks.engine_checks import EngineCheckResult

Authority = Annotated[str | Path, About(help="TLS: CA certificate (PEM).", metavar="FILE")]
Certificate = Annotated[str | Path, About(help="TLS: certificate of this machine (PEM).", metavar="FILE")]
Key = Annotated[str | Path, About(help="TLS: private key (PEM).", metavar="FILE")]


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
    if variants:
        return "\n".join(rooms.variants_text(parse_size(size)) for size in variants.split(",")).rstrip("\n")
    if spec is None:
        raise ValueError("spec: name the agent that plays, such as ID:territory")
    rooms.serve_stdio(rooms.parse_agent(spec), parse_size(board))
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
    return rooms.checked_engine(rooms.Program(command, protocol or "", tuple(map(rooms.read_option, option))))


@command("rows")
def perft(position: Position, depth: Annotated[Count, About(low=1, place="option")] = 5) -> Result[list[int]]:
    """Count the move sequences of 1, 2, … plies.

    Args:
        depth: depth in plies.

    Examples:
        isolation system perft
        isolation system perft --board 6x6 --depth 4
    """
    from knights_isolation.isolation import perft as count

    counts = count(position, depth)
    rows = tuple({"depth": plies, "sequences": each} for plies, each in enumerate(counts, start=1))
    return Result(counts, (Section("perft", "Move sequences", rows),))


@command("rows")
def bench() -> Result[list[dict[str, object]]]:
    """Measure the speed of searches, games and start-up, as ratios to a comparator in the same run.

    Examples:
        isolation system bench
        isolation system bench --format json
    """
    rows = rooms.measure()
    return Result(rows, (Section("bench", "Speed", tuple(rows)),))


@command()
def cache(action: Literal["warm"] | None = None, *, clear: bool = False) -> str:
    """Show the folder of compiled code and its size; `warm` first compiles what the default board needs.

    Args:
        clear: delete all compiled code.

    Examples:
        isolation system cache warm
        isolation system cache --clear
    """
    import knights_isolation as ki
    from knights_isolation.isolation import Board
    from knights_isolation.isolation.compiling import code_cache

    if action:
        with TemporaryDirectory() as folder, chdir(folder):  # where run and log of tries are written
            ki.tournament(pairs=1)
            ki.screen("ID:territory", sample=10)
            ki.solve(Board.from_moves([24, 14]))
    line = code_cache.described()
    if clear:
        code_cache.clear()
    return f"{line}\nCleared." if clear else line


@command()
def completion(shell: Literal["bash", "zsh", "fish"]) -> str:
    """Print a shell completion script for bash, zsh or fish.

    For bash put eval "$(isolation system completion bash)" into ~/.bashrc; for zsh the same with zsh into ~/.zshrc; for
    fish isolation system completion fish | source into ~/.config/fish/config.fish.

    Examples:
        eval "$(isolation system completion bash)"
        isolation system completion fish | source
    """
    return (Path(__file__).parent / "data" / f"completion.{shell}").read_text(encoding="utf-8").rstrip()


@command()
def cluster_start(
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, About(low=0, high=65535)] = 8786,
    scheduler_file: NewFile | None = None,
    tls_ca_file: Authority | None = None,
    tls_cert: Certificate | None = None,
    tls_key: Key | None = None,
) -> None:
    """Start the cluster scheduler; see docs/how-to/several-machines.md.

    Args:
        host: address that other machines connect to.
        port: port to listen on; 0: any free one.
        scheduler_file: write the address to this file for the other machines.

    Examples:
        isolation cluster start
        isolation cluster start --port 8786
    """
    rooms.serve_scheduler(host, port, Path(scheduler_file) if scheduler_file else None, tls_ca_file, tls_cert, tls_key)


@command()
def cluster_join(
    cluster: Annotated[str, About(metavar="ADDRESS|FILE")],
    *,
    jobs: Jobs = 0,
    tls_ca_file: Authority | None = None,
    tls_cert: Certificate | None = None,
    tls_key: Key | None = None,
) -> Result[None]:
    """Run a cluster worker for the scheduler at an ADDRESS, or in a scheduler FILE, until Ctrl-C.

    Examples:
        isolation cluster join scheduler.json
        isolation cluster join tcp://lab1:8786 --jobs 4
    """
    return Result(None, (), passes=rooms.serve_worker(cluster, jobs, tls_ca_file, tls_cert, tls_key))
