"""Evaluator for OpenEvolve: the score of a program is what its search wins at equal cost."""

from pathlib import Path

from openevolve.evaluation_result import EvaluationResult

import knights_isolation as ki

BASELINE = "ID:learned"
DEAREST = 30.0


def evaluate(program_path):
    """Return the score, the cost of a node, and in words what went wrong."""
    result = ki.evaluate(Path(program_path), budget="suite", baseline=BASELINE)
    metrics = {"combined_score": result.score, "cost": result.cost or DEAREST, "stage_passed": float(result.passed)}
    return EvaluationResult(metrics, {"feedback": f"{result.stage} {result.error_kind}: {result.feedback}"})
