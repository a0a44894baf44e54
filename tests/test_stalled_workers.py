"""Stalled workers: how long compiled code has been at the same move in each."""

from pathlib import Path

import pytest

from knights_isolation.experiments.play.pools.game_worker import LONGEST_STEP, Markers, StallDetector, create_markers

STEP = 0.5


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += STEP
        return self.now


@pytest.fixture
def markers(tmp_path: Path) -> Markers:
    result = create_markers(tmp_path / "markers", 2)
    result[:] = [(501, 3, 1, 7, 1), (502, 0, 0, 4, 1)]
    return result


def test_silence_lasts_until_a_ply_is_played(markers: Markers) -> None:
    watch = StallDetector(markers, Clock())
    assert [watch.look([0, 1])[0] for _ in range(4)] == [0, STEP, 2 * STEP, 3 * STEP]
    markers[0, 3] += 2  # the opponent has answered meanwhile: the same player is to move again
    assert watch.look([0, 1]) == {0: 0.0, 1: 4 * STEP}


def test_where_no_compiled_code_plays_nobody_is_silent(markers: Markers) -> None:
    watch = StallDetector(markers, Clock())
    markers[0, 4] = 0  # a child process is asked, or the worker is between batches
    assert [set(watch.look([0, 1])) for _ in range(3)] == [{1}] * 3
    markers[0, 4] = 1
    assert watch.look([0, 1])[0] == 0


def test_another_batch_in_the_same_place_begins_anew(markers: Markers) -> None:
    watch = StallDetector(markers, Clock())
    watch.look([0])
    watch.forget(0)
    assert watch.look([0]) == {0: 0.0}


def test_what_passes_while_nobody_looks_counts_for_little(markers: Markers) -> None:
    clock = Clock()
    watch = StallDetector(markers, clock)
    watch.look([0])
    clock.now += 3600  # the machine has slept
    assert watch.look([0])[0] == LONGEST_STEP
