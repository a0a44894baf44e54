"""Runs on clusters: the same log as on one machine, whatever happens to machines, scheduler and connection."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from clusters import Cluster, Proxy, cluster, started, wait_for

from knights_isolation.experiments.exact.accuracy_games import play_and_label
from knights_isolation.experiments.exact.board_solving import solve_all
from knights_isolation.experiments.exact.labelling import label_run
from knights_isolation.experiments.exact.labels import read_labels
from knights_isolation.experiments.plan import named, parse_spec
from knights_isolation.experiments.plan.config import Config, load_config
from knights_isolation.experiments.play.cluster import dispatcher, remote_worker
from knights_isolation.experiments.play.pools.pool import Machine
from knights_isolation.experiments.play.pools.recovery import FORFEITED
from knights_isolation.experiments.play.runner import RunProgress, play_tournament
from knights_isolation.experiments.record import log, run_directory
from knights_isolation.experiments.record.run_directory import LABELS_FILE as LABELS
from knights_isolation.experiments.studies.parameter_sweep import parse_axis, sweep
from knights_isolation.experiments.studies.screening import collect_answers
from knights_isolation.experiments.suite import read_suite
from knights_isolation.experiments.suite.build_suite import PositionSource, Recipe, build_suite
from knights_isolation.isolation import Limit
from knights_isolation.isolation.rules.game import Size

DEADLY = """
import os, signal

class Deadly:
    def get_move(self, game, time_left):
        os.kill(os.getpid(), signal.SIGKILL)
"""
KILLER = """
import ctypes, os, pathlib, signal

class Killer:
    def get_move(self, game, time_left):  # past Python, which refuses it; a keeper is between the worker and this
        worker = int(pathlib.Path(f"/proc/{os.getppid()}/stat").read_text().split()[3])
        ctypes.CDLL(None).kill(worker, 9)
        signal.pause()
"""
KEYS: dict[str, Any] = {
    **{"format": "head-to-head", "contenders": ["greedy", "R=random"], "baseline": "MM:null@depth=1"},
    **{"board": "5x5", "pairs": 60, "openings": "random:3"},
}


def config_of(out: Path, **keys: Any) -> Config:
    return load_config(None, {**KEYS, **keys, "out": str(out)})


def games(run: Path) -> pd.DataFrame:
    return log.read_games(run).drop(columns=["time_us", "started_at"])


def assert_same_games(first: Path, second: Path) -> None:
    pd.testing.assert_frame_equal(games(first), games(second))


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


@pytest.mark.slow
def test_a_cluster_gives_the_log_that_one_machine_gives(two: Cluster, local: Path, tmp_path: Path) -> None:
    seen: list[RunProgress] = []
    outcome = play_tournament(config_of(tmp_path / "run", cluster=str(two.file)), show=seen.append)
    assert outcome.finished
    assert_same_games(tmp_path / "run", local)
    assert {machine.cores for progress in seen for machine in progress.machines or ()} == {1}
    assert load_config(tmp_path / "run" / run_directory.CONFIG).cluster is None


@pytest.mark.exhaustive
def test_four_machines_give_the_same_log(local: Path, tmp_path: Path) -> None:
    with cluster(tmp_path, machines=4) as made:
        assert play_tournament(config_of(tmp_path / "run", cluster=made.address)).finished
    assert_same_games(tmp_path / "run", local)


@pytest.mark.exhaustive
def test_a_sequential_test_stops_a_run_on_a_cluster_where_it_stops_on_one_machine(two: Cluster, tmp_path: Path) -> None:
    keys = {"contenders": ["greedy"], "baseline": "random", "pairs": 400, "sprt": [0, 50]}
    runs_of_it = tmp_path / "cluster", tmp_path / "local"
    for run, where in zip(runs_of_it, ({"cluster": two.address}, {"jobs": 1}), strict=True):
        assert play_tournament(config_of(run, **keys, **where)).finished
    assert 0 < len(games(runs_of_it[0])) < 2 * 400
    assert_same_games(*runs_of_it)


@pytest.fixture(autouse=True)
def many_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Something can happen between one batch and the next."""
    for name in ("FIRST", "SHORTEST", "LONGEST"):
        monkeypatch.setattr(dispatcher, name, 0.005)


def while_playing(*acts: Callable[[], object]) -> Callable[[RunProgress], None]:
    """Something to do while games go on, one after the other, each after more games have come back."""
    left, last = list(acts), [0]

    def show(progress: RunProgress) -> None:
        returned = np.count_nonzero(progress.points >= 0)
        if left and last[0] < returned < progress.total:
            last[0] = returned
            left.pop(0)()

    return show


@pytest.mark.slow
def test_machines_that_are_killed_stopped_and_that_join_late_change_nothing(
    two: Cluster, local: Path, tmp_path: Path
) -> None:
    first, second = two.machines[-2:]
    acts = while_playing(
        lambda: first.send_signal(signal.SIGSTOP),
        first.kill,
        two.join,
        lambda: second.send_signal(signal.SIGSTOP),
        lambda: second.send_signal(signal.SIGCONT),
    )
    outcome = play_tournament(config_of(tmp_path / "run", cluster=two.address), show=acts)
    assert first.wait() == -signal.SIGKILL
    assert outcome.finished
    assert_same_games(tmp_path / "run", local)


@pytest.mark.slow
def test_a_run_that_no_machine_may_play_ends_in_a_line_and_keeps_what_it_has(
    two: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = remote_worker.versions() | {"numba": "0.1"}
    monkeypatch.setattr(remote_worker, "versions", lambda: ours)
    monkeypatch.setattr(dispatcher, "_ALONE", 0.1)
    outcome = play_tournament(config_of(tmp_path / "run", cluster=two.address))
    assert (outcome.finished, outcome.logged) == (False, 0)
    assert f"no machine of {two.address} can play" in outcome.notes[-1]
    assert "not 0.1, so its games would differ" in outcome.notes[-1]


@pytest.mark.exhaustive
def test_a_run_whose_scheduler_dies_ends_as_interrupted_and_goes_on_elsewhere(
    local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "PATIENCE", 0.5)
    run = tmp_path / "run"
    with cluster(tmp_path, machines=1) as made:
        keys = config_of(run, cluster=made.address)
        outcome = play_tournament(keys, show=while_playing(made.scheduler.kill))
    assert not outcome.finished
    assert "lost the connection to the scheduler at" in outcome.notes[-1]
    assert 0 < outcome.logged == log.count_games(run) < outcome.total
    assert play_tournament(config_of(run, jobs=1), resume=True).finished
    assert_same_games(run, local)


@pytest.mark.slow
def test_a_connection_that_is_cut_for_a_while_is_made_anew(two: Cluster, local: Path, tmp_path: Path) -> None:
    with Proxy(int(two.address.rpartition(":")[2])) as proxy:
        keys = config_of(tmp_path / "run", cluster=f"tcp://127.0.0.1:{proxy.port}")
        outcome = play_tournament(keys, show=while_playing(proxy.cut, proxy.cut))
        assert proxy.cuts == 2
    assert outcome.finished
    assert_same_games(tmp_path / "run", local)


@pytest.mark.slow
def test_a_player_that_kills_its_process_is_blamed_where_it_plays(two: Cluster, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(DEADLY)
    keys = {"contenders": [f"{tmp_path}/user.py:Deadly"], "baseline": "random", "pairs": 6}
    run = play_tournament(config_of(tmp_path / "run", **keys, cluster=two.address)).path
    details = log.read_games(run)["detail"].value_counts().to_dict()
    died = details.pop("its process died")
    assert 3 <= died <= 6  # on two machines, with two games each under way
    assert details == {FORFEITED: 12 - died}


@pytest.mark.slow
def test_a_player_that_kills_workers_loses_three_games_played_alone_and_forfeits_the_rest(
    two: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "user.py").write_text(KILLER)
    keys = {"contenders": [f"{tmp_path}/user.py:Killer"], "baseline": "random", "pairs": 6}
    run = play_tournament(config_of(tmp_path / "run", **keys, cluster=two.address)).path
    log_of_it = log.read_games(run)
    assert log_of_it["detail"].value_counts().to_dict() == {"its process died 3 times in this game": 3, FORFEITED: 9}
    assert (log_of_it["reason"] == "error").all()


@pytest.mark.exhaustive
def test_two_runs_share_machines_and_one_that_is_killed_leaves_them_to_others(
    two: Cluster, local: Path, tmp_path: Path
) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_cluster, pathlib\n"
        "config = test_cluster.config_of(pathlib.Path(sys.argv[2]), cluster=sys.argv[3])\n"
        "test_cluster.play_tournament(config)\n"
    )
    words = [sys.executable, "-c", code, str(Path(__file__).parent)]
    others = [started(tmp_path, *words, str(tmp_path / name), two.address) for name in ("killed", "other")]

    def kill() -> None:
        wait_for(lambda: log.games_folder(tmp_path / "killed").is_dir())
        others[0].kill()

    outcome = play_tournament(config_of(tmp_path / "run", cluster=two.address), show=while_playing(kill))
    assert others[0].wait(60) == -signal.SIGKILL
    assert others[1].wait(60) == 0
    assert outcome.finished
    assert_same_games(tmp_path / "run", local)
    assert_same_games(tmp_path / "other", local)


@pytest.mark.exhaustive
def test_placements_are_solved_and_games_labelled_and_judged_alike(two: Cluster, local: Path, tmp_path: Path) -> None:
    kept = [tmp_path / "cluster.parquet", tmp_path / "local.parquet"]
    for path, where in zip(kept, ({"jobs": 0, "cluster": two.address}, {"jobs": 1}), strict=True):
        solve_all(Size(3, 4), path, **where)
    assert kept[0].read_bytes() == kept[1].read_bytes()
    run = shutil.copytree(local, tmp_path / "run")
    label_run(run, sample=30, jobs=0, cluster=two.address)
    labels = read_labels(run)
    (run / LABELS).unlink()
    label_run(run, sample=30, jobs=1)
    pd.testing.assert_frame_equal(labels, read_labels(run))


@pytest.mark.exhaustive
def test_suites_are_built_and_agents_asked_alike(two: Cluster, tmp_path: Path) -> None:
    recipe = Recipe(
        Size(4, 5), 2, 10, openings=4, sources=(PositionSource("mine", ("random", "greedy")),), field=("greedy",)
    )
    built, asked = [], []
    for number, address in enumerate((None, two.address)):
        path = tmp_path / f"{number}.parquet"
        built.append(build_suite(recipe, path, jobs=0, cluster=address))
        asked.append(collect_answers(["perfect@nodes=50"], read_suite(path).positions, jobs=0, cluster=address))
    assert built[0].equals(built[1])
    cells = [answers.answers.cells.tolist() for (answers,) in asked]
    assert cells[0] == cells[1]


@pytest.mark.exhaustive
def test_heuristics_of_a_file_are_judged_on_machines_that_have_it_not(
    two: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("def score(game, player):\n    return 1.0 * len(game.get_legal_moves(player))\n")
    monkeypatch.chdir(tmp_path)
    result = [
        play_and_label(["mine.py:score"], [1], 5, size=Size(5, 5), **where)
        for where in ({"jobs": 0, "cluster": two.address}, {"jobs": 1})
    ]
    assert set(result[0]["agent"]) == {"mine.py:score at depth 1"}
    pd.testing.assert_frame_equal(*result)


@pytest.mark.exhaustive
def test_values_of_parameters_are_swept_alike(two: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "def score(game, player, *, reach=1.0):\n    return reach * len(game.get_legal_moves(player))\n"
    )
    monkeypatch.chdir(tmp_path)
    nodes = Limit(nodes=20)
    agent = named(parse_spec("ID:mine.py:score@nodes=20"))
    axes, small = [parse_axis("option.reach=-1,0")], {"size": "5x5", "plies": 2, "pairs": 8}
    sweep_results = [
        sweep(agent, axes, None, nodes, out=tmp_path / out, **small, **where).rates
        for out, where in (("there", {"cluster": two.address}), ("here", {"jobs": 1}))
    ]
    assert len({rate.estimate for rate in sweep_results[0].values()}) == 2
    assert sweep_results[0] == sweep_results[1]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("costs_measured")
def test_speeds_are_measured_on_a_machine_where_contenders_are_to_cost_the_same(two: Cluster, tmp_path: Path) -> None:
    keys = {"contenders": ["ID:open@nodes=200"], "baseline": "ID:null@nodes=200", "pairs": 2, "equal_cost": True}
    assert play_tournament(config_of(tmp_path / "run", **keys, cluster=two.address)).finished
    assert set(run_directory.load_run(tmp_path / "run").processor_costs) >= {"ID_Open_200nodes", "ID_Null_200nodes"}


@pytest.mark.exhaustive
def test_a_cluster_talks_by_tls_to_whom_has_certificates(local: Path, tmp_path: Path) -> None:
    own, key = tmp_path / "own.pem", tmp_path / "key.pem"
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=lab -keyout {key} -out {own}"
    subprocess.run(make.split(), check=True, capture_output=True)
    options = ("--tls-ca-file", str(own), "--tls-cert", str(own), "--tls-key", str(key))
    names = {"ca-file": own, "client.cert": own, "client.key": key}
    with cluster(tmp_path, options=options) as made:
        made.join(*options)
        assert made.address.startswith("tls://127.0.0.1:")
        with pytest.raises(ValueError, match="needs certificates: set DASK_DISTRIBUTED__COMM__TLS__CA_FILE"):
            play_tournament(config_of(tmp_path / "run", cluster=made.address))
        with dask.config.set({f"distributed.comm.tls.{name}": str(path) for name, path in names.items()}):
            assert play_tournament(config_of(tmp_path / "run", cluster=made.address)).finished
    assert_same_games(tmp_path / "run", local)


@pytest.mark.exhaustive
def test_machines_that_dask_started_play_too_with_a_nanny_or_without(local: Path, tmp_path: Path) -> None:
    notes: set[str] = set()
    shown: list[tuple[Machine, ...]] = []

    def show(progress: RunProgress) -> None:
        notes.update(progress.notes)
        shown.append(progress.machines or ())

    with cluster(tmp_path) as made:
        for option in ("--nanny", "--no-nanny"):
            dask_worker = str(Path(sys.executable).with_name("dask"))
            made.machines.append(started(tmp_path, dask_worker, "worker", made.address, option, "--nthreads", "1"))
        outcome = play_tournament(config_of(tmp_path / "run", cluster=made.address), show=show)
    assert outcome.finished
    assert_same_games(tmp_path / "run", local)
    assert not [note for note in notes if "does not play" in note]
    assert max(len(machines) for machines in shown) == 2


@pytest.mark.exhaustive
def test_a_run_goes_on_when_its_scheduler_is_there_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("FIRST", 0.5), ("SHORTEST", 0.5), ("LONGEST", 7.0)):
        monkeypatch.setattr(dispatcher, name, seconds)  # so that games are under way when it dies
    long = {"contenders": ["ID:open@nodes=30000"], "baseline": "ID:null@nodes=30000", "board": "7x7", "pairs": 2000}
    with cluster(tmp_path, machines=2) as made:
        port = made.address.rpartition(":")[2]

        def restart() -> None:
            made.scheduler.kill()
            made.scheduler.wait()
            wait_for(lambda: (tmp_path / "log").read_text().count("Lost the scheduler") == 2)
            made.scheduler = started(tmp_path, "cluster", "start", "--port", port, "--scheduler-file", str(made.file))

        act, notes = while_playing(int, int, restart), set()

        def show(progress: RunProgress) -> None:
            act(progress)
            notes.update(progress.notes)

        outcome = play_tournament(config_of(tmp_path / "run", **long, cluster=made.address), show=show)
    assert outcome.finished
    assert not [note for note in notes if "does not play" in note]
    assert play_tournament(config_of(tmp_path / "local", **long, jobs=2)).finished
    assert_same_games(tmp_path / "run", tmp_path / "local")
