"""Verdicts, standings and ratings of runs as pandas frames.

Shares are between 0 and 1, differences of shares between -1 and 1 (0.03 is three percentage points), ratings are in
Elo. Nothing is rounded, and unknown values are NaN. `low` and `high` are the ends of a 95 % interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .contender_verdicts import judge
from .paired_differences import Comparison, HeadToHead
from .proportions import ALPHA, Interval, without_gap
from .ratings import rate
from .run_results import RunResults

if TYPE_CHECKING:
    import pandas as pd


VERDICTS = (
    *("contender", "baseline", "measure", "estimate", "low", "high", "joint_low", "joint_high", "p_value"),
    *("adjusted_p", "verdict", "is_control", "observations", "is_census", "run_state"),
)


STANDINGS = (
    *("agent", "wins", "games", "win_rate", "low", "high", "both_won", "split", "both_lost"),
    *("unfinished", "openings", "run_state"),
)


RATINGS = ("agent", "rating", "low", "high", "wins", "games", "is_zero", "half_game_added", "run_state")


def verdict_frame(findings: RunResults, alpha: float = ALPHA) -> pd.DataFrame:
    """Return a row for each contender and measure, in the order of the run: is it better than the baseline?

    Over shared opponents `measure` is ``difference``: `estimate` is the contender's win rate minus the baseline's, and
    `observations` are openings. Head to head it is ``score``: the share of games won against the baseline, where 0.5 is
    no difference, and `observations` are pairs. A gauntlet has both: they are two questions, and may have different
    answers. All values are about the openings of the run's kind on its board. `low`, `high` and `p_value` hold
    individually; `joint_low`, `joint_high` and `adjusted_p` hold for all rows of one measure except controls together.
    As long as games are missing, `joint_low`, `joint_high` and `verdict` are valid at any time, the others for a single
    look at the end, and `adjusted_p` is NaN. `verdict` is ``better`` or ``worse`` exactly if no difference is outside
    of `joint_low` to `joint_high`, or at an end that is open there: if `adjusted_p` is at most `alpha`. Otherwise it is
    ``no significant difference``, after a census also ``equal``. `is_census`: every existing opening was played.
    `run_state` is ``running``, ``stopped`` or ``finished``, as in all frames.

    Raises:
        ValueError: there is no baseline, or no agent to compare with it.
    """
    verdicts = judge(findings, alpha)
    rows = [
        _verdict(comparison, "difference", comparison.difference, comparison.openings, verdicts.controls)
        for comparison in verdicts.comparisons
    ]
    duels = (*verdicts.duels, *verdicts.direct)
    rows += [_verdict(duel, "score", duel.rate, duel.pairs.n, verdicts.controls) for duel in duels]
    return _frame(findings, rows, VERDICTS)


def standings_frame(findings: RunResults) -> pd.DataFrame:
    """Return one row per agent, the highest win rate first, over all opponents.

    `wins` and `games` count all games. `win_rate` is the share of games won in complete pairs, with an interval over
    openings. `both_won`, `split` and `both_lost` count the pairs, `unfinished` those that lack a game, and `openings`
    the openings played.
    """
    rows = [
        (
            *(each.agent, each.wins, each.games, each.rate.estimate, each.rate.low, each.rate.high),
            *(each.pairs.won, each.pairs.split, each.pairs.lost, each.unfinished, each.openings),
        )
        for each in findings.standings
    ]
    return _frame(findings, rows, STANDINGS)


def ratings_frame(findings: RunResults, zero: str | None = None) -> pd.DataFrame:
    """Return one row per agent, the highest rating first: Bradley-Terry ratings in Elo.

    Intervals are by bootstrap over openings.

    The baseline, or the agent `zero`, is at 0, and its `is_zero` is true; without either the mean of the pool is 0. An
    end of an interval is infinite if the results do not bound it. `half_game_added`: an agent was given half a game won
    and half a game lost, because it won, or lost, all its games against the largest group, or had none.

    Raises:
        ValueError: `zero` has no games.
    """
    ratings = rate(findings, zero)
    rows = [
        (
            *(each.agent, each.elo, each.low, each.high, each.wins, each.games),
            *(each.agent == ratings.zero, each.agent in ratings.half_game_added),
        )
        for each in ratings.ratings
    ]
    return _frame(findings, rows, RATINGS)


def _verdict(
    comparison: Comparison | HeadToHead, measure: str, interval: Interval, observations: int, controls: Iterable[str]
) -> tuple[Any, ...]:
    null = 0.5 if isinstance(comparison, HeadToHead) else 0.0
    ends = (interval.low, interval.high, comparison.jointly.low, comparison.jointly.high)
    return (
        *(comparison.contender, comparison.baseline, measure, interval.estimate),
        *(without_gap(end, null) for end in ends),
        *(comparison.p_value, comparison.adjusted_p, comparison.verdict, comparison.contender in controls),
        *(observations, comparison.is_census),
    )


def _frame(findings: RunResults, rows: list[tuple[Any, ...]], columns: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([(*row, findings.state) for row in rows], columns=list(columns))
