"""Tables of the differences of two runs."""

from __future__ import annotations

from typing import Any

from knights_isolation.experiments.record.schema import differing_settings, format_setting
from knights_isolation.experiments.statistics import frames
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.run_results import RunResults

from ..text.cell_values import Estimate, Points, Share, estimate_of, pluralise
from ..text.rendering import Section


def change_sections(before: RunResults, after: RunResults) -> tuple[Section, ...]:
    """Return designs, shared games, and results side by side, of two findings of one run each."""
    shared = frames.shared_games(before.sources[0].info.path, after.sources[0].info.path)
    return _design_section(before, after, shared), _results_section(before, after, shared)


def _design_section(before: RunResults, after: RunResults, shared: frames.SharedGames) -> Section:
    first, other = before.sources[0].info, after.sources[0].info
    changes = frames.design_changes(first, other)
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


def _describe_side(change: frames.DesignChange, side: int) -> str | None:
    # settings, which are long, are abbreviated
    value, other = (change.before, change.after)[:: -1 if side else 1]
    if isinstance(value, str) and value.startswith("{"):
        is_both = isinstance(other, str) and other.startswith("{")
        return differing_settings(value, other)[0] if is_both else "plays"
    return None if value is None else format_setting(value)


def _results_section(before: RunResults, after: RunResults, shared: frames.SharedGames) -> Section:
    rates = [{standing.agent: standing.rate for standing in findings.standings} for findings in (before, after)]
    verdicts = [_verdicts(findings) for findings in (before, after)]
    rows: list[dict[str, Any]] = [
        {
            "agent": name,
            "change": Estimate(*[Points(0)] * 3)
            if name in shared.unchanged
            else estimate_of(frames.difference_of(rates[0][name], rates[1][name]), Points),
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
