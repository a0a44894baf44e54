"""What was tried in a project: its table, and what many tries on the same positions mean for the next verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.inference.sequential.online_fdr import ALPHA, lond_levels
from experiments.record.tries import Try
from reports.text.cell_values import Estimate, Points, PValue, Ratio, join_names
from reports.text.sections import Section

FEW = 2
"""Number of tries on the same openings or positions that need no correction beyond that of their own report."""


def tries_section(tries: Mapping[int, Try]) -> Section:
    """Return the table of tries by their numbers in the log, the latest first."""
    rows = tuple(
        {
            "number": number,
            "when": each.when[:16].replace("T", " "),
            "command": each.command,
            "agent": each.agent,
            "baseline": each.baseline,
            "difference": Estimate(*(Points(points / 100) for points in each.difference)),
            "p": None if each.p_value is None else PValue(each.p_value),
            "cost": None if each.cost is None else Ratio(each.cost),
            "n": each.n,
            "judged_on": each.judged_on,
            "source": each.source,
        }
        for number, each in reversed(list(tries.items()))
    )
    notes = ("Difference to the baseline in percentage points; n is the number of openings or positions.",)
    return Section("tries", "Tries, the latest first", rows, notes if rows else ("Nothing was tried here yet.",))


def season_sentence(tries: Sequence[Try], p_values: Mapping[tuple[str, str], float]) -> str:
    """Return what earlier tries of the same family mean for the significant ones of a report.

    Args:
        tries: those of the report, which correct for each other already.
        p_values: of all tests of the family so far, in their order.
    """
    earlier = len(p_values.keys() - {each.test for each in tries})
    levels = dict(zip(p_values, lond_levels(p_values.values()), strict=False))
    significant = [each for each in tries if p_values.get(each.test, 1) <= ALPHA]
    if earlier < FEW or not significant:
        return ""
    lost = [each for each in significant if p_values[each.test] > levels[each.test]]
    where = next((each.held_out for each in significant if each.held_out), "the same openings or positions")
    said = f"{earlier} other tests were made on {where}. At a false discovery rate of 5 % over all of them"
    if not lost:
        return f"{said}, what is significant here remains so."
    names = join_names(
        [f"{each.agent} (unadjusted p = {p_values[each.test]:.2g}, level {levels[each.test]:.2g})" for each in lost]
    )
    return f"{said}, not significant any more: {names}. Confirm on new openings."
