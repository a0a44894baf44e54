"""Tables of the differences of two runs, and of re-analysed published results."""

from __future__ import annotations

from typing import Any

from knights_isolation.experiments.published.published_claims import AgentResult, Claim, PublishedAnalysis
from knights_isolation.experiments.record.agent_facts import differing_settings, format_setting
from knights_isolation.experiments.statistics import contender_verdicts
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.run_results import RunResults

from ..text.cell_values import Estimate, Points, PValue, Share, estimate_of, pluralise
from ..text.rendering import Section
from ..text.wording import claim_words, repetition_words


def change_sections(before: RunResults, after: RunResults) -> tuple[Section, ...]:
    """Return designs, shared games, and results side by side, of two findings of one run each."""
    shared = contender_verdicts.shared_games(before.sources[0].info.path, after.sources[0].info.path)
    return _design_section(before, after, shared), _results_section(before, after, shared)


def _design_section(before: RunResults, after: RunResults, shared: contender_verdicts.SharedGames) -> Section:
    first, other = before.sources[0].info, after.sources[0].info
    changes = contender_verdicts.design_changes(first, other)
    rows = tuple(
        {"what": change.what, "before": _describe_side(change, 0), "after": _describe_side(change, 1)}
        for change in changes
    )
    note = "The runs have no game in common."
    if shared.games:
        note = (
            f"{pluralise(shared.games, 'game')} are in both runs with the same players, sides and openings: "
            f"{shared.same_moves:,} are identical move by move, "
            f"{shared.games - shared.same_winner:,} have a different winner."
        )
    title = (
        f"From {first.path} to {other.path}: {pluralise(len(rows), 'change') if rows else 'same design, no changes'}"
    )
    return Section("design", title, rows, (note,))


def _describe_side(change: contender_verdicts.DesignChange, side: int) -> str | None:
    # settings, which are long, are abbreviated
    value = (change.before, change.after)[side]
    other = (change.before, change.after)[1 - side]
    if isinstance(value, str) and value.startswith("{") and isinstance(other, str) and other.startswith("{"):
        return differing_settings(value, other)[0]
    if isinstance(value, str) and value.startswith("{"):
        return "plays"
    return None if value is None else format_setting(value)


def _results_section(before: RunResults, after: RunResults, shared: contender_verdicts.SharedGames) -> Section:
    rates = [{standing.agent: standing.rate for standing in findings.standings} for findings in (before, after)]
    verdicts = [_verdicts(findings) for findings in (before, after)]
    rows: list[dict[str, Any]] = [
        {
            "agent": name,
            "change": Estimate(*[Points(0)] * 3)
            if name in shared.unchanged
            else estimate_of(contender_verdicts.difference_of(rates[0][name], rates[1][name]), Points),
            "before": Share(rates[0][name].estimate),
            "after": Share(rates[1][name].estimate),
            "verdict_before": verdicts[0].get(name),
            "verdict_after": verdicts[1].get(name),
        }
        for name in after.ranked
        if name in rates[0]
    ]
    both = verdicts[0].keys() & verdicts[1].keys()
    moved = [name for name in after.in_order(both) if verdicts[0][name] != verdicts[1][name]]
    changes = "; ".join(f"{name}, {verdicts[0][name]} before, {verdicts[1][name]} now" for name in moved)
    apart = sum(row["change"].low > 0 or row["change"].high < 0 for row in rows)
    alike = [row["agent"] for row in rows if row["agent"] in shared.unchanged]
    notes = [
        f"{len(moved)} of {pluralise(len(both), 'verdict')} changed{f': {changes}' if changes else ''}."
        if both
        else "",
        "Change of the win rate in percentage points with individual 95 % intervals, treating the runs as "
        f"independent. {apart} of {pluralise(len(rows), 'interval')} exclude 0; by chance alone one in 20 would.",
        f"Exactly 0.0: {', '.join(alike)} played the same games in both runs." if alike else "",
    ]
    keep = ("change", "verdict_after")
    return Section("results", "Results of agents in both runs", tuple(rows), tuple(filter(None, notes)), keep=keep)


def _verdicts(findings: RunResults) -> dict[str, str]:
    if findings.baseline is None:
        return {}
    return {claim.contender: claim.verdict for claim in judge(findings).judged}


_ANSWER = ("difference", "p", "stands")


def published_sections(analysis: PublishedAnalysis) -> tuple[Section, ...]:
    """Return the claims, the claims with all runs of an agent combined, the repeated baselines, and all results."""
    sections = [
        Section("claims", "Claims by table", _claims(analysis.claims), analysis.notes, keep=_ANSWER),
        Section("pooled", "All runs of an agent together", _claims(analysis.pooled), keep=_ANSWER),
        Section(
            "repetitions",
            "Repeated measurements of the same baseline: differences due to chance",
            tuple(
                {
                    "source": repetition.source,
                    "agent": repetition.agent,
                    "runs": len(repetition.runs),
                    "lowest": Share(min(run.rate.estimate for run in repetition.runs)),
                    "highest": Share(max(run.rate.estimate for run in repetition.runs)),
                    "p_alike": PValue(repetition.p_value),
                }
                for repetition in analysis.repetitions
            ),
            tuple(repetition_words(repetition) for repetition in analysis.repetitions),
        ),
        Section("results", "Results", tuple(row for result in analysis.results for row in _results(result))),
        Section("words", "Summary", (), tuple(claim_words(claim) for claim in (*analysis.claims, *analysis.pooled))),
    ]
    return tuple(section for section in sections if section.rows or section.notes)


def _claims(claims: tuple[Claim, ...]) -> tuple[dict[str, object], ...]:
    return tuple(
        {
            "agent": claim.agent,
            "source": claim.source,
            "tables": ", ".join(claim.tables),
            "baseline": claim.baseline,
            "games": claim.contender_games,
            "published": claim.published,
            "difference": estimate_of(claim.test.difference, Points),
            "p": PValue(claim.test.p_value),
            "adjusted_p": PValue(claim.adjusted_p),
            "stands": None if claim.published == "equal" else claim.stands,
        }
        for claim in claims
    )


def _results(result: AgentResult) -> list[dict[str, object]]:
    shares = [("all", result.rate), *result.opponents]
    return [
        {
            "source": result.source,
            "table": result.table,
            "agent": result.agent,
            "opponent": opponent,
            "wins": share.wins,
            "losses": share.games - share.wins,
            "win_rate": estimate_of(share),
        }
        for opponent, share in shares
    ]
