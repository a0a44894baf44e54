"""Answers about runs: the finding, then one line per agent; behind it all tables, and a plot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from knights_isolation.experiments.record.run_directory import HOME, keeps_tries
from knights_isolation.experiments.statistics.contender_verdicts import Verdicts, judge, judge_all_pairs
from knights_isolation.experiments.statistics.game_pairs import Standing
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead
from knights_isolation.experiments.statistics.proportions import WORTH
from knights_isolation.experiments.statistics.run_results import RunResults, relative_costs

from ..answers import Deferred, Result
from ..tables.run_notes import (
    clearest_first,
    cost_cell,
    cost_sentence,
    direct_note,
    head_to_head_cell,
    in_rank_order,
    interval_note,
    of_runs,
    price_sentence,
    run_notes,
)
from ..text import wording
from ..text.cell_values import Points, Share, estimate_of, join_names, pluralise, signed
from ..text.rendering import Section, Spare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUMMARY_TABLES = ("standings", "opponents", "sides", "forfeits", "lengths", "search")
RATING_TABLES = ("ratings", "superiority")
_KEPT = ("better", "worse", "control", "control differs")  # verdicts that are always shown, however small the terminal


def run_answer(findings: RunResults, worth: float = WORTH) -> Result[RunResults]:
    """Return the comparisons of a run, and note the look at them; its win rates if nobody can be compared."""
    if findings.baseline is None and not judge_all_pairs(findings):
        return summary_headline(findings)
    answer = compare_headline(findings, worth)
    if HOME.is_dir() and keeps_tries():
        from knights_isolation.experiments.studies import noted_tries

        noted_tries.note_look(findings)
    return answer


def compare_headline(findings: RunResults, worth: float = WORTH) -> Result[RunResults]:
    """Return who is ahead of the baseline, by how much, and at what cost: one line per contender.

    For a best-of: the remaining contenders, and how far the others are behind the leader. For matches that a sequential
    test stops: its decisions.
    """
    from knights_isolation.experiments.exact.theory import knows_winners

    section, tables = _comparison(findings, worth)
    # the table of results by theory exists only if some openings' winners are known
    theory = ["theory"] * any(knows_winners(source.info.path) for source in findings.sources)

    def behind() -> Sequence[Section]:
        from ..tables.compare import compare_sections
        from ..tables.summary import summarize

        return *compare_sections(findings, worth), *summarize(findings)

    return _answer(section, findings, behind, "forest", (*tables, *theory, *SUMMARY_TABLES))


def _comparison(findings: RunResults, worth: float) -> tuple[Section, list[str]]:
    """Return the first table, and the names of those about comparisons behind it."""
    if first := _of_best_of(findings):
        return first, ["best_of"]
    if first := _of_tests(findings):
        return first, ["head_to_head"]
    if each := judge_all_pairs(findings):
        return _of_pairs(findings, each, worth), ["each_against_each"]
    verdicts, costs = judge(findings), relative_costs(findings)
    results: tuple[Comparison | HeadToHead, ...] = verdicts.comparisons or verdicts.duels
    comparisons = in_rank_order(findings, results)
    rows = [
        {
            "contender": comparison.contender,
            **_difference(comparison),
            "verdict": _verdict(comparison, verdicts, worth),
            **head_to_head_cell(verdicts, comparison.contender),
            "cost": cost_cell(costs, comparison.contender),
        }
        for comparison in comparisons
    ]
    claims = [comparison for comparison in comparisons if comparison.contender not in verdicts.controls]
    pooled = wording.pooled_sentence(findings) if verdicts.comparisons else ""
    notes = [
        _interval_note(findings, comparisons, verdicts),
        *wording.evidence_sentences(claims),
        direct_note(verdicts),
        f"In this table {pooled}." if pooled else "",
        cost_sentence(costs, [comparison.contender for comparison in comparisons]) if claims else "",
        price_sentence(findings, verdicts, costs),
    ]
    tables = ["verdicts", "effects"] if verdicts.comparisons else []
    tables += ["head_to_head"] if verdicts.duels or verdicts.direct else []
    # of the rows without a significant difference, those nearest to 0 are dropped first
    near = sorted((row for row in rows if row["verdict"] not in _KEPT), key=_distance)
    spare = Spare(tuple(map(rows.index, near)), "contender", " without a significant difference")
    section = _first(findings, wording.finding_sentence(findings, verdicts), rows, notes, spare)
    return section, tables or ["verdicts"]


def summary_headline(findings: RunResults) -> Result[RunResults]:
    """Return the win rates: one line per agent."""
    from ..tables.summary import standings_section, summarize

    standings = findings.standings
    columns = ("agent", "role", "win_rate", "at_any_time", "both_won", "split", "both_lost")
    rows = _columns(standings_section(findings).rows, columns)
    agents, games = pluralise(len(standings), "agent"), pluralise(findings.played, "game")
    title = "No result" if not findings.played else agents if findings.is_interim else f"{games} of {agents}"
    if standings and not math.isnan(standings[0].rate.estimate):
        title += f": {_won_most(standings, findings.baseline)}"
    notes = [interval_note(findings)] * bool(rows)
    if pooled := wording.pooled_sentence(findings):
        notes.append(f"Every agent is listed by itself; in the verdicts, {pooled}.")
    section = _first(findings, f"{wording.state_words(findings)}{title}.", rows, notes, "agent")
    return _answer(section, findings, lambda: summarize(findings), "heatmap", SUMMARY_TABLES)


def ratings_headline(findings: RunResults, zero: str | None = None) -> Result[RunResults]:
    """Return the ratings: one line per agent."""
    from knights_isolation.experiments.statistics.ratings import rate

    from ..tables.ratings import highest, rating_rows, rating_sections

    ratings = rate(findings, zero)
    rows = _columns(rating_rows(ratings), ("rank", "agent", "rating"))
    title, notes = "No complete pairs to rate yet.", []
    if rows:
        leads = f"{highest(ratings)} rated highest of {pluralise(len(rows), 'agent')}: {rows[0]['rating'].text} Elo."
        title = wording.state_words(findings) + leads
        of_zero = f"{ratings.zero} is 0" if ratings.zero else "the pool's mean is 0"
        exact, resampled = "all openings of this kind were played", "individual 95 % intervals, openings resampled"
        notes = [f"Elo in this pool, {of_zero}; {f'exact: {exact}' if ratings.is_exact else resampled}."]
    if added := ratings.half_game_added:
        notes.append(
            f"Half a win and half a loss were added for {', '.join(added)}, which would have no finite rating."
        )
    section = _first(findings, title, rows, notes, "agent")
    return _answer(section, findings, lambda: rating_sections(findings, zero), "ladder", RATING_TABLES)


def _won_most(standings: Sequence[Standing], baseline: str | None) -> str:
    best = standings[0].rate.estimate
    first = [standing.agent for standing in standings if standing.rate.estimate == best]
    sentence = f"{join_names(first)} won most, {Share(best).text}"
    rank_of_baseline = next((rank for rank, standing in enumerate(standings, 1) if standing.agent == baseline), 0)
    if not rank_of_baseline or baseline in first:
        return sentence
    share = Share(standings[rank_of_baseline - 1].rate.estimate)
    return f"{sentence}; {baseline}, the baseline, is in place {rank_of_baseline} with {share.text}"


def _of_pairs(findings: RunResults, duels: Sequence[HeadToHead], worth: float) -> Section:
    decided = [duel for duel in duels if duel.verdict in ("better", "worse")]
    rows = [
        {
            "agent": duel.contender,
            "against": duel.baseline,
            **_difference(duel),
            "verdict": wording.short_verdict(duel, worth),
        }
        for duel in clearest_first(duels)
    ]
    found, matches = "All" if len(decided) == len(duels) else f"{len(decided)} of", pluralise(len(duels), "match")
    title = f"{wording.state_words(findings)}{found} {matches} have a significant winner."
    notes = [f"Simultaneous 95 % intervals for all {matches}{_when(findings)}."]
    return _first(findings, title, rows, notes, "match")


def _of_best_of(findings: RunResults) -> Section | None:
    """Return the remaining contenders of a best-of; None for other runs."""
    if "best-of" not in findings.formats:
        return None
    from knights_isolation.experiments.statistics.anytime import read_contest

    from ..tables.sequential import contest_rows, contest_sentence, dearer_sentences, identical_sentences

    contest = read_contest(findings)
    if not contest:
        return None
    notes = ["Deficit to the leader in percentage points, with intervals that are valid at any time."]
    notes += [*dearer_sentences(findings, contest), *identical_sentences(findings, contest)]
    return _first(findings, contest_sentence(contest), contest_rows(contest), notes, "contender")


def _of_tests(findings: RunResults) -> Section | None:
    """Return the decisions of matches that a sequential test stops; None for other runs."""
    if not findings.sprt:
        return None
    from knights_isolation.experiments.statistics.sprt import stopping_duels

    from ..tables.sequential import test_row
    from ..text.decisions import stopped_sentences, unit_words

    tests = stopping_duels(findings)
    if not tests:
        return None
    # other intervals would ignore the stopping rule
    rows = _columns(map(test_row, tests), ("contender", "pairs", "estimate", "decision"))
    sprt = tests[0].path.sprt
    low, high = (signed(bound) for bound in (tests[0].low, tests[0].high))
    notes = [
        f"SPRT of {low} against {high} {unit_words(tests[0])}, α = {sprt.alpha:g}, β = {sprt.beta:g}. "
        "Estimates are median-unbiased after the stopping, with 95 % intervals."
    ]
    is_over = findings.stopped_early or findings.played + findings.repeated == findings.planned
    title = "" if is_over else " ".join(stopped_sentences(tests))
    return _first(findings, title, rows, notes, "contender")


def _verdict(comparison: Comparison | HeadToHead, verdicts: Verdicts, worth: float) -> str:
    if comparison.contender not in verdicts.controls:
        return wording.short_verdict(comparison, worth)
    return "control differs" if isinstance(comparison, Comparison) and wording.is_odd(comparison) else "control"


def _difference(comparison: Comparison | HeadToHead) -> dict[str, Any]:
    # the interval is that of the verdict: joint for contenders, individual for a control
    if isinstance(comparison, Comparison):
        return {"difference": estimate_of(comparison.jointly, Points)}
    return {"win_rate": estimate_of(comparison.jointly)}


def _when(findings: RunResults) -> str:
    return ", valid at any time" if findings.is_interim else ""


def _interval_note(findings: RunResults, comparisons: Sequence[Comparison | HeadToHead], verdicts: Verdicts) -> str:
    claims = verdicts.judged
    if not claims:
        return ""
    points = "Percentage points of the win rate, mean over opponents"
    unit = points if verdicts.comparisons else "Shares of games won head to head"
    if all(claim.is_census for claim in claims):
        return f"{unit}, exact: all openings of this kind were played."
    together = "simultaneous " if len(claims) > 1 else ""
    by_itself = " (the control's is individual)" if together and len(claims) < len(comparisons) else ""
    return f"{unit}, with {together}95 % intervals{_when(findings)}{by_itself}."


def _distance(row: dict[str, Any]) -> float:
    return abs(float(row["difference"].value if "difference" in row else row["win_rate"].value - 0.5))


def _first(
    findings: RunResults, title: str, rows: Sequence[dict[str, Any]], notes: Sequence[str], spare: Spare | str
) -> Section:
    """Return a table about runs; a low terminal shows it without the `spare` rows, by default the last."""
    title = "\n".join(filter(None, [*run_notes(findings), title]))
    spare = Spare(tuple(reversed(range(len(rows)))), spare) if isinstance(spare, str) else spare
    section = Section("answer", title, tuple(rows), tuple(filter(None, notes)), spare=spare)
    return of_runs(findings, [section])[0]


def _answer(
    first: Section, findings: RunResults, behind: Callable[[], Sequence[Section]], plot: str, tables: tuple[str, ...]
) -> Result[RunResults]:
    def draw() -> Figure:
        from ..plots import draw_kind

        return draw_kind(plot, findings)

    return Result(findings, Deferred(first, behind), draw, more=tables)


def _columns(rows: Iterable[dict[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in names if name in row} for row in rows]
