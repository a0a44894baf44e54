"""Table and sentences of a best-of."""

from __future__ import annotations

from typing import Any

from experiments.inference.sequential.elimination import ALPHA
from experiments.statistics.run_results import RunResults
from experiments.verdicts.best_of import BestOfContender, BestOfResult
from reports.tables.summary import run_notes
from reports.text.cell_values import Points, Share, estimate_of, pluralise
from reports.text.sections import Section


def contest_section(findings: RunResults, contest: BestOfResult) -> Section:
    """One row a contender, the leader first."""
    rows = contest_rows(contest)
    notes = (
        *run_notes(findings),
        contest_sentence(contest),
        "Behind: the leader's win rate minus its own, in percentage points, over the openings that both have played "
        "against all opponents. A contender drops out once all of the interval lies above 0, for whoever leads then. "
        f"It holds however often one looks, each end with {100 * (1 - contest.allowed):.4g} %: so the best of these "
        f"{pluralise(len(rows), 'contender')} ever drops out with a chance of at most {100 * ALPHA:g} %.",
    )
    return Section("best_of", f"Best of {len(rows)}", rows, notes)


def contest_rows(contest: BestOfResult) -> tuple[dict[str, Any], ...]:
    """How far each contender came, the leader first."""
    leader = contest.contestants[0]
    return tuple(
        {
            "contender": contestant.contender,
            "openings": contestant.openings,
            "win_rate": Share(contestant.rate),
            "behind": None if contestant is leader else estimate_of(contestant.behind, Points),
            "state": "leads" if contestant is leader else _state(contestant),
        }
        for contestant in contest.contestants
    )


def _state(one: BestOfContender) -> str:
    """What became of somebody; games that were out already when it dropped out are played to their end."""
    if not one.out_after:
        return "left"
    more = f", {one.openings:,} played" if one.openings > one.out_after else ""
    return f"out after {one.out_after:,}{more}"


def contest_sentence(contest: BestOfResult) -> str:
    """Who is best, or among whom that is open."""
    left = [one.contender for one in contest.left]
    if not contest.contestants[0].openings:
        return "No opening has been played against all opponents yet."
    if len(left) == 1:
        return f"Best: {left[0]}; all others have dropped out."
    why = ", and all openings of the run are played" if contest.exhausted else ""
    return f"Left of {len(contest.contestants)}: {', '.join(left)}. No significant difference between them{why}."
