"""Many calls in worker processes that end with their parent; the results as they come."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

import joblib

from experiments.config import check_jobs

T = TypeVar("T")


def as_they_come(function: Callable[..., T], calls: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[T]:
    """The results of `function(*call)` for every call, in no order; with one job in this process.

    Raises:
        ValueError: there are more jobs than this machine can be asked for.
    """
    try:
        check_jobs(jobs)
    except ValueError as error:
        raise ValueError(f"{jobs} jobs: {error}") from None
    tasks = (joblib.delayed(_run)(os.getpid(), function, call) for call in calls)
    yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(tasks)


def end_with(parent: int) -> None:
    """End this process when its parent has ended, even by kill -9: an orphan would wait for work for ever."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _run(parent: int, function: Callable[..., T], call: tuple[Any, ...]) -> T:
    if os.getpid() != parent:
        _watch(parent)
    return function(*call)


@cache
def _watch(parent: int) -> None:
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
