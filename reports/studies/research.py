"""What became of a heuristic that was researched: its table and its page."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from knights_isolation.isolation.files.atomic_write import make_folder, write_text

from ..text.sections import Section

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
    sections: tuple[Section, ...] = field(default=(), repr=False)
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
