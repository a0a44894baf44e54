"""Stalled workers: how long one has been at the same move."""

from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np

from knights_isolation.experiments.play.pools.loky_pool import LONGEST_STEP, StallDetector, _patience

STEP = 0.5


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += STEP
        return self.now


def test_silence_lasts_until_a_ply_is_played() -> None:
    watch = StallDetector(Clock())
    assert [watch.look([3, 1, 7, 1]) for _ in range(4)] == [0, STEP, 2 * STEP, 3 * STEP]
    # The opponent has answered meanwhile: the same player is to move again.
    assert [watch.look([3, 1, 9, 1]) for _ in range(2)] == [0, STEP]


def test_only_where_compiled_code_plays_there_is_an_end_to_waiting() -> None:
    players = {3: (0, 1), 5: (1, 0)}
    schedule = SimpleNamespace(players=lambda ids: np.array([players[ids.item()]]))
    task: Any = SimpleNamespace(schedule=schedule, patience=(7.0, 9.0))
    assert [_patience(task, game, mover, 7, 1) for game in (3, 5) for mover in (0, 1)] == [7, 9, 9, 7]
    assert _patience(task, 3, 1, 7, 0) == inf  # a child process is asked, or the worker is between batches
    assert _patience(task, -1, 0, 0, 0) == _patience(None, -1, 0, 0, 0) == inf


def test_what_passes_while_nobody_looks_counts_for_little() -> None:
    clock = Clock()
    watch = StallDetector(clock)
    watch.look([3, 1, 7, 1])
    clock.now += 3600  # the machine has slept
    assert watch.look([3, 1, 7, 1]) == LONGEST_STEP
