"""Tables of accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.exact.accuracy import Accuracy
from experiments.exact.theoretical_results import opening_winners, split_by_theory
from experiments.inference.cluster_intervals import of_pool
from experiments.inference.game_pairs import record_of
from experiments.inference.standings import share_seen
from experiments.statistics.run_results import RunResults
from reports.text.cell_values import Estimate, Mean, Share, estimate_of
from reports.text.sections import Section

_ACCURACY_NOTES = (
    "Eligible: moves in winning positions where a mistake was possible. Kept: the share of them that kept the win; "
    "chance: the share that random moves would keep.",
    "Converted: the share of games won among those in which the player had a winning position there.",
    "Individual 95 % intervals over openings, clustered by symmetry.",
)

_THEORY_NOTES = (
    "Won openings: games from openings that the agent wins with perfect play; converted: the share it won.",
    "Lost openings: games from openings that its opponent wins with perfect play; saved: the share it won "
    "nevertheless.",
)


def accuracy_sections(
    overall: Sequence[Accuracy], by_ply: Sequence[Accuracy] = (), more_notes: Sequence[str] = ()
) -> tuple[Section, ...]:
    """Tables of accuracy, the best player first; with bands of plies as a second table."""
    ranked = sorted(overall, key=lambda one: (-one.kept.estimate if one.eligible else 1.0, one.agent))
    notes = [*more_notes, *_ACCURACY_NOTES]
    if unknown := sum(one.unknown for one in overall):
        notes.append(f"{unknown:,} positions were skipped: the limit of the labels was too low to solve them.")
    with_depth = any(one.depth for one in ranked)
    rows = tuple(accuracy_row(one, with_depth) for one in ranked)
    sections = [Section("accuracy", "Accuracy", rows, tuple(notes))]
    if by_ply:
        place = {one.agent: rank for rank, one in enumerate(ranked)}
        ordered = sorted(by_ply, key=lambda one: (place[one.agent], one.first))
        by_band = tuple(
            {"agent": one.agent, "plies": f"{one.first + 1}–{one.last + 1}", **_facts(one)} for one in ordered
        )
        sections.append(Section("by_ply", "Accuracy by ply", by_band, ("Ply 1 is the first placement.",)))
    return tuple(sections)


def accuracy_row(one: Accuracy, with_depth: bool) -> dict[str, Any]:
    """An agent's line, with the depth of its search if anybody has one."""
    depth = {"depth": one.depth} if with_depth else {}
    return {"agent": one.agent, "heuristic": one.heuristic or None, **depth, **_facts(one)}


def theory_section(findings: RunResults) -> Section | None:
    """Results split by who would win the opening with perfect play; None if no opening's winner is known."""
    winners: dict[int, int] = {}
    for source in findings.sources:
        winners |= opening_winners(source.info.path)
    if not winners:
        return None
    found = {one.agent: one for one in split_by_theory(findings.games, winners, findings.measured)}
    splits = [found[name] for name in findings.in_order(found)]
    seen = {name: share_seen(record_of(findings.pairs, name), findings.pool_among(name)) for name in found}
    has_unknown = any(split.unknown for split in splits)
    rows = tuple(
        {
            "agent": split.agent,
            "won_openings": split.won,
            "converted": estimate_of(of_pool(split.converted, seen[split.agent])),
            "lost_openings": split.lost,
            "saved": estimate_of(of_pool(split.saved, seen[split.agent])),
            **({"unknown": split.unknown} if has_unknown else {}),
        }
        for split in splits
    )
    return Section("theory", "Results by theoretical winner of the opening", rows, _THEORY_NOTES)


def _facts(one: Accuracy) -> dict[str, Any]:
    return {
        "games": one.games,
        "moves": one.decisions,
        "eligible": one.eligible,
        "kept": estimate_of(one.kept),
        "chance": Share(one.chance),
        "mistakes_a_game": Estimate(Mean(one.mistakes.estimate), Mean(one.mistakes.low), Mean(one.mistakes.high)),
        "won_positions": one.won_games,
        "converted": estimate_of(one.conversion),
    }
