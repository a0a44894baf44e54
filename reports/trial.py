"""A trial of a heuristic in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import indent

from experiments.inference.pairs import PairInterval
from experiments.trial import NODES, Trial
from isolation.checkup import Finding
from reports.cells import Points, Share, counted, estimate_of
from reports.screening import verdict
from reports.tables import is_terminal, terminal_width, wrapped

_INDENT = "  "


def describe_trial(name: str, trial: Trial, doubts: Sequence[str] = ()) -> str:
    """What a trial found, a line each, broken where the terminal ends; `doubts` is what Python warns of in the file."""
    warnings = [f"Python warns: {doubt}" for doubt in doubts]
    lines = (*_compiling(trial), *_cost(trial), *warnings, *_soundness(trial), *_strength(trial), *_screening(trial))
    width = terminal_width() - (len(_INDENT) if is_terminal() else 0)
    return "\n".join([name, *(indent(wrapped(line, width), _INDENT) for line in lines)])


def _compiling(trial: Trial) -> list[str]:
    if trial.problem is None:
        return ["Compiles, and gives the same values as the Python function."]
    where = f" (line {trial.line})" if trial.line else ""
    return [f"Does not compile: {trial.problem}{where}{'' if trial.problem.endswith('?') else '.'}"]


def _cost(trial: Trial) -> list[str]:
    if math.isnan(trial.nanoseconds):
        return []
    if trial.problem:
        return [
            f"It runs interpreted: {trial.nanoseconds / 1000:,.1f} µs a node, "
            f"{trial.nanoseconds / trial.baseline_nanoseconds:,.0f} times the baseline's cost.",
        ]
    ratio = trial.nanoseconds / trial.baseline_nanoseconds
    return [
        f"Costs {trial.nanoseconds:,.0f} ns a node, {ratio:.1f} times the baseline; "
        f"in Python a call takes {trial.interpreted_microseconds:,.0f} µs.",
    ]


def _soundness(trial: Trial) -> list[str]:
    return [f"{_sound_word(one)}: {one.check}: {one.seen}." for one in trial.findings]


def _sound_word(finding: Finding) -> str:
    if finding.ok:
        return "Sound"
    return "Note" if finding.is_note else "Problem"


def _strength(trial: Trial) -> list[str]:
    if trial.interval is None or trial.interval.pairs.n == 0:
        return ["No match was played."]
    share = trial.interval
    return [
        f"Against ID:improved at {NODES} nodes a move: won {estimate_of(share).shown} of the games "
        f"over {counted(share.pairs.n, 'pair')}, {_verdict(share)}."
    ]


def _screening(trial: Trial) -> list[str]:
    if trial.screening is None:
        return []
    suite, base, ((own, against),) = trial.screening.suite, trial.screening.baseline, trial.screening.contenders
    if not against.differs:
        return [f"In {counted(len(suite), 'solved position')} it plays alike: every move is that of ID:improved."]
    told = verdict(against)
    words = "not told apart" if told == "cannot tell" else told
    return [
        f"In {counted(len(suite), 'solved position')} at {NODES} nodes: {words}, "
        f"{estimate_of(against.both, Points).shown} points beside ID:improved. "
        f"It keeps {Share(own.kept.estimate).shown} of the wins that could be thrown away "
        f"({Share(base.kept.estimate).shown}), trouble {Points(own.trouble).shown} "
        f"({Points(base.trouble).shown})."
    ]


def _verdict(share: PairInterval) -> str:
    if share.low > 0.5:
        return "better at first sight"
    return "worse at first sight" if share.high < 0.5 else "not told apart yet"
