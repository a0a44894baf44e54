"""Rows of `perfect solve`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knights_isolation.experiments.exact.board_solving import BoardSummary
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.exact.solver import Length, Solution
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.notation import cell_name, column_name, format_moves

from ..text.cell_values import Share
from ..text.sections import Section

_EXCEPTIONS_SHOWN = 12


def solution_rows(board: Board, solution: Solution, length: Length | None) -> list[dict[str, Any]]:
    """Return the winner of a position, the winning moves, and a line of play."""
    facts: dict[str, Any] = {
        "winner": f"player {solution.winner}" if solution.winner else "unknown within the limit",
        "winning moves": format_moves(solution.moves, board.width) or ("none known" if solution.undecided else "none"),
        "a line": format_moves(solution.line, board.width) or "none",
        "nodes": solution.nodes,
    }
    if solution.undecided:
        facts["undecided moves"] = format_moves(solution.undecided, board.width)
    if length:
        known = length.plies is not None
        facts["plies with best play"] = length.plies if known else f"at least {length.at_least}"
        facts["the shortest line"] = format_moves(length.line, board.width) or "none"
    return [{"fact": name, "value": value} for name, value in facts.items()]


def board_sections(summary: BoardSummary, path: str) -> tuple[Section, ...]:
    """Summarise all placement pairs of a board, stored in a file, and the number of refutations of each first cell."""
    facts = Section("board", f"{summary.size}, in {path}", tuple(_board_rows(summary)))
    notes = ["Number of winning replies of player 2 to a first placement on the cell."]
    if summary.unknown:
        notes.append("Some pairs are unsolved, so there may be more. Solve them with a higher --limit, or without one.")
    title = "Winning replies to a first placement"
    return facts, Section("refutations", title, tuple(_refutation_rows(summary)), tuple(notes), panels=True)


def _board_rows(summary: BoardSummary) -> list[dict[str, Any]]:
    columns = parse_size(summary.size)[1]
    solved = summary.openings - summary.unknown
    held = Share(summary.rule_holds / max(1, solved)).text
    facts = {
        "placement pairs": summary.openings,
        "unknown": summary.unknown,
        "won by player 1": summary.first_wins,
        "from the empty board": f"player {summary.winner} wins" if summary.winner else "unknown",
        "colour rule holds": f"{summary.rule_holds:,} of {solved:,} ({held})",
        "exceptions": _named(summary.exceptions, columns),
        "not explained by mirroring": _named(summary.unexplained, columns),
    }
    return [{"fact": name, "value": value} for name, value in facts.items()]


def _named(pairs: Sequence[tuple[int, int]], columns: int) -> str:
    names = [f"{cell_name(a, columns)}-{cell_name(b, columns)}" for a, b in pairs[:_EXCEPTIONS_SHOWN]]
    return ", ".join(names) + (" …" if len(pairs) > len(names) else "") or "none"


def _refutation_rows(summary: BoardSummary) -> list[dict[str, Any]]:
    rows, columns = parse_size(summary.size)
    counts = [len(cells) for cells in summary.refutations]
    return [
        {"row": row, **{column_name(column): counts[row * columns + column] for column in range(columns)}}
        for row in range(rows)
    ]
