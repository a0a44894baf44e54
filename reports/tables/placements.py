"""Table of first placements."""

from __future__ import annotations

from collections.abc import Sequence

from knights_isolation.experiments.statistics.first_placements import Placement
from knights_isolation.isolation.rules.notation import cell_name
from knights_isolation.reports.text.cell_values import estimate_of
from knights_isolation.reports.text.sections import Section


def placement_section(placements: Sequence[Placement], size: tuple[int, int] | None) -> Section:
    """Return first placements up to symmetry, each player's best first."""
    width = size[1] if size else 1
    rows = tuple(
        {
            "cell": cell_name(placement.cell, width),
            "placed": "first" if placement.placed_first else "second",
            "alike": len(placement.cells),
            "openings": placement.openings,
            "games": placement.games,
            "won": estimate_of(placement.rate),
        }
        for placement in sorted(
            placements, key=lambda placement: (not placement.placed_first, -placement.rate.estimate)
        )
    )
    notes = (
        "Symmetric cells and symmetric openings are counted together. The 95 % intervals are individual and computed "
        "over openings, because games of one opening are dependent. Pairings differ from cell to cell by chance. "
        "Cells with fewer than {FEWEST} openings are blank on the map.",
    )
    return Section("placements", "First placements", rows, notes if rows else ())
