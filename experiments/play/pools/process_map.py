"""Map calls over local worker processes that end with their parent."""

from __future__ import annotations

import atexit
import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

import joblib
from joblib.externals.loky import reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError

from knights_isolation.isolation.usercode.output_capture import CapturedOutput, capture_output
from knights_isolation.isolation.usercode.process_lifetime import die_with_parent

from ...plan.config import check_jobs
from .interrupts import deferred_interrupts

T = TypeVar("T")
Result = tuple[T, CapturedOutput]
"""Return value and output of a call."""


def map_unordered(function: Callable[..., T], calls: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[T]:
    """Yield the results of `function(*call)` for all calls, in any order; with one job they run in this process.

    Output of the calls is not shown; a warning reports its amount.

    Raises:
        ValueError: there are more jobs than is reasonable for this machine.
        ChildProcessError: a worker has died.
    """
    try:
        check_jobs(jobs)
    except ValueError as error:
        raise ValueError(f"{jobs} jobs: {error}") from None
    _end_workers_in_the_end()
    tasks = (joblib.delayed(run)(os.getpid(), function, call) for call in calls)
    try:
        # If joblib is interrupted while it starts its threads, it fails to join them.
        with starting_silently(), deferred_interrupts() as interrupted:
            results = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)
        with _closed_silently(results):
            if interrupted():
                raise KeyboardInterrupt
            yield from values_of(results)
    except TerminatedWorkerError as death:
        how = re.search(r"\{(.+?)\}", str(death))
        raise ChildProcessError(
            f"a worker process has died{f' by {how[1]}' if how else ''}: it was ended by the code it ran, or from "
            f"outside (for example out of memory)"
        ) from None


@contextmanager
def _closed_silently(results: Generator[Any, None, None]) -> Iterator[None]:
    """Close joblib's results at the end, without its warning about unfinished calls, which we interrupted."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()


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


@cache
def _end_workers_in_the_end() -> None:
    """End the idle workers, which wait minutes for more work, when this process is about to end."""
    # Loky would do so when Python joins threads, but the command line waits for no threads, and multiprocessing would
    # wait until the workers time out.
    atexit.register(_end_workers)


def _end_workers() -> None:
    if reusable_executor._executor is not None:
        reusable_executor._executor.shutdown(kill_workers=True)


def values_of(results: Iterable[Result[T]]) -> Iterator[T]:
    """Yield the return values of calls; at the end a warning reports the amount of their output."""
    all_printed = CapturedOutput()
    for result, printed in results:
        all_printed = CapturedOutput(all_printed.lines + printed.lines, all_printed.first or printed.first)
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
