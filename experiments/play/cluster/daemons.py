"""Loops of the commands `cluster start` and `cluster join`.

They raise ValueError if dask is not installed, the address, port or file cannot be used, or there are too many jobs.
"""

from __future__ import annotations

import asyncio
import signal
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from knights_isolation.isolation.files.folders import temporary_folder
from knights_isolation.isolation.suggestions import command

from ..pools.pool import worker_count
from .cluster_access import check_installed, exposure, find_scheduler
from .dispatcher import in_one_line, silence_dask

if TYPE_CHECKING:
    from distributed import Security

PATIENCE = 300.0
"""Seconds for which a machine waits for a scheduler that has not started yet or has gone."""
_LOOK_EVERY = 0.5
_CONNECT = 10.0
_say = partial(print, flush=True)


def serve_scheduler(host: str, port: int, scheduler_file: Path | None, *certificates: str | Path | None) -> None:
    """Run the scheduler until Ctrl-C or SIGTERM, with TLS if its `certificates` are given.

    These are files in PEM format: certificate of the authority, own certificate, and own key.
    """
    asyncio.run(_be_scheduler(host, port, scheduler_file, _security("scheduler", *certificates)))


def serve_worker(cluster: str, jobs: int, *certificates: str | Path | None) -> bool:
    """Play for a scheduler until Ctrl-C or SIGTERM; return whether it was stopped by one of these.

    `cluster` is the scheduler's address or file. Waits for a scheduler that has not started yet or has gone.
    """
    security = _security("worker", *certificates)
    cores = worker_count(jobs)
    find_scheduler(cluster)  # which may not be there yet, but is named by an address or a file
    return asyncio.run(_be_worker(cluster, cores, security))


def _security(role: str, *certificates: str | Path | None) -> Security:
    given = [str(file) for file in certificates if file]
    for file in given:
        if not Path(file).is_file():
            raise ValueError(f"{file}: no such file")
    if len(given) in (1, 2):
        raise ValueError("TLS needs --tls-ca-file, --tls-cert and --tls-key together")
    check_installed()
    import dask
    from distributed import Security

    silence_dask()
    # The scheduler gives up a machine that was silent for a minute.
    dask.config.set({"distributed.scheduler.worker-ttl": "60s", "distributed.worker.profile.enabled": False})
    names = ("tls_ca_file", f"tls_{role}_cert", f"tls_{role}_key")
    return Security(require_encryption=bool(given) or None, **dict(zip(names, given, strict=False)))


async def _be_scheduler(host: str, port: int, file: Path | None, security: Security) -> None:
    from distributed import Scheduler

    stopped = _stop_signal()
    scheduler = Scheduler(
        host=host,
        port=port,
        protocol="tls" if security.require_encryption else "tcp",
        security=security,
        dashboard=False,
        dashboard_address="127.0.0.1:0",
        scheduler_file=str(file) if file else None,
    )
    try:
        await scheduler
    except (OSError, RuntimeError) as error:
        cause: BaseException = error
        while cause.__cause__:
            cause = cause.__cause__
        raise ValueError(f"cannot start a scheduler at {host}, port {port}: {in_one_line(cause)}") from None
    joining = command("cluster", "join", file or scheduler.address)
    _say(f"Scheduler: {scheduler.address}. Start on each machine: {joining}")
    if warning := exposure(scheduler.address):
        _say(f"Note: {warning}")
    await stopped.wait()
    await scheduler.close()
    if file:
        file.unlink(missing_ok=True)


async def _be_worker(cluster: str, cores: int, security: Security) -> bool:
    from distributed import Worker

    stopped, since, has_said = _stop_signal(), time.monotonic(), False
    stopping = asyncio.create_task(stopped.wait())
    options = {
        "nthreads": cores,
        "memory_limit": 0,
        "dashboard_address": "127.0.0.1:0",
        "death_timeout": _CONNECT,
        "local_directory": str(temporary_folder("machine").path),
        "security": security,
    }
    while not stopped.is_set() and time.monotonic() - since < PATIENCE:
        address = find_scheduler(cluster)
        try:
            worker = await Worker(address, **options) if address else None
        except (OSError, TimeoutError, RuntimeError):
            worker = None
        if worker:
            _say(f"Playing for {address}, {cores} games at a time (Ctrl-C to stop).")
            lost = asyncio.create_task(worker.finished())
            await asyncio.wait([lost, stopping], return_when=asyncio.FIRST_COMPLETED)
            if not stopped.is_set():
                _say(f"Lost the scheduler at {address}; waiting for another one there.")
            await worker.close()
            since = time.monotonic()
        elif not has_said:
            _say(f"No scheduler at {cluster} yet; waiting up to {PATIENCE:.0f} s for one (Ctrl-C to stop).")
        has_said = True
        await asyncio.wait([stopping], timeout=_LOOK_EVERY)
    if not stopped.is_set():
        _say(f"No answer from a scheduler at {cluster} within {PATIENCE:.0f} s.")
    return stopped.is_set()


def _stop_signal() -> asyncio.Event:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopped.set))
    return stopped
