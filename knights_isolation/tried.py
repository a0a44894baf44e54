"""What functions and commands add to the log of tries."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.evaluation.evaluation import Evaluation, EvaluationTask, Lead
    from experiments.inference.cluster_intervals import Interval
    from experiments.inference.contenders.baseline_comparison import Comparison
    from experiments.inference.contenders.head_to_head import HeadToHead
    from experiments.learn.feature_selection import Selection
    from experiments.plan.config import Config
    from experiments.play.runner import Play, RunOutcome
    from experiments.record.tries import Try
    from experiments.roster import AgentLike
    from experiments.suite.screening import Screening


def note_screening(
    command: str, screenings: Sequence[Screening], specs: Sequence[str], part: str, costs: Mapping[str, float]
) -> None:
    """Add screenings of one suite to the log; warn of what earlier tries on these positions mean for its verdicts.

    Args:
        command: the command or function that screened.
        screenings: of the contenders that `specs` name, in this order.
        specs: their specs, in full.
        part: the positions of the suite, in words.
        costs: cost a node over the baseline's, by agent, where it is known.
    """
    from experiments.record.tries import Try, code_of, is_kept, keep_source, named_settings

    if not is_kept():
        return
    suite = screenings[0].suite.name
    judged_on = f"suite {suite}, {part}"
    held_out = _held_out_positions(suite) if part.startswith("split screen") else ""
    tries = []
    asked = [(screening, *each) for screening in screenings for each in screening.contenders]
    for spec, (screening, score, against) in zip(specs, asked, strict=True):
        name, settings = named_settings(spec)
        tries.append(
            Try(
                command, name, screening.baseline.agent, spec, code_of(settings), keep_source(spec),
                judged_on, len(screening.suite), _points(against.both, 0.0, 100), against.p_value,
                costs.get(score.agent), held_out=held_out,
            )
        )  # fmt: skip
    _add(tries)


def note_selection(selection: Selection, suite: str) -> None:
    """Add a selection of features to the log: how much more often it ranks a winning move first than the best alone."""
    from experiments.record.tries import Try, code_of

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
            )
        ]
    )  # fmt: skip


def note_evaluations(
    candidates: Sequence[AgentLike | Path], evaluations: Sequence[Evaluation], question: EvaluationTask
) -> None:
    """Add new evaluations to the log, each by the last lead that it has; no code of a candidate runs here.

    Only leads on held-out positions have a p-value, and are corrected for: the others are there to be learned from.
    """
    from experiments.evaluation.evaluate import candidate_reference
    from experiments.record.tries import Try, is_kept, keep_source, named_settings

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
                held_out=_held_out_positions(question.size) if evaluation.held_out else "",
            )
        )  # fmt: skip
    _add(tries)


def _last_lead(evaluation: Evaluation, size: str) -> tuple[Lead | None, str]:
    """Return the lead that the last stage measured, None if there is none, and in words on what."""
    from experiments.evaluation.evaluation import NODES, Lead

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
    """Add the verdicts of a finished run to the log; warn of what earlier tries on these openings mean for them."""
    from experiments.record.tries import Try, code_of, is_kept, keep_source
    from experiments.statistics.agent_costs import relative_costs
    from experiments.statistics.run_results import load_findings
    from experiments.verdicts.contender_verdicts import judge
    from experiments.verdicts.sprt_tests import own_tests

    findings = load_findings([run]) if is_kept() else None
    if findings is None or findings.baseline is None:
        return
    verdicts, costs, info = judge(findings), relative_costs(findings), findings.sources[0].info
    openings, board = info.requested["openings"], info.requested["board"]
    held_out = f"held-out openings of {board}" if str(openings).endswith(",screen") else ""
    judged_on = f"openings {openings} with seed {info.requested['seed']} on {board}"
    is_stopped = bool(own_tests(findings))
    judged: list[tuple[Comparison | HeadToHead, int, tuple[float, float, float]]] = [
        (claim, claim.openings, _points(claim.difference, 0.0, 100)) for claim in verdicts.claims
    ]
    judged += [
        (duel, duel.pairs.n, _points(duel.rate, 0.5, 200))
        for duel in verdicts.duels
        if duel.contender not in verdicts.controls
    ]
    tries = []
    for compared, openings, points in judged:
        name, entry = compared.contender, info.agents[compared.contender]
        tries.append(
            Try(
                command, name, findings.baseline, entry["spec"], code_of(entry["settings"]), keep_source(entry["spec"]),
                judged_on, openings, points, None if is_stopped else compared.p_value,
                costs[name].times if name in costs else None, held_out=held_out,
            )
        )  # fmt: skip
    _add(tries)


def noting(command: str, play: Play) -> Play:
    """Return what plays a run like `play`, and adds its verdicts to the log; commands do so where they show them."""

    def play_and_note(config: Config, **options: Any) -> RunOutcome:
        outcome = play(config, **options)
        if outcome.finished and outcome.played:
            note_run(command, outcome.path)
        return outcome

    return play_and_note


def _held_out_positions(suite: str) -> str:
    return f"held-out positions of suite {suite}"


def _points(interval: Interval, null: float, factor: float) -> tuple[float, float, float]:
    """Return a difference in percentage points; that of a share of games won head to head is twice its lead."""
    return factor * (interval.estimate - null), factor * (interval.low - null), factor * (interval.high - null)


def _add(tries: list[Try]) -> None:
    """Add tries to the log, and warn of what earlier ones mean for them."""
    from experiments.record.tries import add_tries, earlier_p_values, read_tries
    from reports.studies.tries import season_sentence

    add_tries(tries)
    known = read_tries()
    for family in dict.fromkeys(each.family for each in tries):
        if sentence := season_sentence(tries, earlier_p_values(known, family)):
            warnings.warn(sentence, stacklevel=4)
