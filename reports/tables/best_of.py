"""Table and sentences of a best-of."""

from __future__ import annotations

from typing import Any

from knights_isolation.experiments.inference.sequential.elimination import ALPHA
from knights_isolation.experiments.statistics.agent_costs import node_costs
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.statistics.same_games import same_games
from knights_isolation.experiments.verdicts.best_of import BestOfContender, BestOfResult
from knights_isolation.isolation.checks.search_cost import Cost
from knights_isolation.isolation.suggestions import advice

from ..text.cell_values import Points, Share, estimate_of, join_names, pluralise
from ..text.sections import Section
from .costs import cost_cell
from .summary import run_notes


def contest_section(findings: RunResults, contest: BestOfResult) -> Section:
    """Return one row per contender, the leader first."""
    costs = _costs_over_leader(findings, contest)
    rows = tuple({**row, "cost": cost_cell(costs, str(row["contender"]))} for row in contest_rows(contest))
    notes = (
        *run_notes(findings),
        contest_sentence(contest),
        *dearer_sentences(findings, contest),
        *identical_sentences(findings, contest),
        "Behind: the leader's win rate minus the contender's, in percentage points, over the openings that both have "
        "played against all opponents. A contender is eliminated when its whole interval is above 0, whoever leads "
        f"then. Intervals are valid at any time; each end holds with {100 * (1 - contest.allowed):.4g} %, so the best "
        f"of these {pluralise(len(rows), 'contender')} is eliminated with a probability of at most {100 * ALPHA:g} %.",
    )
    return Section("best_of", f"Best of {len(rows)}", rows, notes)


def dearer_sentences(findings: RunResults, contest: BestOfResult) -> list[str]:
    """Say whether a node of the leader costs more than one of other contenders, unless they played at equal cost."""
    if any(source.info.requested.get("equal_cost") for source in findings.sources):
        return []
    leader, *others = (contestant.contender for contestant in contest.contestants)
    costs = _costs_over_leader(findings, contest)
    cheaper = [
        f"{1 / costs[name].times:.2f} × that of {name}" for name in others if name in costs and costs[name].high < 1
    ]
    if not cheaper:
        return []
    return [
        f"{leader} is dearer: a node of it costs {join_names(cheaper)}. It may not win at equal cost: play them with "
        f"{advice('match --equal-cost', 'ki.match(…, equal_cost=True)')}."
    ]


def identical_sentences(findings: RunResults, contest: BestOfResult) -> list[str]:
    """Say which contenders played the same games, so that none of them can be better."""
    groups = same_games(findings, [contestant.contender for contestant in contest.contestants if contestant.openings])
    return [f"{join_names(group)} are identical: they played the same games, move by move." for group in groups]


def _costs_over_leader(findings: RunResults, contest: BestOfResult) -> dict[str, Cost]:
    costs = node_costs(findings)
    own = costs.get(contest.contestants[0].contender)
    return {name: cost.over(own) for name, cost in costs.items()} if own else {}


def contest_rows(contest: BestOfResult) -> tuple[dict[str, Any], ...]:
    """Return the results of each contender, the leader first."""
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


def _state(contender: BestOfContender) -> str:
    # games already running when it dropped out are finished
    if not contender.out_after:
        return "left"
    openings_played = f", {contender.openings:,} played" if contender.openings > contender.out_after else ""
    return f"out after {contender.out_after:,}{openings_played}"


def contest_sentence(contest: BestOfResult) -> str:
    """Name the best contender, or those that may still be the best."""
    left = [contender.contender for contender in contest.left]
    if not contest.contestants[0].openings:
        return "No opening has been completed against all opponents yet."
    if len(left) == 1:
        return f"Best: {left[0]}; all others have been eliminated."
    why = ", and all openings of the run are played" if contest.exhausted else ""
    return f"Remaining of {len(contest.contestants)}: {', '.join(left)}. No significant difference between them{why}."
