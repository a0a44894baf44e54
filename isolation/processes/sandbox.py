"""Sandbox for untrusted code: resource limits, Landlock, audit hook.

Resource limits apply to code of any kind. So does Landlock, where Linux supports it; it forbids reading others' files,
changing what files contain, starting programs and signalling other processes. All other restrictions, and without
Landlock these as well, are enforced by Python's audit hooks. Hooks stop Python code, accidental or malicious, and
calls by `ctypes`, but not extension modules and compiled code, which can still change modes, owners, times and
attributes of files.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import stat
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any, NoReturn

from ..loading.integrity import allow_changes
from ..usercode.imports import FOLDERS
from ..usercode.output_capture import discard_output
from ..usercode.process_lifetime import die_with_parent

MEMORY = 1 << 30
"""Memory limit of a player in bytes."""
ADDRESSES = 4 << 30
"""Address space limit in bytes, including libraries and shared memory."""
LARGEST_FILE = 1 << 26
"""File size limit in bytes. Players may not write files, but native code may print to one."""
MOST_STARTED = 100
"""Most processes that an unrestricted player and its children may start per move."""

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
        ("socket.__new__", "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"),
        "use the network",
    ),
    **dict.fromkeys(("resource.setrlimit", "resource.prlimit"), "change its limits"),
}  # fmt: skip
"""Forbidden audit events, with descriptions."""
_FINDS, _FOUND = ("ctypes.dlsym", "ctypes.dlsym/handle"), ("LLVMPY_", "Py", "_Py")
"""Audit events of finding a native function by `ctypes`, and how the names begin that are found nevertheless: those of
the compiler and of Python. Landlock does not restrict changes of modes, owners, times and attributes of files."""
_IN_SCRATCH = ("os.mkdir", "os.remove", "os.rmdir")
"""Audit events of changes that are permitted in the scratch folder, besides opening and renaming."""
_UNHEARD = {
    **dict.fromkeys(("mkfifo", "mknod", "shm_open", "shm_unlink", "SemLock", "sem_unlink"), "change files"),
    "memfd_create": "hold memory without a limit",
    "pidfd_send_signal": "signal other processes",
    **dict.fromkeys(("fork_exec", "_fork_exec"), "start a process"),
    **dict.fromkeys(
        ("setpriority", "nice", "sched_setaffinity", "sched_setscheduler", "sched_setparam"), "change who computes when"
    ),
}
"""Functions without audit events, with descriptions; they are replaced by refusals."""
_HAVE_UNHEARD = (
    "os", "posix", "signal", "_signal", "_posixshmem", "_multiprocessing", "_posixsubprocess", "subprocess",
)  # fmt: skip
_NO_IMPORT = (
    "readline", "_gdbm", "_dbm", "posix", "_signal", "_posixshmem", "_multiprocessing", "_posixsubprocess",
    "_xxsubinterpreters", "_interpreters", "_testcapi", "_testinternalcapi",
)  # fmt: skip
"""Modules that write files without audit events, whose new import would restore the replaced functions, or that make
interpreters, which have no audit hooks."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""Landlock's system calls."""
_WRITE, _READ, _LIST, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_OF_FILES = _WRITE | _READ | _TRUNCATE
"""Landlock's rights; the others start programs, and remove, create and move whatever a folder contains."""
_RIGHTS = {1: 13, 2: 14}
"""Number of rights by Landlock version; later versions have 15 or more."""
_TCP = 1 << 0 | 1 << 1
"""Landlock's rights to bind and to connect, from version 4 (Linux 6.7) on."""
_SIGNALS = 1 << 1
_PR_SET_NO_NEW_PRIVS = 38
_SYSTEM = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/usr/share/locale",
    "/nix/store", "/etc/ld.so.cache", "/etc/localtime", "/etc/ssl/openssl.cnf", "/dev/null", "/dev/zero", "/dev/random",
    "/dev/urandom", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/fs/cgroup",
)  # fmt: skip
"""What libraries read of the system: shared libraries, time zones, locales, devices, the processor."""
UNRESTRICTED_READS = (
    "This machine has no Landlock (Linux 5.13 or later has it), so only Python code was kept from reading other files: "
    "native code of a player could read all that you can, other submissions included."
)
"""What is said of a class whose players' reads the system did not restrict."""


def contain() -> Callable[[], None]:
    """Keep this process from disturbing others from now on; return a function to be called before each move.

    The process ends with its parent. Python code in it may signal only itself and processes it has started, and may
    start at most `MOST_STARTED` processes per move; other calls raise `PermissionError`. Everything else is allowed.
    """
    die_with_parent()
    allow_changes()
    started = mmap.mmap(-1, 8)  # shared with forked children
    sys.addaudithook(_containing(started))

    def begin_move() -> None:
        started[:] = bytes(8)

    return begin_move


def _containing(started: mmap.mmap) -> Any:
    """Return the audit hook that checks signals and new processes."""
    own, session, parent, starts, most = os.getpid(), os.getsid(0), os.getppid(), frozenset(_STARTS), MOST_STARTED
    session_of, refusal, failure, whole = os.getsid, PermissionError, OSError, int

    def is_own(pid: int, if_missing: bool) -> bool:
        """Return whether `pid` is this process, or one that it has started."""
        try:
            return pid == own or (pid > 0 and pid != parent and session_of(pid) == session)
        except failure:
            return if_missing

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("os.kill", "os.killpg"):
            # A group outlives its leader: if no process has its number, it may belong to any process.
            number = arguments[0]
            if not (is_own(number, True) if event == "os.kill" else is_own(number or session, False)):
                raise refusal(f"a player from a file may not signal other processes here ({event})")
        elif event in starts:
            count = whole.from_bytes(started[:], "little") + 1
            if count > most:
                raise refusal(f"a player from a file may not start more than {most} processes here ({event})")
            started[:] = count.to_bytes(8, "little")

    return audit


def enter_sandbox(
    folder: str, written: Sequence[str] = (), readable: Sequence[str] = (), imports: Sequence[str] = ()
) -> None:
    """Restrict this process from now on; its working directory is a folder that it may read.

    It ends with its parent, its output is discarded, and it has a gigabyte of memory. Code in it reads nothing but that
    folder, Python, installed packages, the toolkit and `readable`. Python code in it cannot start processes, signal or
    slow down others, change files, use the network or find functions of the system by `ctypes`: such calls raise
    `PermissionError`. Only in the folders `written`, absolute paths without links, it may compile code and change
    files. The modules `imports` are imported while they can be: after Landlock, which would not reach
    threads that they start, and before the audit hook.

    Raises:
        OSError: there is no such folder, or Landlock fails.
    """
    die_with_parent()
    allow_changes()
    os.chdir(folder)
    own = [path for path in (folder, *readable) if os.path.exists(path)]
    is_sealed = _seal([*own, *_of_everybody()], written)
    for name in imports:
        import_module(name)
    discard_output()
    _limit()
    sys.dont_write_bytecode = True
    _take_away()
    sys.addaudithook(_auditor(written))
    if not is_sealed:
        sys.addaudithook(_reading(own, [*_of_everybody(), *written], bool(written)))


def _of_everybody() -> list[str]:
    """Return the files and folders that every sandboxed process may read."""
    # Of `sys.path` only what is installed there: it may contain the folder in which all submissions are.
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    libraries = [f"{prefix}/{name}" for prefix in prefixes for name in ("lib", sys.platlibdir)]
    packages = [
        path
        for path in sys.path
        if os.path.basename(path) in ("site-packages", "dist-packages") or any(Path(path).glob("*.dist-info"))
    ]
    return [path for path in (*_SYSTEM, *libraries, *packages, *FOLDERS) if os.path.exists(path)]


def _limit() -> None:
    """Set the resource limits that the system supports."""
    import resource

    wanted = {"RLIMIT_DATA": MEMORY, "RLIMIT_AS": ADDRESSES, "RLIMIT_FSIZE": LARGEST_FILE, "RLIMIT_CORE": 0}
    for name, most in wanted.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        least = _within(resource.getrlimit(kind)[1], most)
        with suppress(ValueError, OSError):  # macOS defines some limits without supporting them
            resource.setrlimit(kind, (least, least))


def _within(hard: int, most: int) -> int:
    """Return the limit `most`, as far as a hard limit allows it; -1 is none."""
    return most if hard < 0 else min(most, hard)


def limit_processor(seconds: int, *, is_final: bool = False) -> None:
    """Let this process use at most `seconds` more of processor time; a final limit is never raised. 0 is no limit."""
    import resource

    if seconds:
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        most = ceil(time.process_time()) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (_within(hard, most), _within(hard, most + 1) if is_final else hard))


def allow_processor(process: int, used: float, seconds: int) -> None:
    """Let another process use `seconds` of processor time beside those that it has used, if the system can."""
    if sys.platform == "linux" and seconds:
        import resource

        hard = resource.prlimit(process, resource.RLIMIT_CPU)[1]
        resource.prlimit(process, resource.RLIMIT_CPU, (_within(hard, ceil(used) + seconds), hard))


def limit_memory(most: int) -> None:
    """Limit this process to `most` bytes more than it uses now, if the system can measure that."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    except (ImportError, OSError):
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (_within(hard, most + pages * resource.getpagesize()), hard))


def landlock_version() -> int:
    """Return the system's Landlock version, or 0 without Landlock. Version 6 (Linux 6.12) also restricts signals."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE, None, 0, 1)))


def _seal(readable: Sequence[str], written: Sequence[str]) -> bool:
    """Make Linux refuse to read files but `readable`, to change files outside `written`, and to signal other processes.

    This holds for code of any kind. Return whether the system supports it; see landlock(7).

    Raises:
        OSError: it supports it, and fails.
    """
    version = landlock_version()
    if not version:
        return False
    system = ctypes.CDLL(None, use_errno=True)
    every = (1 << _RIGHTS.get(version, 15)) - 1
    rules = (ctypes.c_uint64 * 3)(every, _TCP if version >= 4 else 0, _SIGNALS if version >= 6 else 0)
    sealing = system.syscall(_CREATE, rules, ctypes.sizeof(rules), 0)
    rights = {**dict.fromkeys(readable, _READ | _LIST), os.devnull: _OF_FILES, **dict.fromkeys(written, every)}
    for path, allowed in rights.items():
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed &= every if stat.S_ISDIR(os.fstat(place).st_mode) else every & _OF_FILES
        rule = allowed.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder)
        _succeed(system.syscall(_ADD, sealing, 1, rule, 0))
        os.close(place)
    _succeed(system.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _succeed(system.syscall(_RESTRICT, sealing, 0))
    os.close(sealing)
    return True


def _succeed(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")


def _take_away() -> None:
    """Replace functions without audit events, and the one that creates built-in modules, by refusals."""
    import _imp

    for name in (*sys.builtin_module_names, *_HAVE_UNHEARD):
        with suppress(ImportError):  # not available on this system
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


def _auditor(written: Sequence[str]) -> Any:
    """Return the audit hook of the sandbox; it holds references to all it needs, out of reach of later code."""
    forbidden, writing, nowhere, own, refusal = dict(_FORBIDDEN), _WRITING, os.devnull, os.getpid(), PermissionError
    finds, found, most = _FINDS, _FOUND, LARGEST_FILE
    no_module, is_instance, number, text, modules = ImportError, isinstance, int, str, frozenset(_NO_IMPORT)
    own_folders, kind_of, paths_of = (
        tuple(f"{folder}/" for folder in written),
        type,
        {"os.rename": 2, **dict.fromkeys(_IN_SCRATCH, 1)},
    )

    def is_own_file(path: Any) -> bool:
        """Return whether a path is in a folder to write to; no links can be made that would lead out of it."""
        return kind_of(path) is text and path.startswith(own_folders) and "/.." not in path

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        what = forbidden.get(event)
        if event == "open" and is_instance(arguments[2], number) and arguments[2] & writing:
            what = None if arguments[0] == nowhere else "write files"
        if event == "open" and is_instance(arguments[1], text) and not what:  # C streams have a mode instead of flags
            what = None if arguments[0] == nowhere or not {*arguments[1]} & {*"wax+"} else "write files"
        if what and (event == "open" or event in paths_of):
            changed = arguments[: paths_of.get(event, 1)]
            what = None if not [path for path in changed if not is_own_file(path)] else what
        if event in finds and not (kind_of(arguments[1]) is text and arguments[1].startswith(found)):
            what = f"call the native function {arguments[1]}"
        if event == "mmap.__new__" and arguments[0] == -1 and arguments[1] > most:  # the system does not count it
            what = "hold memory without a limit"
        if event == "import" and arguments[0] in modules:
            raise no_module(f"a player from a file may not import {arguments[0]} here")
        if event in ("os.kill", "os.killpg") and not (event == "os.kill" and arguments[0] == own):
            what = "signal other processes"
        if what:
            raise refusal(f"a player from a file may not {what} here ({event})")

    return audit


def _reading(own: Sequence[str], others: Sequence[str], may_compile: bool) -> Any:
    """Return the audit hook that keeps Python code from reading other files, where there is no Landlock."""
    # The folders `own` may contain links that lead elsewhere, which are not followed. Nothing in /proc is read, as it
    # leads everywhere.
    owned = {*own, *map(os.path.realpath, own)}
    shared = {path for path in (*others, *map(os.path.realpath, others)) if not path.startswith("/proc")}
    lists, loads = ("os.listdir", "os.scandir"), () if may_compile else ("ctypes.dlopen", *_FINDS)
    here, read_link, path_of, failure, refusal = os.getcwd, os.readlink, os.fspath, OSError, PermissionError
    is_instance, kind_of, number, text, data = isinstance, type, int, str, bytes

    def is_in(path: str, places: set[str]) -> bool:
        return any(path == place or path.startswith(f"{place}/") for place in places)

    def is_link(path: str) -> bool:
        try:
            return bool(read_link(path))
        except failure:
            return False

    def meant(file: Any) -> str:
        """Return the absolute path of a file, without `..`; empty if it leads through a link of the user's."""
        path: Any = path_of("." if file is None else file)
        path = path.decode("utf-8", "surrogateescape") if kind_of(path) is data else path
        at, is_linked = "", False
        for part in (path if path.startswith("/") else f"{here()}/{path}").split("/") if kind_of(path) is text else ():
            if part == "..":
                at = at.rpartition("/")[0]
            elif part not in ("", "."):
                at = f"{at}/{part}"
            if is_linked and part == "..":
                return ""
            if is_link(at):
                is_linked = True
                if at not in owned and is_in(at, owned) and not is_in(at, shared):
                    return ""
        return at

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in loads:
            raise refusal(f"a player from a file may not call native code here ({event})")
        if event == "import" and arguments[1] and not is_in(meant(arguments[1]), shared):
            raise refusal("a player from a file may not load native code here (import)")
        if (event == "open" or event in lists) and not is_instance(arguments[0], number):
            path = meant(arguments[0])
            if not (is_in(path, owned) or is_in(path, shared)):
                raise refusal(f"a player from a file may not read outside its folder here ({event})")

    return audit
