"""Run a tournament: play the schedule minus the log, until it is complete or a stop rule has decided."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

import joblib
import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.checks.answers import unresponsive_reason
from knights_isolation.isolation.loading.load_user_code import expand_path
from knights_isolation.isolation.processes.subprocess_player import HANGS_AFTER
from knights_isolation.isolation.rules.game import Cost

from ..plan import run_keeping
from ..plan.config import Config
from ..plan.run_keeping import locked
from ..plan.schedule import points_table
from ..plan.tournament_plan import Plan, make_plan, on_the_clock
from ..record import log, log_parts, run_directory
from .cluster.cluster_access import chosen
from .equal_cost import at_equal_cost, check_scalable, measured, to_measure
from .game_recorder import GameRecorder
from .interim_results import stop_rule
from .pools.batch_feed import BatchFeed, Stop
from .pools.game_worker import Sharers, Task, task_of
from .pools.interrupts import Interrupted, deferred_interrupts, single_interrupt, until_interrupted
from .pools.loky_pool import LokyPool
from .pools.pool import ClusterState, Machine, MakePool, Pool, UnreachableError
from .pools.recovery import FORFEITED, KILLED, Costs, measure_in, play_missing, prepare
from .run_extension import carry_over, extend

_LOGGER = logging.getLogger(__name__)

Phase = Literal["preparing", "measuring", "measured", "playing", "merging"]


@dataclass(frozen=True)
class RunProgress:
    """Progress of a run. `points` are the results so far (see `schedule.points_table`).

    `logged` of `total` games are safely in the log; `rate` is games per second; `seconds_left` is infinite while
    unknown. `detail` describes what is being prepared or measured; `notes` are messages for the user; `costs` are the
    costs that `equal_cost` measured, by name. `machines` are those of a cluster, if it is played on one.
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
    costs: Mapping[str, Cost] = field(default_factory=dict)
    machines: tuple[Machine, ...] | None = None


@dataclass(frozen=True)
class RunOutcome:
    """Result of a run, finished or interrupted.

    Of the `logged` games, this process played `played`. `reasons` counts how games were decided; `notes` are messages
    for the user.
    """

    path: Path
    plan: Plan
    logged: int
    played: int
    total: int
    finished: bool
    seconds: float
    points: NDArray[np.int8]
    reasons: dict[str, int]
    notes: tuple[str, ...]


LONGEST_SILENCE = 10.0
"""Seconds without a game after which the user is told how to handle a player that hangs."""
_STUCK = (
    f"no game finished for ten seconds: a hanging player is stopped after {HANGS_AFTER:g} s, or after --hard-cap "
    f"SECONDS; Ctrl-C keeps all games"
)
_STUCK_FOR_GOOD = "no game finished for ten seconds: --hard-cap SECONDS stops hanging players; Ctrl-C keeps all games"


Show = Callable[[RunProgress], None]


class Play(Protocol):
    """Plays or resumes a run: `play_tournament`, or a function that shows it meanwhile."""

    def __call__(self, config: Config, *, resume: bool) -> RunOutcome:
        """See `play_tournament`."""


def play_kept(config: Config, play: Play) -> Path:
    """Play the run of a configuration to its end, and return its directory.

    Raises:
        KeyboardInterrupt: it was interrupted; calling this again resumes it.
        ValueError: the directory contains another run, or the code of its agents has changed.
    """
    outcome = play(config, resume=run_directory.is_run(_directory(config)))
    if not outcome.finished:
        raise KeyboardInterrupt
    return outcome.path


def play_tournament(
    config: Config,
    *,
    resume: bool = False,
    retry_forfeits: bool = False,
    extends: Path | None = None,
    stop: Callable[[Plan], Stop | None] = stop_rule,
    show: Show = lambda progress: None,
    pools: MakePool | None = None,
) -> RunOutcome:
    """Play a tournament to its end, or until Ctrl-C; with `resume`, play the missing games of the run at `config.out`.

    `extends` names a finished run whose games are reused; see `run_extension`. `retry_forfeits` first removes the games
    that agents lost by killing their processes, or forfeited because of it. `stop` makes the rule that ends matches
    early, if there is one. `pools` makes the pools; by default they use this machine, or the cluster that the
    configuration or the environment names.

    Raises:
        ValueError: the request is invalid, and nothing was written; or the run cannot be resumed or written. Every game
            reported as logged stays in the log.
        KeyboardInterrupt: Ctrl-C was pressed before there was a run; nothing was written.
    """
    with single_interrupt(), _players(config, pools) as players:
        conduct = _Conduct(config.jobs or joblib.cpu_count(), stop, show, players)
        return _resume(config, retry_forfeits, conduct) if resume else _play(config, extends, conduct)


@dataclass(frozen=True)
class _Conduct:
    """How a run is played: the arguments of `play_tournament` that are not about what is played."""

    jobs: int
    stop: Callable[[Plan], Stop | None]
    show: Show
    pools: MakePool


@contextmanager
def _players(config: Config, pools: MakePool | None) -> Iterator[MakePool]:
    """Return a factory of a configuration's pools; a cluster is connected before anything is written."""
    address = chosen(config.cluster, config.jobs)
    if pools or not address:
        yield pools or LokyPool
        return
    from .cluster.dispatcher import connected

    with connected(address) as machines:
        yield lambda jobs: nullcontext(machines)


def _play(config: Config, extends: Path | None, conduct: _Conduct) -> RunOutcome:
    extension = extend(extends, config) if extends else None
    plan = extension.plan if extension else make_plan(config)
    path = run_keeping.new_directory(config)
    costs: dict[str, Cost] = {}
    if config.equal_cost:
        plan, costs = _at_equal_cost(plan, conduct)
    with run_keeping.lock_directory(path):
        run_keeping.create(path, plan, config, costs)
        if extension:
            carry_over(extension, path)
        return _run(path, plan, conduct)


def _resume(config: Config, retry_forfeits: bool, conduct: _Conduct) -> RunOutcome:
    info = run_directory.load_run(_directory(config))
    run_keeping.check_played_here(info)
    with locked(info.path):
        run_keeping.clear_up(info.path)
        plan = run_keeping.planned_like(info, run_keeping.written_config(info, {"jobs": config.jobs}))
        run_keeping.check_resumable(info, config, plan)
        if retry_forfeits:
            try:  # remove the games that were lost because of a death, so that they are played again
                run_keeping.reopen(info.path)
                log_parts.remove_games(log.games_folder(info.path), KILLED)
            except OSError as error:
                raise ValueError(f"{info.path}: cannot write the log: {error.strerror or error}") from error
        return _run(info.path, plan, conduct)


def _directory(config: Config) -> Path:
    if config.out is None:
        raise ValueError("no run to resume: out must name its directory")
    return expand_path(config.out)


def _at_equal_cost(plan: Plan, conduct: _Conduct) -> tuple[Plan, dict[str, Cost]]:
    """Call `at_equal_cost` with a progress display; workers compile all agents first, and one of them measures."""
    check_scalable(plan)

    def tell(plan: Plan, phase: Phase, detail: str = "", costs: Mapping[str, Cost] | None = None) -> None:
        counts = (0, len(plan.schedule), 0.0, float("inf"))
        conduct.show(RunProgress(plan, phase, detail, *counts, points_table(plan.schedule), plan.notes, costs or {}))

    with deferred_interrupts() as interrupted, conduct.pools(conduct.jobs) as pool:
        task = task_of(plan)
        pool.assign(task)
        if pool.cluster_state is None:
            report = lambda sharers, reasons: tell(plan, "preparing", _names_of(plan, sharers))  # noqa: E731
            prepare(pool, task, conduct.jobs, interrupted, report)
        tell(plan, "measuring")

        def measure(names: Sequence[str]) -> Costs:
            costs = measure_in(pool, names, interrupted)
            if interrupted():
                raise KeyboardInterrupt
            return costs

        scaled, costs = at_equal_cost(plan, measure)
    tell(scaled, "measured", costs=costs)
    return scaled, costs


def _run(path: Path, plan: Plan, conduct: _Conduct) -> RunOutcome:
    with deferred_interrupts() as interrupted:
        run = _Run(path, plan, conduct, interrupted)
        recorder, feed = run.recorder, run.feed
        _LOGGER.info("%s: %d of %d games are in the log; %d jobs", path, recorder.logged, feed.total, conduct.jobs)
        if feed.missing:
            try:
                run.play()
            finally:
                recorder.write()
    # Ctrl-C ends the merge at once: log parts that are not merged yet stay as they are.
    with until_interrupted():
        if not (feed.missing or interrupted() or run_directory.is_finished(path)):
            run.report("merging")
            recorder.close()
    return run.outcome()


class _Run:
    """A run while it is played. `notes` are messages for the user so far, besides those about forfeits."""

    def __init__(self, path: Path, plan: Plan, conduct: _Conduct, interrupted: Interrupted) -> None:
        self._created = time.monotonic()
        self.recorder = GameRecorder(path, plan)
        self.feed = BatchFeed(plan.schedule, self.recorder.points, conduct.jobs, conduct.stop(plan))
        self._plan, self._conduct, self._interrupted = plan, conduct, interrupted
        self.notes = list(plan.notes)
        if self.recorder.duplicates:
            self.notes.append(f"removed {self.recorder.duplicates:,} duplicate games from the log")
        self._known = len(self.notes)
        self._logged_before = self.recorder.logged
        self._missing = self.feed.missing
        self._started = self._last_game = time.monotonic()

    def report(self, phase: Phase, detail: str = "", machines: tuple[Machine, ...] | None = None) -> None:
        """Show the progress; see `RunProgress`."""
        now = time.monotonic()
        if phase == "preparing":
            self._started = now
        if phase != "playing" or self.feed.missing != self._missing:
            self._last_game, self._missing = now, self.feed.missing
        elapsed, logged, total = now - self._started, self.recorder.logged, self.feed.total
        rate = (logged - self._logged_before) / elapsed if elapsed > 0 else 0.0
        left = (total - logged) / rate if rate > 0 else float("inf")
        # Machines return what they have played every ten seconds or so.
        is_silent = machines is None and now - self._last_game > LONGEST_SILENCE
        notes = (*self.notes, *self.recorder.forfeit_notes(), *(self._hints_at_hanging() if is_silent else ()))
        counts = (logged, total, rate, left)
        points = self.recorder.points
        self._conduct.show(RunProgress(self._plan, phase, detail, *counts, points, notes, machines=machines))

    def play(self) -> None:
        """Play the missing games in a pool, after measuring the agents' costs if necessary."""
        # If the machines of a run cannot be reached any more, it ends like an interrupted one.
        recorder, path = self.recorder, self.recorder.path
        with self._conduct.pools(self._conduct.jobs) as pool:
            task = task_of(self._plan, str((path / run_directory.ENGINES).absolute()))
            pool.assign(task)
            if pool.cluster_state is None:
                self._prepare(pool, task)

            def look() -> None:
                recorder.write_if_due()
                if pool.cluster_state:
                    self.notes[self._known :] = _cluster_notes(self._plan, pool.cluster_state)
                self.report("playing", "", pool.cluster_state.machines if pool.cluster_state else None)

            try:
                info = run_directory.load_run(path)
                if not info.processor_costs:
                    self.report("measuring")
                    costs = measure_in(pool, to_measure(self._plan), self._interrupted)
                    run_keeping.write_info(replace(info, processor_costs=measured(costs)))
                given_up = recorder.losers_by(FORFEITED)
                play_missing(
                    pool, self.feed, recorder.add, self._interrupted, look, users=task.users, given_up=given_up
                )
            except UnreachableError as error:
                self.notes.append(str(error))

    def outcome(self) -> RunOutcome:
        """Return and log how the run ended."""
        recorder, path, plan, total = self.recorder, self.recorder.path, self._plan, self.feed.total
        notes, by_clock = list(self.notes), recorder.ended_by_clock
        if by_clock and not on_the_clock(plan.entrants):
            notes.append(f"not reproducible: {by_clock:,} games ended by a time limit, which depends on the machine")
        notes += recorder.forfeit_notes()
        seconds, logged = time.monotonic() - self._created, recorder.logged
        finished, reasons = run_directory.is_finished(path), dict(recorder.reasons)
        state = "finished" if finished else "interrupted"
        _LOGGER.info("%s: %s after %.1f s with %d of %d games", path, state, seconds, logged, total)
        for note in notes:
            _LOGGER.info("%s: %s", path, note)
        counts = (logged, logged - self._logged_before, total)
        return RunOutcome(path, plan, *counts, finished, seconds, recorder.points, reasons, tuple(notes))

    def _prepare(self, pool: Pool, task: Task) -> None:
        """Compile every agent before the games; note each that runs interpreted or does not answer."""

        def tell(sharers: Sequence[Sharers], interpreted: Mapping[int, str]) -> None:
            self.notes[self._known :] = _interpreted_notes(self._plan, interpreted)
            self.report("preparing", _names_of(self._plan, sharers))

        interpreted = prepare(pool, task, self._conduct.jobs, self._interrupted, tell)
        tell([(index,) for index in interpreted], interpreted)
        agents = (self._plan.entrants[index].agent for index in interpreted if not self._interrupted())
        self.notes += filter(None, [unresponsive_reason(agent, self._plan.config.size) for agent in agents])

    def _hints_at_hanging(self) -> list[str]:
        cap = self._plan.config.hard_cap
        may_hang = not cap and any(entrant.agent.is_user_code for entrant in self._plan.entrants)
        return [_STUCK if cap is None else _STUCK_FOR_GOOD] if may_hang else []


def _cluster_notes(plan: Plan, cluster_state: ClusterState) -> list[str]:
    notes = [*cluster_state.notes, *_interpreted_notes(plan, cluster_state.interpreted)]
    clocked, processors = on_the_clock(plan.entrants), {machine.processor for machine in cluster_state.machines}
    if clocked and len(processors) > 1:
        names = ", ".join(entrant.agent.name for entrant in clocked)
        notes.append(
            f"different machines bias the results: {names} have time limits, and {len(processors)} kinds of "
            f"processors play; use node limits, or machines of one kind"
        )
    return notes


def _names_of(plan: Plan, sharers: Iterable[Sharers]) -> str:
    """Name what is compiled: an agent of each group, or the loop that plays games."""
    return ", ".join(plan.entrants[group[0]].agent.name if group else "games" for group in sharers)


def _interpreted_notes(plan: Plan, interpreted: Mapping[int, str]) -> list[str]:
    names: dict[str, list[str]] = {}
    for index, why in sorted(interpreted.items()):
        names.setdefault(why, []).append(plan.entrants[index].agent.name)
    return [f"{', '.join(alike)} {'run' if alike[1:] else 'runs'} interpreted: {why}" for why, alike in names.items()]
