"""Section titles that state the finding."""

from __future__ import annotations

import math
from collections.abc import Mapping

from experiments.inference.standings import splits
from experiments.statistics.run_results import RunResults
from experiments.verdicts.contender_verdicts import Verdicts
from isolation.checks.search_cost import Cost
from reports.text.cell_values import Points, Ratio, Share, join_names
from reports.text.sections import Section
from reports.text.wording import finding_sentence


def titles_of(
    findings: RunResults, verdicts: Verdicts | None, costs: Mapping[str, Cost], ratings: Section
) -> dict[str, str]:
    """Return titles by the keys of their sections; sections without a finding keep their default title."""
    titles = {
        "comparison": _comparison(verdicts),
        "opponents": _opponents(findings, verdicts),
        "sides": _sides(findings),
        "ratings": _ratings(ratings),
        "telemetry": _cost(findings, costs),
    }
    return {key: title for key, title in titles.items() if title}


def _comparison(verdicts: Verdicts | None) -> str:
    if verdicts is None:
        return ""
    title, _, _ = finding_sentence(verdicts).removesuffix(".").partition(";")
    return title.partition(": ")[0]


def _opponents(findings: RunResults, verdicts: Verdicts | None) -> str:
    """Return the opponents against which the best contender leads most and least."""
    if verdicts is None or not verdicts.claims:
        return ""
    best = max(verdicts.claims, key=lambda claim: -math.inf if claim.is_empty else claim.difference.estimate)
    if len(best.effects) < 2:
        return ""
    most = max(best.effects, key=lambda effect: effect.difference.estimate)
    least = min(best.effects, key=lambda effect: effect.difference.estimate)
    return (
        f"The largest lead of {best.contender} is {Points(most.difference.estimate).text} against {most.opponent}, "
        f"the smallest {Points(least.difference.estimate).text} against {least.opponent}"
    )


def _sides(findings: RunResults) -> str:
    """Return the effect of the side for the measured agents, for openings of either colour role."""
    sums = {True: [0, 0], False: [0, 0]}
    for name in findings.measured:
        for split in splits(findings.pairs, name, pool=findings.pool_among(name)):
            sums[split.placed_first][0] += split.wins
            sums[split.placed_first][1] += split.games
    if not all(games for _, games in sums.values()):
        return ""
    first, second = (Share(won / games).text for won, games in (sums[True], sums[False]))
    return f"The measured agents won {first} of their games when placing first and {second} when placing second"


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
