"""Board maps: results by first placement, visits, refutations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from knights_isolation.experiments.exact.board_solving import BoardSummary
from knights_isolation.experiments.statistics.first_placements import FEWEST, Placement, commonest_size, visits
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.verdicts.opening_leads import OpeningLead
from knights_isolation.isolation.rules.geometry import canonical_opening, parse_size
from knights_isolation.isolation.rules.notation import cell_name

from ..text.cell_values import Points, estimate_of, pluralise
from .chart import Boards, Cell, board_grid, signed, strength

_STRONGEST_LEAD = 0.2


def placement_maps(
    placements: Sequence[Placement], size: tuple[int, int] | None, links: Mapping[tuple[int, bool], str]
) -> Boards | None:
    """Return maps of both players' games won by first placement, each cell linked to an example game.

    Symmetric cells have equal numbers; cells with too few openings are blank.
    """
    if size is None:
        return None
    boards = []
    for is_first, title in ((True, "win rate when placing first"), (False, "win rate when placing second")):
        cells: dict[int, Cell] = {}
        for placement in placements:
            if placement.placed_first == is_first and placement.openings >= FEWEST:
                rate, openings = estimate_of(placement.rate).text, pluralise(placement.openings, "opening")
                text, colour = f"{100 * placement.rate.estimate:.0f}", strength(placement.rate.estimate - 0.5, 0.5)
                link = links.get((placement.cell, is_first), "")
                for cell in placement.cells:
                    tooltip = f"{cell_name(cell, size[1])}: {rate} of {placement.games:,} games, {openings}"
                    cells[cell] = Cell(text, colour, tooltip, link)
        boards.append(board_grid(title, size, cells))
    note = f"Symmetric cells are counted together; blank: fewer than {FEWEST} openings."
    return Boards("Win rate by first placement, in per cent", tuple(boards), note)


def lead_map(
    contender: str, leads: Sequence[OpeningLead], size: tuple[int, int], links: Mapping[int, str]
) -> Boards | None:
    """Return a map of a contender's difference to the baseline by the first cell, linked to a game that decided it."""
    if not leads:
        return None
    cells: dict[int, Cell] = {}
    for orbit in leads:
        for cell in orbit.cells:
            tooltip = (
                f"{cell_name(cell, size[1])}: {Points(orbit.lead).text} points, {pluralise(orbit.openings, 'opening')}"
            )
            text = signed(round(100 * orbit.lead))
            cells[cell] = Cell(text, strength(orbit.lead, _STRONGEST_LEAD), tooltip, links.get(orbit.cell, ""))
    most, least = (pick(leads, key=lambda orbit: orbit.lead) for pick in (max, min))
    title = f"{contender} gains {Points(most.lead).text} after a first placement on {cell_name(most.cell, size[1])}"
    if least is not most:
        title += f", {Points(least.lead).text} after {cell_name(least.cell, size[1])}"
    note = (
        f"Points compared with the baseline by the first cell of the opening; symmetric cells are counted together; "
        f"blank: fewer than {FEWEST} openings. Single cells are uncertain."
    )
    return Boards(title, (board_grid("", size, cells),), note)


def visit_map(findings: RunResults) -> Boards | None:
    """Return a map of the share of games in which a cell was visited."""
    shares, size = visits(findings), commonest_size(findings)
    if shares is None or size is None:
        return None
    cells = {
        cell: Cell(f"{100 * share:.0f}", strength(share, 1.0), is_amount=True) for cell, share in enumerate(shares)
    }
    return Boards("Visited cells", (board_grid("share of games that visited the cell, in per cent", size, cells),))


def refutation_maps(summary: BoardSummary) -> Boards:
    """Return maps of the number of refutations of each first cell, and the refutations of each one up to symmetry."""
    rows, columns = size = parse_size(summary.size)
    counts = np.array([len(cells) for cells in summary.refutations])
    span = max(1, int(np.ptp(counts)))
    overview = {
        cell: Cell(str(count), strength(count - counts.min(), span), is_amount=True)
        for cell, count in enumerate(counts)
    }
    details = []
    for first in range(rows * columns):
        if canonical_opening([first], rows, columns) == (first,):
            winners = summary.winners[first]
            replies = {cell: Cell("", 100 if winner == 2 else -100) for cell, winner in enumerate(winners) if winner}
            title = f"{cell_name(first, columns)}: {len(summary.refutations[first])}"
            details.append(board_grid(title, size, replies | {first: Cell("●", 0)}))
    return Boards(
        f"Winning replies to each first placement, {summary.size}",
        (board_grid("", size, overview),),
        details=tuple(details),
        legend="Replies to the first placement (dot): blue wins for player 2, orange for player 1",
    )
