"""Heuristics and players of a file: write, try, analyse, list, check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from knights_isolation.isolation.suggestions import command as shown_command
from knights_isolation.reports.answers import Result, drawn
from knights_isolation.reports.text.rendering import Section

from ..inputs import Agent, Count, HeuristicFile, Jobs, NewFile, Position, Rival, Seed, agent_spec
from ..parameters import About, command
from ..surface import COMMAND, TYPED, captured, counting, play_kept_run, tell

if TYPE_CHECKING:
    from knights_isolation.experiments.analysis.analyse_file import Analysis, TrialConditions
    from knights_isolation.experiments.analysis.file_contents import FileContents
    from knights_isolation.experiments.analysis.quick_trial import Trial
    from knights_isolation.experiments.plan.catalogue import CatalogueEntry
    from knights_isolation.isolation.checks.check_result import CheckResult


@command()
def new(file: str | Path) -> Result[Path]:
    """Write a commented template of a heuristic.

    Examples:
        isolation new my_heuristic.py
        isolation analyse my_heuristic.py

    Raises:
        ValueError: the file exists, or is no Python file.
    """
    from knights_isolation.experiments.heuristic_template import TEMPLATE
    from knights_isolation.isolation.files.atomic_write import write_new

    path = Path(file)
    if path.suffix != ".py":
        raise ValueError(f"{path} is not a Python file: use a name such as {path.with_suffix('.py')}")
    write_new(path, TEMPLATE)
    return Result(path, (), text=f"Wrote {path}. Next: {shown_command('try', path)}")


@command("rows")
def try_(
    heuristic: HeuristicFile, *, baseline: Rival | None = None, limit: str | None = None
) -> Result[dict[str, Trial]]:
    """Check a heuristic, or all of a file: compilation, cost, return values, and a quick match.

    Args:
        limit: limit of a move in games and solved positions; nodes=1000 by default.

    Examples:
        isolation try my_heuristic.py
        isolation try game_agent.py:custom_score_2 --limit nodes=300

    Raises:
        ValueError: the file cannot be read or has no heuristic.
    """
    from knights_isolation.experiments.analysis.analyse_file import QUICK_LIMIT, try_functions
    from knights_isolation.experiments.analysis.file_contents import read_file
    from knights_isolation.experiments.noting import note_screening
    from knights_isolation.experiments.roster import reference_of
    from knights_isolation.experiments.roster.default_names import only_heuristic
    from knights_isolation.isolation.loading.load_user_code import load_warnings
    from knights_isolation.reports.analysis.quick_trial import trial_rows, trials_text

    reference, limit = reference_of(heuristic), limit or QUICK_LIMIT
    with captured(reference):
        contents = read_file(reference)
        if not contents.functions:
            only_heuristic(contents.path)  # raises an error that lists the file's contents
        against = agent_spec(baseline) if baseline else None
        is_single = len(contents.functions) == 1
        trials = try_functions(contents, against, limit, in_python=is_single, show=_show_step)
        text = trials_text(contents, trials, load_warnings(contents.path))
    screened = {f"ID:{contents.path}:{name}@{limit}": trial.screening for name, trial in trials.items()}
    if asked := {spec: screening for spec, screening in screened.items() if screening}:
        note_screening("try", list(asked.values()), list(asked), "split screen", {})
    section = Section("trials", f"Heuristics of {contents.path}", tuple(trial_rows(trials)))
    return Result(trials, (section,), text=text, passes=all(trial.is_sound for trial in trials.values()))


@command("html", "plot")
def analyse(
    heuristic: HeuristicFile,
    *,
    baseline: Rival | None = None,
    limit: str | None = None,
    opponents: Annotated[Sequence[Agent], About(flags=("--opponent", "--opponents"))] = (),
    board: str | None = None,
    pairs: Count | None = None,
    seed: Seed = 1,
    jobs: Jobs = 0,
    quick: bool = False,
    markdown: NewFile | None = None,
) -> Result[Analysis]:
    """Analyse a file: a verdict on each of its heuristics and players, in about a minute.

    Checks, compiles and screens every heuristic, plays them against the seven classic opponents at equal nodes and at
    equal cost, and says how each compares with ID_Improved. Run again, it continues or repeats the answer.

    Args:
        limit: limit of a move: nodes=N, depth=N, ms=N or cpu_ms=N; nodes=10000 by default.
        opponents: an opponent instead of the seven classic ones.
        board: board size, ROWSxCOLUMNS; by default 7x7, or that of the file's edition.
        pairs: openings against each opponent, each with sides swapped.
        quick: only check, compile, and play a quick match: seconds instead of a minute.
        markdown: also write it as Markdown, with a picture beside.

    Examples:
        isolation analyse game_agent.py
        isolation analyse game_agent.py:custom_score --html analysis.html

    Raises:
        ValueError: the file cannot be read, or an argument is invalid.
    """
    if quick:
        if markdown or opponents or pairs:
            raise ValueError("--quick plays no gauntlet: leave out --opponent, --pairs, --markdown and --html")
        return cast("Result[Analysis]", try_(heuristic, baseline=baseline, limit=limit))
    from knights_isolation.experiments.analysis.analyse_file import TrialConditions
    from knights_isolation.experiments.analysis.file_contents import read_file
    from knights_isolation.experiments.roster import parse_limit, reference_of
    from knights_isolation.reports.analysis import analysis_page as pages

    reference, limit = reference_of(heuristic), limit or "nodes=10000"
    parse_limit(limit)
    with captured(reference):
        contents = read_file(reference)
    contents = replace(contents, size=board or contents.size)
    against, rivals = agent_spec(baseline) if baseline else None, tuple(map(agent_spec, opponents))
    analysis = _analysed(contents, TrialConditions(against, rivals, limit, contents.size, pairs, seed), reference, jobs)
    if COMMAND.get():
        pages.keep_page(analysis, TYPED.get())
    written = pages.write_markdown(analysis, Path(markdown), TYPED.get()) if markdown else []
    tables = (pages.verdict_table(analysis), pages.cost_table(analysis), pages.opponents_table(analysis))
    return Result(
        analysis, tables, partial(drawn, next(iter(pages.forests(analysis)), None)),
        text=pages.analysis_text(analysis), page=partial(pages.page_text, analysis), written=tuple(written),
        passes=all(trial.is_sound for trial in analysis.trials.values()),
    )  # fmt: skip


def _analysed(contents: FileContents, question: TrialConditions, reference: str, jobs: int) -> Analysis:
    """Return the last of the analyses, which grow; if one is interrupted, it is printed on the command line."""
    from knights_isolation.experiments.analysis.analyse_file import analyse
    from knights_isolation.reports.analysis.analysis_page import analysis_text

    done: list[Analysis] = []
    try:
        done.extend(analyse(contents, question, play_kept_run, jobs, _show_step, partial(captured, reference)))
    except BaseException:
        if done and COMMAND.get():
            print(analysis_text(done[-1]))
        raise
    return done[-1]


@command("rows")
def evaluate_position(position: Position, *, file: Sequence[HeuristicFile] = ()) -> Result[list[dict[str, object]]]:
    """Evaluate a position with every heuristic, for both players; exit code 1 if one of yours fails.

    Args:
        file: a heuristic of your own.

    Examples:
        isolation eval --moves d3,a2
        isolation eval --fen '7/7/n6/3N3/7/7/7 w - - 0 1' --file my_heuristic.py

    Raises:
        ValueError: a file cannot be read.
    """
    from knights_isolation.experiments.plan.catalogue import evaluate, failures, registered, user_heuristics
    from knights_isolation.experiments.roster import reference_of
    from knights_isolation.isolation.boards.drawing import to_text
    from knights_isolation.reports.text.cell_values import HeuristicValue
    from knights_isolation.reports.text.rendering import render_rows

    references = [reference_of(each) for each in file]
    with captured(", ".join(references)):
        own = user_heuristics(references)
        rows = evaluate(registered() | own, position)
    shown = tuple(
        {key: HeuristicValue(cell) if isinstance(cell, float) else cell for key, cell in row.items()} for row in rows
    )
    if failed := "; ".join(failures([row for row in rows if row["heuristic"] in own])):
        tell(f"Error: {failed}")
    text = f"{to_text(position)}\n\n{render_rows(shown, 'table')}"
    return Result(rows, (Section("values", "Values of the position", shown),), text=text, passes=not failed)


@command("rows")
def list_heuristics(
    file: Annotated[str | Path, About(is_code=True, complete="file", place="option")] | None = None,
) -> Result[list[CatalogueEntry]]:
    """List the heuristics: name, meaning, parameters with ranges, and whether they compile.

    Args:
        file: list the functions of this file instead.

    Examples:
        isolation heuristics
        isolation heuristics --file game_agent.py --format json

    Raises:
        ValueError: the file cannot be loaded.
    """
    from knights_isolation.experiments.plan.catalogue import file_catalogue, interpreted_sentences, registry_catalogue
    from knights_isolation.reports.text.rendering import render_rows, terminal_width, wrapped

    with captured(str(file or "")), counting("heuristics") as show:
        listings = file_catalogue(file, show) if file else registry_catalogue(show)
    columns = ("name", "compiles", "meaning", "parameters")  # narrow terminals hide the last ones
    rows = [asdict(replace(each, compiles=each.compiles.partition(":")[0])) for each in listings]
    text = render_rows([{name: row[name] for name in columns} for row in rows], "table")
    text = "\n".join([text, *(wrapped(line, terminal_width()) for line in interpreted_sentences(listings))])
    if not listings:
        text = (
            f"{file} has no heuristic: expected a function of (game, player) or of (state, player_id), or a method "
            f"CustomPlayer.METHOD of (self, state), that returns a number"
        )
    title = f"Heuristics of {file}" if file else "Shipped heuristics"
    return Result(listings, (Section("heuristics", title, tuple(map(asdict, listings))),), text=text)


@command()
def check_agent(
    player: Annotated[str, About(metavar="FILE[:CLASS]", complete="file", is_code=True)],
) -> Result[list[CheckResult]]:
    """Check a classic player: signature, legal moves, time limit, fixed-depth search.

    Examples:
        isolation test-agent game_agent.py
        isolation test-agent game_agent.py:AlphaBetaPlayer

    Raises:
        ValueError: the file cannot be read, or has no such player.
    """
    from knights_isolation.experiments.plan.catalogue import player_named
    from knights_isolation.isolation.checks.agent_checks import check_player
    from knights_isolation.isolation.loading.load_user_code import load_player

    with captured(player):
        path, name = player_named(player)
        findings = check_player(load_player(path, name).value)
    words = ["ok" if finding.ok else "note" if finding.is_note else "FAIL" for finding in findings]
    rows = [
        {"result": word, "check": each.check, "seen": each.seen} for word, each in zip(words, findings, strict=True)
    ]
    text = "\n".join([f"{path}:{name}", *("  {result:<4}  {check}: {seen}".format(**row) for row in rows)])
    section = Section("checks", f"Checks of {path}:{name}", tuple(rows))
    return Result(findings, (section,), text=text, passes="FAIL" not in words)


def _show_step(what: str) -> None:
    tell(f"… {what}")
