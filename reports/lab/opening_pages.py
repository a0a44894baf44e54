"""The page of openings: every first placement of a solved board by perfect play."""

from __future__ import annotations

import json
from collections import Counter

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from knights_isolation.experiments.exact.board_solving import BoardSummary, shipped_pairs, summarise
from knights_isolation.isolation.exact.solved_tables import covered_sizes
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.notation import cell_name

from ..text.cell_values import Share
from .framing import frame_of, lab_page, problem_page

USUAL = "7x7"


def title_of(summary: BoardSummary) -> str:
    """Return what perfect play says about the first placement, in a sentence."""
    counts = [len(replies) for replies in summary.refutations]
    cells = len(counts)
    if won := counts.count(0):
        return f"{won} of {cells} first placements win"
    fewest = min(counts)
    if fewest == max(counts):
        return f"Every first placement loses, each to {fewest} of {cells - 1} replies"
    best = cell_name(counts.index(fewest), parse_size(summary.size)[1])
    others = Counter(counts)[fewest] - 1
    which = f"{best} and {others} others leave" if others else f"{best} leaves"
    return f"Every first placement loses; {which} navy the fewest refutations, {fewest} of {cells - 1}"


async def openings_page(request: Request) -> Response:
    """Return the page of a board's openings."""
    frame = frame_of(request, "openings")
    size = request.query_params.get("board", USUAL)
    try:
        rows, columns = parse_size(size)
        summary = summarise(shipped_pairs(size), size)
    except ValueError as error:
        return problem_page(frame, 404, "No such board", str(error))
    facts = {"size": size, "rows": rows, "columns": columns, "refutations": summary.refutations}
    return lab_page(
        "openings.html",
        frame,
        title=title_of(summary),
        size=size,
        sizes=sorted({*covered_sizes(), size}, key=lambda name: parse_size(name)),
        rule=Share(summary.rule_holds / summary.openings).text,
        openings=Markup(json.dumps(facts)),
    )
