"""Worker processes that start silently and end with their parent."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from knights_isolation.isolation.usercode.process_lifetime import die_with_parent


@contextmanager
def starting_silently() -> Iterator[None]:
    """Discard permanently the output of processes that are started meanwhile.

    Loky's workers print a traceback if their parent ends while they start, and its resource tracker prints what it
    removes after processes were killed: neither belongs on the terminal.
    """
    with ExitStack() as stack:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        stack.callback(os.close, nowhere)
        for descriptor in (1, 2):
            with suppress(OSError):  # stdout or stderr is closed: nothing can be printed there
                before = os.dup(descriptor)
                stack.callback(os.close, before)
                stack.callback(os.dup2, before, descriptor)
                os.dup2(nowhere, descriptor)
        yield


def end_with(parent: int) -> None:
    """End this process when its parent has ended, even by kill -9: an orphan would wait for work forever."""
    die_with_parent()
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
