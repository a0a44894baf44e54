"""Section titles that state the finding."""

from __future__ import annotations

from collections.abc import Mapping

from knights_isolation.experiments.inference.standings import splits
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.verdicts.contender_verdicts import Verdicts
from knights_isolation.isolation.checks.search_cost import Cost
from knights_isolation.reports.text.cell_values import Ratio, Share, join_names
from knights_isolation.reports.text.sections import Section
from knights_isolation.reports.text.wording import opponents_title


def titles_of(
    findings: RunResults, verdicts: Verdicts | None, costs: Mapping[str, Cost], ratings: Section
) -> dict[str, str]:
    """Return titles by the keys of their sections; sections without a finding keep their default title."""
    titles = {
        "comparison": f"Difference from {verdicts.baseline}" if verdicts and verdicts.claims else "",
        "opponents": opponents_title(verdicts),
        "sides": _sides(findings),
        "ratings": _ratings(ratings),
        "telemetry": _cost(findings, costs),
    }
    return {key: title for key, title in titles.items() if title}


def _sides(findings: RunResults) -> str:
    """Return what the side that the colours of an opening favour means for the measured agents."""
    sums = {True: [0, 0], False: [0, 0]}
    for name in findings.measured:
        for split in splits(findings.pairs, name, pool=findings.pool_among(name)):
            is_favoured = split.placed_first == split.same_colour
            sums[is_favoured][0] += split.wins
            sums[is_favoured][1] += split.games
    if not all(games for _, games in sums.values()):
        return ""
    favoured, other = (Share(won / games).text for won, games in (sums[True], sums[False]))
    return f"The measured agents won {favoured} on the side that the colours favour, {other} on the other"


def _ratings(ratings: Section) -> str:
    if not ratings.rows:
        return ""
    names = [row["agent"] for row in ratings.rows if row["rank"] == 1]
    verb = "is" if len(names) == 1 else "are"
    return f"{join_names(names)} {verb} rated highest: {ratings.rows[0]['rating'].text} Elo"


def _cost(findings: RunResults, costs: Mapping[str, Cost]) -> str:
    known = {name: costs[name].times for name in findings.contenders if name in costs}
    if len(known) < 2:
        return ""
    dear, cheap = max(known, key=lambda name: known[name]), min(known, key=lambda name: known[name])
    return (
        f"CPU time per node compared with {findings.baseline}: {dear} {Ratio(known[dear]).text}, {cheap} "
        f"{Ratio(known[cheap]).text}"
    )
