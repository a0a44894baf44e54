"""Sandbox for untrusted code: resource limits, Landlock, audit hook.

Limits of the system hold whatever the code is written in, and so does Linux's own refusal to change files and to signal
others, where it knows Landlock. The rest is seen by Python alone: it stops what Python code does, by accident or ill
will, and nothing that native code does past Python.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from isolation.loading.integrity import allow_changes
from isolation.usercode.output_capture import discard_output
from isolation.usercode.process_lifetime import die_with_parent

MEMORY = 1 << 30
"""Bytes that a player may fill."""
ADDRESSES = 4 << 30
"""Bytes that it may lay out, libraries and shared memory included."""
LARGEST_FILE = 1 << 26
"""Bytes of a file; it may write none, but what prints past Python ends somewhere."""
MOST_STARTED = 100
"""Processes that a player which is not restricted may start a move, together with all that it has started."""

_STARTS = ("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.spawn", "os.system", "subprocess.Popen")
_FORBIDDEN = {
    **dict.fromkeys(_STARTS, "start a process"),
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
_UNHEARD = {
    **dict.fromkeys(("mkfifo", "mknod", "shm_open", "shm_unlink", "SemLock", "sem_unlink"), "change files"),
    "pidfd_send_signal": "signal other processes",
    **dict.fromkeys(
        ("setpriority", "nice", "sched_setaffinity", "sched_setscheduler", "sched_setparam"), "change who computes when"
    ),
}
"""Functions of which Python tells no auditor: they are taken away."""
_HAVE_UNHEARD = ("os", "posix", "signal", "_signal", "_posixshmem", "_multiprocessing")
_NO_IMPORT = ("readline", "_gdbm", "_dbm", "posix", "_signal", "_posixshmem", "_multiprocessing")
"""Modules that write files unheard, and those that would come back with all that was taken from them."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The system calls of Landlock."""
_WRITE = 1 << 1
_TRUNCATE = 1 << 14
_CHANGES = _WRITE | sum(1 << bit for bit in range(4, 14)) | _TRUNCATE
"""Of Landlock: to write, remove, make, move and cut whatever a folder may hold."""
_RIGHTS = {1: 13, 2: 14}
"""How many rights versions of it know; 15 and more since."""
_SIGNALS = 1 << 1
_PR_SET_NO_NEW_PRIVS = 38


def contain() -> Callable[[], None]:
    """Have this process leave others alone from now on: it ends with whoever started it, and Python code in it signals
    only itself and what it has started, and starts no more than `MOST_STARTED` processes a move.

    Such calls raise `PermissionError`. All else it may do: it is its own process. Returns what is to be called before
    each move.
    """
    die_with_parent()
    allow_changes()
    started = mmap.mmap(-1, 8)  # shared with all that are forked
    sys.addaudithook(_containing(started))

    def begin_move() -> None:
        started[:] = bytes(8)

    return begin_move


def _containing(started: mmap.mmap) -> Any:
    """What Python asks before it signals or starts processes."""
    own, session, parent, starts, most = os.getpid(), os.getsid(0), os.getppid(), frozenset(_STARTS), MOST_STARTED
    session_of, refusal, failure, whole = os.getsid, PermissionError, OSError, int

    def is_own(pid: int, if_missing: bool) -> bool:
        """Whether it is this process, or one that it has started."""
        try:
            return pid == own or (pid > 0 and pid != parent and session_of(pid) == session)
        except failure:
            return if_missing

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("os.kill", "os.killpg"):
            # A group outlives its leader: where there is no process of its number, it may be anybody's.
            number = arguments[0]
            if not (is_own(number, True) if event == "os.kill" else is_own(number or session, False)):
                raise refusal(f"a player from a file may not signal other processes here ({event})")
        elif event in starts:
            count = whole.from_bytes(started[:], "little") + 1
            if count > most:
                raise refusal(f"a player from a file may not start more than {most} processes here ({event})")
            started[:] = count.to_bytes(8, "little")

    return audit


def enter_sandbox(folder: str) -> None:
    """Have this process live within limits from now on, in a folder of which it may read.

    It ends with whoever started it; what it prints goes nowhere; it has a gigabyte of memory; Python code in it starts
    no process, signals none but itself and slows none down, changes no file and uses no network: such calls raise
    `PermissionError`.
    """
    die_with_parent()
    allow_changes()
    discard_output()
    os.chdir(folder)
    _limit()
    sys.dont_write_bytecode = True
    _seal()
    _take_away()
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


def limit_memory(most: int) -> None:
    """Have memory refused to this process beyond so many bytes more than it has, where the system can count them."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    except (ImportError, OSError):
        return
    most += pages * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def landlock_version() -> int:
    """The version of Landlock that the system has; 0 for none. From 6 on (Linux 6.12) it holds signals, too."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE, None, 0, 1)))


def _seal() -> None:
    """Have Linux refuse, to code of any kind, to change files and to signal processes that are not within.

    See landlock(7). Where it is unknown, that is left to Python.
    """
    version = landlock_version()
    if not version:
        return
    system = ctypes.CDLL(None)
    refused = _CHANGES & ((1 << _RIGHTS.get(version, 15)) - 1)
    rules = (ctypes.c_uint64 * 3)(refused, 0, _SIGNALS if version >= 6 else 0)
    sealing = system.syscall(_CREATE, rules, ctypes.sizeof(rules), 0)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    allowed = (refused & (_WRITE | _TRUNCATE)).to_bytes(8, sys.byteorder) + nowhere.to_bytes(4, sys.byteorder)
    system.syscall(_ADD, sealing, 1, allowed, 0)
    system.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    system.syscall(_RESTRICT, sealing, 0)
    os.close(nowhere)
    os.close(sealing)


def _take_away() -> None:
    """Put refusals in the place of functions of which Python tells nobody, and of what makes built-in modules anew."""
    import _imp

    for name in (*sys.builtin_module_names, *_HAVE_UNHEARD):
        with suppress(ImportError):  # the system has none
            __import__(name)
    _imp.create_builtin = _refusal("make modules anew", "_imp.create_builtin")
    same = (os.supports_dir_fd, os.supports_fd, os.supports_effective_ids, os.supports_follow_symlinks)
    for module in filter(None, map(sys.modules.get, _HAVE_UNHEARD)):
        for name, what in _UNHEARD.items():
            if function := getattr(module, name, None):
                setattr(module, name, _refusal(what, name))
                for known in same:
                    known.discard(function)


def _refusal(what: str, name: str) -> Any:
    def refuse(*arguments: object, **named: object) -> NoReturn:
        raise PermissionError(f"a player from a file may not {what} here ({name})")

    return refuse


def _auditor() -> Any:
    """What Python asks before it does something; all that it needs is out of reach of later code."""
    forbidden, writing, nowhere, own, refusal = dict(_FORBIDDEN), _WRITING, os.devnull, os.getpid(), PermissionError
    no_module, is_instance, number, text, modules = ImportError, isinstance, int, str, frozenset(_NO_IMPORT)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        what = forbidden.get(event)
        if event == "open" and is_instance(arguments[2], number) and arguments[2] & writing:
            what = None if arguments[0] == nowhere else "write files"
        if event == "open" and is_instance(arguments[1], text) and not what:  # of C's own streams, which give no flags
            what = None if arguments[0] == nowhere or not {*arguments[1]} & {*"wax+"} else "write files"
        if event == "import" and arguments[0] in modules:
            raise no_module(f"a player from a file may not import {arguments[0]} here")
        if event in ("os.kill", "os.killpg") and not (event == "os.kill" and arguments[0] == own):
            what = "signal other processes"
        if what:
            raise refusal(f"a player from a file may not {what} here ({event})")

    return audit
