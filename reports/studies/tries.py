"""What was tried in a project: its table, and what many tries on the same positions mean for the next verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from knights_isolation.experiments.record.tries import Try
from knights_isolation.experiments.verdicts.account import adjusted_p_values
from knights_isolation.reports.text.cell_values import Estimate, Points, PValue, Ratio, join_names, pluralise
from knights_isolation.reports.text.sections import Section

ALPHA = 0.05


def tries_section(tries: Mapping[int, Try], known: Sequence[Try]) -> Section:
    """Return the table of tries by their numbers in the log, the latest first.

    `known` are all tries, for which p-values are adjusted.
    """
    adjusted = adjusted_p_values(known)
    rows = tuple(
        {
            "number": number,
            "when": each.when[:16].replace("T", " "),
            "command": each.command,
            "agent": each.agent,
            "measure": each.measure,
            "baseline": each.baseline,
            "difference": Estimate(*(Points(points / 100) for points in each.difference)),
            "p": None if each.p_value is None else PValue(each.p_value),
            "adjusted_p": _cell(adjusted.get((each.family, each.question))),
            "cost": None if each.cost is None else Ratio(each.cost),
            "n": each.n,
            "judged_on": each.judged_on,
            "source": each.source,
        }
        for number, each in reversed(list(tries.items()))
    )
    notes = (
        "Difference to the baseline in percentage points, and p, of this look alone; n is the number of openings or "
        "positions. The adjusted p is today's: it pools the openings of all looks at the same agent, so it may be "
        "smaller than p, and is adjusted for everything that was tried with the same baseline, board, openings and "
        "limit, or on the same positions.",
    )
    return Section("tries", "Tries, the latest first", rows, notes if rows else ("Nothing was tried here yet.",))


def _cell(p_value: float | None) -> PValue | None:
    return None if p_value is None else PValue(p_value)


def withdrawn_sentence(judged: Sequence[tuple[Try, float]], tries: Sequence[Try]) -> str:
    """Return which verdicts of a report on fixed positions the other tries of its family withdraw; "" if none.

    Args:
        judged: its tries, each with the p-value that the report adjusted for its own contenders.
        tries: all so far, the report's included.
    """
    adjusted = adjusted_p_values(tries)
    lost = [
        f"{each.agent} (adjusted p = {adjusted[each.family, each.question]:.2g})"
        for each, p_value in judged
        if p_value <= ALPHA < adjusted[each.family, each.question]
    ]
    if not lost:
        return ""
    family = judged[0][0].family
    others = {each.question for each in tries if each.family == family} - {each.question for each, _ in judged}
    return (
        f"Adjusted for {pluralise(len(others), 'earlier test')} on {family}, not significant any more: "
        f"{join_names(lost)}. Confirm on new openings."
    )
