"""The table of what was tried in a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from knights_isolation.experiments.record.tries import Try
from knights_isolation.experiments.verdicts.account import adjusted_p_values

from ..text.cell_values import Estimate, Points, PValue, Ratio
from ..text.sections import Section


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
