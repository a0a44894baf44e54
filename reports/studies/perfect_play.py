"""Tables of `perfect refute` and `perfect solve`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from knights_isolation.experiments.exact.board_solving import BoardSummary
from knights_isolation.experiments.exact.refutation import OpeningAnswer, Refuted
from knights_isolation.isolation.boards.drawing import to_text
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.exact.solver import Length, Solution
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.notation import cell_name, column_name, format_moves
from knights_isolation.isolation.suggestions import advice, command

from ..charts.study_charts import refutations_chart
from ..pages.study_page import parts_of, study_page
from ..text.cell_values import Share
from ..text.rendering import Section


def refutations_section(results: Sequence[Refuted], opponent: str) -> Section:
    """Return one row per agent, board and limit."""
    rows = tuple(
        {
            "agent": result.agent,
            "board": result.size,
            "limit": result.limit,
            "openings": len(result.answers),
            "held": Share(result.held),
            "undecided": sum(not answer.is_decided for answer in result.answers),
            "wins": Share(result.won),
            "first_error": _median_move(result.answers),
        }
        for result in results
    )
    notes = (
        f"Openings of two placements, played as the player that they are won for. Held: proven that no line "
        f"beats the agent; in all others but those undecided, a line that does was found. Wins: share of the same "
        f"openings won against {opponent} at the same limit. First error: median number of the agent's move that "
        f"throws the win away in the shortest refutation.",
    )
    return Section("refutations", "Won openings held against an opponent who knows every move", rows, notes)


def refutations_page(results: Sequence[Refuted], sections: Sequence[Section], reproduce: str) -> str:
    """Return the page: what each agent holds, coloured, and the tables."""
    openings = sorted({len(result.answers) for result in results})
    heading = (
        f"{' or '.join(map(str, openings))} won openings of each board: the share that nobody can win against the "
        "agent although its moves are known, and in brackets the share that it wins in games."
    )
    most = max(results, key=lambda result: result.held)
    worst = max(results, key=lambda result: result.won - result.held)
    verdict = (
        f"{most.agent} holds the most, {Share(most.held).text} on {most.size} at {most.limit}. Win rates mislead most "
        f"about {worst.agent} on {worst.size} at {worst.limit}: won {Share(worst.won).text}, held "
        f"{Share(worst.held).text}."
    )
    return study_page(
        "Refutations",
        heading,
        verdict,
        parts_of(sections, is_first_open=False),
        charts=[refutations_chart(results)],
        command=reproduce,
    )


def shortest_refutation(answers: Sequence[OpeningAnswer]) -> OpeningAnswer | None:
    """Return the refutation whose error comes first, and of these the shortest game; None if nothing was refuted."""
    refuted = [answer for answer in answers if answer.line]
    return min(refuted, key=lambda answer: (answer.error_ply, len(answer.line)), default=None)


def line_section(result: Refuted, answer: OpeningAnswer) -> Section:
    """Return a refutation: what goes wrong where, and the line."""
    columns = parse_size(result.size)[1]
    moves = format_moves(answer.line, columns)
    error = format_moves(answer.line[answer.error_ply : answer.error_ply + 1], columns) or "failing to move"
    title = (
        f"Shortest refutation: won for player {answer.side} after {format_moves(answer.opening, columns)}, but move "
        f"{_move_number(answer)} of {result.agent}, {error}, throws the win away."
    )
    row = {"error_ply": answer.error_ply + 1, "plies": len(answer.line), "line": moves}
    replay = advice(
        command("replay", "--moves", moves, "--board", result.size),
        f"ki.replay({list(answer.line)}, size={result.size!r})",
    )
    return Section("shortest", title, (row,), (f"Step through it: {replay}",))


def board_text(answer: OpeningAnswer, size: str) -> str:
    """Return the position before the error as text."""
    return to_text(Board.from_moves(answer.line[: answer.error_ply], size))


def _move_number(answer: OpeningAnswer) -> int:
    return (answer.error_ply - 2) // 2 + 1


def _median_move(answers: Sequence[OpeningAnswer]) -> int | None:
    numbers = [_move_number(answer) for answer in answers if answer.line]
    return round(statistics.median(numbers)) if numbers else None


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
