"""Commands of a cluster: `scheduler` and `worker`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from knights_isolation.command_line.options import OutputPath, jobs_option

if TYPE_CHECKING:
    from knights_isolation.experiments.play.cluster.daemons import Certificates

_PEM = click.Path(exists=True, dir_okay=False, path_type=Path)


def tls_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for TLS files, named as in dask."""
    options = [
        click.option("--tls-ca-file", type=_PEM, help="TLS: CA certificate (PEM)."),
        click.option("--tls-cert", type=_PEM, help="TLS: certificate of this machine (PEM)."),
        click.option("--tls-key", type=_PEM, help="TLS: private key (PEM)."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command("scheduler")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address that other machines connect to.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8786, show_default=True, help="Port to listen on; 0: any free one."
)
@click.option("--scheduler-file", type=OutputPath(), help="Write the address to this file for the other machines.")
@tls_options
def scheduler(
    host: str, port: int, scheduler_file: Path | None, tls_ca_file: Path | None, tls_cert: Path | None,
    tls_key: Path | None,
) -> None:  # fmt: skip
    """Start the cluster scheduler; see docs/how-to/several-machines.md."""
    from knights_isolation.experiments.play.cluster.daemons import serve_scheduler

    serve_scheduler(host, port, scheduler_file, certificates(tls_ca_file, tls_cert, tls_key), click.echo)


@click.command("worker")
@click.argument("cluster", metavar="ADDRESS|FILE")
@jobs_option
@tls_options
def worker(
    cluster: str, jobs: int, tls_ca_file: Path | None, tls_cert: Path | None, tls_key: Path | None
) -> None:  # fmt: skip
    """Run a cluster worker for the scheduler at an ADDRESS, or in a scheduler FILE, until Ctrl-C."""
    from knights_isolation.experiments.play.cluster.daemons import serve_worker

    if not serve_worker(cluster, jobs, certificates(tls_ca_file, tls_cert, tls_key), click.echo):
        sys.exit(1)


def certificates(authority: Path | None, own: Path | None, key: Path | None) -> Certificates | None:
    """Return the three files that TLS needs, or None if none is given."""
    from knights_isolation.experiments.play.cluster.daemons import Certificates

    if authority and own and key:
        return Certificates(authority, own, key)
    if authority or own or key:
        raise ValueError("TLS needs --tls-ca-file, --tls-cert and --tls-key together")
    return None


COMMANDS = (scheduler, worker)
