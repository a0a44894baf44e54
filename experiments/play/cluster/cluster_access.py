"""Access to clusters: parse and check addresses, and send user files to other machines, named by their hash.

An address, a scheduler file or the environment that is missing or has another form raises ValueError, with what to
install, set or write.

A transfer contains a file and the siblings that its import statements reach, which is what `content_hash` covers. If an
identical file exists at the same path, as on a shared disk, that file is used, including everything else beside it. A
file that is gone raises LoadError, one that cannot be written OSError.
"""

from __future__ import annotations

import ipaddress
import json
import os
import pickle
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.files.atomic_write import write_atomic
from knights_isolation.isolation.loading.load_user_code import LoadError, content_hash, expand_path, sources

from ...plan import parse_spec

if TYPE_CHECKING:
    from ..pools.game_worker import Task

ENVIRONMENT_VARIABLE = "DASK_SCHEDULER_ADDRESS"
"""Dask's own variable; used if nothing else names a cluster."""
PORT = 8786
"""Dask's usual port."""


def chosen(cluster: str | None, jobs: int) -> str | None:
    """Return the cluster to play on, if any: the named one, or else the environment's unless `jobs` is given."""
    return cluster or (None if jobs else os.environ.get(ENVIRONMENT_VARIABLE) or None)


def check_installed() -> None:
    """Check that dask is installed."""
    if find_spec("distributed") is None:
        raise ValueError("a cluster needs dask's distributed: pip install 'knights-isolation[cluster]'")


def find_scheduler(cluster: str) -> str | None:
    """Return the address of `tcp://HOST:PORT`, `tls://HOST:PORT`, `HOST:PORT` or a scheduler file.

    None while that file is missing or incomplete.
    """
    if re.fullmatch(r"(tcp|tls)://\S+:\d+", cluster):
        return cluster
    if "://" in cluster:
        raise ValueError(f"cluster {cluster}: expected an address like tcp://HOST:PORT or tls://HOST:PORT")
    if re.fullmatch(r"[^\s/]+:\d+", cluster):
        return f"tcp://{cluster}"
    try:
        return str(json.loads(expand_path(cluster).read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def scheduler_address(cluster: str) -> str:
    """Return the address that `find_scheduler` finds; a scheduler file must exist."""
    if address := find_scheduler(cluster):
        return address
    why = f"neither an address such as tcp://HOST:{PORT} nor an existing scheduler file"
    if expand_path(cluster).exists():
        why = "not a scheduler file of isolation cluster start"
    raise ValueError(f"cluster {cluster}: {why}")


def check_certificates(address: str) -> None:
    """Check that dask's configuration names client certificates if an address asks for TLS."""
    import dask

    needed = {"ca-file": "CA_FILE", "client.cert": "CLIENT__CERT", "client.key": "CLIENT__KEY"}
    missing = [name for key, name in needed.items() if not dask.config.get(f"distributed.comm.tls.{key}", default=None)]
    if missing and address.startswith("tls://"):
        names = ", ".join(f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name in missing)
        raise ValueError(f"{address} needs certificates: set {names}, or the same in dask's configuration")


def exposure(address: str) -> str:
    """Return a warning for an address that others can reach without authentication; empty if it is not one."""
    host = urlsplit(address).hostname or ""
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = host == "localhost"
    if is_loopback or not address.startswith("tcp://"):
        return ""
    return (
        f"{address} is open to the network: anyone who can connect can run code here; use tls:// or a private network"
    )


@dataclass(frozen=True)
class UserFile:
    """A user's file: its path, its content hash, and its sources by their path relative to it."""

    path: str
    content: str
    sources: Mapping[str, bytes]


def files_of(specs: Iterable[str]) -> tuple[UserFile, ...]:
    """Read the user files of agents for transfer."""
    paths = sorted({spec.path for spec in map(parse_spec, specs) if spec.is_file})
    return tuple(UserFile(path, content_hash(path), sources(path)) for path in paths)


def install_file(file: UserFile) -> Path:
    """Return the file's path on this machine; it is written to the folder of compiled code if it is missing."""
    there = Path(file.path)
    with suppress(LoadError, OSError):
        if content_hash(there) == file.content:
            return there
    folder = code_cache.folder() / "files" / file.content
    for name, content in file.sources.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, lambda writable, content=content: writable.write(content))  # type: ignore[misc]
    return folder / there.name


def placed_specs(specs: Iterable[str], files: Iterable[UserFile]) -> tuple[str, ...]:
    """Return the specs with these files at their paths on this machine."""
    paths = {file.path: install_file(file) for file in files}
    parsed = [(text, parse_spec(text)) for text in specs]
    return tuple(
        str(replace(spec, target=f"{paths[spec.path]}:{spec.member}")) if spec.path in paths else text
        for text, spec in parsed
    )


def bundle_of(task: Task) -> bytes:
    """Bundle a task with the files of its agents."""
    return pickle.dumps((task, files_of(task.specs)))


def unpack_task(bundle: bytes) -> Task:
    """Unpack a task, with specs that name the files' paths on this machine."""
    task: Task
    task, files = pickle.loads(bundle)
    return replace(task, specs=placed_specs(task.specs, files))
