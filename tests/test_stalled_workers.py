"""Stalled workers: how long compiled code has been at the same move in one."""

import numpy as np
import pytest
from numpy.typing import NDArray

from knights_isolation.experiments.play.pools.game_worker import COMPILED, GAME, PLY
from knights_isolation.experiments.play.pools.loky_pool import LONGEST_STEP, StallDetector

STEP = 0.5
Marker = NDArray[np.int64]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += STEP
        return self.now


@pytest.fixture
def marker() -> Marker:
    return np.array([3, 1, 7, 1])


def test_silence_lasts_until_a_ply_is_played(marker: Marker) -> None:
    watch = StallDetector(marker, Clock())
    assert [watch.look() for _ in range(4)] == [0, STEP, 2 * STEP, 3 * STEP]
    marker[PLY] += 2  # the opponent has answered meanwhile: the same player is to move again
    assert [watch.look() for _ in range(2)] == [0, STEP]


def test_where_no_compiled_code_plays_nobody_is_silent(marker: Marker) -> None:
    watch = StallDetector(marker, Clock())
    marker[COMPILED] = 0  # a child process is asked, or the worker is between batches
    assert [watch.look() for _ in range(3)] == [0] * 3
    marker[COMPILED] = 1
    assert watch.look() == 0


def test_another_game_begins_anew(marker: Marker) -> None:
    watch = StallDetector(marker, Clock())
    assert [watch.look() for _ in range(2)] == [0, STEP]
    marker[GAME] += 1
    assert watch.look() == 0


def test_what_passes_while_nobody_looks_counts_for_little(marker: Marker) -> None:
    clock = Clock()
    watch = StallDetector(marker, clock)
    watch.look()
    clock.now += 3600  # the machine has slept
    assert watch.look() == LONGEST_STEP
