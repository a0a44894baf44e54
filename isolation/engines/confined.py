"""What a process may use, and what it may do to the machine, once somebody's code is a guest in it.

Limits of the system hold whatever the code is written in. The rest is seen by Python alone: it stops what Python code
does, by accident or ill will, and nothing that native code does past Python.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from isolation.contained import deafened
from isolation.survival import die_with_parent

MEMORY = 1 << 30
"""Bytes that a player may fill."""
ADDRESSES = 4 << 30
"""Bytes that it may lay out, libraries and shared memory included."""
LARGEST_FILE = 1 << 26
"""Bytes of a file; it may write none, but what prints past Python ends somewhere."""

_FORBIDDEN = {
    **dict.fromkeys(
        ("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.spawn", "os.system", "subprocess.Popen"),
        "start a process",
    ),
    **dict.fromkeys(
        ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
         "os.chown", "os.chflags", "os.utime", "os.setxattr", "os.removexattr", "shutil.rmtree", "shutil.move",
         "sqlite3.connect"),
        "change files",
    ),
    **dict.fromkeys(
        ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"), "use the network"
    ),
    **dict.fromkeys(("resource.setrlimit", "resource.prlimit"), "change its limits"),
}  # fmt: skip
"""What Python tells its auditors of, and what it is in words."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LIBRARIES_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def confine(folder: str) -> None:
    """Have this process live within limits from now on, in a folder of which it may read.

    It ends with whoever started it; what it prints goes nowhere; it has a gigabyte of memory; Python code in it starts
    no process, signals none but itself, changes no file and uses no network: such calls raise `PermissionError`.
    """
    die_with_parent()
    for name in _LIBRARIES_THREADS:  # a stack for each, which counts as memory, and time that counts several times
        os.environ[name] = "1"
    deafened()
    os.chdir(folder)
    _limit()
    sys.dont_write_bytecode = True
    sys.addaudithook(_auditor())


def _limit() -> None:
    """Set the system's limits, as far as it knows them."""
    import resource

    wanted = {"RLIMIT_DATA": MEMORY, "RLIMIT_AS": ADDRESSES, "RLIMIT_FSIZE": LARGEST_FILE, "RLIMIT_CORE": 0}
    for name, most in wanted.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (least, least))
        except (ValueError, OSError):  # macOS has some of them in name only
            continue


def _auditor() -> Any:
    """What Python asks before it does something; all that it needs is out of reach of later code."""
    forbidden, writing, nowhere, own, refusal = dict(_FORBIDDEN), _WRITING, os.devnull, os.getpid(), PermissionError
    is_instance, number = isinstance, int

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        what = forbidden.get(event)
        if event == "open" and is_instance(arguments[2], number) and arguments[2] & writing:
            what = None if arguments[0] == nowhere else "write files"
        if event in ("os.kill", "os.killpg") and not (event == "os.kill" and arguments[0] == own):
            what = "signal other processes"
        if what:
            raise refusal(f"a player from a file may not {what} here ({event})")

    return audit
