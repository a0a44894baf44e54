"""The pool of processes: what it tells of workers that die, and how it gets from one task to the next."""

import errno
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play.pools.game_worker import GameWorker, PlayedBatch, Task, task_of
from knights_isolation.experiments.play.pools.loky_pool import LokyPool, _Worker
from knights_isolation.experiments.play.pools.pool import Died, Event, Failed, Finished, Suspect, Work
from knights_isolation.isolation import Board

USER = """
import ctypes, os, pathlib, signal, time
HERE = pathlib.Path(__file__).parent

def signal_worker(number):  # past Python, which refuses it; a keeper stands between the worker and this process
    worker = int(pathlib.Path(f"/proc/{os.getppid()}/stat").read_text().split()[3])
    ctypes.CDLL(None).kill(worker, number)
    signal.pause()

class Busy:
    def get_move(self, game, time_left):
        (HERE / "is_busy").touch()
        time.sleep(600)

class Deadly:
    def get_move(self, game, time_left):
        while not (HERE / "is_busy").exists():
            time.sleep(0.01)
        signal_worker(9)

class Stopping:
    def get_move(self, game, time_left):
        signal_worker(signal.SIGSTOP)

class Slow:
    def get_move(self, game, time_left):
        time.sleep(0.1)
        return game.get_legal_moves()[0]
"""
ENDLESS = """
def endless(game, player):
    x, own, other = 0, game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    if own == {own} and other == {other} and len(game.get_blank_spaces()) == {blank}:
        for _ in range(10**15):  # which is not counted, as other loops are
            x = (x * 5 + 1) % 7
    return float(x)
"""
"""A heuristic that does not return in one position, which is not among those in which it is compared with Python."""


def endless_after(opening: list[int], size: str) -> str:
    """Such a heuristic, for a position that comes up when it first moves."""
    board = Board.from_moves(opening, size)
    own, other = board.legal_cells()[0], board.locations[1 - board.active_index]
    cells = (divmod(cell, board.width) for cell in (own, other))
    return ENDLESS.format(own=next(cells), other=next(cells), blank=board.blank.bit_count() - 1)


def task(folder: Path, *contenders: str) -> Task:
    """Ids 2 * i and 2 * i + 1 are the first pair of contender i, which moves first in the former."""
    (folder / "user.py").write_text(USER)
    agents = [f"{name}={folder}/user.py:{name}@ms=99999" if name in USER else name for name in contenders]
    keys: dict[str, Any] = {"format": "head-to-head", "contenders": agents, "baseline": "MM:null@depth=1", "pairs": 3}
    return task_of(make_plan(load_config(None, keys)))


@pytest.fixture
def pool() -> Iterator[LokyPool]:
    with LokyPool(2) as made:
        yield made


def everything(pool: LokyPool) -> list[Event]:
    """All that happens until nothing is out."""
    events = []
    while pool.is_busy:
        events += pool.finished(0.05)
    return events


def process_of(worker: GameWorker) -> int:
    return os.getpid()


def processes(pool: LokyPool) -> set[int]:
    """The processes that answer several calls."""
    for _ in range(8):
        pool.call(process_of)
    return {event.value for event in everything(pool) if isinstance(event, Finished)}


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.exhaustive
def test_when_one_of_several_workers_dies_its_game_is_suspect_and_the_others_go_on(
    pool: LokyPool, tmp_path: Path
) -> None:
    pool.assign(task(tmp_path, "Deadly", "Busy", "random"))
    busy = pool.submit(np.array([2]))
    dying = pool.submit(np.array([5, 0]))
    waiting = pool.submit(np.array([4]))
    call = pool.call(process_of)
    events: list[Event] = []
    while len(events) < 3:
        events += pool.finished(0.05)
    died, *others = events
    assert died == Died(dying, (5, 0), Suspect(0, 1))
    assert [type(event.value) for event in others if isinstance(event, Finished)] == [PlayedBatch, int]
    assert [event.number for event in others] == [waiting, call]
    assert list(pool._unfinished) == [busy]


@pytest.mark.parametrize(
    ("game", "suspect"), [(12, Suspect(12, 2)), (13, Suspect(13, 2)), (11, None), (14, None), (-1, None)]
)
def test_the_game_that_is_marked_is_suspect_while_its_batch_is_unfinished_even_when_it_is_handed_in(
    game: int, suspect: Suspect | None, tmp_path: Path
) -> None:
    worker = _Worker(tmp_path / "marker")
    np.memmap(tmp_path / "marker", np.int64, "r+")[:] = (game, 1, 7, 0)
    worker.work = Work(3, print, (), (12, 13))
    worker.future.set_exception(BrokenProcessPool("The exit codes of the workers are {SIGKILL(-9)}"))
    event = worker.event()
    assert event == Died(3, (12, 13), suspect)
    assert isinstance(event, Died)
    assert event.how == "SIGKILL(-9)"


@pytest.mark.slow
def test_after_a_death_the_pool_plays_on_and_a_second_death_is_blamed_on_the_second(
    pool: LokyPool, tmp_path: Path
) -> None:
    pool.assign(task(tmp_path, "Deadly", "Busy", "random"))
    (tmp_path / "is_busy").touch()
    numbers = [pool.submit(np.array([0]))]
    (first,) = everything(pool)
    numbers.append(pool.submit(np.array([4, 5])))
    (second,) = everything(pool)
    numbers.append(pool.submit(np.array([1])))
    (third,) = everything(pool)
    assert first == Died(numbers[0], (0,), Suspect(0, 1))
    assert isinstance(second, Finished)
    assert second.value.played.ids.tolist() == [4, 5]
    assert third == Died(numbers[2], (1,), Suspect(1, 2))


@pytest.mark.exhaustive
def test_a_death_that_is_noticed_while_something_is_sent_is_told_like_any_other(tmp_path: Path) -> None:
    with LokyPool(1) as pool:
        pool.assign(task(tmp_path, "random"))
        pool.submit(np.array([1, 0]))
        everything(pool)
        (pid,) = processes(pool)
        os.kill(pid, signal.SIGKILL)
        while exists(pid):  # until loky has noticed
            time.sleep(0.01)
        numbers = pool.submit(np.array([0, 1])), pool.call(process_of)
        died, answered = everything(pool)
        assert died == Died(numbers[0], (0, 1), None)
        assert isinstance(answered, Finished)
        assert (answered.number, answered.value == pid) == (numbers[1], False)


@pytest.mark.exhaustive
def test_another_task_finds_the_same_processes_and_nothing_of_what_was_out(pool: LokyPool, tmp_path: Path) -> None:
    pool.assign(task(tmp_path, "random"))
    before = processes(pool)
    pool.assign(task(tmp_path, "greedy"))
    pool.submit(np.array([0]))
    (event,) = everything(pool)
    assert isinstance(event, Finished)
    assert (
        event.value.played.games.winner.tolist()
        == GameWorker(task(tmp_path, "greedy")).play_batch(np.array([0])).played.games.winner.tolist()
    )
    assert processes(pool) & before
    pool.assign(task(tmp_path, "Busy"))
    pool.submit(np.array([0]))
    pool.assign(task(tmp_path, "random"))
    assert not pool.is_busy
    assert pool.finished(0) == []
    pool.submit(np.array([1]))
    (event,) = everything(pool)
    assert isinstance(event, Finished)


@pytest.mark.exhaustive
def test_what_a_batch_and_a_call_raise_comes_back_after_what_went_well(pool: LokyPool, tmp_path: Path) -> None:
    pool.assign(task(tmp_path, "Busy", "random"))
    pool.submit(np.array([2]))
    call = pool.call(GameWorker.measure_costs, ("nobody",))
    results = everything(pool)
    assert {type(event) for event in results} == {Finished, Failed}
    (failed,) = (event for event in results if isinstance(event, Failed))
    assert failed.number == call
    assert isinstance(failed.error, ValueError | KeyError)
    (tmp_path / "user.py").write_text(USER.replace("sleep(600)", "sleep(601)"))
    pool.assign(task(tmp_path, "Busy"))
    (tmp_path / "user.py").write_text(USER.replace("sleep(600)", "sleep(602)"))
    batch = pool.submit(np.array([0]))
    (failed,) = (event for event in everything(pool) if isinstance(event, Failed))
    assert failed.number == batch
    assert str(failed.error) == "the code of Busy has changed since the run began"


def test_where_no_process_can_be_started_one_line_says_so_and_the_pool_can_be_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(ProcessPoolExecutor, "_adjust_process_count", refuse)
    with (
        LokyPool(1) as pool,
        pytest.raises(ValueError, match="no worker process can be started: Resource temporarily unavailable"),
    ):
        pool.call(process_of)


def test_there_is_room_for_two_batches_a_worker(tmp_path: Path) -> None:
    with LokyPool(1) as pool:
        pool.assign(task(tmp_path, "Busy"))
        pool.submit(np.array([0]))
        assert pool.has_room
        pool.call(process_of)
        assert pool.has_room
        pool.submit(np.array([1]))
        assert not pool.has_room


@pytest.mark.exhaustive
def test_a_deadly_game_is_played_first_in_a_new_process_and_what_waits_in_another(tmp_path: Path) -> None:
    with LokyPool(1) as pool:
        pool.assign(task(tmp_path, "Deadly", "random"))
        numbers = pool.call(process_of), pool.call(process_of), pool.submit(np.array([2]), interpreted=True)
        numbers = *numbers, pool.call(process_of)
        events: list[Event] = []
        while pool.is_busy:
            events += pool.finished(0.05)
        assert [event.number for event in events] == [numbers[0], numbers[2], numbers[1], numbers[3]]
        first, later, last = (
            event.value for event in events if isinstance(event, Finished) and event.number != numbers[2]
        )
        assert first != later == last
        (tmp_path / "is_busy").touch()
        deadly = pool.submit(np.array([0]), interpreted=True)
        assert everything(pool) == [Died(deadly, (0,), Suspect(0, 1))]
        assert processes(pool) - {first, later}


def with_patience(seconds: float, waiting: Task) -> Task:
    return replace(
        waiting, patience=tuple(min(patience, seconds) if patience < inf else inf for patience in waiting.patience)
    )


def test_who_stops_its_worker_past_python_is_suspect_under_a_hard_cap_too(tmp_path: Path) -> None:
    with LokyPool(1) as pool:
        pool.assign(replace(task(tmp_path, "Stopping"), hard_cap=60.0))
        number = pool.submit(np.array([1]))
        assert everything(pool) == [Died(number, (1,), Suspect(1, 2))]


@pytest.mark.slow
def test_a_player_that_stops_the_worker_that_a_call_runs_in_loses_the_call(tmp_path: Path) -> None:
    with LokyPool(1) as pool:
        pool.assign(task(tmp_path, "Stopping"))
        call = pool.call(GameWorker.play_one_of_ours, 0, 1)
        assert everything(pool) == [Died(call)]


@pytest.mark.exhaustive
def test_compiled_code_that_does_not_answer_is_ended_and_told(tmp_path: Path) -> None:
    (opening,) = task(tmp_path, "random").schedule.openings(np.array([0]))
    (tmp_path / "endless.py").write_text(endless_after(opening, "7x7"))
    with LokyPool(1) as pool:
        pool.assign(with_patience(3.0, task(tmp_path, f"AB:{tmp_path}/endless.py@depth=1")))
        call = pool.call(GameWorker.compile_agents, (0, 1))
        assert everything(pool) == [Finished(call, {})]
        endless = pool.submit(np.array([0]))
        pool.submit(np.array([2]))
        died, finished = everything(pool)
        assert died == Died(endless, (0,), Suspect(0, 1))
        assert isinstance(finished, Finished)


@pytest.mark.exhaustive
def test_the_pool_does_not_watch_players_that_have_processes_of_their_own(tmp_path: Path) -> None:
    with LokyPool(1) as pool:
        pool.assign(with_patience(0.01, task(tmp_path, "Slow")))
        pool.call(GameWorker.compile_agents, (0, 1))
        everything(pool)
        pool.submit(np.array([0]))
        (event,) = everything(pool)
        assert isinstance(event, Finished)
