"""Many calls in worker processes that end with their parent; the results as they come."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

import joblib

from experiments.config import check_jobs
from isolation.contained import Printed, hushed

T = TypeVar("T")

_PR_SET_PDEATHSIG = 1


def as_they_come(function: Callable[..., T], calls: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[T]:
    """The results of `function(*call)` for every call, in no order; with one job in this process.

    What the calls print is not shown; a warning says how much it was.

    Raises:
        ValueError: there are more jobs than this machine can be asked for.
    """
    try:
        check_jobs(jobs)
    except ValueError as error:
        raise ValueError(f"{jobs} jobs: {error}") from None
    tasks = (joblib.delayed(_run)(os.getpid(), function, call) for call in calls)
    all_printed = Printed()
    for result, printed in joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks):
        all_printed = Printed(all_printed.lines + printed.lines, all_printed.first or printed.first)
        yield result
    if told := all_printed.sentence("the code"):
        warnings.warn(told, stacklevel=2)


def end_with(parent: int) -> None:
    """End this process when its parent has ended, even by kill -9: an orphan would wait for work for ever."""
    _die_with_parent()
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _die_with_parent() -> None:
    """Have Linux end this process with the thread that started it, also while compiled code keeps Python's lock."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _run(parent: int, function: Callable[..., T], call: tuple[Any, ...]) -> tuple[T, Printed]:
    if os.getpid() != parent:
        _watch(parent)
    with hushed() as printed:
        return function(*call), printed


@cache
def _watch(parent: int) -> None:
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
