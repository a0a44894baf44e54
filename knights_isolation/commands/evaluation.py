"""Evaluate candidates of a program search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import cast

from knights_isolation.experiments.evaluation.evaluation import Budget, Evaluation, EvaluationTask
from knights_isolation.reports.answers import Result

from ..inputs import Agent, AgentLike, AnyHeuristic, Jobs, Size, agent_spec
from ..parameters import command
from ..surface import COMMAND


def evaluate(
    candidate: AgentLike | Path,
    *,
    budget: Budget = "games",
    baseline: AgentLike = "ID:improved",
    board: str = "7x7",
    reveal: bool = False,
) -> Evaluation:
    """Evaluate one candidate; see `evaluate_all`, which evaluates several side by side."""
    return evaluate_all([candidate], budget=budget, baseline=baseline, reveal=reveal, board=board, jobs=1)[0]


@command("rows", "json")
def evaluate_all(
    candidates: Sequence[AnyHeuristic | Path],
    *,
    budget: Budget = "games",
    baseline: Agent = "ID:improved",
    reveal: bool = False,
    board: Size = "7x7",
    jobs: Jobs = 0,
) -> list[Evaluation]:
    """Evaluate heuristics by stages of rising cost, until one says no; made to be called by programs.

    Values, compilation, cost, 300 solved positions, all of the split fit, games until a sequential test decides,
    held-out positions: from the cost on, everything is at equal cost. Each candidate has a sandboxed process; the
    workers stay warm between calls, and answers are kept in `runs/evaluated/`, so that nothing is evaluated twice. On
    the command line, exit code 1 if a file failed, whatever the reason.

    Args:
        candidates: each FILE[:FUNCTION], the text of a file, or a function of (game, player).
        budget: the last stage; held-out is for your best alone, since it uses positions that nothing was learned from.
        baseline: compare with this search, at equal cost; candidates search by its method.
        reveal: say the lead on held-out positions, too: not to a program that searches.

    Examples:
        isolation evaluate my_heuristic.py --format json
        isolation evaluate my_heuristic.py:score --budget suite --baseline ID:learned

    Raises:
        ValueError: there is no such file, function, stage, baseline or board.
    """
    from knights_isolation.experiments.evaluation.evaluate import evaluate_all as evaluate_candidates
    from knights_isolation.experiments.evaluation.evaluation import revealed
    from knights_isolation.experiments.noting import note_evaluations
    from knights_isolation.isolation.rules.geometry import parse_size
    from knights_isolation.reports.studies.research import evaluations_text
    from knights_isolation.reports.text.rendering import Section

    parse_size(board)
    question = EvaluationTask(budget, agent_spec(baseline), board)
    evaluations = evaluate_candidates(candidates, question, jobs)
    note_evaluations(candidates, evaluations, question)
    evaluations = [revealed(evaluation, reveal) for evaluation in evaluations]
    if not COMMAND.get():
        return evaluations
    answers = list(zip(map(str, candidates), evaluations, strict=True))
    section = Section("evaluate", "", tuple({"candidate": name, **asdict(answer)} for name, answer in answers))
    is_sound = not any(evaluation.error_kind for evaluation in evaluations)
    shown = Result(evaluations, (section,), text=evaluations_text(answers), passes=is_sound)
    return cast("list[Evaluation]", shown)  # what Python gets
