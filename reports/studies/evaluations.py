"""The table of `evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knights_isolation.experiments.evaluation.evaluation import Evaluation

from ..text.cell_values import Estimate, Points
from ..text.rendering import render_rows, terminal_width, wrapped


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
