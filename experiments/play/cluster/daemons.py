"""Loops of the commands `cluster start` and `cluster join`.

They raise ValueError if dask is not installed, the address, port or file cannot be used, or there are too many jobs.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib

from knights_isolation.isolation.files.folders import temporary_folder
from knights_isolation.isolation.loading.load_user_code import expand_path
from knights_isolation.isolation.suggestions import command

from ...plan.config import check_jobs
from . import remote_worker
from .cluster_access import check_installed, exposure, is_file, read_when_there, scheduler_address
from .dispatcher import in_one_line, silence_dask

if TYPE_CHECKING:
    from distributed import Security

PATIENCE = 300.0
"""Seconds for which a machine waits for a scheduler that has not started yet or has gone."""
_LOOK_EVERY = 0.5
_CONNECT = 10.0
_LONGEST_SILENCE = "60s"
"""Timeout after which the scheduler gives up a silent machine."""

Certificates = Sequence[str]
"""Files for TLS, in PEM format: certificate of the authority, own certificate, and own key; none without TLS."""
_say = partial(print, flush=True)


def serve_scheduler(host: str, port: int, scheduler_file: Path | None, *certificates: str | Path | None) -> None:
    """Run the scheduler until Ctrl-C or SIGTERM, with TLS if its `certificates` are given."""
    given = _checked(certificates)
    check_installed()
    asyncio.run(_be_scheduler(host, port, scheduler_file, given))


def serve_worker(cluster: str, jobs: int, *certificates: str | Path | None) -> bool:
    """Play for a scheduler until Ctrl-C or SIGTERM; return whether it was stopped by one of these.

    `cluster` is the scheduler's address or file. Waits for a scheduler that has not started yet or has gone.
    """
    given = _checked(certificates)
    check_installed()
    try:
        cores = check_jobs(jobs) or joblib.cpu_count()
    except ValueError as error:
        raise ValueError(f"{jobs} jobs: {error}") from None
    remote_worker.use(cores, _say)
    if not is_file(cluster):
        scheduler_address(cluster)
    try:
        return asyncio.run(_be_worker(cluster, cores, given))
    finally:
        remote_worker.end()


def _checked(certificates: Sequence[str | Path | None]) -> Certificates:
    given = [str(file) for file in certificates if file]
    for file in given:
        if not Path(file).is_file():
            raise ValueError(f"{file}: no such file")
    if len(given) in (1, 2):
        raise ValueError("TLS needs --tls-ca-file, --tls-cert and --tls-key together")
    return given


async def _be_scheduler(host: str, port: int, file: Path | None, certificates: Certificates) -> None:
    from distributed import Scheduler

    _configure_dask()
    stopped = _stop_signal()
    try:
        scheduler = await Scheduler(
            host=host,
            port=port,
            protocol="tls" if certificates else "tcp",
            security=_security(certificates, "scheduler"),
            dashboard=False,
            dashboard_address="127.0.0.1:0",
            scheduler_file=str(file) if file else None,
        )
    except (OSError, RuntimeError) as error:
        raise ValueError(f"cannot start a scheduler at {host}, port {port}: {_root(error)}") from None
    try:
        joining = command("cluster", "join", file or scheduler.address)
        _say(f"Scheduler: {scheduler.address}. Start on each machine: {joining}")
        if warning := exposure(scheduler.address):
            _say(f"Note: {warning}")
        await stopped.wait()
    finally:
        await scheduler.close()
        if file:
            file.unlink(missing_ok=True)


async def _be_worker(cluster: str, cores: int, certificates: Certificates) -> bool:
    _configure_dask()
    stopped = _stop_signal()
    since = time.monotonic()
    folder, has_said = temporary_folder("machine").path, False
    while not stopped.is_set() and time.monotonic() - since < PATIENCE:
        address = read_when_there(expand_path(cluster)) if is_file(cluster) else scheduler_address(cluster)
        if address and await _play_for(address, folder, cores, certificates, stopped):
            since, has_said = time.monotonic(), True
        elif not has_said:
            _say(f"No scheduler at {cluster} yet; waiting up to {PATIENCE:.0f} s for one (Ctrl-C to stop).")
            has_said = True
        await _first(stopped.wait(), asyncio.sleep(_LOOK_EVERY))
    if not stopped.is_set():
        _say(f"No answer from a scheduler at {cluster} within {PATIENCE:.0f} s.")
    return stopped.is_set()


async def _play_for(address: str, folder: Path, cores: int, certificates: Certificates, stopped: asyncio.Event) -> bool:
    """Play until the scheduler goes or this process is stopped; return whether the scheduler was reached at all."""
    from distributed import Worker

    try:
        worker = await Worker(
            address,
            nthreads=1,
            security=_security(certificates, "worker"),
            local_directory=str(folder),
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            death_timeout=_CONNECT,
        )
    except (OSError, TimeoutError, RuntimeError):
        return False
    _say(f"Playing for {address}, {cores} games at a time (Ctrl-C to stop).")
    try:
        await _first(worker.finished(), stopped.wait())
        if not stopped.is_set():
            _say(f"Lost the scheduler at {address}; waiting for another one there.")
    finally:
        if stopped.is_set():
            remote_worker.leave()
        await worker.close()
    return True


async def _first(*waiting: Coroutine[Any, Any, Any]) -> None:
    tasks = [asyncio.ensure_future(awaitable) for awaitable in waiting]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()


def _stop_signal() -> asyncio.Event:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stopped.set))
    return stopped


def _configure_dask() -> None:
    import dask

    silence_dask()
    dask.config.set({"distributed.scheduler.worker-ttl": _LONGEST_SILENCE, "distributed.worker.profile.enabled": False})


def _security(certificates: Certificates, role: str) -> Security:
    from distributed import Security

    names = ("tls_ca_file", f"tls_{role}_cert", f"tls_{role}_key")
    return Security(require_encryption=bool(certificates) or None, **dict(zip(names, certificates, strict=False)))


def _root(error: BaseException) -> str:
    while error.__cause__:
        error = error.__cause__
    return in_one_line(error)
