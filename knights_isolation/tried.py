"""What functions and commands add to the log of tries: every look at a comparison."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knights_isolation.experiments.evaluation.evaluation import Evaluation, EvaluationTask, Lead
    from knights_isolation.experiments.inference.cluster_intervals import Interval
    from knights_isolation.experiments.learn.feature_selection import Selection
    from knights_isolation.experiments.plan.config import Config
    from knights_isolation.experiments.play.runner import Play, RunOutcome
    from knights_isolation.experiments.record.tries import Try
    from knights_isolation.experiments.roster import AgentLike
    from knights_isolation.experiments.statistics.run_results import RunResults
    from knights_isolation.experiments.suite.screening import Screening


def note_screening(
    command: str, screenings: Sequence[Screening], specs: Sequence[str], part: str, costs: Mapping[str, float]
) -> None:
    """Add screenings of one suite to the log; warn of what earlier tries on these positions mean for its verdicts.

    `specs` name the contenders in their order, `part` says in words which positions, and `costs` has a node's cost over
    the baseline's by agent, where it is known.
    """
    from knights_isolation.experiments.record.tries import (
        Try,
        code_of,
        held_out_positions,
        is_kept,
        keep_source,
        named_settings,
    )

    if not is_kept():
        return
    suite, baseline = screenings[0].suite.name, screenings[0].baseline.agent
    judged_on = f"suite {suite}, {part}"
    family = _family(held_out_positions(suite) if part.startswith("split screen") else judged_on, baseline)
    tries, adjusted = [], []
    asked = [(screening, *each) for screening in screenings for each in screening.contenders]
    for spec, (screening, score, against) in zip(specs, asked, strict=True):
        name, settings = named_settings(spec)
        question = _question(code_of(settings), judged_on, against.p_value)
        tries.append(
            Try(
                command, name, screening.baseline.agent, spec, code_of(settings), keep_source(spec),
                judged_on, len(screening.suite), _points(against.both, 0.0, 100), against.p_value,
                costs.get(score.agent), family=family, question=question,
            )
        )  # fmt: skip
        adjusted.append(against.adjusted)
    _add(tries, adjusted)


def note_selection(selection: Selection, suite: str) -> None:
    """Add a selection of features to the log: how much more often it ranks a winning move first than the best alone."""
    from knights_isolation.experiments.record.tries import Try, code_of

    if not selection.chosen or not selection.alone:
        return
    last, best = selection.chosen[-1], selection.alone[0]
    names = [step.feature for step in selection.chosen]
    weights = ", ".join(f"{weight:.6g}" for weight in last.weights)
    gain = 100 * (last.ranked - best.ranked)
    judged_on = f"suite {suite}, decisions of split screen at {selection.at}"
    _add(
        [
            Try(
                "features", " + ".join(names), best.feature, "", code_of(f"{names} {weights}"), "", judged_on,
                selection.decisions, (gain, -math.inf, math.inf), None, None,
                family=_family(judged_on, best.feature), question=", ".join(names),
            )
        ],
        [],
    )  # fmt: skip


def note_evaluations(
    candidates: Sequence[AgentLike | Path], evaluations: Sequence[Evaluation], question: EvaluationTask
) -> None:
    """Add new evaluations to the log, each by the last lead that it has; no code of a candidate runs here.

    Only leads on held-out positions have a p-value, and are corrected for: the others are there to be learned from.
    """
    from knights_isolation.experiments.evaluation.evaluate import candidate_reference
    from knights_isolation.experiments.record.tries import Try, held_out_positions, is_kept, keep_source, named_settings

    if not is_kept():
        return
    method = question.baseline.partition(":")[0].rpartition("=")[2]
    tries = []
    for candidate, evaluation in zip(candidates, evaluations, strict=True):
        lead, judged_on = _last_lead(evaluation, question.size)
        if lead is None or not evaluation.seconds:
            continue
        reference = candidate_reference(candidate)
        spec, name = f"{method}:{reference}", reference.rpartition(":")[2]
        baseline, _ = named_settings(question.baseline)
        tries.append(
            Try(
                "evaluate", f"{method}_{name}", baseline, spec, evaluation.code, keep_source(spec),
                judged_on, lead.n, (lead.estimate, lead.low, lead.high), lead.p_value, evaluation.cost,
                family=_family(held_out_positions(question.size) if evaluation.held_out else judged_on, baseline),
                question=_question(evaluation.code, judged_on, lead.p_value),
            )
        )  # fmt: skip
    _add(tries, [])


def _last_lead(evaluation: Evaluation, size: str) -> tuple[Lead | None, str]:
    """Return the lead that the last stage measured, None if there is none, and in words on what."""
    from knights_isolation.experiments.evaluation.evaluation import NODES, Lead

    at = f"at equal cost, {' and '.join(f'{nodes:,}' for nodes in NODES)} nodes"
    if evaluation.held_out:
        return evaluation.held_out, f"suite {size}, won positions of split screen {at}"
    if evaluation.games:
        return evaluation.games, f"openings to learn from on {size} at equal cost, {NODES[-1]:,} nodes"
    if evaluation.positions and not evaluation.error_kind:
        lead = Lead(evaluation.score, evaluation.low, evaluation.high, evaluation.positions)
        return lead, f"suite {size}, won positions of split fit {at}"
    return None, ""


def note_run(command: str, run: Path) -> None:
    """Add the verdicts of a finished run to the log."""
    from knights_isolation.experiments.record.tries import is_kept
    from knights_isolation.experiments.statistics.run_results import load_findings

    if is_kept():
        _note_results(command, load_findings([run]), is_finished=True)


def note_look(findings: RunResults) -> None:
    """Add verdicts that are shown to the log, if they are a further look at games of this project."""
    from knights_isolation.experiments.record.run_directory import HOME
    from knights_isolation.experiments.record.tries import known_tries

    asked = findings.sources[0].info.requested
    logged = {each.agent for each in known_tries() if each.judged_on.startswith(_openings(asked))}
    is_logged = len(findings.sources) == 1 and not findings.is_interim and {*findings.contenders} <= logged
    if HOME.is_dir() and not is_logged:
        with suppress(OSError):  # a folder that cannot be written
            _note_results("compare", findings, is_finished=False)


def _note_results(command: str, findings: RunResults, *, is_finished: bool) -> None:
    """Add each contender's result that has new openings; at the end of a run also those that are not judged by them."""
    from knights_isolation.experiments.inference.contenders.head_to_head import HeadToHead
    from knights_isolation.experiments.record.tries import Try, add_tries, code_of, is_kept, keep_source, known_tries
    from knights_isolation.experiments.statistics.agent_costs import relative_costs
    from knights_isolation.experiments.verdicts.account import claim_of, look_of
    from knights_isolation.experiments.verdicts.contender_verdicts import judge
    from knights_isolation.experiments.verdicts.sprt_tests import own_tests

    if not is_kept() or findings.baseline is None:
        return
    verdicts, costs, known = judge(findings), relative_costs(findings), known_tries()
    asked, tries = findings.sources[0].info.requested, []
    for result in verdicts.results:
        name, claim = result.contender, claim_of(findings, result, known)
        if name in verdicts.controls or not (claim.is_new if claim else is_finished):
            continue
        spec, settings = findings.spec_and_settings(name)
        points = (result.rate, 0.5, 200) if isinstance(result, HeadToHead) else (result.difference, 0.0, 100)
        tries.append(
            Try(
                command, name, findings.baseline, spec, code_of(settings), keep_source(spec),
                _openings(asked) + (", head to head" if isinstance(result, HeadToHead) else ""),
                result.openings, _points(*points), None if own_tests(findings) else result.p_value,
                costs[name].times if name in costs else None, **look_of(claim, findings, result),
            )
        )  # fmt: skip
    add_tries(tries)


def _openings(asked: Mapping[str, Any]) -> str:
    at_cost = " at equal cost" if asked.get("equal_cost") else ""
    return f"openings {asked['openings']} with seed {asked['seed']} on {asked['board']}{at_cost}"


def noting(command: str, play: Play) -> Play:
    """Return what plays a run like `play`, and adds its verdicts to the log; commands do so where they show them."""

    def play_and_note(config: Config, **options: Any) -> RunOutcome:
        outcome = play(config, **options)
        if outcome.finished and outcome.played:
            note_run(command, outcome.path)
        return outcome

    return play_and_note


def _points(interval: Interval, null: float, factor: float) -> tuple[float, float, float]:
    """Return a difference in percentage points; that of a share of games won head to head is twice its lead."""
    return factor * (interval.estimate - null), factor * (interval.low - null), factor * (interval.high - null)


def _family(positions: str, baseline: str) -> str:
    return f"{positions}, compared with {baseline}"


def _question(code: str, judged_on: str, p_value: float | None) -> str:
    """Return what is asked of fixed positions: players of chance who give another answer were asked again."""
    return f"{code} on {judged_on}: {p_value}"


def _add(tries: list[Try], adjusted: Sequence[float]) -> None:
    """Add tries on fixed positions to the log, and warn if earlier ones withdraw verdicts of their report.

    `adjusted` are the p-values by which the report judged them; without any it gave no verdict.
    """
    from knights_isolation.experiments.record.tries import add_tries, known_tries
    from knights_isolation.reports.studies.tries import withdrawn_sentence

    add_tries(tries)
    if sentence := withdrawn_sentence(list(zip(tries, adjusted, strict=False)), known_tries()):
        warnings.warn(sentence, stacklevel=4)
