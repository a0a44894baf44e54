"""Calibration: how well scores predict the winner.

AUC is the chance that a position from which the mover won has a higher score than one of the same ply from which it
lost: 0.5 is no better than guessing, 1 is perfect. Proven scores are excluded: they come from the search, not from the
heuristic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ..inference.argument_checks import Ints
from .grouped_counts import GroupedCounts, count_groups, merge_counts
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
