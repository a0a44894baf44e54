"""What a cluster is made of, without one: addresses, files that travel, machines that may not play."""

import asyncio
import errno
import json
import os
import re
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
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
from knights_isolation.experiments.play.cluster.remote_worker import Done
from knights_isolation.experiments.play.finished_games import FinishedGames
from knights_isolation.experiments.play.pools.batch_feed import BatchPace
from knights_isolation.experiments.play.pools.game_worker import GameWorker, PlayedBatch, Task, task_of
from knights_isolation.experiments.play.pools.loky_pool import LokyPool
from knights_isolation.experiments.play.pools.pool import (
    ClusterState,
    Died,
    Event,
    Failed,
    Finished,
    Machine,
    Suspect,
    UnreachableError,
    Work,
)
from knights_isolation.experiments.play.runner import _cluster_notes
from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.files.folders import LOCK
from knights_isolation.isolation.games.match import batch_of
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


def greeted(ours: dict[str, str], key: str = "", bundle: bytes = b"", cores: int = 1) -> tuple[Machine, str]:
    return remote_worker.greet(ours, key, bundle, SimpleNamespace(state=SimpleNamespace(nthreads=cores)))


def test_machines_whose_log_might_differ_are_refused_in_a_line() -> None:
    own = remote_worker.versions()
    assert greeted(own)[1] == ""
    for name in ("knights-isolation", "python", "numba", "llvmlite", "numpy", "distributed", "sources"):
        assert f"it has {name} {own[name]}, not other, so its games would differ" in greeted(own | {name: "other"})[1]


def test_a_machine_has_a_core_for_each_thread_of_dask() -> None:
    assert greeted(remote_worker.versions(), cores=3)[0].cores == 3


Act = Callable[[Sequence[Work]], Done]


class ScriptedFuture:
    """What dask gives for work that has been sent, and what the script has for it a moment later."""

    def __init__(self, act: Callable[[], Done]) -> None:
        self._act = act

    def __await__(self) -> Generator[object, None, Done]:
        yield from asyncio.sleep(0.01).__await__()
        return self._act()

    def release(self) -> None:
        pass


class ScriptedMachines(DaskPool):
    """Machines of four cores that do what a script says: the n-th machine is to return this of its work, or raise it.

    Attributes:
        had: machines, and the numbers of the work that they got, in this order.
        most: largest number of tasks that a machine had at a time.
        greetings: number of greetings.
    """

    def __init__(self, *does: Act, greeting: Callable[[], str] = lambda: "") -> None:
        self.does = {f"tcp://lab{number}:1": act for number, act in enumerate(does, 1)}
        self.greeting = greeting
        self.had: list[tuple[str, tuple[int, ...]]] = []
        self.most = 0
        self.greetings = 0
        super().__init__("tcp://lab:8786")

    async def _stay_connected(self, begun: Future[None]) -> None:
        self._loop, self._life = asyncio.get_running_loop(), asyncio.current_task()
        self._client = SimpleNamespace(status="running", run=self._run, submit=self._submit)  # type: ignore[assignment]
        begun.set_result(None)
        while True:
            self._look_at(self.does)
            await asyncio.sleep(0.01)

    async def _run(self, function: object, *_: object, workers: list[str]) -> dict[str, object]:
        (address,) = workers
        self.greetings += 1
        return {address: (Machine(address[6:10], 4, "a processor"), self.greeting())}

    def _submit(
        self, function: object, task: str, works: Sequence[Work], *, workers: list[str], **_: object
    ) -> ScriptedFuture:
        (address,) = workers
        self.had.append((address, tuple(work.number for work in works)))
        self.most = max(self.most, len(self._members[address].doing) + 1)
        return ScriptedFuture(lambda: self.does[address](works))

    @property
    def refused(self) -> dict[str, str]:
        return {member.address: member.refused for member in self._all if member.refused}


def everything(pool: DaskPool) -> list[Event]:
    """All that happens until nothing is out."""
    events: list[Event] = []
    while pool.is_busy:
        events += pool.finished(1.0)
    return events


def played(ids: list[int], number: int) -> Event:
    """Games that come back, for the batch of this number."""
    games = FinishedGames(np.array(ids), batch_of([]), np.zeros(len(ids), np.int64))
    return Finished(number, PlayedBatch(games, np.array([0]), np.zeros(1)))


def as_asked(works: Sequence[Work]) -> Done:
    answers = [played(list(work.ids), work.number) if work.ids else Finished(work.number, None) for work in works]
    return Done(answers, 0.0, {})


def unfit(works: Sequence[Work]) -> Done:
    raise remote_worker.MachineUnsuitableError("OSError: [Errno 28] No space left on device")


def test_a_machine_that_cannot_play_is_named_and_its_work_goes_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "_ALONE", -1.0)
    with ScriptedMachines(unfit, as_asked) as pool:
        number = pool.submit(np.array([4, 5]))
        (finished,) = everything(pool)
        assert isinstance(finished, Finished)
        assert pool.had == [("tcp://lab1:1", (number,)), ("tcp://lab2:1", (number,))]
        note = "lab1 (tcp://lab1:1) does not play: OSError: [Errno 28] No space left on device"
        assert note in pool.cluster_state.notes
    with ScriptedMachines(unfit) as pool:
        pool.submit(np.array([4, 5]))
        with pytest.raises(UnreachableError, match=r"can play; lab1 \(tcp://lab1:1\): OSError: .* No space left"):
            everything(pool)
        assert pool.is_busy


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (
            ModuleNotFoundError("No module named 'experiments'"),
            "it has another version of knights-isolation, or none (No module named 'experiments'): install the same",
        ),
        (ConnectionError("no route"), "no route"),
    ],
)
def test_a_machine_that_cannot_be_greeted_does_not_play(
    error: Exception, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "_ALONE", -1.0)

    def fail() -> str:
        raise error

    with ScriptedMachines(as_asked, greeting=fail) as pool:
        pool.submit(np.array([4, 5]))
        with pytest.raises(UnreachableError, match=re.escape(f"can play; tcp://lab1:1: {why}")):
            everything(pool)
        assert pool.had == []


def test_a_machine_that_has_forgotten_the_task_is_told_again() -> None:
    forgotten: list[Sequence[Work]] = []

    def forgets(works: Sequence[Work]) -> Done:
        if not forgotten:
            forgotten.append(works)
            raise LookupError("the task")
        return as_asked(works)

    with ScriptedMachines(forgets) as pool:
        number = pool.submit(np.array([4, 5]))
        (finished,) = everything(pool)
        assert isinstance(finished, Finished)
        assert pool.had == [("tcp://lab1:1", (number,))] * 2
        assert pool.greetings == 2


def test_a_machine_has_two_batches_a_core_whatever_calls_it_answered_before() -> None:
    keys = {"format": "head-to-head", "contenders": ["greedy"], "baseline": "random", "pairs": 2, "board": "5x5"}
    with ScriptedMachines(as_asked) as pool:
        pool.assign(task_of(make_plan(load_config(None, keys))))
        for ask in (lambda: pool.call(print), lambda: pool.submit(np.array([0]))):
            pool.most = 0
            for _ in range(50):
                ask()
            assert len(everything(pool)) == 50
            assert pool.most == 8


def test_short_calls_are_sent_together_and_long_ones_one_by_one() -> None:
    def taking(seconds: float) -> Act:
        return lambda works: replace(as_asked(works), seconds=seconds * len(works))

    for seconds, fewest, most in ((0.005, 40, 50), (10.0, 1, 1)):
        with ScriptedMachines(taking(seconds)) as pool:
            for _ in range(20):
                for _ in range(pool.calls_at_once):
                    pool.call(print)
                everything(pool)
            assert fewest <= len(pool.had[-1][1]) <= most
            assert pool.calls_at_once == 8 * len(pool.had[-1][1])


def test_work_that_loses_eight_machines_is_not_sent_again() -> None:
    def die(works: Sequence[Work]) -> Done:
        raise ConnectionError

    for is_batch, message in ((True, "the same games were lost"), (False, "the same work was lost")):
        with ScriptedMachines(*[die] * 8) as pool:
            number = pool.submit(np.array([4, 5])) if is_batch else pool.call(print)
            (failed,) = everything(pool)
            assert isinstance(failed, Failed)
            assert failed.number == number
            assert str(failed.error) == f"{message} repeatedly: 8 machines were lost while running it"
            assert len(pool.had) == 8


def test_a_machine_that_sends_other_games_than_it_was_asked_for_is_named_and_others_play_them() -> None:
    def answers(*ids: int) -> Act:
        return lambda works: Done([played(list(ids), works[0].number)], 0.0, {})

    with ScriptedMachines(answers(4, 5, 6), answers(4), answers(4, 6), answers(4, 4), as_asked) as pool:
        pool.submit(np.array([4, 5]))
        (finished,) = everything(pool)
        assert isinstance(finished, Finished)
        assert finished.value.played.ids.tolist() == [4, 5]
        why = "it sent games that were not requested, which were discarded"
        assert pool.refused == dict.fromkeys(list(pool.does)[:4], why)
        assert len({numbers for _, numbers in pool.had}) == 1


# What a machine does


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
    assert not daemons.serve_worker("127.0.0.1:1", 1)
    assert not left.exists()


def test_a_worker_says_that_it_waits_for_its_scheduler(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(daemons, "PATIENCE", 0.5)
    monkeypatch.setattr(daemons, "_CONNECT", 0.1)
    monkeypatch.setattr(daemons, "_stop_signal", asyncio.Event)
    assert not daemons.serve_worker("127.0.0.1:1", 1)
    assert capsys.readouterr().out.splitlines() == [
        "No scheduler at 127.0.0.1:1 yet; waiting up to 0 s for one (Ctrl-C to stop).",
        "No answer from a scheduler at 127.0.0.1:1 within 0 s.",
    ]


def batch(number: int, ids: Sequence[int], is_alone: bool = False) -> list[Work]:
    return [Work(number, print, (), tuple(ids), is_alone)]


KEY = "a task"
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
    """A thread of a machine that knows a task; this function says when its work is interrupted."""
    (tmp_path / "slow.py").write_text(SLOW)
    agents = {"contenders": [f"{tmp_path}/slow.py:First"], "baseline": f"{tmp_path}/slow.py:Last"}
    keys = {"format": "head-to-head", "pairs": 20, "openings": "random:4", **agents}
    bundle = cluster_access.bundle_of(task_of(make_plan(load_config(None, keys))))
    monkeypatch.setattr(remote_worker, "_tasks", {})
    assert greeted(remote_worker.versions(), KEY, bundle)[1] == ""

    def interrupted_when(condition: Callable[[], bool]) -> None:
        monkeypatch.setattr(remote_worker, "_interruption", lambda: condition)

    interrupted_when(lambda: False)
    yield interrupted_when
    if remote_worker._own.pool:
        remote_worker._own.pool.close()
    remote_worker._own.pool = remote_worker._own.known = None


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize(
    ("events", "why"),
    [
        (
            [Failed(1, OSError(errno.ENOSPC, "No space left on device"))],
            "OSError: [Errno 28] No space left on device",
        ),
        ([Died(1, (0, 1))] * 3, "worker processes die before playing a game"),
    ],
)
def test_a_machine_that_cannot_finish_a_batch_is_unfit_and_says_why_once(
    events: list[Event], why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(remote_worker, "_compile", lambda *_: None)
    remote_worker._say.cache_clear()
    for _ in range(2):
        left = list(events)
        monkeypatch.setattr(LokyPool, "submit", lambda pool, ids, interpreted: 1)
        monkeypatch.setattr(LokyPool, "finished", lambda pool, timeout, left=left: [left.pop(0)])
        with pytest.raises(remote_worker.MachineUnsuitableError, match=f"^{re.escape(why)}$"):
            remote_worker.do(KEY, batch(7, [0, 1]))
        assert not left
    assert capsys.readouterr().out == f"This machine stops playing in this run: {why}\n"


@pytest.mark.usefixtures("at_work")
def test_a_machine_tells_of_a_game_that_may_have_killed_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_worker, "_compile", lambda *_: None)
    sent: list[bool] = []
    monkeypatch.setattr(LokyPool, "submit", lambda pool, ids, interpreted: sent.append(interpreted))
    for died, interpreted in ((Died(3, (0, 1), Suspect(1, 2)), False), (Died(4, (1,)), True)):
        monkeypatch.setattr(LokyPool, "finished", lambda pool, timeout, died=died: [died])
        done = remote_worker.do(KEY, batch(7, died.lost, interpreted))
        assert done.events == [replace(died, number=7)]
    assert sent == [False, True]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("at_work")
def test_a_full_disk_is_no_answer_of_the_work_that_was_asked_for() -> None:
    with pytest.raises(remote_worker.MachineUnsuitableError, match=r"^OSError: \[Errno 28\] No space left on device$"):
        remote_worker.do(KEY, [Work(1, _meet_a_full_disk)])
    first, second = remote_worker.do(KEY, [Work(2, _divide_by_zero), Work(3, _whose)]).events
    assert isinstance(first, Failed)
    assert first.number == 2
    assert isinstance(first.error, ZeroDivisionError)
    assert second == Finished(3, "the task's")


def _meet_a_full_disk(worker: GameWorker) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _divide_by_zero(worker: GameWorker) -> None:
    raise ZeroDivisionError


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
            remote_worker.do(KEY, batch(1, range(36)))
    assert sent
    at_work(lambda: False)
    (finished,) = remote_worker.do(KEY, batch(2, range(36, 40))).events
    assert isinstance(finished, Finished)
    assert finished.number == 2
    assert sorted(finished.value.played.ids.tolist()) == [36, 37, 38, 39]


@pytest.mark.slow
@pytest.mark.usefixtures("at_work")
def test_a_machine_works_for_one_client_after_the_other_and_knows_whose_task_it_is() -> None:
    with pytest.raises(LookupError):
        remote_worker.do("another task", [Work(1, _whose)])
    whose = [remote_worker.do(key, [Work(1, _whose)]).events for key in (KEY, "", KEY)]
    assert whose == [[Finished(1, words)] for words in ("the task's", "nobody's", "the task's")]
    (finished,) = remote_worker.do(KEY, batch(1, [0, 1])).events
    assert isinstance(finished, Finished)


def _whose(worker: GameWorker | None) -> str:
    return "the task's" if worker else "nobody's"


@pytest.mark.usefixtures("at_work")
def test_a_task_is_compiled_once_on_a_machine_by_all_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(remote_worker._tasks[KEY].task, sharers=tuple((index,) for index in range(6)))
    known = remote_worker._KnownTask(task, list(task.sharers))
    compiled: list[tuple[int, ...]] = []
    at_once = threading.Barrier(2)

    def prepare(pool: object, task: Task, *_: object) -> dict[int, str]:
        at_once.wait(10)  # fails if one thread waits for the other
        compiled.extend(task.sharers)
        return {task.sharers[0][0]: "why"}

    monkeypatch.setattr(remote_worker, "prepare", prepare)
    arguments = (known, LokyPool(1), lambda: False)
    threads = [threading.Thread(target=remote_worker._compile, args=arguments) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(compiled) == sorted(known.compiled) == list(task.sharers)
    assert known.interpreted == dict.fromkeys(range(6), "why")


@pytest.mark.usefixtures("at_work")
def test_what_could_not_be_compiled_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(remote_worker._tasks[KEY].task, sharers=((0,), (1,)))
    known = remote_worker._KnownTask(task, list(task.sharers))

    def prepare(*_: object) -> dict[int, str]:
        raise ValueError("full")

    monkeypatch.setattr(remote_worker, "prepare", prepare)
    with pytest.raises(ValueError, match="full"):
        remote_worker._compile(known, LokyPool(1), lambda: False)
    assert sorted(known.left) == [(0,), (1,)]
    stopped = iter([False, True, True])
    monkeypatch.setattr(remote_worker, "prepare", lambda *_: {})
    remote_worker._compile(known, LokyPool(1), lambda: next(stopped))
    assert sorted(known.left) == [(0,), (1,)]


# What is shown


def test_unlike_machines_are_warned_of_where_a_clock_limits_somebody() -> None:
    machines = [Machine(name, 2, f"processor {name}", 1.0, 2) for name in ("a", "b")]
    keys = {"format": "head-to-head", "baseline": "random", "pairs": 2}
    message = [
        len(
            _cluster_notes(
                make_plan(load_config(None, {**keys, "contenders": [agent]})), ClusterState(some, BatchPace(1))
            )
        )
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
