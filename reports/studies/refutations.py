"""Tables of `refute`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from experiments.exact.refutation import OpeningAnswer, held_share
from isolation.boards.render import to_text
from isolation.editions.classic_board import Board
from isolation.rules.geometry import parse_size
from isolation.rules.notation import format_moves
from isolation.shell import command
from reports.text.cell_values import Share
from reports.text.sections import Section


def refutations_section(
    results: Sequence[tuple[str, str, Sequence[OpeningAnswer]]], size: str, opponent: str
) -> Section:
    """Return one row per agent and limit: name, limit, and the answers for its openings."""
    rows = tuple(
        {
            "agent": name,
            "limit": limit,
            "openings": len(answers),
            "held": Share(held_share(answers)),
            "undecided": sum(not answer.is_decided for answer in answers),
            "wins": Share(sum(answer.wins for answer in answers) / max(1, len(answers))),
            "first_error": _median_move(answers),
        }
        for name, limit, answers in results
    )
    notes = (
        f"Openings of two placements on {size}, played as the player that they are won for. Held: proven that no line "
        f"beats the agent; in all others but those undecided, a line that does was found. Wins: share of the same "
        f"openings won against {opponent} at the same limit. First error: median number of the agent's move that "
        f"throws the win away in the shortest refutation.",
    )
    return Section("refutations", "Won openings held against an opponent who knows every move", rows, notes)


def shortest_refutation(answers: Sequence[OpeningAnswer]) -> OpeningAnswer | None:
    """Return the refutation whose error comes first, and of these the shortest game; None if nothing was refuted."""
    refuted = [answer for answer in answers if answer.line]
    return min(refuted, key=lambda answer: (answer.error_ply, len(answer.line)), default=None)


def line_section(name: str, answer: OpeningAnswer, size: str) -> Section:
    """Return a refutation: what goes wrong where, and the line."""
    columns = parse_size(size)[1]
    moves = format_moves(answer.line, columns)
    error = format_moves(answer.line[answer.error_ply : answer.error_ply + 1], columns) or "failing to move"
    title = (
        f"Shortest refutation: won for player {answer.side} after {format_moves(answer.opening, columns)}, but move "
        f"{_move_number(answer)} of {name}, {error}, throws the win away."
    )
    row = {"error_ply": answer.error_ply + 1, "plies": len(answer.line), "line": moves}
    return Section(
        "shortest", title, (row,), (f"Step through it: {command('replay', '--moves', moves, '--board', size)}",)
    )


def board_text(answer: OpeningAnswer, size: str) -> str:
    """Return the position before the error as text."""
    return to_text(Board.from_moves(answer.line[: answer.error_ply], size))


def _move_number(answer: OpeningAnswer) -> int:
    """Return which of the agent's moves after its placement is the error."""
    return (answer.error_ply - 2) // 2 + 1


def _median_move(answers: Sequence[OpeningAnswer]) -> int | None:
    numbers = [_move_number(answer) for answer in answers if answer.line]
    return round(statistics.median(numbers)) if numbers else None
