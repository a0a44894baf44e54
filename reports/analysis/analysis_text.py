"""Output of an analysis on one terminal screen."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

from knights_isolation.experiments.analysis.analyse_file import Analysis
from knights_isolation.experiments.analysis.gauntlets import RunKind
from knights_isolation.experiments.suite.screening import Mistake
from knights_isolation.isolation.boards.render import to_text
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.rules.notation import format_moves
from knights_isolation.reports.analysis.analysis_tables import cost_table, opponents_table, verdict_table
from knights_isolation.reports.analysis.verdict_sentences import next_steps, verdict_lines
from knights_isolation.reports.text.cell_values import pluralise
from knights_isolation.reports.text.rendering import is_terminal, terminal_width, wrapped
from knights_isolation.reports.text.sections import Section, render_sections

_GAP = "   "
_KINDS: dict[RunKind, str] = {
    "nodes": "at equal nodes",
    "cost": "at equal cost",
    "python": "in Python",
    "players": "of players",
    "dear-cost": "at equal cost, last",
    "dear-nodes": "at equal nodes, last",
}
_FULL_WIDTH = 100
"""Line width of the sentences if the width of the terminal is unknown."""


def analysis_text(analysis: Analysis) -> str:
    """Return verdicts, tables, two mistakes as boards, and next steps."""
    width = min(terminal_width(), _FULL_WIDTH) if not is_terminal() else terminal_width()
    blocks = [wrapped(heading(analysis), width)]
    blocks += [wrapped(f"{name} {sentence}", width) for name, sentence in verdict_lines(analysis)]
    tables = [verdict_table(analysis), opponents_table(analysis), cost_table(analysis)]
    blocks += [_table_text(table, width) for table in tables if table.rows]
    if shown := _boards(analysis, width):
        blocks.append(shown)
    if steps := next_steps(analysis):
        blocks.append("Next:\n" + "\n".join(f"- {step}" for step in steps))
    return "\n\n".join(blocks)


def _table_text(table: Section, width: int) -> str:
    """Render a table, with its notes as wide as the verdicts above."""
    return "\n".join([render_sections([replace(table, notes=())], "table"), *(wrapped(n, width) for n in table.notes)])


def heading(analysis: Analysis) -> str:
    """Return what was analysed, against which opponents, in how many games."""
    parts = [pluralise(len(analysis.trials), "heuristic")] if analysis.trials else []
    parts += [pluralise(len(analysis.players), "player")] if analysis.players else []
    games = sum(results.played for results in analysis.runs.values())
    kinds = [f"{analysis.runs[kind].played:,} {words}" for kind, words in _KINDS.items() if kind in analysis.runs]
    played = f"{pluralise(games, 'game')} on {analysis.question.size}"
    return f"{analysis.contents.path}: {' and '.join(parts)}, {': '.join(filter(None, [played, ', '.join(kinds)]))}."


def leading_mistakes(analysis: Analysis) -> tuple[str, tuple[Mistake, ...]]:
    """Return the best function that has mistakes to show, and these; an empty name if there are none."""
    for name in analysis.ranked:
        if mistakes := analysis.mistakes.get(name):
            return name, mistakes
    return "", ()


def mistake_words(mistake: Mistake, size: str, name: str) -> str:
    """Describe a mistake in a sentence."""
    columns = int(size.split("x")[1])
    winning = [format_moves([cell], columns) for cell in mistake.winning]
    verb = "wins" if len(winning) == 1 else "win"
    played = format_moves([mistake.played], columns)
    return (
        f"{name}, player {1 + len(mistake.moves) % 2}, plays {played} and loses; {', '.join(winning)} {verb}, and "
        f"{100 * mistake.field:.0f} % of the reference agents play {'it' if len(winning) == 1 else 'one of these'}."
    )


def _boards(analysis: Analysis, width: int) -> str:
    """Draw the most telling mistakes, side by side if they fit."""
    name, mistakes = leading_mistakes(analysis)
    if not mistakes:
        return ""
    size = analysis.contents.size
    pictures = [to_text(Board.from_moves(mistake.moves, size)).splitlines() for mistake in mistakes]
    wide = max(map(len, pictures[0]))
    texts = [wrapped(mistake_words(mistake, size, name), wide).splitlines() for mistake in mistakes]
    columns = [[*picture, *text] for picture, text in zip(pictures, texts, strict=True)]
    title = f"Mistakes of {name} in solved positions (♘ player 1, ♞ player 2, ░ blocked, · legal move):"
    if len(columns) * (wide + len(_GAP)) - len(_GAP) > width:
        return "\n".join([title, *("\n".join(column) for column in columns)])
    rows = zip_longest(*columns, fillvalue="")
    return "\n".join([title, *(_GAP.join(f"{part:{wide}}" for part in row).rstrip() for row in rows)])
