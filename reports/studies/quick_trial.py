"""Output of `try`."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from experiments.quick_trial import BASELINE, NODES, Trial
from isolation.checks.agent_checks import CheckResult
from isolation.shell import command
from reports.studies.screening import verdict
from reports.tables.costs import cost_words
from reports.text.cell_values import Points, Share, estimate_of, pluralise
from reports.text.rendering import is_terminal, terminal_width, wrapped
from reports.text.verdict_words import verdict_clause, verdict_of

_INDENT = "  "


def describe_trial(name: str, trial: Trial, doubts: Sequence[str] = ()) -> str:
    """What a trial of FILE:FUNCTION found, a line each, broken where the terminal ends.

    `doubts` is what Python warns of in the file.
    """
    warnings = [f"Python warns: {doubt}" for doubt in doubts]
    lines = (
        *_compiling(trial),
        *_cost(trial),
        *warnings,
        *_soundness(name, trial),
        *_strength(trial),
        *_screening(trial),
    )
    width = terminal_width() - (len(_INDENT) if is_terminal() else 0)
    return "\n".join([name, *(indent(line if _is_command(line) else wrapped(line, width), _INDENT) for line in lines)])


def _is_command(line: str) -> bool:
    """Whether a line is there to be copied, and so is not broken."""
    return line.startswith((command("show"), command("eval")))


def _compiling(trial: Trial) -> list[str]:
    if trial.problem is None:
        return ["Compiles, and returns the same values as the Python function in up to 300 positions."]
    where = f" (line {trial.line})" if trial.line else ""
    verdict = "Runs interpreted" if trial.is_difference else "Does not compile"
    return [f"{verdict}: {trial.problem}{where}{'' if trial.problem.endswith('?') else '.'}"]


def _cost(trial: Trial) -> list[str]:
    """What a node costs compiled and in Python: the two have little to do with each other."""
    return [
        f"Cost per node {how}: {cost_words(cost, BASELINE)}."
        for how, cost in (("compiled", trial.cost), ("interpreted", trial.python_cost))
        if cost is not None
    ]


def _soundness(name: str, trial: Trial) -> list[str]:
    lines = []
    for finding in trial.findings:
        lines.append(f"{_sound_word(finding)}: {finding.check}: {finding.seen}.")
        if finding.fen:
            lines += [command("show", "--fen", finding.fen), command("eval", "--fen", finding.fen, "--file", name)]
    return lines


def _sound_word(finding: CheckResult) -> str:
    if finding.ok:
        return "OK"
    return "Note" if finding.is_note else "Problem"


def _strength(trial: Trial) -> list[str]:
    if trial.interval is None or trial.interval.pairs.n == 0:
        return ["No match played."]
    share = trial.interval
    word = verdict_of(share.estimate - 0.5, not share.low <= 0.5 <= share.high)
    return [
        f"Against ID:improved at {NODES} nodes a move: won {estimate_of(share).text} of the games "
        f"over {pluralise(share.pairs.n, 'pair')}: {verdict_clause(word, is_quick=True)}."
    ]


def _screening(trial: Trial) -> list[str]:
    if trial.screening is None:
        return []
    suite, base, ((own, against),) = trial.screening.suite, trial.screening.baseline, trial.screening.contenders
    if not against.differs:
        return [f"In {pluralise(len(suite), 'solved position')}: the same moves as ID:improved."]
    return [
        f"In {pluralise(len(suite), 'solved position')} at {NODES} nodes: {verdict_clause(verdict(against))}, "
        f"{estimate_of(against.both, Points).text} points compared with ID:improved. "
        f"It keeps {Share(own.kept.estimate).text} of the wins where a mistake was possible (baseline "
        f"{Share(base.kept.estimate).text}); opponents' extra mistakes {Points(own.trouble).text} (baseline "
        f"{Points(base.trouble).text})."
    ]
