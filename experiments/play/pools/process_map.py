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

from experiments.plan.config import check_jobs
from experiments.play.pools.interrupts import deferred_interrupts
from isolation.usercode.output_capture import CapturedOutput, capture_output
from isolation.usercode.process_lifetime import die_with_parent

T = TypeVar("T")
Result = tuple[T, CapturedOutput]
"""What a call has returned, and what it has printed."""


def map_unordered(function: Callable[..., T], calls: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[T]:
    """The results of `function(*call)` for every call, in no order; with one job in this process.

    What the calls print is not shown; a warning says how much it was.

    Raises:
        ValueError: there are more jobs than this machine can be asked for.
        ChildProcessError: a worker has died.
    """
    try:
        check_jobs(jobs)
    except ValueError as error:
        raise ValueError(f"{jobs} jobs: {error}") from None
    _end_workers_in_the_end()
    tasks = (joblib.delayed(run)(os.getpid(), function, call) for call in calls)
    try:
        # Interrupted while it starts its threads, joblib fails to join them instead of ending.
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
    """Close joblib's results in the end, without its advice to whoever leaves calls unfinished: we interrupted it."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()


@contextmanager
def starting_silently() -> Iterator[None]:
    """Discard for good what processes that are started meanwhile print themselves, to the end of their lives.

    Loky's workers print a traceback if their parent ends while they start, and its resource tracker prints what it
    removes after processes that were killed: the terminal is no place for either.
    """
    with ExitStack() as stack:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        stack.callback(os.close, nowhere)
        for descriptor in (1, 2):
            with suppress(OSError):  # it is closed: nothing can be printed there
                before = os.dup(descriptor)
                stack.callback(os.close, before)
                stack.callback(os.dup2, before, descriptor)
                os.dup2(nowhere, descriptor)
        yield


@cache
def _end_workers_in_the_end() -> None:
    """Have the workers, which wait minutes for more to do, ended when this process is about to end.

    Loky would do so itself once Python joins threads; the command line waits for none, and multiprocessing would wait
    for the workers to give up.
    """
    atexit.register(_end_workers)


def _end_workers() -> None:
    if reusable_executor._executor is not None:
        reusable_executor._executor.shutdown(kill_workers=True)


def values_of(results: Iterable[Result[T]]) -> Iterator[T]:
    """What calls have returned; in the end a warning says how much they printed."""
    all_printed = CapturedOutput()
    for result, printed in results:
        all_printed = CapturedOutput(all_printed.lines + printed.lines, all_printed.first or printed.first)
        yield result
    if sentence := all_printed.sentence("the code"):
        warnings.warn(sentence, stacklevel=2)


def end_with(parent: int) -> None:
    """End this process when its parent has ended, even by kill -9: an orphan would wait for work for ever."""
    die_with_parent()
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def run(parent: int, function: Callable[..., T], call: tuple[Any, ...]) -> Result[T]:
    """Call a function in a process that ends with its parent; what it prints comes back beside the result."""
    if os.getpid() != parent:
        _watch(parent)
    with capture_output() as printed:
        return function(*call), printed


@cache
def _watch(parent: int) -> None:
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
