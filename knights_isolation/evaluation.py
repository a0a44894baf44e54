"""Evaluate candidates of a program search: each function is the command `evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from knights_isolation.experiments.roster import AgentLike
from knights_isolation.runs import agent_spec
from knights_isolation.tried import note_evaluations

if TYPE_CHECKING:
    from knights_isolation.experiments.evaluation.evaluation import Budget, Evaluation


def evaluate(
    candidate: AgentLike | Path,
    *,
    budget: Budget = "games",
    baseline: AgentLike = "ID:improved",
    board: str = "7x7",
    reveal: bool = False,
) -> Evaluation:
    """Evaluate one candidate; see `evaluate_all`, which evaluates several side by side."""
    return evaluate_all([candidate], budget=budget, baseline=baseline, board=board, jobs=1, reveal=reveal)[0]


def evaluate_all(
    candidates: Sequence[AgentLike | Path],
    *,
    budget: Budget = "games",
    baseline: AgentLike = "ID:improved",
    board: str = "7x7",
    jobs: int = 0,
    reveal: bool = False,
) -> list[Evaluation]:
    """Evaluate candidates by stages of rising cost, each in a sandboxed process, until one says no.

    Stages: parse, load, values, compile, cost, positions, suite, games, held-out. The workers stay warm between calls,
    and answers are kept in `runs/evaluated/`, so that nothing is evaluated twice.

    Args:
        candidates: each FILE[:FUNCTION], the text of a file, or a function of (game, player).
        budget: the last stage; `held-out` is for the best alone, since it uses positions that nothing was learned from.
        baseline: search that they are compared with, at equal cost; candidates search by its method.
        jobs: how many at a time; 0: one per core.
        reveal: whether to say the lead on held-out positions, too: not to a program that searches.

    Raises:
        ValueError: there is no such file, function, stage, baseline or board.
    """
    from knights_isolation.experiments.evaluation.evaluate import evaluate_all as evaluate_candidates
    from knights_isolation.experiments.evaluation.evaluation import BUDGETS, EvaluationTask
    from knights_isolation.isolation.rules.geometry import parse_size

    if budget not in BUDGETS:
        raise ValueError(f"budget must be one of {', '.join(BUDGETS)}, not {budget!r}")
    parse_size(board)
    question = EvaluationTask(budget, agent_spec(baseline), board)
    evaluations = evaluate_candidates(candidates, question, jobs)
    note_evaluations(candidates, evaluations, question)
    return [_shown(evaluation, reveal) for evaluation in evaluations]


def _shown(evaluation: Evaluation, reveal: bool) -> Evaluation:
    """Return an evaluation with the lead on held-out positions in its feedback, or without it."""
    from knights_isolation.experiments.evaluation.evaluation import describe_lead_there

    if evaluation.held_out is None:
        return evaluation
    if not reveal:
        return replace(evaluation, held_out=None)
    return replace(
        evaluation, feedback=describe_lead_there(evaluation.held_out, evaluation.score) + evaluation.feedback
    )
