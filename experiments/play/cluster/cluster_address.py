"""Cluster addresses: parse and check an address, a scheduler file or the environment."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from isolation.loading.load_user_code import expand_path

ENVIRONMENT_VARIABLE = "DASK_SCHEDULER_ADDRESS"
"""Dask's own; it counts where nothing else says where to play."""
PORT = 8786
"""Dask's usual port."""


def chosen(cluster: str | None, jobs: int) -> str | None:
    """The cluster to play on, if any: the one that was named, or else the environment's, unless jobs were asked for."""
    return cluster or (None if jobs else os.environ.get(ENVIRONMENT_VARIABLE) or None)


def check_installed() -> None:
    """Raise if dask is not there.

    Raises:
        ValueError: saying what to install.
    """
    if find_spec("distributed") is None:
        raise ValueError("a cluster needs dask's distributed: pip install 'knights-isolation[cluster]'")


def scheduler_address(cluster: str) -> str:
    """The address that `tcp://HOST:PORT`, `tls://HOST:PORT`, `HOST:PORT` or a scheduler file stands for.

    Raises:
        ValueError: it is none of these.
    """
    if re.fullmatch(r"(tcp|tls)://\S+:\d+", cluster):
        return cluster
    if "://" in cluster:
        raise ValueError(f"cluster {cluster}: expected an address like tcp://HOST:PORT or tls://HOST:PORT")
    if not is_file(cluster):
        return f"tcp://{cluster}"
    file = expand_path(cluster)
    try:
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
    except FileNotFoundError:
        raise ValueError(
            f"cluster {cluster}: neither an address such as tcp://HOST:{PORT} nor an existing scheduler file"
        ) from None
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"cluster {cluster}: not a scheduler file of isolation scheduler") from None
    return str(address)


def is_file(cluster: str) -> bool:
    """Whether this names a scheduler file, and not an address."""
    return "://" not in cluster and not re.fullmatch(r"[^\s/]+:\d+", cluster)


def check_certificates(address: str) -> None:
    """Raise if an address asks for TLS and the configuration of dask names no certificates for a client.

    Raises:
        ValueError: saying what to set.
    """
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
    """A warning about an address that others can reach without having to say who they are; empty if there is none."""
    if not address.startswith("tcp://") or is_loopback(urlsplit(address).hostname or ""):
        return ""
    return (
        f"{address} is open to the network: anyone who can connect can run code here; use tls:// or a private network"
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host's address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_when_there(file: Path) -> str | None:
    """The address in a scheduler file; None while it is not there or not written to its end."""
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
