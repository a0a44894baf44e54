"""Runs a tournament: plays what the schedule has and the log has not, and survives what may happen meanwhile."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import joblib
import numpy as np
from numpy.typing import NDArray

from experiments import log, runs
from experiments.batches import Feed, Stop
from experiments.config import Config, load_config
from experiments.cost import Measure, at_equal_cost
from experiments.crash import Suspect
from experiments.design import Entry, Plan, make_plan
from experiments.ledger import Ledger
from experiments.pool import Pool, WorkerDiedError
from experiments.stopping import sprt_rule
from experiments.worker import Played, Task, lost_by_error
from isolation.geometry import parse_size
from isolation.speed import agent_nodes_per_second

DEATHS_ALLOWED = 3
"""A game that kills its worker so many times is lost by `error`; so many dead workers without a game end the run."""

MOST_COMPILED_CELLS = 128

_TICK = 0.1

Phase = Literal["preparing", "playing", "merging"]


@dataclass(frozen=True)
class Progress:
    """Where a run stands. `points` are the results so far (see `schedule.points_table`).

    `logged` of `total` games are in the log for good; `rate` is games a second, `seconds_left` infinite while unknown.
    `detail` says what is being prepared; `notes` are what people should know about the run.
    """

    plan: Plan
    phase: Phase
    detail: str
    logged: int
    total: int
    rate: float
    seconds_left: float
    points: NDArray[np.int8]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How a run ended, or was interrupted. `reasons` counts how games were decided; `notes` are for people."""

    path: Path
    plan: Plan
    logged: int
    total: int
    finished: bool
    seconds: float
    points: NDArray[np.int8]
    reasons: dict[str, int]
    notes: tuple[str, ...]


Show = Callable[[Progress], None]


def play_tournament(
    config: Config,
    *,
    resume: bool = False,
    stop: Callable[[Plan], Stop | None] = sprt_rule,
    show: Show = lambda progress: None,
    measure: Measure = agent_nodes_per_second,
) -> Outcome:
    """Play a tournament to its end, or until Ctrl-C; with `resume`, play what is missing of the run at `config.out`.

    `stop` makes the rule that ends matches early, if there is one. `measure` gives the nodes per second of an agent,
    for `equal_cost`.

    Raises:
        ValueError: something is wrong with what was asked for, and nothing was written; or the run cannot be resumed
            or written. Every game reported as logged stays in the log.
    """
    if resume:
        info = runs.load_run(_directory(config))
        with log.locked(info.path):
            plan = make_plan(load_config(info.path / runs.CONFIG, {"jobs": config.jobs}))
            runs.check_resumable(info, config, plan)
            return _run(info.path, plan, config.jobs, stop, show)
    plan = make_plan(config)
    costs: dict[str, float] = {}
    if config.equal_cost:
        plan, costs = at_equal_cost(plan, measure)
    path = runs.new_directory(config)
    with runs.claimed(path):
        runs.create(path, plan, config, costs)
        return _run(path, plan, config.jobs, stop, show)


def _directory(config: Config) -> Path:
    if config.out is None:
        raise ValueError("which run is to be resumed? out must name its directory")
    return Path(config.out).expanduser()


def _run(path: Path, plan: Plan, jobs: int, stop: Callable[[Plan], Stop | None], show: Show) -> Outcome:
    jobs = jobs or joblib.cpu_count()
    notes = list(plan.notes)
    started = time.monotonic()
    try:
        ledger = Ledger(path, plan)
        feed = Feed(plan.schedule, ledger.points, jobs, stop(plan))
        report = _reporter(ledger, feed, notes, show)
        # Ctrl-C ends the preparations at once; afterwards it is asked for, and only a second one gets here.
        with suppress(KeyboardInterrupt):
            for note in _prepare(plan, report):
                notes.append(note)
            with _interrupts() as interrupted:
                _play_all(_task(plan), feed, ledger, jobs, interrupted, report)
        finished = not feed.missing
        if finished and not runs.is_finished(path):
            report("merging", "")
            ledger.close()
    except OSError as error:
        raise ValueError(
            f"{path}: cannot write the log: {error.strerror or error}; "
            f"{log.count_games(path):,} games are safe, go on with --resume"
        ) from error
    if ledger.ended_by_clock:
        notes.append(f"not reproducible: a clock ended {ledger.ended_by_clock:,} games; another machine may end others")
    seconds = time.monotonic() - started
    return Outcome(
        path, plan, ledger.logged, feed.total, finished, seconds, ledger.points, dict(ledger.reasons), tuple(notes)
    )


def _reporter(ledger: Ledger, feed: Feed, notes: list[str], show: Show) -> Callable[[Phase, str], None]:
    """What tells the display where the run stands."""
    before = ledger.logged
    started = time.monotonic()

    def report(phase: Phase, detail: str = "") -> None:
        nonlocal started
        if phase == "preparing":
            started = time.monotonic()
        elapsed = time.monotonic() - started
        rate = (ledger.logged - before) / elapsed if elapsed > 0 else 0.0
        left = (feed.total - ledger.logged) / rate if rate > 0 else float("inf")
        show(Progress(ledger.plan, phase, detail, ledger.logged, feed.total, rate, left, ledger.points, tuple(notes)))

    return report


def _prepare(plan: Plan, report: Callable[[Phase, str], None]) -> Iterator[str]:
    """Compile every agent before there are workers, which then find the native code; yields notes where that fails."""
    for entry in plan.entries:
        report("preparing", entry.agent.name)
        if entry.agent.compiled(parse_size(plan.schedule.size)) is None and entry.spec.kind == "search":
            yield f"{entry.agent.name} runs interpreted, some hundred times slower: {_why_interpreted(entry, plan)}"


def _why_interpreted(entry: Entry, plan: Plan) -> str:
    from isolation.compiler import CompileError, compile_heuristic

    rows, columns = parse_size(plan.schedule.size)
    if rows * columns > MOST_COMPILED_CELLS:
        return f"compiled search serves up to {MOST_COMPILED_CELLS} cells"
    try:
        compile_heuristic(entry.agent.heuristic, (rows, columns))  # type: ignore[attr-defined]
    except CompileError as error:
        return " ".join(str(error).split())
    return "its options do not compile"


def _task(plan: Plan) -> Task:
    specs = tuple(str(entry.spec) for entry in plan.entries)
    return Task(plan.schedule, specs, tuple(entry.settings for entry in plan.entries), plan.config.hard_cap)


def _play_all(
    task: Task,
    feed: Feed,
    ledger: Ledger,
    jobs: int,
    interrupted: Callable[[], bool],
    report: Callable[[Phase, str], None],
) -> None:
    """Play until nothing is missing, or until interrupted; every game that came back is in the log afterwards."""
    deaths = 0
    with Pool(task, jobs) as pool:
        try:
            while not interrupted():
                while pool.has_room and len(ids := feed.take()):
                    pool.submit(ids)
                if not pool.is_busy:
                    break
                try:
                    for batch in pool.finished(_TICK):
                        ledger.add(batch.played)
                        feed.learn(batch.matches, batch.seconds)
                        deaths = 0
                except WorkerDiedError as death:
                    deaths = 0 if death.suspects else deaths + 1
                    if deaths == DEATHS_ALLOWED:
                        raise ValueError("worker processes die before they play a game") from death
                    feed.give_back(set(death.lost) - {suspect.game_id for suspect in death.suspects})
                    for suspect in death.suspects:
                        _retry(task, suspect, feed, ledger, interrupted)
                ledger.write_if_due()
                report("playing", "")
        finally:
            pool.close()
            ledger.write()


def _retry(task: Task, suspect: Suspect, feed: Feed, ledger: Ledger, interrupted: Callable[[], bool]) -> None:
    """Settle a game that may have killed its worker; if interrupted meanwhile, it stays missing."""
    played = _play_alone(task, suspect, interrupted)
    if played is None:
        feed.give_back([suspect.game_id])
    else:
        ledger.add(played)


def _play_alone(task: Task, suspect: Suspect, interrupted: Callable[[], bool]) -> Played | None:
    """Play a game in a worker of its own, interpreted; if that dies as well, again, and then the game is lost."""
    with Pool(task, 1) as pool:
        for _ in range(1, DEATHS_ALLOWED):
            pool.submit(np.array([suspect.game_id]), interpreted=True)
            try:
                while not interrupted():
                    for batch in pool.finished(_TICK):
                        return batch.played
                return None
            except WorkerDiedError as death:
                suspect = next(iter(death.suspects), suspect)
    detail = f"its process died {DEATHS_ALLOWED} times in this game"
    return lost_by_error(task.schedule, suspect.game_id, suspect.mover, detail)


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed (or the process told to end): asked, not raised, so that no write is cut short.

    A second Ctrl-C interrupts as usual. Outside the main thread nothing is caught.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def press(number: int, frame: object) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = {number: signal.signal(number, press) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield pressed.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
