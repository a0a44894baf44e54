"""The stage of games: a sequential test, and for those that pass, games after it that say by how much.

A test stops where luck has carried it, and only those that pass are looked at further: of candidates 2.9 points better,
those that pass a test of 0 against 20 Elo lead by 5.8 in its games. When it stopped does not even say on which side of
the middle of its hypotheses the truth is. Games from openings that the test has not seen are not selected.
"""

from __future__ import annotations

from collections.abc import Callable

from ..inference.argument_checks import Ints
from ..inference.cluster_intervals import Interval
from ..inference.elo import score_from_elo
from ..inference.pair_intervals import count_pairs, pair_interval
from ..inference.sequential.sprt import Decision, Sprt, sprt_path
from ..inference.sequential.sprt_estimate import stopped_estimate
from .evaluation import Lead

PAIRS, PAIRS_AT_ONCE = 2000, 100
FRESH_PAIRS = 1000
"""Most pairs of the test, and pairs after it."""
SPRT = Sprt(0.0, 20.0)
"""The sequential test of games, in Elo."""

PlayPairs = Callable[[range], Ints]
"""Plays openings by their numbers, and returns the games won of each pair."""


def decide_by_games(play: PlayPairs, most: int, play_fresh: PlayPairs, fresh: int) -> tuple[Decision | None, Lead]:
    """Return the decision of the sequential test, and the lead in points: that after the test if it accepts H1.

    `play` plays the `most` openings of the test, `play_fresh` the `fresh` ones that the test does not have; if there
    are none of these, the lead is that of the test.
    """
    won: list[int] = []
    path = sprt_path(won, SPRT)
    for start in range(0, most, PAIRS_AT_ONCE):
        won += play(range(start, min(start + PAIRS_AT_ONCE, most))).tolist()
        path = sprt_path(won, SPRT)
        if path.decision:
            break
    if path.decision == "H1" and fresh:
        share = pair_interval(count_pairs(play_fresh(range(fresh))))
        return path.decision, _lead(share, fresh)
    elo = stopped_estimate(path)
    assert elo is not None
    estimate, low, high = (float(score_from_elo(end)) for end in (elo.estimate, elo.low, elo.high))
    pairs = path.decided_after or path.outcomes.size
    return path.decision, _lead(Interval(estimate, low, high, elo.confidence), pairs)


def _lead(share: Interval, pairs: int) -> Lead:
    return Lead(200 * (share.estimate - 0.5), 200 * (share.low - 0.5), 200 * (share.high - 0.5), 2 * pairs)


def describe_games(lead: Lead, decision: str | None, baseline: str) -> str:
    """Return the result of a sequential test, and the lead of `decide_by_games`, as a sentence."""
    if decision == "H1":
        return f"better than {baseline} by a sequential test at equal cost; in {lead.n:,} games after it: {lead}. "
    verdict = "not better by 20 Elo than" if decision else "undecided against"
    return f"{verdict} {baseline} in {lead.n:,} games at equal cost: {lead}. "
