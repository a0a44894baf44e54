"""An analysis: its verdicts in sentences, on one terminal screen, as Markdown with a picture, as an HTML page."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from knights_isolation.experiments.analysis.analyse_file import (
    Analysis,
    PlayerResult,
    RunKind,
    TrialConditions,
    analyse,
)
from knights_isolation.experiments.analysis.quick_trial import BASELINE, Trial, read_file
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead
from knights_isolation.experiments.statistics.planning import pairs_to_decide
from knights_isolation.experiments.studies.screening import Mistake
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.drawing import to_text
from knights_isolation.isolation.rules.game import Cost, Size
from knights_isolation.isolation.rules.geometry import format_moves
from knights_isolation.isolation.rules.parameters import ParameterError, parameters_of
from knights_isolation.isolation.suggestions import TYPED, command, tell
from knights_isolation.isolation.usercode.output_capture import captured

from ..answers import Result, drawn
from ..charts.chart import RowChart
from ..charts.interval_charts import forest
from ..pages.templates import PAGE, page_template
from ..studies.screening import picture
from ..tables.compare import p_value_of
from ..text.cell_values import Points, Range, Ratio, Share, estimate_of, pluralise
from ..text.rendering import Section, is_terminal, render_sections, terminal_width, wrapped
from ..text.verdict_details import two_digits
from ..text.wording import duel_words, evidence_sentences
from ..watch import play_kept_run
from .file_answers import skipped_sentence, suspicions

_COURSE_LIMIT = 150e6  # time per move of the course, in nanoseconds


def analysis_answer(
    reference: str, size: str | None, question: TrialConditions, jobs: int, markdown: str | Path | None
) -> Result[Analysis]:
    """Analyse FILE, or the function of FILE:FUNCTION, on a board; by default of the size that the file is made for.

    Of the analyses, which grow, the last is returned. On the command line, the page is kept in the runs, and the last
    analysis is printed if the next one is interrupted. `markdown` is a file for `write_markdown`.

    Raises:
        ValueError: the file cannot be read.
    """
    with captured(reference):
        contents = read_file(reference)
    question, typed = replace(question, size=size or str(contents.size)), TYPED.get()
    contents = replace(contents, size=question.board)
    done: list[Analysis] = []
    try:
        guard = partial(captured, reference)
        done.extend(analyse(contents, question, play_kept_run, jobs, lambda what: tell(f"… {what}"), guard))
    except BaseException:
        if done and typed:
            print(analysis_text(done[-1]))
        raise
    analysis = done[-1]
    if typed:
        keep_page(analysis, typed)
    return Result(
        analysis,
        (verdict_table(analysis), cost_table(analysis), opponents_table(analysis)),
        partial(drawn, next(iter(forests(analysis)), None)),
        text=analysis_text(analysis),
        page=partial(page_text, analysis),
        written=tuple(write_markdown(analysis, Path(markdown), typed)) if markdown else (),
        passes=all(trial.is_sound for trial in analysis.trials.values()),
    )


def verdict_table(analysis: Analysis) -> Section:
    """Return one row per function: the difference at equal nodes and at equal cost, with p-values."""
    rows = tuple(_verdict_row(analysis, name) for name in analysis.ranked)
    compared = [comparison for name in analysis.trials if (comparison := analysis.comparison(name, "nodes"))]
    if not compared:
        return Section("verdicts", "The functions", rows)
    first, together, adjusted = compared[0], "", ""
    if first.family > 1:
        together = f": all {first.family}, at equal nodes and at equal cost, hold together"
        adjusted = f", adjusted for {first.family} comparisons"
    notes = (
        f"Difference: win rate minus {first.baseline}'s against the same opponents, in percentage points, with the "
        f"range that the games support ({interval_name(first)} interval{together}).",
        f"p: how often luck alone would make such a difference{adjusted}; below 0.05 is significant.",
        *evidence_sentences(compared),
        *(
            f"Check {'passed' if check.difference.low <= 0 <= check.difference.high else 'FAILED'}: {check.baseline} "
            f"differs from itself on other openings by {estimate_of(check.difference, Points).text}."
            for check in analysis.verdicts["nodes"].checks
        ),
    )
    return Section("verdicts", "The functions", rows, notes)


def _verdict_row(analysis: Analysis, name: str) -> dict[str, Any]:
    nodes = analysis.comparison(name, "nodes") or analysis.comparison(name, "python")
    cost = analysis.comparison(name, "cost")
    row = {"function": name, **_cells("difference", "p", nodes)}
    return row | _cells("at equal cost", "p at equal cost", cost) if "cost" in analysis.runs else row


def _cells(difference: str, p: str, comparison: Comparison | None) -> dict[str, Any]:
    if comparison is None:
        return {difference: None, p: None}
    return {difference: estimate_of(comparison.jointly, Points), p: p_value_of(comparison)}


def cost_table(analysis: Analysis) -> Section:
    """Return one row per function: cost per node compiled and in Python, and nodes per course move in Python."""
    costs = [trial.python_cost for trial in analysis.trials.values() if isinstance(trial.python_cost, Cost)]
    fastest = min((cost.nanoseconds / cost.times for cost in costs), default=math.nan)
    rows = tuple(
        {
            "function": name,
            "cost compiled": _times(analysis.cost(name)),
            "cost in Python": ratio,
            # with the time of the baseline's node in the quietest measurement: ratios are measured in turns, times not
            "nodes in 150 ms of Python": two_digits(_COURSE_LIMIT / (fastest * ratio)) if ratio else None,
        }
        for name in analysis.ranked
        if (cost := analysis.trials[name].python_cost) is not None
        for ratio in [_times(cost)]
    )
    if not rows:
        return Section("costs", "What a node costs", ())
    reference = {
        "function": f"{BASELINE} (ID_Improved)",
        "cost compiled": Ratio(1),
        "cost in Python": Ratio(1),
        "nodes in 150 ms of Python": two_digits(_COURSE_LIMIT / fastest) if costs else None,
    }
    note = "Cost: processor time of a node. The games at equal cost go by the compiled one."
    return Section("costs", "What a node costs", (reference, *rows), (note,))


def _times(cost: Cost | str | None) -> Ratio | None:
    return Ratio(cost.times) if isinstance(cost, Cost) else None


def opponents_table(analysis: Analysis) -> Section:
    """Return one row per opponent: the win rates of the baseline and of each function against it."""
    compared = [found for name in analysis.ranked if (found := analysis.comparison(name, "nodes"))]
    title = "Win rate against each opponent"
    if not compared:
        return Section("opponents", title, ())
    effects = [{effect.opponent: effect for effect in comparison.effects} for comparison in compared]
    names = analysis.runs["nodes"].in_order(effects[0])
    rows: list[dict[str, Any]] = [
        {
            "win rate against": opponent,
            compared[0].baseline: Share(effects[0][opponent].baseline_rate),
            **{
                comparison.contender: Share(own[opponent].contender_rate)
                for comparison, own in zip(compared, effects, strict=True)
            },
        }
        for opponent in names
    ]
    mean = {comparison.contender: Share(comparison.contender_rate) for comparison in compared}
    games = pluralise(2 * compared[0].openings, "game")
    note = f"At {analysis.question.limit} a move; {games} of each function in each row; win rates without intervals."
    rows.append({"win rate against": "mean", compared[0].baseline: Share(compared[0].baseline_rate), **mean})
    duels = {comparison.contender: analysis.head_to_head(comparison.contender, "nodes") for comparison in compared}
    if any(duels.values()):
        direct = {name: Share(duel.rate.estimate) if duel else None for name, duel in duels.items()}
        rows.append({"win rate against": f"{compared[0].baseline}, head to head", compared[0].baseline: None, **direct})
    return Section("opponents", title, tuple(rows), (note,), verbatim=True)


_GAP = "   "
_KINDS: dict[RunKind, str] = {
    "nodes": "at equal nodes",
    "cost": "at equal cost",
    "python": "in Python",
    "players": "of players",
    "dear-cost": "at equal cost, last",
    "dear-nodes": "at equal nodes, last",
}
_FULL_WIDTH = 100  # line width of the sentences if the width of the terminal is unknown


def analysis_text(analysis: Analysis) -> str:
    """Return verdicts, tables, two mistakes as boards, and next steps."""
    width = min(terminal_width(), _FULL_WIDTH) if not is_terminal() else terminal_width()
    blocks = [wrapped(heading(analysis), width)]
    blocks += [wrapped(f"{name} {sentence}", width) for name, sentence in verdict_lines(analysis)]
    for table in _sections(analysis):
        plain = render_sections([replace(table, title="", notes=())], "table")
        blocks.append("\n".join([plain, *(wrapped(note, width) for note in table.notes)]))
    if shown := _boards(analysis, width):
        blocks.append(shown)
    if steps := next_steps(analysis):
        blocks.append("Next:\n" + "\n".join(f"- {step}" for step in steps))
    return "\n\n".join(blocks)


def heading(analysis: Analysis) -> str:
    """Return what was analysed, against which opponents, in how many games."""
    parts = [pluralise(len(analysis.trials), "heuristic")] if analysis.trials else []
    parts += [pluralise(len(analysis.players), "player")] if analysis.players else []
    games = sum(results.played for results in analysis.runs.values())
    kinds = [f"{analysis.runs[kind].played:,} {words}" for kind, words in _KINDS.items() if kind in analysis.runs]
    played = f"{pluralise(games, 'game')} on {analysis.question.size}"
    return f"{analysis.contents.path}: {' and '.join(parts)}, {': '.join(filter(None, [played, ', '.join(kinds)]))}."


def _leading_mistakes(analysis: Analysis) -> tuple[str, tuple[Mistake, ...]]:
    for name in analysis.ranked:
        if mistakes := analysis.mistakes.get(name):
            return name, mistakes
    return "", ()


def _mistake_words(mistake: Mistake, size: Size, name: str) -> str:
    winning = [format_moves([cell], size.columns) for cell in mistake.winning]
    verb = "wins" if len(winning) == 1 else "win"
    played = format_moves([mistake.played], size.columns)
    return (
        f"{name}, player {1 + len(mistake.moves) % 2}, plays {played} and loses; {', '.join(winning)} {verb}, and "
        f"{100 * mistake.field:.0f} % of the reference agents play {'it' if len(winning) == 1 else 'one of these'}."
    )


def _boards(analysis: Analysis, width: int) -> str:
    name, mistakes = _leading_mistakes(analysis)
    if not mistakes:
        return ""
    size = analysis.contents.size
    pictures = [to_text(Board.from_moves(mistake.moves, size)).splitlines() for mistake in mistakes]
    wide = max(map(len, pictures[0]))
    texts = [wrapped(_mistake_words(mistake, size, name), wide).splitlines() for mistake in mistakes]
    columns = [[*picture, *text] for picture, text in zip(pictures, texts, strict=True)]
    title = f"Mistakes of {name} in solved positions (♘ player 1, ♞ player 2, ░ blocked, · legal move):"
    if len(columns) * (wide + len(_GAP)) - len(_GAP) > width:
        return "\n".join([title, *("\n".join(column) for column in columns)])
    rows = zip_longest(*columns, fillvalue="")
    return "\n".join([title, *(_GAP.join(f"{part:{wide}}" for part in row).rstrip() for row in rows)])


def page_text(analysis: Analysis, command: str) -> str:
    """Return an analysis as one self-contained HTML page."""
    size, values = analysis.contents.size, _values(analysis, command)
    pictures = [picture(mistake, size, text) for mistake, text in values["mistakes"]]
    return page_template("analysis.html").render(pictures=pictures, **values)


def _values(analysis: Analysis, command: str) -> dict[str, Any]:
    """Return what pages and Markdown have alike."""
    (name, mistakes), size = _leading_mistakes(analysis), analysis.contents.size
    results, (comparison, *_) = (
        analysis.runs.get("nodes"),
        (*(analysis.verdicts["nodes"].comparisons if "nodes" in analysis.runs else ()), None),
    )
    return {
        "title": f"Analysis of {Path(analysis.contents.path).name}",
        "heading": heading(analysis),
        "verdicts": verdict_lines(analysis),
        "charts": forests(analysis),
        "sections": _sections(analysis),
        "mistaken": name,
        "mistakes": [(mistake, _mistake_words(mistake, size, name)) for mistake in mistakes],
        "comparison": comparison,
        "opponents": results.in_order(comparison.opponents) if results and comparison else (),
        "limit": analysis.question.limit,
        "command": command,
    }


def keep_page(analysis: Analysis, command: str) -> None:
    """Write an analysis as a page into the first run that was played for it, where the lab finds it."""
    for results in analysis.runs.values():
        return write_text(results.sources[0].info.path / PAGE, page_text(analysis, command))


def write_markdown(analysis: Analysis, path: Path, command: str) -> list[Path]:
    """Write an analysis as Markdown, with its forest plot as an SVG file beside it; return the files written."""
    values, written = _values(analysis, command), [path]
    if charts := values["charts"]:
        from ..plots.draw_chart import draw_chart, save

        written.append(save(draw_chart(charts[0]), path.with_suffix(".svg")))
    boards = [to_text(Board.from_moves(mistake.moves, analysis.contents.size)) for mistake, _ in values["mistakes"]]
    tables = render_sections(values["sections"], "markdown")
    drawn = {"picture": path.with_suffix(".svg").name if charts else "", "boards": boards, "tables": tables}
    write_text(path, page_template("analysis.md").render(**values, **drawn).strip() + "\n")
    return written


def forests(analysis: Analysis) -> list[RowChart]:
    """Return forest plots of the runs at equal nodes and at equal cost."""
    kinds: tuple[RunKind, ...] = ("nodes", "cost")
    return [
        replace(chart, title=f"{chart.title}, {_KINDS[kind]}")
        for kind in kinds
        if kind in analysis.verdicts and (chart := forest(analysis.runs[kind], analysis.verdicts[kind]))
    ]


def _sections(analysis: Analysis) -> list[Section]:
    tables = verdict_table(analysis), opponents_table(analysis), cost_table(analysis)
    return [table for table in tables if table.rows]


# the position of a failed check, which a command shows instead
_POSITION = re.compile(r" at Board\.from_moves\(.*?\)( for player \w+)?")
_AMOUNTS = {"better": "more", "worse": "less"}
DEAR = 1.2
"""Cost ratio to the baseline from which on a function is called slow."""


def verdict_lines(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the name and the verdict of each function and player, then the rest of the file and why it is skipped."""
    lines = [(name, _sentence_of(analysis, name)) for name in analysis.ranked]
    lines += [(player.name, _player_sentence(player)) for player in analysis.players]
    title, _, skipped = skipped_sentence(analysis.contents.skipped).partition(" ")
    return [*lines, (title, skipped)] if skipped else lines


def _sentence_of(analysis: Analysis, name: str) -> str:
    trial = analysis.trials[name]
    if not trial.is_sound:
        first = next(finding for finding in trial.findings if not finding.ok and not finding.is_note)
        return f"fails, and would lose games by that: {_POSITION.sub('', first.seen)}."
    if trial.problem is not None:
        return _interpreted_sentence(analysis, name, trial)
    nodes, cost = analysis.comparison(name, "nodes"), analysis.comparison(name, "cost")
    if nodes is None and cost is None:
        return "was not played."
    sentences = ["has not played all games at equal nodes."]
    if nodes is not None:
        limit = analysis.question.limit
        design = f"all searching {limit.nodes:,} nodes a move" if limit.nodes else f"at {limit}"
        sentences = [f"{_verdict(nodes)}: {_rate_words(nodes, design)}."]
        duel = analysis.head_to_head(name, "nodes")
        if duel and not duel.is_empty:
            differs = "; the two verdicts differ" if duel.verdict != nodes.verdict else ""
            sentences.append(f"Head to head {duel_words(duel)}{differs}.")
    if cost is not None:
        sentences += _cost_sentences(nodes, cost, analysis.cost(name), analysis.head_to_head(name, "cost"))
    return " ".join([*sentences, *(f"Suspect: {seen}." for seen in suspicions(trial))])


def _verdict(comparison: Comparison) -> str:
    opponents = f"against the same {pluralise(len(comparison.opponents), 'opponent')}"
    if comparison.verdict in ("better", "worse"):
        return f"won {_AMOUNTS[comparison.verdict]} {opponents} than {comparison.baseline}"
    return f"shows no significant difference from {comparison.baseline} {opponents}"


def _rate_words(comparison: Comparison, design: str) -> str:
    luck = ", which may be luck" if comparison.verdict == "no significant difference" else ""
    return (
        f"{design}, it won {Share(comparison.contender_rate).text} of its games, "
        f"{comparison.baseline} {Share(comparison.baseline_rate).text}, a difference of "
        f"{Points(comparison.estimate).text} points ({interval_name(comparison)} interval {_ends(comparison)}){luck}"
    )


def _ends(comparison: Comparison) -> str:
    return Range(*map(Points, comparison.lead)).text


def interval_name(comparison: Comparison) -> str:
    """Return whether an interval holds individually or for all contenders together, in words."""
    return "95 % simultaneous" if comparison.family > 1 else "95 %"


def _cost_sentences(
    nodes: Comparison | None, cost: Comparison, measured: Cost | str | None, duel: HeadToHead | None
) -> list[str]:
    times = measured.times if isinstance(measured, Cost) else math.nan
    price = [f"A node of it costs {Ratio(times).text} as much."] if times >= DEAR or times <= 1 / DEAR else []
    difference = f"{Points(cost.estimate).text} ({_ends(cost)})"
    if cost.verdict != "no significant difference":
        also = "also " if nodes and cost.verdict == nodes.verdict else ""
        left = f"it {also}won {_AMOUNTS.get(cost.verdict, 'as much')}"
    else:
        either = " either" if nodes and nodes.verdict == "no significant difference" else ""
        left = f"no significant difference{either}"
    at_cost = f"At equal cost, with the same processor time for all, {left}: {difference}"
    direct = f"; head to head {duel_words(duel)}" if duel and not duel.is_empty else ""
    return [*price, f"{at_cost}{direct}."]


def _interpreted_sentence(analysis: Analysis, name: str, trial: Trial) -> str:
    where = f", line {trial.line}" if trial.line else ""
    reason = f"does not compile ({trial.problem}{where})"
    comparison = analysis.comparison(name, "python")
    if comparison is None:
        return f"{reason}, and is too slow in Python to play here."
    games = pluralise(2 * comparison.openings * len(comparison.opponents), "game")
    return (
        f"{reason}, so it played {games} in Python and {_verdict(comparison)}: {_rate_words(comparison, 'in Python')}."
    )


def _player_sentence(player: PlayerResult) -> str:
    failed = [check for check in player.checks if not check.ok and not check.is_note]
    if failed:
        return f"fails: {failed[0].check}: {_POSITION.sub('', failed[0].seen)}."
    forfeits = f", {pluralise(player.forfeits, 'game')} by timeout or error" if player.forfeits else ""
    lost = player.games - player.won
    return f"passes its checks; won {player.won} of {player.games} short games and lost {lost}{forfeits}."


def next_steps(analysis: Analysis) -> list[str]:
    """Return the next steps, the most useful first: sentences and commands."""
    faulty_first = sorted(
        analysis.ranked, key=lambda name: (analysis.trials[name].is_sound, analysis.trials[name].problem is None)
    )
    steps = [step for name in faulty_first for step in _steps_for(analysis, name)]
    if "nodes" in analysis.runs:
        run = analysis.runs["nodes"].sources[0].info.path
        steps = [*steps[:3], f"See every game and number on a page: {command('report', run, '--open')}"]
    return steps


def _steps_for(analysis: Analysis, name: str) -> list[str]:
    trial, reference = analysis.trials[name], f"{analysis.contents.path}:{name}"
    if not trial.is_sound:
        failing = next(finding for finding in trial.findings if not finding.ok and not finding.is_note)
        see = command("eval", "--fen", failing.fen, "--file", reference) if failing.fen else command("try", reference)
        return [f"Repair {name}; this shows the failure: {see}"]
    if trial.problem is not None:
        where = f"line {trial.line} of " if trial.line else ""
        return [f"Rewrite {where}{name} so that it compiles: it then plays much faster."]
    nodes, cost = analysis.comparison(name, "nodes"), analysis.comparison(name, "cost")
    if nodes is None:
        return []
    if nodes.verdict == "better" and cost is not None and cost.verdict != "better":
        left = "it won less" if cost.verdict == "worse" else "there is no significant difference"
        return [f"Make {name} cheaper: at equal nodes it won more, at equal cost {left}."]
    if nodes.verdict == "better" and _has_parameters(analysis, name):
        tune = command("tune", f"ID:{reference}", *_limit_words(analysis))
        return [f"Tune the parameters of {name} by games: {tune}"]
    if nodes.verdict == "no significant difference" and (pairs := pairs_to_decide(nodes)):
        decide = command("analyse", reference, "--pairs", pairs, *_limit_words(analysis))
        return [f"Decide about {name} with {pairs:,} openings instead of {nodes.openings:,}: {decide}"]
    return []


def _limit_words(analysis: Analysis) -> tuple[str, ...]:
    # the default limit needs no option
    limit = analysis.question.limit
    return () if limit == TrialConditions().limit else ("--limit", str(limit))


def _has_parameters(analysis: Analysis, name: str) -> bool:
    with suppress(ParameterError):
        return bool(parameters_of(analysis.contents.functions[name]))
    return False
