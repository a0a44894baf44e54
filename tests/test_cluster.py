"""Runs on clusters: the same log as on one machine, whatever happens to machines, scheduler and connection."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from clusters import Cluster, cluster

from experiments import log, runs
from experiments.config import Config, load_config
from experiments.play.runner import Progress, play_tournament

KEYS: dict[str, Any] = {
    **{"format": "head-to-head", "contenders": ["greedy", "R=random"], "baseline": "MM:null@depth=1"},
    **{"board": "5x5", "pairs": 60, "openings": "random:3"},
}


def config_of(out: Path, **keys: Any) -> Config:
    return load_config(None, {**KEYS, **keys, "out": str(out)})


def games(run: Path) -> pd.DataFrame:
    return log.read_games(run).drop(columns=["time_us", "started_at"])


def assert_same_games(one: Path, other: Path) -> None:
    pd.testing.assert_frame_equal(games(one), games(other))


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on this machine."""
    run = tmp_path_factory.mktemp("local") / "run"
    assert play_tournament(config_of(run, jobs=1)).finished
    return run


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of two machines, for tests that leave it as it was."""
    with cluster(tmp_path_factory.mktemp("two"), machines=2) as made:
        yield made


def test_a_cluster_gives_the_log_that_one_machine_gives(two: Cluster, local: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    outcome = play_tournament(config_of(tmp_path / "run", cluster=str(two.file)), show=seen.append)
    assert outcome.finished
    assert_same_games(tmp_path / "run", local)
    assert {machine.cores for progress in seen for machine in progress.machines} == {1}
    assert load_config(tmp_path / "run" / runs.CONFIG).cluster is None


def playing(progress: Progress) -> bool:
    """Whether some games have come back, and others have not."""
    return 0 < progress.logged < progress.total


def once(condition: Callable[[Progress], bool], *acts: Callable[[], object]) -> Callable[[Progress], None]:
    """Something to do each time the condition holds while games go on, one after the other."""
    left, last = list(acts), [-1]

    def show(progress: Progress) -> None:
        if left and condition(progress) and progress.logged != last[0]:
            last[0] = progress.logged
            left.pop(0)()

    return show


SLOW = {"contenders": ["R=random", "MM:improved@depth=2"], "pairs": 150}
"""Long enough for something to happen meanwhile."""


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("slow") / "run"
    assert play_tournament(config_of(run, **SLOW, jobs=1)).finished
    return run


def test_machines_that_are_killed_and_others_that_join_change_nothing(slow: Path, tmp_path: Path) -> None:
    with cluster(tmp_path, machines=2) as made:
        kills = [
            lambda: made.join(),
            lambda: made.machines[0].kill(),
            lambda: made.join(),
            lambda: made.machines[1].kill(),
        ]
        outcome = play_tournament(
            config_of(tmp_path / "run", **SLOW, cluster=str(made.file)), show=once(playing, *kills)
        )
        assert [machine.poll() for machine in made.machines[:2]] == [-signal.SIGKILL] * 2
    assert outcome.finished
    assert_same_games(tmp_path / "run", slow)
