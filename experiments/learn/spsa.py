"""Simultaneous perturbation stochastic approximation (Spall 1992, 1998): arithmetic only.

All parameters are scaled to [0, 1]. In round k every parameter is moved up or down at random by c_k, games between the
two ends say which end is better, and all parameters move that way. c_k = c / k^0.101, and the gain falls as
1 / (A + k)^0.602 with A a tenth of the rounds: what Spall recommends for runs of any practical length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

ALPHA = 0.602
GAMMA = 0.101
STABILITY = 0.1
WIDTH = 0.25
"""The perturbation in the first round, as a share of the range: smaller ones move nothing."""
_DRIFT = 0.5
"""How far mere luck moves a parameter over a whole run, in perturbations."""


@dataclass(frozen=True)
class SpsaPlan:
    """How a run goes: after each round the parameters move.

    So many `directions`, pairs of ends drawn by `seed`, are played a round; each plays so many openings, two games
    each.
    """

    rounds: int
    directions: int
    openings: int
    seed: int

    @property
    def games(self) -> int:
        """Total number of games."""
        return 2 * self.rounds * self.directions * self.openings


def plan_of(games: int, seed: int, directions: int = 8) -> SpsaPlan:
    """A plan of about so many games: a hundred rounds, fewer if a pair of ends had fewer than eight openings."""
    rounds = max(1, min(100, games // (2 * directions * 8)))
    return SpsaPlan(rounds, directions, max(1, round(games / (2 * rounds * directions))), seed)


def width(round_: int) -> float:
    """How far parameters are moved in a round, the first of which is 1."""
    return float(WIDTH / round_**GAMMA)


def directions(plan: SpsaPlan, round_: int, parameters: int) -> Vector:
    """The signs of a round's perturbations, [directions, parameters]; in pairs that differ, where there are several."""
    signs: Vector = np.random.default_rng([plan.seed, round_]).choice([-1.0, 1.0], (plan.directions, parameters))
    return signs


def ends(point: Vector, signs: Vector, round_: int) -> tuple[Vector, Vector]:
    """The two ends of each direction, within [0, 1]."""
    away = width(round_) * signs
    return np.clip(point + away, 0, 1), np.clip(point - away, 0, 1)


def moved(plan: SpsaPlan, point: Vector, signs: Vector, leads: Vector, round_: int) -> Vector:
    """Return the parameters after a round.

    Args:
        leads: of each direction, games won minus games lost by the upper end.
    """
    pairs = plan.rounds * plan.directions * plan.openings
    late = (STABILITY * plan.rounds + round_) / (STABILITY * plan.rounds + (plan.rounds + 1) / 2)
    gain = _DRIFT / np.sqrt(pairs) / late**ALPHA
    stepped: Vector = np.clip(point + gain * width(round_) * (leads @ signs), 0, 1)
    return stepped
