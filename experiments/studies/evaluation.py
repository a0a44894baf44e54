"""What `evaluate` asks and answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Literal, get_args

from knights_isolation.isolation.rules.game import USUAL_SIZE, Size
from knights_isolation.isolation.usercode.inputs import Inputs

if TYPE_CHECKING:
    import pandas as pd

    from ..statistics.proportions import Interval

Budget = Literal["values", "compile", "cost", "positions", "suite", "games", "held-out"]
Stage = Literal["parse", "load", "values", "compile", "cost", "positions", "suite", "games", "held-out"]
STAGES: tuple[Stage, ...] = get_args(Stage)
NODES = (300, 1000)
"""Node limits of the baseline in solved positions; a candidate gets as many as take the same time."""
WORST = -100.0
"""Score of a candidate that failed: no lead can be as low."""


@dataclass(frozen=True)
class EvaluationTask:
    """What candidates are asked, up to the stage `budget`, on boards of one size.

    `baseline` is the spec of the search that they are compared with; they search by its method. `code` is its hash:
    everything that influences its play.
    """

    budget: Budget = "games"
    baseline: str = "ID:improved"
    size: Size = USUAL_SIZE
    code: str = ""

    def asks(self, stage: Stage) -> bool:
        """Return whether the budget reaches a stage."""
        return STAGES.index(stage) <= STAGES.index(self.budget)


@dataclass(frozen=True)
class Lead:
    """A difference to the baseline in percentage points, with its 95 % interval, and in how many positions or games."""

    estimate: float
    low: float
    high: float
    n: int
    p_value: float | None = None

    @classmethod
    def of(cls, interval: Interval, n: int, p_value: float | None = None) -> Lead:
        """Return an interval of a difference of shares in percentage points."""
        return cls(100 * interval.estimate, 100 * interval.low, 100 * interval.high, n, p_value)

    def __str__(self) -> str:
        return f"{signed_points(self.estimate)} ({signed_points(self.low)} to {signed_points(self.high)}) points"


def signed_points(value: float) -> str:
    """Format percentage points with one decimal, a minus and a sign; zero has none.

    >>> signed_points(1.06), signed_points(-0.5), signed_points(-0.04)
    ('+1.1', '−0.5', '0.0')
    """
    text = f"{value:+.1f}".replace("-", "−")
    return "0.0" if text[1:] == "0.0" else text


def revealed(evaluation: Evaluation, is_revealed: bool) -> Evaluation:
    """Return an evaluation with the lead on held-out positions and what was overfitting, or without that lead."""
    lead = evaluation.held_out
    if lead is None or not is_revealed:
        return replace(evaluation, held_out=None)
    overfitting = signed_points(evaluation.score - lead.estimate)
    words = f"{lead} on {lead.n:,} held-out positions, {overfitting} overfitting. "
    return replace(evaluation, feedback=words + evaluation.feedback)


@dataclass(frozen=True)
class Evaluation:
    """What became of a candidate.

    Attributes:
        score: wins kept in solved positions of the split `fit`, in percentage points more than the baseline's, at equal
            cost; 0 while no position was asked, `WORST` if the candidate failed.
        low, high: 95 % interval of the score.
        cost: processor time a node, over the baseline's; None if it was not measured.
        stage: the last stage that was begun.
        passed: whether it passed every stage that was asked for.
        error_kind: why it failed: syntax, missing, import, exception, value, time, memory, exit, compile, differs,
            cost, crash; empty if it did not fail.
        error_line: line of its source, if known.
        feedback: what happened, in words, with its worst mistakes as FEN.
        positions: in how many positions the score was measured.
        games: lead in games won at equal cost; None if none were played. Of a candidate that passes the sequential
            test, it is that in games after the test: those of the test are selected.
        champions: lead in games against earlier candidates that beat the baseline, at equal cost; None if there were
            none, or none were played.
        held_out: lead in wins kept on the split `screen`; None if it was not asked there, or must not be learned from.
        level: level at which it was tested there, which falls with each question that these positions were asked.
        seconds: processor time that it took; 0 if the answer was kept from an earlier evaluation.
        code: hash of its code without layout, and of the data that it read.
    """

    score: float
    low: float
    high: float
    cost: float | None
    stage: Stage
    passed: bool
    error_kind: str
    error_line: int | None
    feedback: str
    positions: int = 0
    games: Lead | None = None
    champions: Lead | None = None
    held_out: Lead | None = None
    level: float | None = None
    seconds: float = 0.0
    code: str = ""

    def last_lead(self, size: Size) -> tuple[Lead | None, str]:
        """Return the lead that the last stage measured, None if there is none, and in words on what."""
        at = f"at equal cost, {' and '.join(f'{nodes:,}' for nodes in NODES)} nodes"
        if self.held_out:
            return self.held_out, f"suite {size}, won positions of split screen {at}"
        if self.games:
            return self.games, f"openings to learn from on {size} at equal cost, {NODES[-1]:,} nodes"
        if self.positions and not self.error_kind:
            lead = Lead(self.score, self.low, self.high, self.positions)
            return lead, f"suite {size}, won positions of split fit {at}"
        return None, ""

    def to_frame(self) -> pd.DataFrame:
        """Return one row with a column an attribute; those of leads are called as in `games_low`."""
        import pandas as pd

        return pd.json_normalize([asdict(self)], sep="_")

    def _repr_html_(self) -> str:
        """Return a card for notebooks: the stage reached, the leads with their intervals, and the feedback."""
        leads = {
            "solved positions": Lead(self.score, self.low, self.high, self.positions) if self.positions else None,
            "games": self.games,
            "games against champions": self.champions,
            "held-out positions": self.held_out,
        }
        lines = "".join(
            f"<tr><td>{name}</td><td>{lead}</td><td>{lead.n:,}</td></tr>" for name, lead in leads.items() if lead
        )
        head = "<tr><th>measured in</th><th>lead at equal cost</th><th>number</th></tr>"
        title = f"Passed every stage up to {self.stage}" if self.passed else f"Ended at the stage {self.stage}"
        cost = "" if self.cost is None else f", a node costs {self.cost:.2f} × the baseline's"
        table = f'<table cellpadding="4"><thead>{head}</thead><tbody>{lines}</tbody></table>' if lines else ""
        return f"<div><b>{title}{cost}</b>{table}<p>{escape(self.feedback)}</p></div>"


@dataclass(frozen=True)
class Answer:
    """The evaluation of a candidate, and what it depends on beside its code; see `isolation.usercode.inputs`."""

    evaluation: Evaluation
    inputs: Inputs = field(default_factory=dict)


def failed(stage: Stage, kind: str, feedback: str, line: int | None = None) -> Evaluation:
    """Return the evaluation of a candidate that failed."""
    return Evaluation(WORST, WORST, WORST, None, stage, False, kind, line, feedback)
