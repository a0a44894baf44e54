"""Worker processes that start silently, end with their parent, and return the output of calls with their results."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

from knights_isolation.isolation.usercode.output_capture import CapturedOutput, capture_output
from knights_isolation.isolation.usercode.process_lifetime import die_with_parent

T = TypeVar("T")
Result = tuple[T, CapturedOutput]
"""Return value and output of a call."""


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


def values_of(results: Iterable[Result[T]]) -> Iterator[T]:
    """Yield the return values of calls; at the end a warning reports the amount of their output."""
    all_printed = CapturedOutput()
    for result, printed in results:
        all_printed += printed
        yield result
    if sentence := all_printed.sentence("the code"):
        warnings.warn(sentence, stacklevel=2)


def end_with(parent: int) -> None:
    """End this process when its parent has ended, even by kill -9: an orphan would wait for work forever."""
    die_with_parent()
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def run(parent: int, function: Callable[..., T], call: tuple[Any, ...]) -> Result[T]:
    """Call a function in a process that ends with its parent; return its output with the result."""
    if os.getpid() != parent:
        _watch(parent)
    with capture_output() as printed:
        return function(*call), printed


@cache
def _watch(parent: int) -> None:
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
