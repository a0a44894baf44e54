"""What a heuristic's score says about who wins.

AUC is the chance that a position from which the mover won has a higher score than one from which it lost, ply for ply:
0.5 is a coin, 1 knows. Proven scores are left out: they are the search's knowledge, not the heuristic's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.verdicts.findings import Findings
from experiments.verdicts.plies import chosen_moves

BANDS = ((2, 5), (6, 9), (10, 13), (14, 17), (18, 21), (22, 25), (26, 31), (32, 47))
"""Stages of the game: first and last ply, counted from 0 as in the log."""
FEWEST_SCORES = 100
_FEWEST_OF_EACH = 10


@dataclass(frozen=True, eq=False)
class Scores:
    """An agent's unproven scores: the ply, the score in the mover's view, and whether the mover won."""

    ply: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]
    won: npt.NDArray[np.bool_]

    def between(self, first: int, last: int) -> Scores:
        """Those at the plies from `first` to `last`."""
        kept = (self.ply >= first) & (self.ply <= last)
        return Scores(self.ply[kept], self.score[kept], self.won[kept])

    @property
    def auc(self) -> float:
        """Mean AUC of the plies, weighted by how many pairs of a won and a lost position they have; NaN without any."""
        weighted = total = 0.0
        for ply in np.unique(self.ply):
            at = self.ply == ply
            won = int(self.won[at].sum())
            pairs = won * (int(at.sum()) - won)
            if pairs:
                ranks = pd.Series(self.score[at]).rank().to_numpy()[self.won[at]].sum()
                weighted += ranks - won * (won + 1) / 2
                total += pairs
        return weighted / total if total else math.nan


def band_auc(scores: Scores, band: tuple[int, int]) -> float:
    """The AUC of the plies of a band; NaN where too few positions were won, or lost, to tell."""
    part = scores.between(*band)
    rarer = min(int(part.won.sum()), int((~part.won).sum()))
    return part.auc if part.ply.size >= FEWEST_SCORES and rarer >= _FEWEST_OF_EACH else math.nan


def scores_of(findings: Findings, names: Sequence[str]) -> dict[str, Scores]:
    """The scores of each agent, over all runs."""
    parts: dict[str, list[Scores]] = {name: [] for name in names}
    for plies in chosen_moves(findings, "score", names):
        finite = np.isfinite(plies.value)
        for place in np.unique(plies.agent[finite]):
            own = finite & (plies.agent == place)
            parts[names[place]].append(Scores(plies.ply[own], plies.value[own], plies.won[own]))
    return {name: _joined(found) for name, found in parts.items()}


def _joined(parts: Sequence[Scores]) -> Scores:
    if not parts:
        return Scores(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.bool_))
    return Scores(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("ply", "score", "won")))
