"""The command line as on a system that has none of what only Linux and macOS have.

Run as a program, with the words of each command in an argument; its output stands below a line `$ COMMAND`. Other
people's libraries, which know both kinds of systems, are loaded before.
"""

import importlib
import os
import select
import signal
import sys
import time
from importlib.abc import MetaPathFinder

LIBRARIES = (
    *("asyncio.subprocess", "click", "cloudpickle", "jinja2", "joblib", "loky", "matplotlib.pyplot", "numba", "numpy"),
    *(
        "llvmlite.binding",
        "pandas",
        "PIL.Image",
        "platformdirs",
        "psutil",
        "pyarrow.parquet",
        "pydantic",
        "rich.console",
        "rich.progress",
    ),
    *("scipy.optimize", "scipy.stats", "starlette.applications", "uvicorn", "uvicorn.lifespan.on"),
)
MODULES = {"curses", "fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
ATTRIBUTES = {
    os: ("fork", "fchmod", "getpgid", "getpgrp", "killpg", "sched_getaffinity", "set_blocking", "setsid"),
    select: ("poll",),
    signal: (
        *("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "SIG_BLOCK", "SIG_SETMASK", "ITIMER_REAL"),
        *("pthread_kill", "pthread_sigmask", "setitimer"),
    ),
    time: ("CLOCK_MONOTONIC", "CLOCK_THREAD_CPUTIME_ID", "clock_gettime"),
}


class Hidden(MetaPathFinder):
    """Says that some modules are not there."""

    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def hide():
    """Take away what other systems lack."""
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Hidden())
    for module, names in ATTRIBUTES.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    sys.platform = "win32"


if __name__ == "__main__":
    for library in LIBRARIES:
        importlib.import_module(library)
    hide()
    from cli import main

    for words in sys.argv[1:]:
        print(f"$ {words}", flush=True)
        try:
            main(words.split(), prog_name="isolation")
        except SystemExit as ended:
            if ended.code:
                raise
