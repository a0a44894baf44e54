"""What a run says, as a pilot, is still to be played to find an effect."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.inference.duel import Duel
from experiments.inference.planning import FixedPlan, openings_after_pilot, pairs_after_pilot
from experiments.verdicts.comparisons import judge, judge_each
from experiments.verdicts.effort import measure_price
from experiments.verdicts.findings import Findings


@dataclass(frozen=True)
class ContenderPlan:
    """What one contender of a pilot still has to play.

    Head to head (`is_duel`) `played` and `more` count pairs, and `more` takes two games each; else openings, each met
    by contender and baseline against every opponent. `plan` is the whole, the pilot's part included. `games` are those
    still to be played.
    """

    contender: str
    is_duel: bool
    plan: FixedPlan
    played: int
    more: int
    games: int


def plan_contenders(
    pilot: Findings, effect: float, power: float = 0.8, alpha: float = 0.05
) -> tuple[ContenderPlan, ...]:
    """What every contender needs to find `effect`, a share of games won, by the pilot's own variance.

    In a round-robin these are every two agents that met.

    A verdict is Holm-adjusted, so each contender has to pass its share of `alpha`, which its plan keeps.

    Raises:
        ValueError: nobody can be compared with a baseline, or the pilot holds no complete pairs.
    """
    if each := judge_each(pilot, alpha):
        return tuple(
            _duel_plan(f"{one.contender} – {one.baseline}", one, effect, power, alpha / len(each)) for one in each
        )
    verdicts = judge(pilot, alpha)
    share = alpha / max(verdicts.family, 1)
    plans = []
    for duel in (duel for duel in verdicts.duels if duel.contender not in verdicts.controls):
        plans.append(_duel_plan(duel.contender, duel, effect, power, share))
    for one in verdicts.claims:
        openings = openings_after_pilot(one, effect, power, share)
        baseline_share = one.baseline_openings / one.openings if one.paired and one.openings else 1.0
        games = round(openings.more * 2 * len(one.opponents) * (1 + baseline_share))
        plans.append(ContenderPlan(one.contender, False, openings.plan, one.openings, openings.more, games))
    if not plans:
        raise ValueError("the pilot holds no complete pairs yet; without one, leave it out")
    return tuple(plans)


def _duel_plan(name: str, duel: Duel, effect: float, power: float, alpha: float) -> ContenderPlan:
    pairs = pairs_after_pilot(duel.pairs, effect, power, alpha)
    return ContenderPlan(name, True, pairs.plan, duel.pairs.n, pairs.more, 2 * pairs.more)


def games_a_second(findings: Findings, unknown: float) -> float:
    """How fast this machine's cores play the runs' games, by the time their moves took; `unknown` if they took none."""
    from joblib import cpu_count

    seconds = sum(price.microseconds for price in measure_price(findings).values()) / 1e6
    return findings.played * cpu_count() / seconds if seconds else unknown
