"""What a cluster is made of, without one: addresses, files that travel, machines that may not play."""

import asyncio
import contextlib
import errno
import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
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
from knights_isolation.experiments.play.cluster.remote_worker import Exchanged, MachineInfo, Returned, Work
from knights_isolation.experiments.play.finished_games import GameEndings, LogPart
from knights_isolation.experiments.play.pools.batch_feed import BatchPace
from knights_isolation.experiments.play.pools.game_worker import GameWorker, PlayedBatch, task_of
from knights_isolation.experiments.play.pools.loky_pool import LokyPool
from knights_isolation.experiments.play.pools.pool import (
    Answered,
    Died,
    Event,
    Failed,
    Finished,
    Fleet,
    Machine,
    UnreachableError,
)
from knights_isolation.experiments.play.runner import _fleet_notes
from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.files.folders import LOCK
from knights_isolation.isolation.loading.load_user_code import content_hash
from knights_isolation.reports.watch import machine_table

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
    assert repr(cluster_access.unpack_task(bundle)) == repr(task)  # a schedule has arrays
    user.parent.rename(tmp_path / "elsewhere")
    arrived = cluster_access.unpack_task(bundle)
    position = tmp_path / "cache" / "files" / content_hash(tmp_path / "elsewhere" / "my.py") / "my.py"
    assert repr(arrived) == repr(replace(task, specs=(task.specs[0], f"Mine=AB:{position}:score@depth=1")))
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


def exchanged(*work: Work, until: Callable[[Returned], bool] = lambda item: True) -> list[Returned]:
    """What comes back for work of the session of `at_work`, up to the event that is waited for."""
    returned = list(remote_worker.exchange(KEY, work, 0, 5.0).returned)
    while not any(map(until, returned)):
        returned += remote_worker.exchange(KEY, [], 0, 5.0).returned
    return returned


@pytest.mark.slow
def test_a_machine_that_fails_while_it_makes_a_part_of_the_log_is_unfit_and_says_why(
    at_work: Callable[[Callable[[], bool]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work(lambda: False)
    (returned,) = exchanged(Work(7, np.array([0, 1])))
    assert returned.numbers == (7,)
    assert isinstance(returned.event, Finished)
    assert isinstance(returned.event.batch.played, LogPart)
    assert returned.event.batch.played.ids.tolist() == [0, 1]

    def fail(table: object) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(remote_worker.log_parts, "encode_part", fail)
    output: list[str] = []
    monkeypatch.setattr(remote_worker, "_say", output.append)
    with pytest.raises(remote_worker.MachineUnsuitableError, match=r"^OSError: \[Errno 28\] No space left on device$"):
        exchanged(Work(8, np.array([2, 3])))
    assert output == ["This machine stops playing in this run: OSError: [Errno 28] No space left on device"]


class ScriptedMachines(dispatcher.Dispatcher):
    """Machines that do what a script says: the n-th machine is to return this of its work, or raise it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *does: Callable[[list[Work]], list[Returned]]) -> None:
        self.does = {f"tcp://lab{number}:1": act for number, act in enumerate(does, 1)}
        self.had: list[tuple[str, list[int]]] = []
        client = SimpleNamespace(status="running", run=self._run)

        async def alive(self: ScriptedMachines) -> None:
            self._first.put(None)
            self._present = set(self.does)
            for address in self.does:  # one after the other
                await asyncio.wait([asyncio.ensure_future(self._attend(client, address))], timeout=1.0)  # type: ignore[arg-type]
            await asyncio.Event().wait()

        async def exchange(client: object, address: str, key: object, work: list[Work], *_: object) -> Exchanged:
            self.had.append((address, [item.number for item in work]))
            return Exchanged(tuple(self.does[address](work)), {})

        monkeypatch.setattr(dispatcher.Dispatcher, "_stay_connected", alive)
        monkeypatch.setattr(dispatcher, "_exchanged", exchange)
        super().__init__("tcp://lab:8786")

    async def _run(self, function: object, *arguments: object, workers: list[str], **_: object) -> dict[str, object]:
        return {address: replace(hello(), name=address[6:10]) for address in workers}


def everything(pool: DaskPool) -> list[Event]:
    """All that happens until nothing is out."""
    events: list[Event] = []
    while pool.is_busy:
        events += pool.finished(1.0)
    return events


def played(ids: list[int], *numbers: int) -> Returned:
    """Games that come back, for the work of these numbers."""
    part = LogPart(
        np.array(ids), GameEndings(np.ones(len(ids), np.int8), np.ones(len(ids), np.int8), [""] * len(ids)), b""
    )
    return Returned(numbers, Finished(numbers[0], PlayedBatch(part, np.array([0]), np.zeros(1))))


def as_asked(work: list[Work]) -> list[Returned]:
    return [
        Returned((item.number,), Answered(item.number, None))
        if item.ids is None
        else played(item.ids.tolist(), item.number)
        for item in work
    ]


def unfit(work: list[Work]) -> list[Returned]:
    raise remote_worker.MachineUnsuitableError("OSError: [Errno 28] No space left on device")


def test_a_machine_that_cannot_play_is_named_and_its_work_goes_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "_ALONE", -1.0)
    with contextlib.closing(ScriptedMachines(monkeypatch, unfit, as_asked)) as made:
        pool = DaskPool(made)
        pool.submit(np.array([4, 5]))
        (finished,) = everything(pool)
        assert isinstance(finished, Finished)
        assert [address for address, _ in made.had] == ["tcp://lab1:1", "tcp://lab2:1"]
        assert "lab1 (tcp://lab1:1) does not play: OSError: [Errno 28] No space left on device" in made.notes()
    with contextlib.closing(ScriptedMachines(monkeypatch, unfit)) as made:
        pool = DaskPool(made)
        pool.submit(np.array([4, 5]))
        with pytest.raises(UnreachableError, match=r"can play; lab1 \(tcp://lab1:1\): OSError: .* No space left"):
            everything(pool)
        assert pool.is_busy


def test_a_machine_whose_workers_keep_dying_for_no_game_is_refused_and_others_play(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def die(work: list[Work]) -> list[Returned]:
        raise InterruptedError("worker processes die before playing a game")

    with contextlib.closing(ScriptedMachines(monkeypatch, die, die, die, as_asked)) as made:
        made._failures["tcp://lab1:1"] = made._failures["tcp://lab3:1"] = 2
        pool = DaskPool(made)
        pool.submit(np.array([4, 5]))
        (finished,) = everything(pool)
        assert isinstance(finished, Finished)
        assert len({tuple(numbers) for _, numbers in made.had}) == 1
        assert made._refused == dict.fromkeys(
            ("tcp://lab1:1", "tcp://lab3:1"), "worker processes die before playing a game"
        )


def test_a_machine_has_two_batches_a_core_whatever_calls_it_answered_before(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"format": "head-to-head", "contenders": ["greedy"], "baseline": "random", "pairs": 2, "board": "5x5"}
    with contextlib.closing(ScriptedMachines(monkeypatch, as_asked)) as made:
        pool = DaskPool(made)
        pool.assign(task_of(make_plan(load_config(None, keys))))
        sizes = []
        for ask in (lambda: pool.call(print), lambda: pool.submit(np.array([0]))):
            made.had.clear()
            for _ in range(50):
                ask()
            everything(pool)
            sizes.append(max(len(numbers) for _, numbers in made.had))
        assert sizes == [8, 8]


def test_work_that_loses_eight_machines_is_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def die(work: list[Work]) -> list[Returned]:
        raise ConnectionError

    for asked, message in ((True, "the same games were lost"), (False, "the same work was lost")):
        with contextlib.closing(ScriptedMachines(monkeypatch, *[die] * 8)) as made:
            pool = DaskPool(made)
            number = pool.submit(np.array([4, 5])) if asked else pool.call(print)
            (failed,) = everything(pool)
            assert isinstance(failed, Failed)
            assert failed.number == number
            assert str(failed.error) == f"{message} repeatedly: 8 machines were lost while running it"
            assert len(made.had) == 8


@pytest.mark.exhaustive
def test_a_full_disk_is_no_answer_of_the_work_that_was_asked_for(
    at_work: Callable[[Callable[[], bool]], None],
) -> None:
    at_work(lambda: False)
    with pytest.raises(remote_worker.MachineUnsuitableError, match=r"^OSError: \[Errno 28\] No space left on device$"):
        exchanged(Work(1, call=(_meet_a_full_disk,)))
    at_work(lambda: False)
    (returned,) = exchanged(Work(2, call=(_divide_by_zero,)))
    assert isinstance(returned.event, Failed)
    assert returned.event.number == 2
    assert isinstance(returned.event.error, ZeroDivisionError)


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


KEY = ("client", 1)
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

    def interrupted_when(condition: Callable[[], bool]) -> None:
        monkeypatch.setattr(remote_worker, "_interruption", lambda key: (dask_worker, condition))
        remote_worker.begin(KEY, cluster_access.bundle_of(task))

    yield interrupted_when
    remote_worker._close()
    remote_worker.forget(KEY[0])


@pytest.mark.slow
def test_games_that_were_under_way_when_a_machine_left_off_are_in_no_later_batch(
    at_work: Callable[[Callable[[], bool]], None],
) -> None:
    sent: list[int] = []
    submit = LokyPool.submit

    def noted(pool: LokyPool, ids: np.ndarray, interpreted: bool = False) -> int:
        sent.extend(ids.tolist())
        return submit(pool, ids, interpreted)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LokyPool, "submit", noted)
        at_work(lambda: bool(sent))
        with pytest.raises(InterruptedError):
            exchanged(Work(1, np.arange(36)))
    at_work(lambda: False)
    (returned,) = exchanged(Work(2, np.arange(36, 40)))
    assert isinstance(returned.event, Finished)
    assert sorted(returned.event.batch.played.ids.tolist()) == [36, 37, 38, 39]


@pytest.mark.slow
def test_a_machine_finishes_what_it_does_for_one_client_before_it_works_for_another(
    at_work: Callable[[Callable[[], bool]], None],
) -> None:
    at_work(lambda: False)
    assert remote_worker.exchange(KEY, [Work(1, np.arange(10))], 0, 0.0).returned == ()
    remote_worker.begin(("other", 1), b"")
    (other,) = remote_worker.exchange(("other", 1), [Work(1, call=(_whose,))], 0, 60.0).returned
    assert other == Returned((1,), Answered(1, "nobody's"))
    (ours,) = remote_worker.exchange(KEY, [Work(2, call=(_whose,))], 0, 0.0).returned
    assert isinstance(ours.event, Finished)
    assert ours.event.batch.played.ids.tolist() == list(range(10))
    (ours,) = exchanged()
    assert ours == Returned((2,), Answered(2, "the task's"))
    remote_worker.forget("other")


def _whose(worker: GameWorker | None) -> str:
    return "the task's" if worker else "nobody's"


@pytest.mark.exhaustive
def test_a_game_that_kills_its_worker_is_a_suspect_and_played_alone_on_request(
    at_work: Callable[[Callable[[], bool]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def noted(pool: LokyPool, ids: np.ndarray, interpreted: bool = False) -> int:
        asked.append(interpreted)
        return pool.call(_end_unless, interpreted)

    monkeypatch.setattr(LokyPool, "submit", noted)
    at_work(lambda: False)
    (died,) = exchanged(Work(1, call=(_end_unless, False)))
    assert died == Returned((1,), Died(1))
    (answered,) = exchanged(Work(2, np.array([3]), is_alone=True))
    assert (answered, asked) == (Returned((2,), Answered(2, None)), [True])


def _end_unless(worker: GameWorker, lives: bool) -> None:
    if not lives:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_machine_that_sends_other_games_than_it_was_asked_for_is_named_and_others_play_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answers(*ids: int) -> Callable[[list[Work]], list[Returned]]:
        return lambda work: [played(list(ids), work[0].number)]

    twice = lambda work: [*as_asked(work), *as_asked(work)]  # noqa: E731
    wrong = [answers(4, 5, 6), answers(4), answers(4, 6), answers(4, 4)]
    with contextlib.closing(ScriptedMachines(monkeypatch, *wrong, twice)) as made:
        pool = DaskPool(made)
        pool.submit(np.array([4, 5]))
        (finished,) = everything(pool)
        assert isinstance(finished, Finished)
        time.sleep(0.5)
        assert pool.finished(0) == []  # nobody waits for them any more
        why = "it sent games that were not requested, which were discarded"
        assert made._refused == dict.fromkeys(made.does, why)
        assert len({tuple(numbers) for _, numbers in made.had}) == 1


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
