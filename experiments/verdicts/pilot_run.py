"""Games still needed after a pilot run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..inference.argument_checks import Floats, Ints
from ..inference.contenders.head_to_head import HeadToHead
from ..inference.contenders.sample_size import FixedPlan, openings_after_pilot, pairs_after_pilot
from ..record.checked_parquet import to_numpy
from ..record.log import fold_batches
from ..statistics.agent_results import list_chunks
from ..statistics.run_results import RunResults
from .contender_verdicts import judge, judge_all_pairs

_FEWEST_OPENINGS = 6
"""Minimum number of openings for significance: five results in one direction have p = 2/2⁵ = 0.0625."""
_PAUSE = 60e6
"""Microseconds without a new batch, beyond the moves of the previous one, after which a run counts as stopped."""


@dataclass(frozen=True)
class ContenderPlan:
    """Games that a contender of a pilot still has to play.

    `played` and `still_needed` count pairs of two games head to head (`is_duel`), otherwise openings that contender and
    baseline play against every opponent. `plan` is the whole, including the pilot. `games` are still to be played.
    """

    contender: str
    is_duel: bool
    plan: FixedPlan
    played: int
    still_needed: int
    games: int


def plan_contenders(
    pilot: RunResults, effect: float, power: float = 0.8, alpha: float = 0.05
) -> tuple[ContenderPlan, ...]:
    """Plan the games every contender needs to detect `effect`, a share of games won, by the pilot's own variance.

    In a round-robin these are plans for every two agents that met. Verdicts hold jointly; each plan uses its share of
    `alpha`, which is sufficient for significance. Raises ValueError if there is no agent to compare with a baseline, or
    an agent has too few openings.
    """
    if each := judge_all_pairs(pilot, alpha):
        return tuple(
            _duel_plan(f"{duel.contender} – {duel.baseline}", duel, effect, power, alpha / len(each)) for duel in each
        )
    verdicts = judge(pilot, alpha)
    share = alpha / max(verdicts.family, 1)
    plans = []
    for claim in verdicts.judged:
        if isinstance(claim, HeadToHead):
            plans.append(_duel_plan(claim.contender, claim, effect, power, share))
            continue
        _check_size(claim.contender, claim.openings)
        openings = openings_after_pilot(claim, effect, power, share)
        baseline_share = claim.baseline_openings / claim.openings if claim.paired and claim.openings else 1.0
        matches = len(claim.opponents) * (1 + baseline_share) + (verdicts.against_baseline(claim.contender) is not None)
        games = round(openings.still_needed * 2 * matches)
        plans.append(ContenderPlan(claim.contender, False, openings.plan, claim.openings, openings.still_needed, games))
    if not plans:
        raise ValueError("the pilot has no complete pairs yet; use another, or plan without a pilot")
    return tuple(plans)


def _duel_plan(name: str, duel: HeadToHead, effect: float, power: float, alpha: float) -> ContenderPlan:
    _check_size(name, duel.pairs.n)
    pairs = pairs_after_pilot(duel.pairs, effect, power, alpha)
    return ContenderPlan(name, True, pairs.plan, duel.pairs.n, pairs.still_needed, 2 * pairs.still_needed)


def _check_size(name: str, openings: int) -> None:
    if openings < _FEWEST_OPENINGS:
        raise ValueError(
            f"too little data: the pilot has {openings} complete opening{'s' * (openings != 1)} of {name}, at least "
            f"{_FEWEST_OPENINGS} are needed; play more, or leave --pilot out"
        )


def games_a_second(findings: RunResults, unknown: float) -> float:
    """Return games per second of wall time, from the first game to the last; `unknown` if the log has no times.

    Pauses of more than a minute, as before a run was resumed, are excluded.
    """
    seconds = math.fsum(_wall_seconds(source.info.path) for source in findings.sources)
    return findings.played / seconds if seconds else unknown


def _wall_seconds(run: Path) -> float:
    """Return the wall time of a run's games: from batch to batch, plus the moves of the last ones."""
    parts = fold_batches(run, ("started_at", "time_us"), _starts_and_times, list)
    if not parts:
        return 0.0
    starts, times = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    batches, batch_of = np.unique(starts, return_inverse=True)
    thought = np.bincount(batch_of, times)
    steps = np.diff(batches)
    is_pause = steps - thought[:-1] > _PAUSE
    return float(np.where(is_pause, thought[:-1], steps).sum() + thought[-1]) / 1e6


def _starts_and_times(table: pa.Table) -> tuple[Ints, Floats]:
    """Return the start times of the games' batches, and the total times of their moves, in microseconds."""
    sums = [np.diff(np.append(0, np.cumsum(values))[offsets]) for offsets, values in list_chunks(table, "time_us")]
    starts = to_numpy(table["started_at"].cast(pa.int64()))
    return starts, np.concatenate([*sums, np.zeros(0)])
