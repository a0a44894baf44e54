"""What is known of a run's games while it runs, and the log they go to."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments import log, runs
from experiments.design import Plan
from experiments.schedule import points_table, record_points
from experiments.worker import Played, joined
from isolation.match import REASONS

BY_CLOCK = ("timeout", "hang")
"""Reasons that depend on the machine's speed."""

_SHORTEST = 0.5
_LONGEST = 2.0
_SHARE = 0.002


class Ledger:
    """The results of a run so far, those found in its log to begin with.

    `points` has every result (see `schedule.points_table`); `logged` and `reasons` count the games that are in the log
    for good.
    """

    def __init__(self, run: Path, plan: Plan) -> None:
        self.plan = plan
        self.points = points_table(plan.schedule)
        self.reasons: Counter[str] = Counter()
        self.logged = 0
        self._run = run
        self._folder = log.games_folder(run)
        self._waiting: list[Played] = []
        self._started = self._written = time.monotonic()
        log.sweep(self._folder)
        self._recover()

    def add(self, played: Played) -> None:
        """Take finished games; `write` puts them into the log."""
        record_points(self.points, played.ids, played.winner)
        self._waiting.append(played)

    def write_if_due(self) -> None:
        """Write every half second to two seconds; in long runs less often, lest they end in 100,000 files."""
        now = time.monotonic()
        elapsed = now - self._started
        if now - self._written > max(min(_LONGEST, elapsed / 10), _SHORTEST, _SHARE * elapsed):
            self.write()

    def write(self) -> None:
        """Put the games that wait into the log.

        Raises:
            OSError: the log cannot be written; these games are lost, those before are not.
        """
        self._written = time.monotonic()
        if self._waiting:
            played, self._waiting = joined(self._waiting), []
            settings = [entry.settings for entry in self.plan.entries]
            log.append(self._folder, log.games_table(self.plan.schedule, settings, played))
            self._count(played.reason)

    @property
    def ended_by_clock(self) -> int:
        """How many games a time limit or the hard cap ended."""
        return sum(self.reasons[reason] for reason in BY_CLOCK)

    def close(self) -> None:
        """Merge the log's parts, and write down that the run is finished."""
        log.merge(self._folder)
        runs.finish(self._run, self.logged, self.ended_by_clock)

    def _recover(self) -> None:
        found = log.read_table(self._run, ["game_id", "winner", "reason"])
        ids = found["game_id"].to_numpy()
        if len(np.unique(ids)) < len(ids):
            raise ValueError(f"{self._run}: the log holds a game twice; it cannot be gone on with")
        record_points(self.points, ids, found["winner"].to_numpy())
        self.logged = len(ids)
        self.reasons.update(found["reason"].to_pylist())

    def _count(self, reasons: NDArray[np.int8]) -> None:
        self.logged += len(reasons)
        for code, count in zip(*np.unique(reasons, return_counts=True), strict=True):
            self.reasons[REASONS[code]] += int(count)
