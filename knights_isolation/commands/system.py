"""The engine, the shell, and several machines."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

from knights_isolation.reports.answers import Result
from knights_isolation.reports.text.rendering import Section

from ..inputs import Count, Jobs, NewFile, Position
from ..parameters import About, command

if TYPE_CHECKING:
    from knights_isolation.experiments.play.cluster.daemons import Certificates

Pem = Annotated[str | Path, About(metavar="FILE")]


@command("rows")
def perft(position: Position, depth: Annotated[Count, About(low=1, place="option")] = 5) -> Result[list[int]]:
    """Count the move sequences of 1, 2, … plies.

    Args:
        depth: depth in plies.

    Examples:
        isolation system perft
        isolation system perft --board 6x6 --depth 4

    Raises:
        ValueError: the position is invalid.
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
    from knights_isolation.experiments.bench import measure

    rows = measure()
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
    from knights_isolation.isolation.compiling import code_cache

    if action:
        _warm()
    sizes = code_cache.file_sizes()
    line = f"{code_cache.folder()}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB"
    if clear:
        code_cache.clear()
    return f"{line}\nCleared." if clear else line


def _warm() -> None:
    """Compile what the default board needs: a tournament, a screening and a solution, played small and thrown away."""
    import knights_isolation as ki
    from knights_isolation.isolation import Board

    with TemporaryDirectory() as folder, chdir(folder):  # where run and log of tries are written
        ki.tournament(pairs=1)
        ki.screen("ID:territory", sample=10)
        ki.solve(Board.from_moves([24, 14]))


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
    tls_ca_file: Pem | None = None,
    tls_cert: Pem | None = None,
    tls_key: Pem | None = None,
) -> None:
    """Start the cluster scheduler; see docs/how-to/several-machines.md.

    Args:
        host: address that other machines connect to.
        port: port to listen on; 0: any free one.
        scheduler_file: write the address to this file for the other machines.
        tls_ca_file: TLS: CA certificate (PEM).
        tls_cert: TLS: certificate of this machine (PEM).
        tls_key: TLS: private key (PEM).

    Examples:
        isolation cluster start
        isolation cluster start --port 8786

    Raises:
        ValueError: a file of TLS is missing.
    """
    from knights_isolation.experiments.play.cluster.daemons import serve_scheduler

    file = Path(scheduler_file) if scheduler_file else None
    serve_scheduler(host, port, file, _certificates(tls_ca_file, tls_cert, tls_key), _say)


@command()
def cluster_join(
    cluster: Annotated[str, About(metavar="ADDRESS|FILE")],
    *,
    jobs: Jobs = 0,
    tls_ca_file: Pem | None = None,
    tls_cert: Pem | None = None,
    tls_key: Pem | None = None,
) -> Result[None]:
    """Run a cluster worker for the scheduler at an ADDRESS, or in a scheduler FILE, until Ctrl-C.

    Args:
        tls_ca_file: TLS: CA certificate (PEM).
        tls_cert: TLS: certificate of this machine (PEM).
        tls_key: TLS: private key (PEM).

    Examples:
        isolation cluster join scheduler.json
        isolation cluster join tcp://lab1:8786 --jobs 4

    Raises:
        ValueError: a file of TLS is missing.
    """
    from knights_isolation.experiments.play.cluster.daemons import serve_worker

    has_served = serve_worker(cluster, jobs, _certificates(tls_ca_file, tls_cert, tls_key), _say)
    return Result(None, (), passes=has_served)


def _certificates(*files: str | Path | None) -> Certificates | None:
    """Return the three files that TLS needs, or None if none is given."""
    from knights_isolation.experiments.play.cluster.daemons import Certificates

    given = [Path(file) for file in files if file]
    for file in given:
        if not file.is_file():
            raise ValueError(f"{file}: no such file")
    if len(given) in (1, 2):
        raise ValueError("TLS needs --tls-ca-file, --tls-cert and --tls-key together")
    return Certificates(*given) if given else None


def _say(line: str) -> None:
    print(line, flush=True)
