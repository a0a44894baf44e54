"""Answers of `try` and `ci`, which let heuristics of files play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import Any

from knights_isolation.experiments.analysis.analyse_file import QUICK_LIMIT
from knights_isolation.experiments.analysis.commit_check import Checked, Terms, check_file
from knights_isolation.experiments.analysis.quick_trial import BASELINE, FileContents, Trial, read_file, try_functions
from knights_isolation.experiments.plan import AgentLike, parse_limit, reference_of
from knights_isolation.experiments.plan.user_files import only_heuristic
from knights_isolation.experiments.studies.noted_tries import note_screening
from knights_isolation.isolation.files.folders import revision_named
from knights_isolation.isolation.loading.load_user_code import load_warnings
from knights_isolation.isolation.rules.game import Cost
from knights_isolation.isolation.suggestions import command, tell
from knights_isolation.isolation.usercode.output_capture import captured

from ..answers import Result
from ..studies.screening import verdict
from ..tables.run_notes import cost_words, times_cell
from ..text.cell_values import Points, Ratio, Share, estimate_of, pluralise
from ..text.decisions import decision_cell, stopped_cell
from ..text.rendering import (
    Section,
    flat_rows,
    is_terminal,
    render_rows,
    render_sections,
    terminal_width,
    worded_rows,
    wrapped,
)
from ..text.verdict_details import verdict_clause, verdict_of
from ..watch import play_kept_run

_INDENT = "  "


def trials_answer(reference: str, baseline: str | None, limit: str | None) -> Result[dict[str, Trial]]:
    """Try the heuristics of FILE, or the one of FILE:FUNCTION, and note the tries.

    Raises:
        ValueError: the file cannot be read or has no heuristic.
    """
    bound = parse_limit(limit) if limit else QUICK_LIMIT
    with captured(reference):
        contents = read_file(reference)
        if not contents.functions:
            only_heuristic(contents.path)  # raises an error that lists the file's contents
        in_python = len(contents.functions) == 1
        trials = try_functions(contents, baseline, bound, in_python=in_python, show=lambda what: tell(f"… {what}"))
        text = _text(contents, trials)
    screened = {f"ID:{contents.path}:{name}@{bound}": trial.screening for name, trial in trials.items()}
    if asked := {spec: screening for spec, screening in screened.items() if screening}:
        note_screening("try", list(asked.values()), list(asked), "split screen", {})
    rows = flat_rows([trial_row(name, trial) for name, trial in trials.items()])
    section = Section("trials", f"Heuristics of {contents.path}", tuple(rows))
    return Result(trials, (section,), text=text, passes=all(trial.is_sound for trial in trials.values()))


def _text(contents: FileContents, trials: Mapping[str, Trial]) -> str:
    """Return the findings about the only function of a file, or a table of all; and what else it has."""
    if len(trials) == 1:
        ((name, trial),) = trials.items()
        lines = [describe_trial(f"{contents.path}:{name}", trial, load_warnings(contents.path))]
    else:
        lines = [render_rows(worded_rows([trial_row(name, trial) for name, trial in trials.items()]), "table")]
        lines += [wrapped(line, terminal_width()) for line in _problems(contents.path, trials)]
    players = {name: f"is a player: {command('test-agent', f'{contents.path}:{name}')}" for name in contents.players}
    skipped = skipped_sentence(contents.skipped | players)
    return "\n".join([*lines, wrapped(skipped, terminal_width())] if skipped else lines)


def describe_trial(name: str, trial: Trial, python_warnings: Sequence[str] = ()) -> str:
    """Return the findings of a trial of FILE:FUNCTION, one per line, wrapped to the terminal's width.

    `python_warnings` are Python's warnings about the file.
    """
    width = terminal_width() - (len(_INDENT) if is_terminal() else 0)
    commands = command("show"), command("eval")  # lines to be copied must not be wrapped
    lines = trial_lines(name, trial, python_warnings)
    lines = [line if line.startswith(commands) else wrapped(line, width) for line in lines]
    return "\n".join([name, *(indent(line, _INDENT) for line in lines)])


def trial_lines(name: str, trial: Trial, python_warnings: Sequence[str] = ()) -> list[str]:
    """Return the findings of a trial of FILE:FUNCTION as sentences."""
    return [
        _compiling(trial),
        # the costs compiled and in Python are hardly related
        *(
            f"Cost per node {how}: {cost_words(cost, BASELINE)}."
            for how, cost in (("compiled", trial.cost), ("interpreted", trial.python_cost))
            if cost is not None
        ),
        *(f"Python warns: {warning}" for warning in python_warnings),
        *_soundness(name, trial),
        *_strength(trial),
        *_screening(trial),
    ]


def _compiling(trial: Trial) -> str:
    if trial.problem is None:
        return "Compiles, and returns the same values as the Python function in up to 300 positions."
    where = f" (line {trial.line})" if trial.line else ""
    verdict = "Runs interpreted" if trial.is_difference else "Does not compile"
    return f"{verdict}: {trial.problem}{where}{'' if trial.problem.endswith('?') else '.'}"


def _soundness(name: str, trial: Trial) -> list[str]:
    lines = []
    for finding in trial.findings:
        word = "OK" if finding.ok else "Note" if finding.is_note else "Problem"
        lines.append(f"{word}: {finding.check}: {finding.seen}.")
        if finding.fen:
            lines += [command("show", "--fen", finding.fen), command("eval", "--fen", finding.fen, "--file", name)]
    return lines


def _strength(trial: Trial) -> list[str]:
    share = trial.interval
    if share is None or share.pairs.n == 0:
        return ["No match played."]
    word = verdict_of(share.estimate - 0.5, not share.low <= 0.5 <= share.high)
    return [
        f"Against {_baseline(trial)} at {_limit(trial)} a move: won {estimate_of(share).text} of the games "
        f"over {pluralise(share.pairs.n, 'pair')}: {verdict_clause(word, is_quick=True)}."
    ]


def _screening(trial: Trial) -> list[str]:
    if trial.screening is None:
        return []
    suite, base, ((own, against),) = trial.screening.suite, trial.screening.baseline, trial.screening.contenders
    if not against.differs:
        return [f"In {pluralise(len(suite), 'solved position')}: the same moves as {_baseline(trial)}."]
    return [
        f"In {pluralise(len(suite), 'solved position')} at {_limit(trial)}: {verdict_clause(verdict(against))}, "
        f"{estimate_of(against.both, Points).text} points compared with {_baseline(trial)}. "
        f"It keeps {Share(own.kept.estimate).text} of the wins where a mistake was possible (baseline "
        f"{Share(base.kept.estimate).text}); opponents' extra mistakes {Points(own.trouble).text} (baseline "
        f"{Points(base.trouble).text})."
    ]


def _baseline(trial: Trial) -> str:
    return trial.settings.baseline.name if trial.settings.baseline else "ID:improved"


def _limit(trial: Trial) -> str:
    limit = trial.settings.limit
    return f"{limit.nodes} nodes" if limit.nodes else str(limit)


def trial_row(name: str, trial: Trial) -> dict[str, Any]:
    """Return whether a function compiles, its cost per node, and its results in quick match and solved positions."""
    games, screening = trial.interval, trial.screening
    against = screening.contenders[0][1] if screening else None
    cost = trial.cost if trial.problem is None else trial.python_cost
    return {
        "function": name,
        "verdict": _quick_word(trial),
        "won": estimate_of(games) if games and games.pairs.n else None,
        "solved_positions": estimate_of(against.both, Points) if against else None,
        "compiles": "yes" if trial.problem is None else "no",
        "cost": Ratio(cost.times) if isinstance(cost, Cost) else None,
    }


def _quick_word(trial: Trial) -> str:
    if not trial.is_sound:
        return "fails"
    share = trial.interval
    if share is None or share.pairs.n == 0:
        return "not played"
    word = verdict_of(share.estimate - 0.5, not share.low <= 0.5 <= share.high)
    return f"looks {word}" if word in ("better", "worse") else "no difference yet"


def skipped_sentence(reasons: Mapping[str, str]) -> str:
    """Return which functions and classes of a file are skipped, given the reasons; "" if none is."""
    skipped = "; ".join(f"{name} {why}" for name, why in reasons.items())
    return f"Skipped: {skipped}." if skipped else ""


def suspicions(trial: Trial) -> list[str]:
    """Return what is suspect about a function's values."""
    return [finding.seen for finding in trial.findings if finding.check == "suspect"]


def _problems(path: str, trials: Mapping[str, Trial]) -> list[str]:
    """Return lines about problems that prevent functions from compiling or playing, and how to reproduce them."""
    lines = []
    for name, trial in trials.items():
        if trial.problem is not None:
            lines.append(f"{name}: {_compiling(trial)}")
        lines += [f"{name}: suspect: {seen}." for seen in suspicions(trial)]
        for finding in trial.findings:
            if not finding.ok and not finding.is_note:
                lines.append(f"{name}: {finding.check}: {finding.seen}.")
                if finding.fen:
                    lines.append(command("eval", "--fen", finding.fen, "--file", f"{path}:{name}"))
    first = next(iter(trials.values()))
    lines.append(
        f"Won: games against {_baseline(first)} at {_limit(first)} a move; solved positions: points compared with it; "
        f"both with 95 % intervals. Cost: of a node, over {BASELINE}'s. A quick test; the full one: "
        f"{command('analyse', path)}"
    )
    return lines


def commit_answer(
    heuristics: Sequence[AgentLike], base: str, terms: Terms, summary: str | Path | None
) -> Result[list[Checked]]:
    """Check heuristics against those of the commit `base`, and note the screenings.

    The table is appended to the file `summary`, in Markdown.

    Raises:
        ValueError: a file cannot be read, or there is no such commit.
    """
    references = list(map(reference_of, heuristics))
    guard = partial(captured, ", ".join(references))
    checks: list[Checked] = []
    main = base
    for reference in references:
        revision = revision_named(base, Path(reference.partition(".py:")[0]))
        main = revision.commit if base.startswith(revision.commit) else f"{base} ({revision.commit})"
        for checked in check_file(reference, revision, terms, play_kept_run, guard):
            checks.append(checked)
            if checked.screening:
                costs = {checked.name: checked.cost.times} if checked.cost else {}
                note_screening("ci", [checked.screening], [checked.spec], "split screen", costs)
    failed = [each.name for each in checks if not each.passes]
    title = f"{pluralise(len(checks), 'heuristic')} compared with {main}: " + (
        f"{', '.join(failed)} failed" if failed else "passed"
    )
    section = Section("ci", title, tuple(map(_commit_row, checks)), tuple(_notes(checks)))
    if summary:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(render_sections([section], "markdown") + "\n")
    return Result(checks, (section,), passes=not failed)


def _commit_row(each: Checked) -> dict[str, Any]:
    against = each.screening.contenders[0][1] if each.screening else None
    return {
        "heuristic": each.name,
        "verdict": _word(each),
        "games": decision_cell(each.test) if each.test else None,
        "pairs": each.test.observations if each.test else None,
        "elo": stopped_cell(each.test) if each.test else None,
        "solved_positions": verdict(against) if against else None,
        "difference": estimate_of(against.both, Points) if against else None,
        "cost": times_cell(each.cost) if each.cost else None,
    }


def _word(each: Checked) -> str:
    if each.test:
        return {"H0": "failed", "H1": "passed"}.get(each.test.path.decision or "", "undecided")
    unplayed = "new" if each.is_new else "screened" if each.screening else "unchanged"
    return "failed" if each.failures else unplayed


def _notes(results: Sequence[Checked]) -> list[str]:
    notes = []
    for each in results:
        if each.failures and each.screening:
            score = each.screening.contenders[0][0]
            failed = f"{each.failures:,} of {len(each.screening.suite):,} solved positions"
            notes.append(f"{each.name} fails in {failed}, first by {score.detail}.")
    tests = [each.test for each in results if each.test]
    if tests:
        rates = " and ".join(f"{test.path.sprt.alpha:.2g}" for test in tests)
        notes.append(
            f"Games: a sequential test at equal processor time, {tests[0].low:g} against {tests[0].high:g} Elo. Its "
            f"error rate ({rates}) falls from one test to the next: over all in the log of tries it stays below 5 % on "
            f"each side."
        )
    if any(each.screening for each in results):
        notes.append(
            "Solved positions: the share of a win that a decision is worth, in points over the main branch's version; "
            "of a new heuristic, over ID:improved. Cost: processor time a node over the same."
        )
    return notes
