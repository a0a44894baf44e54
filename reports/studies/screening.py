"""Tables, sentences and page of `screen`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from knights_isolation.experiments.roster import parse_spec
from knights_isolation.experiments.suite.agent_answers import AgentAnswers
from knights_isolation.experiments.suite.screening import Mistake, Score, Screening, SuiteComparison, SuiteSlice
from knights_isolation.isolation.boards.drawing import Annotations
from knights_isolation.isolation.boards.render import to_svg, to_text
from knights_isolation.isolation.checks.search_cost import Cost
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.notation import format_moves
from knights_isolation.isolation.shell import advice, command
from knights_isolation.reports.pages.templates import data_url, page_template
from knights_isolation.reports.tables.costs import cost_cell, cost_sentence
from knights_isolation.reports.text.cell_values import (
    Estimate,
    Points,
    PValue,
    Share,
    estimate_of,
    join_names,
    pluralise,
)
from knights_isolation.reports.text.rendering import terminal_width, wrapped
from knights_isolation.reports.text.sections import Section
from knights_isolation.reports.text.verdict_words import Word, verdict_of, verdict_sentence

if TYPE_CHECKING:
    from knights_isolation.experiments.suite.gauntlet_agreement import Agreement

ALPHA = 0.05

_NOTES = (
    "Kept: share of winning positions where a mistake was possible in which the agent's move keeps the win. Trouble: "
    "opponents' extra mistakes, that is how much more often (in points) the reference field errs after its moves in "
    "lost positions than after the average legal move.",
    "Difference: kept and trouble combined, mean over all positions, in points compared with the baseline. Verdicts, "
    "adjusted p and 95 % intervals hold for all contenders simultaneously (permutation test that swaps contender and "
    "baseline in whole openings).",
)


def screening_sections(
    screening: Screening,
    history: Sequence[Agreement] = (),
    costs: Mapping[str, Cost] | None = None,
    failing: Mapping[str, tuple[str, Board]] | None = None,
) -> tuple[Section, ...]:
    """Return the verdicts, the best contender first, and both components of the difference.

    `costs` are costs per node relative to the baseline; for `failing` see `agent_answers.failing_positions`.
    """
    ranked = sorted(screening.contenders, key=lambda pair: -pair[1].both.estimate)
    base = screening.baseline
    rows = [
        _row(score, verdict(against), estimate_of(against.both, Points), PValue(against.adjusted))
        for score, against in ranked
    ]
    rows.append(_row(base, "the baseline", None, None))
    notes = [
        *_failures([base, *(score for score, _ in ranked)], screening.suite.size, failing or {}),
        *_NOTES,
        described(screening),
    ]
    notes += [sentence] if (sentence := history_sentence(history)) else []
    halves = tuple(
        {
            "contender": score.agent,
            "kept": estimate_of(against.kept, Points),
            "trouble": estimate_of(against.trouble, Points),
            "other_moves": Share(against.differs / max(1, len(screening.suite))),
            "cost": cost_cell(costs or {}, score.agent),
        }
        for score, against in ranked
    )
    note = (
        "Compared with the baseline, in points. Other moves: share of positions in which it played a different move "
        f"than the baseline. "
        f"{_cost_note(costs or {}, [score for score, _ in ranked])}"
    )
    return (
        Section("screen", " ".join([*_mostly_failed(screening), headline(screening)]), tuple(rows), tuple(notes)),
        Section("halves", "Wins kept and opponents' extra mistakes", halves, (note,)),
    )


def parts_section(name: str, baseline: str, parts: Sequence[SuiteSlice]) -> Section:
    """Return where a contender keeps its wins, compared with the baseline."""
    rows = tuple(
        {
            "where": part.name,
            "positions": part.positions,
            "kept": Share(part.contender),
            "baseline_kept": Share(part.baseline),
            "difference": Points(part.contender - part.baseline),
        }
        for part in parts
    )
    return Section("where", f"Where {name} keeps its wins, compared with {baseline}", rows)


def equal_cost_note(baseline: AgentAnswers, contenders: Sequence[AgentAnswers]) -> str:
    """Return the limits at which contenders were asked, to take the time of the baseline."""
    limits = ", ".join(f"{asked.name} {parse_spec(asked.spec).limit}" for asked in (baseline, *contenders))
    return f"At equal cost by CPU time per node, measured now: {limits}."


def mistakes_section(name: str, mistakes: Sequence[Mistake], size: str) -> Section:
    """Return the most telling mistakes, as moves that `isolation show` draws."""
    columns = parse_size(size)[1]
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


def mistake_texts(mistakes: Sequence[Mistake], size: str) -> str:
    """Draw the mistakes as text, each with the command that shows its position."""
    return "\n\n".join(_text(mistake, Board.from_moves(mistake.moves, size)) for mistake in mistakes)


def _text(mistake: Mistake, board: Board) -> str:
    text = wrapped(_described(mistake, board.width), terminal_width())
    return f"{to_text(board)}\n{text}\n{_show(board)}"


def short_fen(board: Board) -> str:
    """Return the FEN of a position without its counters, which follow from the rest."""
    return " ".join(board.fen.split()[:2])


def screening_page(
    sections: Sequence[Section], mistakes: Mapping[str, Sequence[Mistake]], size: str, reproduce: str
) -> str:
    """Return one page with the tables and every contender's most telling mistakes as pictures."""
    return page_template("screening.html").render(
        title="Screening",
        sections=sections,
        pictures={
            name: [_picture(mistake, size) for mistake in contender_mistakes]
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


def described(screening: Screening) -> str:
    """Describe the suite in a sentence."""
    suite = screening.suite
    telling = int(suite.is_telling.sum())
    orbits = len(set(suite.orbit.tolist()))
    return (
        f"Suite {suite.name} ({suite.size}): {telling:,} winning and {len(suite) - telling:,} lost positions from "
        f"{pluralise(orbits, 'opening')} up to symmetry."
    )


def history_sentence(history: Sequence[Agreement]) -> str:
    """Report how well the suite's order has predicted gauntlets so far; empty if unknown."""
    if not history:
        return ""
    correlations = ", ".join(
        f"{agreement.both:.2f} at {agreement.limit} (wins kept alone: {agreement.kept:.2f})" for agreement in history
    )
    return f"Rank correlation of its scores with gauntlets of the shipped heuristics: {correlations}."


def _row(score: Score, word: str, difference: Estimate | None, p_value: PValue | None) -> dict[str, Any]:
    return {
        "contender": score.agent,
        "verdict": word,
        "difference": difference,
        "adjusted_p": p_value,
        "kept": Share(score.kept.estimate),
        "trouble": Points(score.trouble),
    }


def _cost_note(costs: Mapping[str, Cost], scores: Sequence[Score]) -> str:
    """Explain what cost means, or why failing agents have none."""
    failing = [score.agent for score in scores if score.failed]
    if failing and not any(score.agent in costs for score in scores):
        return f"Cost: not measured because {join_names(failing)} failed."
    return cost_sentence(costs, [score.agent for score in scores], "after the screening")


def _failures(scores: Sequence[Score], size: str, failing: Mapping[str, tuple[str, Board]]) -> list[str]:
    """Return a sentence for each agent that forfeited, and the command that shows the first such position."""
    return [
        f"{score.agent} failed {score.failed:,} times, {_reasons(score)}: {score.detail}; first "
        f"{_first_failure(score, size, failing.get(score.agent))}"
        for score in scores
        if score.failed
    ]


def _first_failure(score: Score, size: str, failing: tuple[str, Board] | None) -> str:
    """Return the command that reproduces a heuristic's first failure, or else shows the root position of the search."""
    if failing is None:
        return f"in a search from: {_show(Board.from_moves(score.failed_at, size))}"
    reference, board = failing
    asked = advice(command("eval", "--fen", short_fen(board), "--file", reference), _call_that_shows(board))
    return f"at: {asked}"


def _show(board: Board) -> str:
    return advice(command("show", "--fen", short_fen(board)), _call_that_shows(board))


def _call_that_shows(board: Board) -> str:
    return f"Board.from_fen({short_fen(board)!r})"


def _reasons(score: Score) -> str:
    """Return the reasons of an agent's failures with numbers, as in `80 by error, 4 by timeout`."""
    if len(score.failures) == 1:
        return f"by {score.failures[0][0].replace('_', ' ')}"
    return ", ".join(f"{count:,} by {reason.replace('_', ' ')}" for reason, count in score.failures)


def _mostly_failed(screening: Screening) -> list[str]:
    """Return a warning for each contender whose verdict is not meaningful because it mostly made no move."""
    asked = [(score, score.repeats * len(screening.suite)) for score, _ in screening.contenders]
    return [
        f"{score.agent} failed {score.failed:,} of {times:,} times: {score.detail}."
        for score, times in asked
        if 2 * score.failed > times
    ]


def _described(mistake: Mistake, columns: int) -> str:
    played = format_moves([mistake.played], columns)
    keep = "keeps" if len(mistake.winning) == 1 else "keep"
    ending = "." if mistake.baseline_keeps else "; the baseline also loses the win."
    return (
        f"It plays {played}; {format_moves(mistake.winning, columns)} {keep} the win, which {100 * mistake.field:.0f} "
        f"% of the field play{ending}"
    )


def _picture(mistake: Mistake, size: str) -> dict[str, Any]:
    """Return a mistake for the page: moves that keep the win, moves that do not, and the one played."""
    board = Board.from_moves(mistake.moves, size)
    inf = float("inf")
    values = {cell: inf if cell in mistake.winning else -inf for cell in board.legal_cells()}
    own = board.locations[board.active_index]
    arrows = () if own is None else ((own, mistake.played),)
    svg = to_svg(board, marks=Annotations(values=values, arrows=arrows, numbers=False))
    return {"url": data_url("image/svg+xml", svg), "text": _described(mistake, parse_size(size)[1])}
