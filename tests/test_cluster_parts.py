"""What a cluster is made of, without one: addresses, files that travel, machines that may not play."""

import asyncio
import contextlib
import errno
import itertools
import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import dask
import numpy as np
import pytest
from click.testing import CliRunner

from cli import main
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play.cluster import cluster_access, daemons, dispatcher, remote_worker
from knights_isolation.experiments.play.cluster.dispatcher import DaskPool
from knights_isolation.experiments.play.cluster.remote_worker import MachineInfo
from knights_isolation.experiments.play.finished_games import GameEndings, LogPart
from knights_isolation.experiments.play.pools.batch_feed import BatchPace
from knights_isolation.experiments.play.pools.game_worker import GameWorker, task_of
from knights_isolation.experiments.play.pools.loky_pool import LokyPool
from knights_isolation.experiments.play.pools.pool import Event, Finished, Fleet, Machine, UnreachableError
from knights_isolation.experiments.play.runner import _fleet_notes
from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.files.temp_folders import LOCK
from knights_isolation.isolation.loading.load_user_code import content_hash
from knights_isolation.reports.watch.run_progress import machine_table

# Addresses


def test_a_cluster_is_named_by_an_address_or_by_a_scheduler_file(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"type": "Scheduler", "address": "tls://10.0.0.1:8786"}))
    texts = ("tcp://lab:8786", "tls://lab:8786", "lab:8786", str(file))
    result = [cluster_access.scheduler_address(text) for text in texts]
    assert result == ["tcp://lab:8786", "tls://lab:8786", "tcp://lab:8786", "tls://10.0.0.1:8786"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ucx://lab:8786", "cluster ucx://lab:8786: expected an address like tcp://HOST:PORT or tls://HOST:PORT"),
        ("nothing.json", "neither an address such as tcp://HOST:8786 nor an existing scheduler file"),
        ("list.json", "not a scheduler file"),
        ("text.json", "not a scheduler file"),
    ],
)
def test_what_names_no_cluster_is_refused(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text("[]")
    Path("text.json").write_text("tcp")
    with pytest.raises(ValueError, match=message):
        cluster_access.scheduler_address(text)


def test_the_environment_counts_where_nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cluster_access.ENVIRONMENT_VARIABLE, "tcp://lab:8786")
    assert cluster_access.chosen(None, 0) == "tcp://lab:8786"
    assert cluster_access.chosen("other:1", 0) == "other:1"
    assert cluster_access.chosen(None, 2) is None
    monkeypatch.delenv(cluster_access.ENVIRONMENT_VARIABLE)
    assert cluster_access.chosen(None, 0) is None


@pytest.mark.parametrize(
    ("address", "is_warned_of"),
    [
        *(("tcp://127.0.0.1:1", False), ("tcp://localhost:1", False), ("tcp://[::1]:1", False)),
        *(("tls://10.0.0.1:1", False), ("tcp://10.0.0.1:1", True), ("tcp://lab:1", True)),
    ],
)
def test_addresses_that_others_can_reach_unasked_are_warned_of(address: str, is_warned_of: bool) -> None:
    assert bool(cluster_access.exposure(address)) == is_warned_of


def test_tls_without_certificates_says_what_to_set() -> None:
    prefix = "DASK_DISTRIBUTED__COMM__TLS__CLIENT__"
    text = f"tls://lab:8786 needs certificates: set {prefix}CERT, {prefix}KEY, or"
    with dask.config.set({"distributed.comm.tls.ca-file": "ca.pem"}), pytest.raises(ValueError, match=text):
        cluster_access.check_certificates("tls://lab:8786")


# The command line


@pytest.mark.parametrize(
    "words",
    [("cluster", "start"), ("cluster", "join", "lab:8786"), ("match", "random", "greedy", "--cluster", "lab:1")],
)
def test_without_dask_a_line_says_what_to_install(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster_access, "find_spec", lambda name: None)
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.output) == (
        2,
        "Error: a cluster needs dask's distributed: pip install 'knights-isolation[cluster]'\n",
    )
    assert not any(tmp_path.iterdir())


def test_a_scheduler_that_is_not_there_is_told_in_a_line_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dispatcher, "_CONNECT", 0.2)
    result = CliRunner().invoke(main, ["match", "random", "greedy", "--cluster", "127.0.0.1:1"])
    assert result.exit_code == 2
    assert result.output.startswith("Error: the scheduler at tcp://127.0.0.1:1 cannot be reached: ")
    assert result.output.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_jobs_and_a_cluster_do_not_go_together() -> None:
    with pytest.raises(
        ValueError,
        match="jobs and cluster exclude each other: set the jobs of each cluster machine with isolation cluster join",
    ):
        load_config(None, {"jobs": 2, "cluster": "lab:8786"})


def test_some_but_not_all_files_of_tls_are_refused(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("")
    result = CliRunner().invoke(main, ["cluster", "join", "lab:8786", "--tls-key", str(tmp_path / "key.pem")])
    assert (result.exit_code, result.output) == (
        2,
        "Error: TLS needs --tls-ca-file, --tls-cert and --tls-key together\n",
    )


# Files that travel


@pytest.fixture
def user(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "deep.py").write_text("WEIGHT = 2.0\n")
    (folder / "helper.py").write_text("from parts.deep import WEIGHT\n")
    (folder / "my.py").write_text(
        "from helper import WEIGHT\n\ndef score(game, player):\n    return WEIGHT * len(game.get_legal_moves(player))\n"
    )
    return folder / "my.py"


@pytest.mark.exhaustive
def test_a_file_and_its_siblings_arrive_where_they_are_not(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path / "cache")
    keys = {"format": "head-to-head", "contenders": [f"Mine=AB:{user}:score@depth=1"], "baseline": "random", "pairs": 2}
    task = task_of(make_plan(load_config(None, keys)))
    bundle = cluster_access.bundle_of(task)
    assert cluster_access.unpack_task(bundle) == task
    user.parent.rename(tmp_path / "elsewhere")
    arrived = cluster_access.unpack_task(bundle)
    position = tmp_path / "cache" / "files" / content_hash(tmp_path / "elsewhere" / "my.py") / "my.py"
    assert arrived == replace(task, specs=(task.specs[0], f"Mine=AB:{position}:score@depth=1"))
    assert GameWorker(arrived).play_batch(np.array([0, 1]), interpreted=True).played.ids.tolist() == [0, 1]
    assert arrived.users == {1}


def test_a_file_that_is_another_one_over_there_is_not_taken(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path / "cache")
    (file,) = cluster_access.files_of([f"AB:{user}:score"])
    (user.parent / "parts" / "deep.py").write_text("WEIGHT = 3.0\n")
    position = cluster_access.install_file(file)
    assert content_hash(position) == file.content != content_hash(user)
    position.write_text("damaged")
    assert content_hash(cluster_access.install_file(file)) == file.content


# Who may play


def hello(**changes: str) -> MachineInfo:
    return MachineInfo("lab", 4, "a processor", remote_worker.versions() | changes)


def test_machines_whose_log_might_differ_are_refused_in_a_line() -> None:
    ours = remote_worker.versions()
    assert dispatcher._refusal(hello()) == ""
    for name in ("knights-isolation", "python", "numba", "llvmlite", "numpy", "distributed", "sources"):
        assert f"it has {name} other, not {ours[name]}, so its games would differ" in dispatcher._refusal(
            hello(**{name: "other"})
        )
    assert dispatcher._refusal(ModuleNotFoundError("No module named 'experiments'")) == (
        "it has another version of knights-isolation, or none (No module named 'experiments'): install the same"
    )
    assert dispatcher._refusal(replace(hello(), why_not="it may not")) == "it may not"


def test_a_machine_has_the_cores_it_was_told_or_the_threads_dask_has(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = SimpleNamespace(state=SimpleNamespace(nthreads=3))
    assert remote_worker.greet(worker).cores == 3
    monkeypatch.setattr(remote_worker, "_jobs", 7)
    assert remote_worker.greet(worker).cores == 7
    assert remote_worker.greet(worker).versions == remote_worker.versions()


def test_a_machine_that_fails_while_it_makes_a_part_of_the_log_is_unfit_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = {"format": "head-to-head", "contenders": ["greedy"], "baseline": "random", "pairs": 2, "board": "5x5"}
    task, ids = task_of(make_plan(load_config(None, keys))), np.array([0, 1])
    played = GameWorker(task).play_batch(ids).played
    batch = partial(remote_worker._encoded, task, played, np.array([0]), np.zeros(1), {})
    monkeypatch.setattr(remote_worker, "_do", lambda key, remote_task: batch)
    answer = remote_worker.play("task", ids)
    assert isinstance(answer, remote_worker.PlayedPart)
    assert answer.part.ids.tolist() == ids.tolist()

    def fail(table: object) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(remote_worker.log_parts, "encode_part", fail)
    output: list[str] = []
    monkeypatch.setattr(remote_worker, "_say", output.append)
    assert remote_worker.play("task", ids) == remote_worker.MachineUnsuitable(
        "OSError: [Errno 28] No space left on device"
    )
    assert output == ["This machine stops playing in this run: OSError: [Errno 28] No space left on device"]


def test_a_machine_that_cannot_play_is_named_and_its_work_goes_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    full = remote_worker.MachineUnsuitable("OSError: [Errno 28] No space left on device")

    async def answer(client: object, address: str, remote_task: dispatcher.RemoteTask) -> remote_worker.Answer:
        return full

    monkeypatch.setattr(dispatcher, "_done", answer)
    monkeypatch.setattr(dispatcher, "_LOOK_EVERY", 0.0)
    monkeypatch.setattr(dispatcher, "_ALONE", -1.0)
    monkeypatch.setattr(
        dispatcher.Dispatcher, "_stay_connected", lambda self: self._first.put(None) or asyncio.sleep(60)
    )
    with contextlib.closing(dispatcher.Dispatcher("tcp://lab:8786")) as made:
        full_lab = dispatcher.ConnectedMachine("tcp://lab2:1", hello())
        made._names["tcp://lab2:1"], made._present = "lab2", {"tcp://lab2:1"}
        remote_task = dispatcher.RemoteTask(1, remote_worker.compute, (), None)
        asyncio.run_coroutine_threadsafe(made._try(None, full_lab, remote_task), made._loop).result(10)  # type: ignore[arg-type]
        assert made._waiting.get_nowait() is remote_task
        assert made.received(0) == []
        assert f"lab2 (tcp://lab2:1) does not play: {full.why}" in made.notes()
        with pytest.raises(UnreachableError, match=r"can play; lab2 \(tcp://lab2:1\): OSError: .* No space left"):
            made.check()


@pytest.mark.exhaustive
def test_a_full_disk_is_no_answer_of_the_work_that_was_asked_for(
    at_work: Callable[[Callable[[], bool]], None],
) -> None:
    at_work(lambda: False)
    answer = remote_worker.call("task", _meet_a_full_disk)
    assert answer == remote_worker.MachineUnsuitable("OSError: [Errno 28] No space left on device")
    assert isinstance(remote_worker.call("task", _divide_by_zero), remote_worker.Failed)


def test_what_a_killed_machine_has_left_in_temporary_folders_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(daemons, "PATIENCE", 0.0)
    monkeypatch.setattr(daemons, "_stop_signal", asyncio.Event)
    left = tmp_path / "isolation-machine-killed"
    left.mkdir()
    (left / LOCK).touch()
    os.utime(left, (0, 0))
    monkeypatch.setattr(remote_worker, "_leaving", threading.Event())
    assert not daemons.serve_worker("127.0.0.1:1", 1)
    remote_worker.use(0, lambda line: None)
    assert not left.exists()


def test_a_worker_says_that_it_waits_for_its_scheduler(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(daemons, "PATIENCE", 0.5)
    monkeypatch.setattr(daemons, "_CONNECT", 0.1)
    monkeypatch.setattr(daemons, "_stop_signal", asyncio.Event)
    monkeypatch.setattr(remote_worker, "_leaving", threading.Event())
    assert not daemons.serve_worker("127.0.0.1:1", 1)
    assert capsys.readouterr().out.splitlines() == [
        "No scheduler at 127.0.0.1:1 yet; waiting up to 0 s for one (Ctrl-C to stop).",
        "No answer from a scheduler at 127.0.0.1:1 within 0 s.",
    ]


def _meet_a_full_disk(worker: GameWorker) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _divide_by_zero(worker: GameWorker) -> None:
    raise ZeroDivisionError


# What comes back


SLOW = """
class First:
    place = 0

    def get_move(self, game, time_left):
        sum(range(200_000))
        return game.get_legal_moves()[self.place]

class Last(First):
    place = -1
"""


@pytest.fixture
def at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[], bool]], None]]:
    """A machine of one process with a task; this function says when its remote_tasks are interrupted."""
    (tmp_path / "slow.py").write_text(SLOW)
    agents = {"contenders": [f"{tmp_path}/slow.py:First"], "baseline": f"{tmp_path}/slow.py:Last"}
    keys = {"format": "head-to-head", "pairs": 20, "openings": "random:4", **agents}
    task = task_of(make_plan(load_config(None, keys)))
    dask_worker = SimpleNamespace(state=SimpleNamespace(nthreads=1))
    monkeypatch.setattr(remote_worker, "_jobs", 1)
    remote_worker.receive("task", cluster_access.bundle_of(task))

    def interrupted_when(condition: Callable[[], bool]) -> None:
        monkeypatch.setattr(remote_worker, "_interruption", lambda key: (dask_worker, condition))

    yield interrupted_when
    remote_worker._close()


@pytest.mark.slow
def test_games_that_were_under_way_when_a_machine_left_off_are_in_no_later_batch(
    at_work: Callable[[Callable[[], bool]], None],
) -> None:
    sent: list[int] = []
    submit = LokyPool.submit

    def noted(pool: LokyPool, ids: np.ndarray, interpreted: bool = False) -> None:
        submit(pool, ids, interpreted)
        sent.extend(ids.tolist())

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LokyPool, "submit", noted)
        at_work(lambda: bool(sent))
        assert isinstance(remote_worker.play("task", np.arange(36)), remote_worker.Cancelled)
    at_work(lambda: False)
    answer = remote_worker.play("task", np.arange(36, 40))
    assert isinstance(answer, remote_worker.PlayedPart)
    assert sorted(answer.part.ids.tolist()) == [36, 37, 38, 39]


class ScriptedHub:
    """Machines that return what a script says."""

    address = "tcp://lab:8786"

    def __init__(self) -> None:
        self.remote_tasks: list[dispatcher.RemoteTask] = []
        self.returned: list[dispatcher.Returned] = []
        self.refused: dict[str, str] = {}
        self.machines: list[dispatcher.ConnectedMachine] = []

    def check(self) -> None:
        """It is always there."""

    def send(self, remote_task: dispatcher.RemoteTask) -> None:
        self.remote_tasks.append(remote_task)

    def received(self, timeout: float) -> list[dispatcher.Returned]:
        returned, self.returned = self.returned, []
        return returned

    def refuse(self, address: str, why: str) -> None:
        self.refused[address] = why


def test_a_machine_that_sends_other_games_than_it_was_asked_for_is_named_and_others_play_them() -> None:
    scripted = ScriptedHub()
    pool = DaskPool(scripted, itertools.count(1))  # type: ignore[arg-type]
    pool.submit(np.array([4, 5]))

    def send(*ids: int) -> list[Event]:
        part = LogPart(
            np.array(ids), GameEndings(np.ones(len(ids), np.int8), np.ones(len(ids), np.int8), [""] * len(ids)), b""
        )
        answer = remote_worker.PlayedPart(part, np.array([0]), np.zeros(1), {})
        scripted.returned.append(dispatcher.Returned(scripted.remote_tasks[-1].number, answer, "tcp://other:1"))
        return pool.finished(0)

    for wrong in ([4, 5, 6], [4], [4, 6], [4, 4]):
        scripted.refused.clear()
        assert send(*wrong) == []
        assert scripted.refused == {"tcp://other:1": "it sent games that were not requested, which were discarded"}
        assert scripted.remote_tasks[-1].arguments[1].tolist() == [4, 5]
    (finished,) = send(5, 4)
    assert isinstance(finished, Finished)
    assert not pool.is_busy
    assert send(5, 4) == []  # nobody waits for them any more
    assert not pool.is_busy


def test_unlike_machines_are_warned_of_where_a_clock_limits_somebody() -> None:
    machines = [Machine(name, 2, f"processor {name}", 1.0, 2) for name in ("a", "b")]
    keys = {"format": "head-to-head", "baseline": "random", "pairs": 2}
    message = [
        len(_fleet_notes(make_plan(load_config(None, {**keys, "contenders": [agent]})), Fleet(some, BatchPace(1))))
        for agent in ("ID:open@ms=5", "ID:open@nodes=5")
        for some in (tuple(machines), tuple(machines[:1]))
    ]
    assert message == [1, 0, 0, 0]


def test_many_machines_are_shown_as_the_fastest_and_the_rest() -> None:
    machines = [Machine(f"lab{index}", 4, "", float(index), 2) for index in range(20)]
    table = machine_table(machines)
    names = list(table.columns[0].cells)
    assert (names[0], names[-1], len(names)) == ("lab19", "and 8 more", 13)
    assert list(table.columns[1].cells)[-1] == "32"
