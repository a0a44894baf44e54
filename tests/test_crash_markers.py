"""Crash markers in shared memory: which game is blamed when a worker dies."""

import subprocess
import sys
from pathlib import Path

import pytest

from knights_isolation.experiments.play.pools.game_worker import (
    Markers,
    Suspect,
    create_markers,
    dead_among,
    find_suspects,
    open_markers,
)

SLOTS = (0, 1, 2)
"""Those whose batches are out."""


@pytest.fixture
def markers(tmp_path: Path) -> Markers:
    """Worker 501 is at game 13, its first mover's turn; 502 at 25, the second's; 503 is between batches."""
    result = create_markers(tmp_path / "markers", 4)
    result[0] = (501, 13, 0, 7, 0)
    result[1] = (502, 25, 1, 8, 3)
    result[2] = (0, 32, 1, 9, 0)
    return result


def test_the_dead_worker_s_game_is_suspect_and_whoever_was_on_the_move_in_it(markers: Markers) -> None:
    assert find_suspects(markers, SLOTS, {501}) == [Suspect(13, 1)]
    assert find_suspects(markers, SLOTS, {502}) == [Suspect(25, 2)]


def test_several_dead_workers_have_a_suspect_each(markers: Markers) -> None:
    assert find_suspects(markers, SLOTS, {501, 502}) == [Suspect(13, 1), Suspect(25, 2)]


@pytest.mark.parametrize("dead", [set(), {999}])
def test_all_games_that_were_on_are_suspect_if_the_dead_worker_is_unknown(markers: Markers, dead: set[int]) -> None:
    assert find_suspects(markers, SLOTS, dead) == [Suspect(13, 1), Suspect(25, 2)]


def test_a_worker_that_has_handed_in_its_batch_is_no_suspect(markers: Markers) -> None:
    markers[:2, 0] = 0
    assert find_suspects(markers, SLOTS, {501, 502, 503}) == []


def test_a_worker_that_dies_while_it_hands_in_a_batch_was_at_its_last_game(markers: Markers) -> None:
    markers[0, 0] *= -1
    assert find_suspects(markers, SLOTS, {501}) == [Suspect(13, 1)]
    assert find_suspects(markers, SLOTS, {502}) == [Suspect(25, 2)]
    assert find_suspects(markers, SLOTS, {503}) == [Suspect(25, 2)]
    markers[:, 0] = (-501, 501, 0, 0)
    assert find_suspects(markers, SLOTS, set()) == [Suspect(25, 2)]
    markers[:, 0] = (-501, 0, 0, 0)
    assert find_suspects(markers, SLOTS, set()) == [Suspect(13, 1)]


def test_markers_of_batches_that_are_not_out_do_not_count(markers: Markers) -> None:
    assert find_suspects(markers, [1], {501}) == [Suspect(25, 2)]
    assert find_suspects(markers, [], {501}) == []


def test_what_a_process_marks_is_read_by_others_and_outlives_it(tmp_path: Path) -> None:
    path = tmp_path / "markers"
    markers = create_markers(path, 3)
    assert not markers.any()
    code = (
        "import os, sys; from pathlib import Path\n"
        "from knights_isolation.experiments.play.pools.game_worker import open_markers\n"
        "open_markers(Path(sys.argv[1]), 3)[1] = (os.getpid(), 7, 1, 5, 9); os.kill(os.getpid(), 9)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path)])
    process.wait()
    assert markers.tolist() == [[0] * 5, [process.pid, 7, 1, 5, 9], [0] * 5]
    assert open_markers(path, 3).tolist() == markers.tolist()


def test_the_dead_are_told_from_the_living_and_from_nobody(markers: Markers) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    markers[:, 0] = (living.pid, ended.pid, 0, ended.pid)
    assert dead_among(markers) == {ended.pid}
    living.communicate(b"\n")
