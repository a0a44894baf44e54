"""What is added to the log of tries: looks at verdicts of runs, and tries on fixed positions.

Of tries on fixed positions it warns where earlier ones withdraw a verdict.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..record.run_directory import HOME, keeps_tries
from ..record.tries import Try, add_tries, code_of, held_out_positions, known_tries, source_path
from ..statistics.account import adjusted_p_values, claim_of, look_of
from ..statistics.contender_verdicts import judge
from ..statistics.paired_differences import HeadToHead
from ..statistics.proportions import ALPHA, Interval
from ..statistics.run_results import RunResults, load_findings, relative_costs

if TYPE_CHECKING:
    from ..plan import AgentLike
    from .evaluation import Evaluation, EvaluationTask
    from .feature_selection import Selection
    from .screening import Screening


def note_run(command: str, run: Path) -> None:
    """Add the verdicts of a finished run to the log."""
    if keeps_tries():
        _note_results(command, load_findings([run]), is_finished=True)


def note_look(findings: RunResults) -> None:
    """Add verdicts that are shown to the log, if they are a further look at games of this project."""
    on_openings = _openings(findings)
    logged = {each.agent for each in known_tries() if each.judged_on.startswith(on_openings)}
    is_logged = len(findings.sources) == 1 and not findings.is_interim and {*findings.contenders} <= logged
    if keeps_tries() and HOME.is_dir() and not is_logged:
        with suppress(OSError):  # a folder that cannot be written
            _note_results("results", findings, is_finished=False)


def _note_results(command: str, findings: RunResults, *, is_finished: bool) -> None:
    """Add each contender's result that has new openings; at the end of a run also those that are not judged by them."""
    if findings.baseline is None:
        return
    verdicts, costs, known, tries = judge(findings), relative_costs(findings), known_tries(), []
    for result in verdicts.results:
        name, claim = result.contender, claim_of(findings, result, known)
        if name in verdicts.controls or not (claim.is_new if claim else is_finished):
            continue
        spec, settings = findings.spec_and_settings(name)
        is_duel = isinstance(result, HeadToHead)
        points = (result.rate, 0.5, 200) if isinstance(result, HeadToHead) else (result.difference, 0.0, 100)
        tries.append(
            Try(
                command, name, findings.baseline, spec, code_of(settings), keep_source(spec),
                _openings(findings) + ", head to head" * is_duel, result.openings, _in_points(*points),
                None if findings.sprt else result.p_value, costs[name].times if name in costs else None,
                **look_of(claim, findings, result),
            )
        )  # fmt: skip
    add_tries(tries)


def _openings(findings: RunResults) -> str:
    asked: Mapping[str, Any] = findings.sources[0].info.requested
    at_cost = " at equal cost" if asked.get("equal_cost") else ""
    return f"openings {asked['openings']} with seed {asked['seed']} on {asked['board']}{at_cost}"


def _in_points(interval: Interval, null: float, factor: float) -> tuple[float, float, float]:
    """Return a difference in percentage points; that of a share of games won head to head is twice its lead."""
    return factor * (interval.estimate - null), factor * (interval.low - null), factor * (interval.high - null)


def keep_source(spec: str, home: Path = HOME) -> str:
    """Keep the text of the file that a spec names, and return its hash; "" for agents without a file."""
    from knights_isolation.isolation.files.atomic_write import make_folder, write_text
    from knights_isolation.isolation.loading.load_user_code import expand_path

    from ..plan import parse_spec

    parsed = parse_spec(spec)
    if not parsed.is_file or not keeps_tries():
        return ""
    text = expand_path(parsed.path).read_text(encoding="utf-8", errors="replace")
    source = code_of(text)
    kept = source_path(source, home)
    if not kept.exists():
        make_folder(kept.parent)
        write_text(kept, text)
    return source


def note_screening(
    command: str, screenings: Sequence[Screening], specs: Sequence[str], part: str, costs: Mapping[str, float]
) -> None:
    """Add screenings of one suite to the log; warn of what earlier tries on these positions mean for its verdicts.

    `specs` name the contenders in their order, `part` says in words which positions, and `costs` has a node's cost over
    the baseline's by agent, where it is known.
    """
    from ..plan import named_settings

    if not keeps_tries():
        return
    suite, baseline = screenings[0].suite.name, screenings[0].baseline.agent
    judged_on = f"suite {suite}, {part}"
    positions = held_out_positions(suite) if part.startswith("split screen") else judged_on
    asked = [(screening, *each) for screening in screenings for each in screening.contenders]
    tries = []
    for spec, (screening, score, against) in zip(specs, asked, strict=True):
        name, settings = named_settings(spec)
        look = len(screening.suite), _in_points(against.both, 0.0, 100), against.p_value, costs.get(score.agent)
        tries.append(_on_positions((command, name, baseline, spec, code_of(settings)), judged_on, look, positions))
    _add(tries, [against.adjusted for *_, against in asked])


def note_selection(selection: Selection, suite: str) -> None:
    """Add a selection of features to the log: how much more often it ranks a winning move first than the best alone."""
    if not selection.chosen or not selection.alone:
        return
    last, best = selection.chosen[-1], selection.alone[0]
    names = [step.feature for step in selection.chosen]
    weights = ", ".join(f"{weight:.6g}" for weight in last.weights)
    agents = ("features", " + ".join(names), best.feature, "", code_of(f"{names} {weights}"))
    look = selection.decisions, (100 * (last.ranked - best.ranked), -math.inf, math.inf), None, None
    judged_on = f"suite {suite}, decisions of split screen at {selection.at}"
    _add([_on_positions(agents, judged_on, look, question=", ".join(names))])


def note_evaluations(
    candidates: Sequence[AgentLike | Path], evaluations: Sequence[Evaluation], asked: EvaluationTask
) -> None:
    """Add new evaluations to the log, each by the last lead that it has; no code of a candidate runs here.

    Only leads on held-out positions have a p-value, and are corrected for: the others are there to be learned from.
    """
    from ..plan import named_settings
    from .evaluate import candidate_reference

    if not keeps_tries():
        return
    method, baseline = asked.baseline.partition(":")[0].rpartition("=")[2], named_settings(asked.baseline)[0]
    tries = []
    for candidate, evaluation in zip(candidates, evaluations, strict=True):
        lead, judged_on = evaluation.last_lead(asked.size)
        if lead is None or not evaluation.seconds:
            continue
        reference = candidate_reference(candidate)
        name = f"{method}_{reference.rpartition(':')[2]}"
        agents = ("evaluate", name, baseline, f"{method}:{reference}", evaluation.code)
        look = lead.n, (lead.estimate, lead.low, lead.high), lead.p_value, evaluation.cost
        positions = held_out_positions(str(asked.size)) if evaluation.held_out else judged_on
        tries.append(_on_positions(agents, judged_on, look, positions))
    _add(tries)


def _on_positions(
    agents: tuple[str, str, str, str, str],
    judged_on: str,
    look: tuple[int, tuple[float, float, float], float | None, float | None],
    positions: str = "",
    question: str = "",
) -> Try:
    """Return a try on fixed positions: command, agent, baseline, spec and code; positions, difference, p-value, cost.

    The p-value is part of the question by default: players of chance who give another answer were asked again.
    """
    *_, baseline, spec, code = agents
    return Try(
        *agents, keep_source(spec) if spec else "", judged_on, *look,
        family=f"{positions or judged_on}, compared with {baseline}",
        question=question or f"{code} on {judged_on}: {look[2]}",
    )  # fmt: skip


def _add(tries: list[Try], adjusted: Sequence[float] = ()) -> None:
    """Add tries on fixed positions to the log, and warn if earlier ones withdraw verdicts of their report.

    `adjusted` are the p-values by which the report judged them; without any it gave no verdict.
    """
    add_tries(tries)
    if sentence := withdrawn_sentence(list(zip(tries, adjusted, strict=False)), known_tries()):
        warnings.warn(sentence, stacklevel=6)


def withdrawn_sentence(judged: Sequence[tuple[Try, float]], tries: Sequence[Try]) -> str:
    """Return which verdicts of a report on fixed positions the other tries of its family withdraw; "" if none.

    Args:
        judged: its tries, each with the p-value that the report adjusted for its own contenders.
        tries: all so far, the report's included.
    """
    adjusted = adjusted_p_values(tries)
    lost = [
        f"{each.agent} (adjusted p = {adjusted[each.family, each.question]:.2g})"
        for each, p_value in judged
        if p_value <= ALPHA < adjusted[each.family, each.question]
    ]
    if not lost:
        return ""
    family = judged[0][0].family
    others = {each.question for each in tries if each.family == family} - {each.question for each, _ in judged}
    names = ", ".join(lost[:3]) + f" and {len(lost) - 3} more" * (len(lost) > 3)
    return (
        f"Adjusted for {len(others):,} earlier test{'s' * (len(others) != 1)} on {family}, not significant any more: "
        f"{names}. Confirm on new openings."
    )
