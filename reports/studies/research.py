"""Tables of `research`, `evaluate` and `tried`, and the page of a research."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knights_isolation.experiments.evaluation.evaluation import Evaluation
from knights_isolation.experiments.record.tries import Try
from knights_isolation.experiments.statistics.account import adjusted_p_values
from knights_isolation.isolation.files.atomic_write import make_folder, write_text

from ..text.cell_values import Estimate, Points, PValue, Ratio
from ..text.rendering import Section, render_rows, terminal_width, wrapped

if TYPE_CHECKING:
    from ..charts.chart import Plot, RowChart


STEPS = ("cost", "fit", "screen", "tune", "test")
NODES = 1000
"""Node limit of the agent that the heuristic is compared with."""


@dataclass(frozen=True)
class Step:
    """A step that was taken.

    Attributes:
        name: one of `STEPS`.
        passed: whether it said yes.
        finding: what was found, in a sentence.
        sections, chart: the tables of its command, and what they show.
    """

    name: str
    passed: bool
    finding: str
    sections: Sequence[Section] = field(default=(), repr=False)
    chart: RowChart | Plot | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Research:
    """What became of a heuristic.

    Attributes:
        steps: those that were taken; the last one said no, unless all said yes.
        spec: the agent with the values and the limit that it ended with.
        cost: of a node, over the opponent's; NaN if it was not measured.
        page: the file that shows all of it; the lab lists it.
    """

    steps: tuple[Step, ...]
    spec: str
    cost: float
    page: Path

    @property
    def is_better(self) -> bool:
        """Whether the heuristic is better than its opponent at equal cost."""
        return len(self.steps) == len(STEPS) and all(step.passed for step in self.steps)


def research_section(done: Research, against: str) -> Section:
    """Return one row per step, and what to conclude."""
    rows = tuple(
        {"step": step.name, "says": "yes" if step.passed else "no", "finding": step.finding} for step in done.steps
    )
    stopped = f"Stopped at {done.steps[-1].name}: nothing shows that it is better than {against} at equal cost."
    title = f"Better than {against} at equal cost." if done.is_better else stopped
    return Section("research", title, rows, (f"The agent: {done.spec}",) if done.spec else ())


def write_research_page(done: Research, section: Section, reference: str) -> None:
    """Write the page: the verdict with all steps, and of each step its chart and its tables."""
    from ..pages.study_page import Part, study_page

    steps = [
        Part(step.name, f"{step.name.capitalize()}: {step.finding}", step.sections, step.chart)
        for step in done.steps
        if step.sections
    ]
    make_folder(done.page.parent)
    parts = [Part(section.key, "Steps", (replace(section, title="Steps"),), is_open=True), *steps]
    heading = f"At equal cost: every search takes the time of {NODES:,} nodes of its opponent."
    write_text(done.page, study_page(f"Research: {Path(reference).name}", heading, section.title, parts))


def evaluations_text(answers: Sequence[tuple[str, Evaluation]]) -> str:
    """Return a row per candidate, and below what happened to each in words."""
    words = [wrapped(f"{name}: {evaluation.feedback}", terminal_width()) for name, evaluation in answers]
    return "\n".join([render_rows([_row(*answer) for answer in answers], "table"), *words])


def _row(name: str, evaluation: Evaluation) -> dict[str, Any]:
    """Return what a table shows of an evaluation; the score in points of wins kept."""
    line = f", line {evaluation.error_line}" if evaluation.error_line else ""
    score = Estimate(*(Points(end / 100) for end in (evaluation.score, evaluation.low, evaluation.high)))
    return {
        "candidate": name,
        "stage": evaluation.stage,
        "passed": evaluation.passed,
        "error": f"{evaluation.error_kind}{line}" if evaluation.error_kind else "–",
        "score": score.text if evaluation.low != evaluation.high else "–",
        "cost": f"{evaluation.cost:.2f}" if evaluation.cost else "–",
    }


def tries_section(tries: Mapping[int, Try], known: Sequence[Try]) -> Section:
    """Return the table of tries by their numbers in the log, the latest first.

    `known` are all tries, for which p-values are adjusted.
    """
    adjusted = adjusted_p_values(known)
    rows = tuple(
        {
            "number": number,
            "when": each.when[:16].replace("T", " "),
            "command": each.command,
            "agent": each.agent,
            "measure": each.measure,
            "baseline": each.baseline,
            "difference": Estimate(*(Points(points / 100) for points in each.difference)),
            "p": None if each.p_value is None else PValue(each.p_value),
            "adjusted_p": _cell(adjusted.get((each.family, each.question))),
            "cost": None if each.cost is None else Ratio(each.cost),
            "n": each.n,
            "judged_on": each.judged_on,
            "source": each.source,
        }
        for number, each in reversed(list(tries.items()))
    )
    notes = (
        "Difference to the baseline in percentage points, and p, of this look alone; n is the number of openings or "
        "positions. The adjusted p is today's: it pools the openings of all looks at the same agent, so it may be "
        "smaller than p, and is adjusted for everything that was tried with the same baseline, board, openings and "
        "limit, or on the same positions.",
    )
    return Section("tries", "Tries, the latest first", rows, notes if rows else ("Nothing was tried here yet.",))


def _cell(p_value: float | None) -> PValue | None:
    return None if p_value is None else PValue(p_value)
