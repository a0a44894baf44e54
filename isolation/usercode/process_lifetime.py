"""Process lifetime: children end with their parent and report why."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import threading
from contextlib import suppress

from ..suggestions import stderr_of_a_child

_PR_SET_PDEATHSIG = 1
_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")


def die_with_parent() -> None:
    """End this process with the thread that started it (Linux only), even while compiled code holds Python's lock."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def continue_in_child(code: str) -> None:
    """Continue in a child process; this process waits for it, exits as it does, and reports if it ended abnormally.

    For commands that run user code, which may end its process by a signal or a crash in native code. `code` is its name
    in messages. Does nothing if a fork would be unsafe or if output is captured in this process.
    """
    if not hasattr(os, "fork") or sys.stdout is not sys.__stdout__ or threading.active_count() > 1:
        return
    print(end="", flush=True)
    print(end="", file=sys.stderr, flush=True)
    finished, finishing = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(finished)
        stderr_of_a_child.append(os.dup(2))
        atexit.register(os.write, finishing, b".")
        die_with_parent()
        if os.getppid() != parent:
            os._exit(1)
        return
    os.close(finishing)
    for name in _PASSED_ON:
        signal.signal(getattr(signal, name), lambda number, frame: os.kill(child, number))
    os._exit(_end_of(code, child, finished))


def _end_of(code: str, child: int, finished: int) -> int:
    """Wait for a child and return its exit code, after reporting an error that the child could not report."""
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status >= 0:
        os.set_blocking(finished, False)
        with suppress(BlockingIOError):  # a process started by the child holds the other end
            if os.read(finished, 1):
                return status
        how = f"has ended its process, with exit code {status}"
    else:
        name = signal.Signals(-status).name
        how = f"has ended its process by {name}"
        how += ", or something else did, such as the system when memory runs out" if name == "SIGKILL" else ""
    if -status in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        return 128 - status
    os.write(2, f"Error: {code}: the code {how}\n".encode())
    return 1
