"""Cluster addresses: parse and check an address, a scheduler file or the environment.

What is missing or has another form raises ValueError, with what to install, set or write.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from knights_isolation.isolation.loading.load_user_code import expand_path

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


def scheduler_address(cluster: str) -> str:
    """Return the address for `tcp://HOST:PORT`, `tls://HOST:PORT`, `HOST:PORT` or a scheduler file."""
    if re.fullmatch(r"(tcp|tls)://\S+:\d+", cluster):
        return cluster
    if "://" in cluster:
        raise ValueError(f"cluster {cluster}: expected an address like tcp://HOST:PORT or tls://HOST:PORT")
    if not is_file(cluster):
        return f"tcp://{cluster}"
    file = expand_path(cluster)
    if address := read_when_there(file):
        return address
    if not file.exists():
        raise ValueError(
            f"cluster {cluster}: neither an address such as tcp://HOST:{PORT} nor an existing scheduler file"
        )
    raise ValueError(f"cluster {cluster}: not a scheduler file of isolation cluster start")


def is_file(cluster: str) -> bool:
    """Return whether this is the name of a scheduler file, not an address."""
    return "://" not in cluster and not re.fullmatch(r"[^\s/]+:\d+", cluster)


def check_certificates(address: str) -> None:
    """Check that dask's configuration names client certificates if an address asks for TLS."""
    import dask

    needed = {key: f"distributed.comm.tls.{key}" for key in ("ca-file", "client.cert", "client.key")}
    if address.startswith("tls://"):
        missing = [key for key, name in needed.items() if not dask.config.get(name, default=None)]
        if missing:
            names = ", ".join(
                "DASK_DISTRIBUTED__COMM__TLS__" + key.upper().replace("-", "_").replace(".", "__") for key in missing
            )
            raise ValueError(f"{address} needs certificates: set {names}, or the same in dask's configuration")


def exposure(address: str) -> str:
    """Return a warning for an address that others can reach without authentication; empty if it is not one."""
    if not address.startswith("tcp://") or is_loopback(urlsplit(address).hostname or ""):
        return ""
    return (
        f"{address} is open to the network: anyone who can connect can run code here; use tls:// or a private network"
    )


def is_loopback(host: str) -> bool:
    """Return whether a host's address can only be reached from this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_when_there(file: Path) -> str | None:
    """Read the address in a scheduler file; None while the file is missing or incomplete."""
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
