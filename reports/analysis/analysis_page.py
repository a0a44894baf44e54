"""Output of an analysis for handing in: an HTML page, or Markdown with a picture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from knights_isolation.experiments.analysis.analyse_file import Analysis
from knights_isolation.experiments.analysis.gauntlets import RunKind
from knights_isolation.experiments.suite.screening import Mistake
from knights_isolation.isolation.boards.drawing import Annotations
from knights_isolation.isolation.boards.render import to_svg, to_text
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.reports.analysis.analysis_tables import cost_table, opponents_table, verdict_table
from knights_isolation.reports.analysis.analysis_text import heading, leading_mistakes, mistake_words
from knights_isolation.reports.analysis.kept_pages import PAGE
from knights_isolation.reports.analysis.verdict_sentences import verdict_lines
from knights_isolation.reports.charts.chart import RowChart
from knights_isolation.reports.charts.interval_rows import forest
from knights_isolation.reports.pages.templates import data_url, page_template
from knights_isolation.reports.text.cell_values import pluralise
from knights_isolation.reports.text.sections import Section, render_sections

_TITLES: dict[RunKind, str] = {"nodes": "at equal nodes", "cost": "at equal cost"}


def write_page(analysis: Analysis, path: Path, command: str) -> None:
    """Write an analysis as one self-contained HTML page."""
    name, mistakes = leading_mistakes(analysis)
    page = page_template("analysis.html").render(
        title=f"Analysis of {Path(analysis.contents.path).name}",
        heading=heading(analysis),
        verdicts=verdict_lines(analysis),
        charts=forests(analysis),
        sections=_sections(analysis),
        mistaken=name,
        pictures=[_picture(mistake, analysis.contents.size, name) for mistake in mistakes],
        method=_method(analysis),
        command=command,
    )
    write_text(path, page)


def keep_page(analysis: Analysis, command: str) -> None:
    """Write an analysis as a page into the first run that was played for it, where the lab finds it."""
    for results in analysis.runs.values():
        return write_page(analysis, results.sources[0].info.path / PAGE, command)


def write_markdown(analysis: Analysis, path: Path, command: str) -> list[Path]:
    """Write an analysis as Markdown, with its forest plot as an SVG file beside it; return the files written."""
    written = [path]
    parts = [f"# Analysis of {Path(analysis.contents.path).name}", heading(analysis)]
    parts += [f"**{name}** {sentence}" for name, sentence in verdict_lines(analysis)]
    if charts := forests(analysis):
        from knights_isolation.reports.plots.draw_chart import draw_chart
        from knights_isolation.reports.plots.style import save

        picture = path.with_suffix(".svg")
        written.append(save(draw_chart(charts[0]), picture))
        parts.append(f"![{charts[0].title}]({picture.name})")
    parts.append(render_sections(_sections(analysis), "markdown"))
    name, mistakes = leading_mistakes(analysis)
    for number, mistake in enumerate(mistakes):
        board = to_text(Board.from_moves(mistake.moves, analysis.contents.size))
        heading_line = [f"## Mistakes of {name} in solved positions"] if number == 0 else []
        parts += [*heading_line, f"```\n{board}\n```", mistake_words(mistake, analysis.contents.size, name)]
    parts += ["## How this was measured", _method(analysis), f"Repeat it with `{command}`."]
    write_text(path, "\n\n".join(parts) + "\n")
    return written


def forests(analysis: Analysis) -> list[RowChart]:
    """Return forest plots of the runs at equal nodes and at equal cost."""
    charts = []
    for kind, words in _TITLES.items():
        verdicts = analysis.verdicts.get(kind)
        if verdicts is not None and (chart := forest(analysis.runs[kind], verdicts)):
            charts.append(replace(chart, title=f"{chart.title}, {words}"))
    return charts


def _sections(analysis: Analysis) -> list[Section]:
    titled = [
        replace(verdict_table(analysis), title="The functions"),
        replace(opponents_table(analysis), title="Win rate against each opponent"),
        replace(cost_table(analysis), title="What a node costs"),
    ]
    return [section for section in titled if section.rows]


def _method(analysis: Analysis) -> str:
    """Describe the design of the runs in a few sentences."""
    results = analysis.runs.get("nodes")
    if results is None:
        return "No function that compiles was played."
    comparison = analysis.verdicts["nodes"].comparisons[0]
    opponents = ", ".join(results.in_order(comparison.opponents))
    return (
        f"Every function played {pluralise(2 * comparison.openings, 'game')} against each of {opponents}: "
        f"{comparison.openings:,} random openings, each played twice with sides swapped, at {analysis.question.limit} "
        f"a move. {comparison.baseline} played the same opponents as the baseline. Openings are the unit of all "
        "intervals and tests. At equal cost, limits of nodes are scaled so that every search takes the processor time "
        f"that {comparison.baseline} needs."
    )


def _picture(mistake: Mistake, size: str, name: str) -> dict[str, Any]:
    """Return a mistake as drawn on the page: winning moves, losing moves, and the one played."""
    board = Board.from_moves(mistake.moves, size)
    inf = float("inf")
    values = {cell: inf if cell in mistake.winning else -inf for cell in board.legal_cells()}
    own = board.locations[board.active_index]
    arrows = () if own is None else ((own, mistake.played),)
    svg = to_svg(board, marks=Annotations(values=values, arrows=arrows, numbers=False))
    return {"url": data_url("image/svg+xml", svg), "text": mistake_words(mistake, size, name)}
