"""The page of openings: every first placement of a solved board by perfect play."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from isolation.exact.solved_tables import covered_sizes, pair_is_won
from isolation.rules.geometry import parse_size
from isolation.rules.notation import cell_name
from reports.lab.framing import frame_of, lab_page, problem_page
from reports.text.cell_values import Share

USUAL = "7x7"


@dataclass(frozen=True)
class Openings:
    """For each first placement of a board its refutations: the replies after which player 2 wins with perfect play."""

    rows: int
    columns: int
    refutations: tuple[tuple[int, ...], ...]

    @property
    def finding(self) -> str:
        """What perfect play says about the first placement, in a sentence."""
        counts = [len(replies) for replies in self.refutations]
        cells = len(counts)
        if won := counts.count(0):
            return f"{won} of {cells} first placements win"
        fewest = min(counts)
        if fewest == max(counts):
            return f"Every first placement loses, each to {fewest} of {cells - 1} replies"
        best = cell_name(counts.index(fewest), self.columns)
        others = Counter(counts)[fewest] - 1
        which = f"{best} and {others} others leave" if others else f"{best} leaves"
        return f"Every first placement loses; {which} navy the fewest refutations, {fewest} of {cells - 1}"

    @property
    def rule_holds(self) -> float:
        """Share of placement pairs that player 2 wins exactly if the knights stand on cells of different colour."""
        cells = range(len(self.refutations))
        pairs = [(first, reply) for first in cells for reply in cells if first != reply]
        agree = sum((reply in self.refutations[first]) == self._differ(first, reply) for first, reply in pairs)
        return agree / len(pairs)

    def _differ(self, first: int, reply: int) -> bool:
        return sum(sum(divmod(cell, self.columns)) for cell in (first, reply)) % 2 == 1


def openings_of(size: str) -> Openings:
    """Return the openings of a solved board.

    Raises:
        ValueError: it is no board size, or not solved.
    """
    rows, columns = parse_size(size)
    if pair_is_won(rows, columns, 0, 1) is None:
        raise ValueError(f"{size} is not solved: choose one of {', '.join(covered_sizes())}")
    cells = range(rows * columns)
    refutations = tuple(
        tuple(reply for reply in cells if reply != first and not pair_is_won(rows, columns, first, reply))
        for first in cells
    )
    return Openings(rows, columns, refutations)


async def openings_page(request: Request) -> Response:
    """Return the page of a board's openings."""
    frame = frame_of(request, "openings")
    size = request.query_params.get("board", USUAL)
    try:
        openings = openings_of(size)
    except ValueError as error:
        return problem_page(frame, 404, "No such board", str(error))
    facts = {"size": size, "rows": openings.rows, "columns": openings.columns}
    return lab_page(
        "openings.html",
        frame,
        title=openings.finding,
        size=size,
        sizes=sorted({*covered_sizes(), size}, key=lambda name: parse_size(name)),
        rule=Share(openings.rule_holds).text,
        openings=Markup(json.dumps({**facts, "refutations": openings.refutations})),
    )
