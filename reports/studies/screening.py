"""Tables, sentences and page of `screen`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from knights_isolation.experiments.analysis.quick_trial import agents_named
from knights_isolation.experiments.plan import AgentLike, parse_limit, parse_spec, spec_of
from knights_isolation.experiments.play.pools.interrupts import keeping
from knights_isolation.experiments.statistics.proportions import ALPHA
from knights_isolation.experiments.studies.noted_tries import note_screening
from knights_isolation.experiments.studies.screening import (
    Mistake,
    Score,
    Screened,
    Screening,
    SuiteComparison,
    screen_agents,
    where_it_errs,
)
from knights_isolation.experiments.suite.build_suite import Recipe, build_suite
from knights_isolation.experiments.suite.suite_file import Agreement, known_agreements
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.drawing import Annotations, to_svg, to_text
from knights_isolation.isolation.rules.game import Cost, Size
from knights_isolation.isolation.rules.geometry import format_moves
from knights_isolation.isolation.suggestions import advice, command, tell

from ..answers import Result, drawn
from ..charts.interval_charts import screening_chart
from ..pages.templates import data_url, page_template
from ..tables.run_notes import cost_cell, cost_sentence
from ..text.cell_values import Points, PValue, Share, estimate_of, join_names, pluralise
from ..text.rendering import Section, terminal_width, wrapped
from ..text.verdict_details import Word, verdict_of, verdict_sentence
from ..watch import counting

_NOTES = (
    "Kept: share of winning positions where a mistake was possible in which the agent's move keeps the win. Trouble: "
    "opponents' extra mistakes, that is how much more often (in points) the reference field errs after its moves in "
    "lost positions than after the average legal move.",
    "Difference: kept and trouble combined, mean over all positions, in points compared with the baseline. Verdicts, "
    "adjusted p and 95 % intervals hold for all contenders simultaneously (permutation test that swaps contender and "
    "baseline in whole openings).",
)


def screen_result(
    agents: Iterable[AgentLike], baseline: AgentLike, suite: str | Path, limit: str, **settings: Any
) -> Result[Screened]:
    """Screen agents, each perhaps all of a file, and note it; with a single contender also show its mistakes.

    For `settings` see `screen_agents`.
    """
    specs = [spec_of(agent) for agent in (baseline, *chain.from_iterable(map(agents_named, agents)))]
    with counting("agents") as show:
        found = screen_agents(specs, suite, parse_limit(limit), show=show, **settings)
    screening, size, (only, *others) = found.screening, found.screening.suite.size, found.others
    times = {name: cost.times for name, cost in found.costs.items()}
    note_screening("screen", [screening], [other.spec for other in found.others], found.part, times)
    sections, shown = [verdict_section(screening, found), _halves(found)], ""
    if not others:
        mistakes = found.mistakes[only.name]
        sections += [_parts_section(found), mistakes_section(only.name, mistakes, size)]
        shown = mistake_texts(mistakes, size)
    chart = partial(drawn, screening_chart(screening))
    page = partial(_page, sections, found.mistakes, size)
    return Result(found, tuple(sections), chart, closing=f"\n{shown}" if shown else "", page=page)


def build_result(path: Path, recipe: Recipe, **where: Any) -> Path:
    """Build a suite, or go on, and say how to screen with its file, which is returned; `where` are jobs and cluster."""
    with keeping("what was found", path), counting("openings") as show:
        built = build_suite(recipe, path, show=show, **where)
    tell(f"{pluralise(len(built), 'position')}. Next: {command('screen', 'ID:*', '--suite', path)}")
    return path


def verdict_section(screening: Screening, found: Screened | None = None) -> Section:
    """Return the verdicts, the best contender first; of a screening by itself also its limits, failures and history."""
    ranked, base = _ranked(screening), screening.baseline
    scores, known = [base, *(score for score, _ in ranked)], []
    notes = _failures(scores, screening.suite.size, found.failing if found else {})
    if found and found.is_at_equal_cost:
        limits = ", ".join(f"{asked.name} {parse_spec(asked.spec).limit}" for asked in (found.own, *found.others))
        notes.insert(0, f"At equal cost by CPU time per node, measured now: {limits}.")
    if found and (history := known_agreements(screening.suite.name)):
        known = [_history_sentence(history)]
    rows = *(_row(score, against) for score, against in ranked), _row(base, None)
    title = " ".join([*_mostly_failed(screening), headline(screening)])
    return Section("screen", title, rows, (*notes, *_NOTES, _described(screening), *known))


def _ranked(screening: Screening) -> list[tuple[Score, SuiteComparison]]:
    return sorted(screening.contenders, key=lambda pair: -pair[1].both.estimate)


def _halves(found: Screened) -> Section:
    """Return both components of the differences, and what a node costs relative to the baseline's."""
    ranked = _ranked(found.screening)
    rows = tuple(
        {
            "contender": score.agent,
            "kept": estimate_of(against.kept, Points),
            "trouble": estimate_of(against.trouble, Points),
            "other_moves": Share(against.differs / max(1, len(found.screening.suite))),
            "cost": cost_cell(found.costs, score.agent),
        }
        for score, against in ranked
    )
    note = (
        "Compared with the baseline, in points. Other moves: share of positions in which it played a different move "
        f"than the baseline. {_cost_note(found.costs, [score for score, _ in ranked])}"
    )
    return Section("halves", "Wins kept and opponents' extra mistakes", rows, (note,))


def _parts_section(found: Screened) -> Section:
    contender, baseline = found.others[0], found.own
    rows = tuple(
        {
            "where": part.name,
            "positions": part.positions,
            "kept": Share(part.contender),
            "baseline_kept": Share(part.baseline),
            "difference": Points(part.contender - part.baseline),
        }
        for part in where_it_errs(found.screening.suite, contender, baseline)
    )
    return Section("where", f"Where {contender.name} keeps its wins, compared with {baseline.name}", rows)


def mistakes_section(name: str, mistakes: Sequence[Mistake], size: Size) -> Section:
    """Return the most telling mistakes, as moves that `isolation show` draws."""
    columns = size.columns
    rows = tuple(
        {
            "ply": len(mistake.moves) + 1,
            "played": format_moves([mistake.played], columns),
            "winning": format_moves(mistake.winning, columns),
            "field_keeps": Share(mistake.field),
            "baseline_keeps": mistake.baseline_keeps,
            "moves": format_moves(mistake.moves, columns),
        }
        for mistake in mistakes
    )
    drawing = advice("isolation show --moves …", "Board.from_moves([…])")
    note = f"Lost wins that most of the reference field keep. Draw a position with {drawing}"
    title = f"Clearest mistakes of {name}" if rows else f"{name} never lost a winning position by a move."
    return Section("mistakes", title, rows, (note,) if rows else ())


def mistake_texts(mistakes: Sequence[Mistake], size: Size) -> str:
    """Draw the mistakes as text, each with the command that shows its position."""
    return "\n\n".join(_text(mistake, Board.from_moves(mistake.moves, size)) for mistake in mistakes)


def _text(mistake: Mistake, board: Board) -> str:
    text = wrapped(_mistake_words(mistake, board.width), terminal_width())
    return f"{to_text(board)}\n{text}\n{_advise(board, 'show')}"


def _page(sections: Sequence[Section], mistakes: Mapping[str, Sequence[Mistake]], size: Size, reproduce: str) -> str:
    """Return one page with the tables and every contender's most telling mistakes as pictures."""
    columns = size.columns
    return page_template("screening.html").render(
        title="Screening",
        sections=sections,
        pictures={
            name: [picture(mistake, size, _mistake_words(mistake, columns)) for mistake in contender_mistakes]
            for name, contender_mistakes in mistakes.items()
        },
        command=reproduce,
    )


def headline(screening: Screening) -> str:
    """Return the verdict in a sentence."""
    contenders = screening.contenders
    base = screening.baseline.agent
    if len(contenders) == 1:
        score, against = contenders[0]
        difference = f"{estimate_of(against.both, Points).text} points"
        return verdict_sentence(score.agent, base, verdict(against), difference)
    counts = {word: sum(verdict(against) == word for _, against in contenders) for word in ("better", "worse")}
    undecided = len(contenders) - sum(counts.values())
    return (
        f"{pluralise(len(contenders), 'contender')} compared with {base}: {counts['better']} better, {counts['worse']} "
        f"worse, {undecided} with no significant difference yet."
    )


def verdict(against: SuiteComparison) -> Word:
    """Return a contender's verdict."""
    return verdict_of(against.both.estimate, against.adjusted <= ALPHA) if against.differs else "same moves"


def _described(screening: Screening) -> str:
    suite = screening.suite
    telling = int(suite.is_telling.sum())
    orbits = len(set(suite.orbit.tolist()))
    return (
        f"Suite {suite.name} ({suite.size}): {telling:,} winning and {len(suite) - telling:,} lost positions from "
        f"{pluralise(orbits, 'opening')} up to symmetry."
    )


def _history_sentence(history: Sequence[Agreement]) -> str:
    correlations = ", ".join(
        f"{agreement.both:.2f} at {agreement.limit} (wins kept alone: {agreement.kept:.2f})" for agreement in history
    )
    return f"Rank correlation of its scores with gauntlets of the shipped heuristics: {correlations}."


def _row(score: Score, against: SuiteComparison | None) -> dict[str, Any]:
    return {
        "contender": score.agent,
        "verdict": verdict(against) if against else "the baseline",
        "difference": estimate_of(against.both, Points) if against else None,
        "adjusted_p": PValue(against.adjusted) if against else None,
        "kept": Share(score.kept.estimate),
        "trouble": Points(score.trouble),
    }


def _cost_note(costs: Mapping[str, Cost], scores: Sequence[Score]) -> str:
    failing = [score.agent for score in scores if score.failed]
    if failing and not any(score.agent in costs for score in scores):
        return f"Cost: not measured because {join_names(failing)} failed."
    return cost_sentence(costs, [score.agent for score in scores], "after the screening")


def _failures(scores: Sequence[Score], size: Size, failing: Mapping[str, tuple[str, Board]]) -> list[str]:
    return [
        f"{score.agent} failed {score.failed:,} times, {_reasons(score)}: {score.detail}; first "
        f"{_first_failure(score, size, failing.get(score.agent))}"
        for score in scores
        if score.failed
    ]


def _first_failure(score: Score, size: Size, failing: tuple[str, Board] | None) -> str:
    if failing is None:
        return f"in a search from: {_advise(Board.from_moves(score.failed_at, size), 'show')}"
    reference, board = failing
    return f"at: {_advise(board, 'eval', '--file', reference)}"


def _advise(board: Board, verb: str, *words: str) -> str:
    fen = " ".join(board.fen.split()[:2])  # without its counters, which follow from the rest
    return advice(command(verb, "--fen", fen, *words), f"Board.from_fen({fen!r})")


def _reasons(score: Score) -> str:
    if len(score.failures) == 1:
        return f"by {score.failures[0][0].replace('_', ' ')}"
    return ", ".join(f"{count:,} by {reason.replace('_', ' ')}" for reason, count in score.failures)


def _mostly_failed(screening: Screening) -> list[str]:
    # the verdict on a contender that mostly made no move is not meaningful
    asked = [(score, score.repeats * len(screening.suite)) for score, _ in screening.contenders]
    return [
        f"{score.agent} failed {score.failed:,} of {times:,} times: {score.detail}."
        for score, times in asked
        if 2 * score.failed > times
    ]


def _mistake_words(mistake: Mistake, columns: int) -> str:
    played = format_moves([mistake.played], columns)
    keep = "keeps" if len(mistake.winning) == 1 else "keep"
    ending = "." if mistake.baseline_keeps else "; the baseline also loses the win."
    return (
        f"It plays {played}; {format_moves(mistake.winning, columns)} {keep} the win, which {100 * mistake.field:.0f} "
        f"% of the field play{ending}"
    )


def picture(mistake: Mistake, size: Size, text: str) -> dict[str, Any]:
    """Return a mistake for a page: moves that keep the win, moves that do not, and the one played as an arrow."""
    board = Board.from_moves(mistake.moves, size)
    values = {cell: math.inf if cell in mistake.winning else -math.inf for cell in board.legal_cells()}
    own = board.locations[board.active_index]
    arrows = () if own is None else ((own, mistake.played),)
    svg = to_svg(board, marks=Annotations(values=values, arrows=arrows, numbers=False))
    return {"url": data_url("image/svg+xml", svg), "text": text}
