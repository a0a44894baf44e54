"""Puzzles: telling positions of the shipped 7x7 suite that several of its reference players failed."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from knights_isolation.reports.board.request_models import AddressModel, StrictModel
from knights_isolation.reports.board.resources import Resources

if TYPE_CHECKING:
    from knights_isolation.experiments.suite import Suite

SIZE = "7x7"
_FEWEST_FAILURES = 5
"""Reference players that must have thrown the win away for a position to be a puzzle."""
_EVEN = 1500
"""Rating of a puzzle that half of the reference players fail."""
_ORDER = 7
"""Seed of the order of the puzzles, which must stay the same, since links and days name their numbers."""
Number = Annotated[int, Field(ge=0, lt=10**9)]


class PuzzleQuestion(AddressModel):
    """Request for a puzzle by its number."""

    number: Number


class PuzzleAnswer(StrictModel):
    """Request to judge a move in a puzzle; without a move, for the solution."""

    number: Number
    move: Annotated[int, Field(ge=0, lt=10**3)] | None = None


def puzzle(question: PuzzleQuestion, shelf: Resources) -> dict[str, Any]:
    """Return a puzzle without its solution; numbers beyond the last start again.

    `rating` is on the Elo scale: 400 times the decimal logarithm of the odds that a reference player fails, above 1500.
    """
    suite, failures, number, row = _chosen(question.number)
    legal, keeping = moves_of(suite, row)
    asked, missed = len(suite.field), int(failures[row])
    return {
        "number": number,
        "count": len(_puzzles()[2]),
        "size": suite.size,
        "moves": [int(cell) for cell in suite.positions[row]],
        "legal": len(legal),
        "keeping": len(keeping),
        "asked": asked,
        "missed": missed,
        "rating": round(_EVEN + 400 * math.log10((missed + 0.5) / (asked - missed + 0.5))),
    }


def judge_move(question: PuzzleAnswer, shelf: Resources) -> dict[str, Any]:
    """Return whether a move keeps the win, and all that keep it if it does or no move is given."""
    suite, _, _, row = _chosen(question.number)
    legal, solution = moves_of(suite, row)
    if question.move is not None and question.move not in legal:
        raise ValueError("illegal move")
    is_kept = question.move is None or question.move in solution
    return {"keeps": is_kept, "moves": solution if is_kept else []}


def _chosen(number: int) -> tuple[Suite, Any, int, int]:
    suite, failures, order = _puzzles()
    number %= len(order)
    return suite, failures, number, int(order[number])


def moves_of(suite: Suite, row: int) -> tuple[list[int], list[int]]:
    """Return the legal moves of a position, and those that keep the win."""
    part = slice(suite.starts[row], suite.starts[row + 1])
    return suite.legal[part].tolist(), suite.legal[part][suite.keeps[part]].tolist()


@cache
def _puzzles() -> tuple[Suite, Any, Any]:
    """Return the suite, the number of reference players that failed each position, and the puzzles' rows in order."""
    import numpy as np

    from knights_isolation.experiments.suite import read_suite

    suite = read_suite(SIZE)
    kept = np.bitwise_count(suite.kept_by.astype(np.uint16))
    failures = len(suite.field) - kept
    rows = np.flatnonzero(suite.is_telling & (failures >= _FEWEST_FAILURES))
    return suite, failures, np.random.default_rng(_ORDER).permutation(rows)
