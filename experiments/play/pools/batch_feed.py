"""Batches: the games still to be played, handed out in portions of about equal duration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...plan.schedule import Ids, Schedule, pair_points
from ...statistics.anytime import checkpoints

Stop = Callable[[NDArray[np.int8]], Collection[int]]
"""Stop rule: maps the pair points of the completed rounds, [round, match], to the decided matches.

It must depend on nothing else; see `schedule.pair_points`.
"""

LONGEST_BATCH = 0.7
SHORTEST_BATCH = 0.05
FIRST_GUESS = 0.2
_WINDOW = 1 << 13


@dataclass(frozen=True)
class BatchPace:
    """Batch sizes: `workers` share the remaining games, and a batch takes this many seconds on one core.

    Attributes:
        first: seconds of a batch while the duration of a game is unknown.
        shortest, longest: seconds of any other batch; towards the end batches become shorter.
    """

    workers: int
    first: float = field(default_factory=lambda: LONGEST_BATCH)
    shortest: float = field(default_factory=lambda: SHORTEST_BATCH)
    longest: float = field(default_factory=lambda: LONGEST_BATCH)


class BatchFeed:
    """Games still to be played. Each game is handed out once; `give_back` returns one that was not played.

    A stop rule is evaluated at fixed checkpoints of the schedule, about every eighth of what has been played, once all
    rounds before the checkpoint are complete. A decision at one checkpoint takes effect at the next, and no game beyond
    that next one is handed out before. So the games that are played depend on results alone, never on timing, and
    workers need not wait for one another.

    `pace` sets the batch sizes and may be changed at any time; `seconds` has the duration of a game by match, as far as
    it is known.
    """

    def __init__(self, schedule: Schedule, points: NDArray[np.int8], jobs: int, stop: Stop | None = None) -> None:
        self.schedule = schedule
        self.points = points
        self.pace = BatchPace(jobs)
        self.stop = stop
        self.ends = schedule.pairs.copy()
        self._checkpoints = checkpoints(schedule.rounds) if stop else iter([schedule.rounds])
        self._decided = 0
        self._next = next(self._checkpoints)
        self._frontier = next(self._checkpoints, schedule.rounds)
        self._cursor = 0
        self._returned: list[int] = []
        self.seconds = np.full(len(schedule.matches), np.nan)

    @property
    def total(self) -> int:
        """Number of games of the run, as far as known: the stop rule may end matches early."""
        return 2 * int(self.ends.sum())

    @property
    def missing(self) -> int:
        """Number of games without a result."""
        return self.total - int(np.count_nonzero(self.points >= 0))

    def learn(self, matches: Ids, seconds: NDArray[np.float64]) -> None:
        """Update the durations of games of these matches."""
        known = np.where(np.isnan(self.seconds[matches]), seconds, self.seconds[matches])
        self.seconds[matches] = (known + seconds) / 2

    def give_back(self, ids: Iterable[int]) -> None:
        """Return games to the feed; they are handed out before all others."""
        self._returned = sorted({*self._returned, *(int(id_) for id_ in ids)})

    def take(self) -> Ids:
        """Return the next games for one worker; empty if there is nothing to do until more results arrive."""
        self._advance()
        ids = np.array(self._returned, np.int64) if self._returned else self._ahead()
        if not len(ids):
            return ids
        costs = self._costs(self.schedule.match_of(ids)).cumsum()
        share = self.missing * float(costs[-1]) / len(ids) / (4 * self.pace.workers)
        longest = self.pace.first if np.isnan(self.seconds).all() else self.pace.longest
        batch = ids[: 1 + np.searchsorted(costs, min(longest, max(self.pace.shortest, share)))]
        if self._returned:
            self._returned = self._returned[len(batch) :]
        else:
            self._cursor = int(batch[-1]) + 1
        return batch

    def _ahead(self) -> Ids:
        last = self._frontier * len(self.schedule.matches) * 2
        while self._cursor < last:
            ids = np.arange(self._cursor, min(self._cursor + _WINDOW, last))
            in_play = self.schedule.round_of(ids) < self.ends[self.schedule.match_of(ids)]
            ids_ahead = ids[in_play & (self.points.reshape(-1)[ids] < 0)]
            if len(ids_ahead):
                return ids_ahead
            self._cursor = int(ids[-1]) + 1
        return np.empty(0, np.int64)

    def _costs(self, matches: Ids) -> NDArray[np.float64]:
        known = self.seconds[~np.isnan(self.seconds)]
        guess = known.mean() if len(known) else FIRST_GUESS
        return np.where(np.isnan(self.seconds), guess, self.seconds)[matches]

    def _advance(self) -> None:
        while self.stop and self._decided < self._next and self._is_complete(self._decided, self._next):
            decided = self.stop(pair_points(self.points[: self._next]))
            for match in decided:
                self.ends[match] = min(self.ends[match], self._frontier)
            self._decided, self._next = self._next, self._frontier
            self._frontier = next(self._checkpoints, self.schedule.rounds)

    def _is_complete(self, first: int, last: int) -> bool:
        rounds = np.arange(first, last)[:, None]
        return bool(((self.points[first:last] >= 0).all(axis=2) | (rounds >= self.ends)).all())
