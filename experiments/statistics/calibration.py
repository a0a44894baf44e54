"""Calibration: how well scores predict the winner; win rates by limit.

AUC is the chance that a position from which the mover won has a higher score than one of the same ply from which it
lost: 0.5 is no better than guessing, 1 is perfect. Proven scores are excluded: they come from the search, not from the
heuristic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ..inference.argument_checks import Ints
from ..inference.game_pairs import standings
from ..inference.intervals import Interval
from .first_placements import GroupedCounts, count_groups, merge_counts
from .move_statistics import Plies, over_moves
from .run_results import RunResults

BANDS = ((2, 5), (6, 9), (10, 13), (14, 17), (18, 21), (22, 25), (26, 31), (32, 47))
"""Stages of the game: first and last ply, counted from 0 as in the log."""
FEWEST_SCORES = 100
_FEWEST_OF_EACH = 10
_NOTHING = GroupedCounts((np.zeros(0, np.int16), np.zeros(0, np.int16), np.zeros(0)), (np.zeros(0, np.int64),) * 2)


@dataclass(frozen=True, eq=False)
class Scores:
    """An agent's unproven scores: numbers of winning and losing movers by ply and score (mover's view).

    Sorted by ply, then by score.
    """

    ply: npt.NDArray[np.int16]
    score: npt.NDArray[np.float64]
    won: Ints
    lost: Ints

    @property
    def positions(self) -> int:
        """Number of scored positions."""
        return int(self.won.sum() + self.lost.sum())

    def between(self, first: int, last: int) -> Scores:
        """Return the scores at plies `first` to `last`."""
        kept = slice(*np.searchsorted(self.ply, [first, last + 1]))
        return Scores(self.ply[kept], self.score[kept], self.won[kept], self.lost[kept])

    @property
    def auc(self) -> float:
        """Mean AUC of the plies, weighted by their number of pairs of a won and a lost position; NaN without any."""
        starts = np.flatnonzero(np.diff(self.ply, prepend=-1))
        if not starts.size:
            return math.nan
        won, lost = (np.add.reduceat(column, starts) for column in (self.won, self.lost))
        # number of each ply's lost positions with lower scores than a row's, plus half of those with equal scores
        below = (
            self.lost.cumsum() - self.lost / 2 - np.repeat(lost.cumsum() - lost, np.diff(starts, append=len(self.ply)))
        )
        pairs = float(won @ lost)
        return float(self.won @ below) / pairs if pairs else math.nan


def band_auc(scores: Scores, band: tuple[int, int]) -> float:
    """Return the AUC of the plies of a band; NaN if there are too few won or lost positions."""
    part = scores.between(*band)
    rarer = min(int(part.won.sum()), int(part.lost.sum()))
    return part.auc if part.positions >= FEWEST_SCORES and rarer >= _FEWEST_OF_EACH else math.nan


def scores_of(findings: RunResults, names: Sequence[str]) -> dict[str, Scores]:
    """Return the scores of each agent, over all runs."""
    runs = over_moves(findings, "score", names, _counted, partial(merge_counts, nothing=_NOTHING))
    counts = merge_counts(runs, _NOTHING)
    agent, ply, score = counts.keys
    bounds = np.searchsorted(agent, np.arange(len(names) + 1)).tolist()
    return {
        name: Scores(ply[first:end], score[first:end], *(count[first:end] for count in counts.counts))
        for name, first, end in zip(names, bounds, bounds[1:], strict=False)
    }


def _counted(plies: Plies) -> GroupedCounts:
    finite = np.isfinite(plies.value)
    won = plies.won[finite]
    return count_groups(
        [plies.agent[finite], plies.ply[finite], plies.value[finite]], [won.astype(np.int64), (~won).astype(np.int64)]
    )


UNITS = {"nodes": "nodes a move", "depth": "depth in plies", "ms": "ms a move", "cpu_ms": "CPU ms a move"}
"""Units of limits in words."""


@dataclass(frozen=True)
class AtLimit:
    """Win rate of an agent under one limit, in units of it; `kind` is the agent without its limit."""

    kind: str
    name: str
    is_baseline: bool
    unit: str
    limit: float
    rate: Interval


def by_limit(runs: Sequence[RunResults]) -> list[tuple[AtLimit, ...]]:
    """Return the win rates of each kind of agent by ascending limit, best at its highest limit first.

    Runs are evaluated separately, each with its own opponents. Only limits of the commonest unit count; controls are
    left out.
    """
    points = [point for run in runs for point in _points(run)]
    units = [point.unit for point in points]
    commonest = max(dict.fromkeys(units), key=units.count, default="")
    lines: dict[str, list[AtLimit]] = {}
    for point in sorted(points, key=lambda point: point.limit):
        if point.unit == commonest:
            lines.setdefault(point.kind, []).append(point)
    return sorted(map(tuple, lines.values()), key=lambda line: -line[-1].rate.estimate)


def _points(run: RunResults) -> Iterator[AtLimit]:
    for standing in standings(run.pairs):
        facts, is_known = run.agents.get(standing.agent), not math.isnan(standing.rate.estimate)
        is_measured = standing.agent in run.measured and is_known
        if facts and facts.limit and is_measured and "control" not in facts.roles:
            unit, value = facts.limit
            name = standing.agent.partition("@")[0]
            yield AtLimit(facts.apart_from_limit, name, standing.agent == run.baseline, unit, value, standing.rate)
