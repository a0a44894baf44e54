"""Timeouts for user code."""

import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from knights_isolation.isolation.usercode.timeouts import UserCodeTimeout, cpu_timeout, wall_timeout


def state() -> tuple[object, ...]:
    """The signal handlers and whether timers run."""
    handlers = [signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGPROF)]
    return *handlers, *(signal.getitimer(timer)[0] > 0 for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF))


@pytest.mark.parametrize("timeout", [cpu_timeout, wall_timeout])
def test_whenever_a_timeout_ends_user_code_no_timer_is_left(
    timeout: Callable[[float], AbstractContextManager[None]],
) -> None:
    before, ended = state(), 0
    for number in range(400):
        until = time.perf_counter() + 1e-6 * (number * 7 % 400)
        try:
            with timeout(1e-6 * (1 + number)):
                while time.perf_counter() < until:
                    pass
        except UserCodeTimeout:
            ended += 1
        assert state() == before
    assert 0 < ended < 400


@pytest.mark.parametrize("timeout", [cpu_timeout, wall_timeout])
def test_code_that_ends_too_late_has_timed_out_even_where_the_timeout_was_due_before_it_began(
    timeout: Callable[[float], AbstractContextManager[None]],
) -> None:
    def spend() -> None:
        with timeout(1e-6):
            until = time.perf_counter() + 1e-4
            while time.perf_counter() < until:
                pass

    for _ in range(200):
        with pytest.raises(UserCodeTimeout):
            spend()
