"""Tables of play compared with perfect play: accuracy, and results by the theoretical winner of the opening."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from knights_isolation.experiments.exact.theory import opening_winners, split_by_theory
from knights_isolation.experiments.statistics.game_pairs import record_of, share_seen
from knights_isolation.experiments.statistics.proportions import of_pool
from knights_isolation.experiments.statistics.run_results import RunResults

from ..text.cell_values import Mean, Share, estimate_of
from ..text.rendering import Section

if TYPE_CHECKING:
    from knights_isolation.experiments.exact.accuracy import Accuracy


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
    """Return tables of accuracy, the best player first; the second one is by bands of plies."""
    ranked = sorted(
        overall, key=lambda accuracy: (-accuracy.kept.estimate if accuracy.eligible else 1.0, accuracy.agent)
    )
    notes = [*more_notes, *_ACCURACY_NOTES]
    if unknown := sum(accuracy.unknown for accuracy in overall):
        notes.append(f"{unknown:,} positions were skipped: the limit of the labels was too low to solve them.")
    with_depth = any(accuracy.depth for accuracy in ranked)
    rows = []
    for accuracy in ranked:
        depth = {"depth": accuracy.depth} if with_depth else {}
        rows.append({"agent": accuracy.agent, "heuristic": accuracy.heuristic or None, **depth, **_facts(accuracy)})
    sections = [Section("accuracy", "Accuracy", tuple(rows), tuple(notes))]
    if by_ply:
        rank_of = {accuracy.agent: rank for rank, accuracy in enumerate(ranked)}
        ordered = sorted(by_ply, key=lambda accuracy: (rank_of[accuracy.agent], accuracy.first))
        by_band = tuple(
            {"agent": accuracy.agent, "plies": f"{accuracy.first + 1}–{accuracy.last + 1}", **_facts(accuracy)}
            for accuracy in ordered
        )
        sections.append(Section("by_ply", "Accuracy by ply", by_band, ("Ply 1 is the first placement.",)))
    return tuple(sections)


def theory_section(findings: RunResults) -> Section | None:
    """Return results split by the theoretical winner of the opening; None if no opening's winner is known."""
    winners: dict[int, int] = {}
    for source in findings.sources:
        winners |= opening_winners(source.info.path)
    if not winners:
        return None
    split_of = {split.agent: split for split in split_by_theory(findings.counted_games, winners, findings.measured)}
    splits = [split_of[name] for name in findings.in_order(split_of)]
    seen = {name: share_seen(record_of(findings.pairs, name), findings.pool_among(name)) for name in split_of}
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
    notes = _THEORY_NOTES if findings.is_census else (*_THEORY_NOTES, "Individual 95 % intervals.")
    return Section("theory", "Results by theoretical winner of the opening", rows, notes)


def _facts(accuracy: Accuracy) -> dict[str, Any]:
    return {
        "games": accuracy.games,
        "moves": accuracy.decisions,
        "eligible": accuracy.eligible,
        "kept": estimate_of(accuracy.kept),
        "chance": Share(accuracy.chance),
        "mistakes_a_game": estimate_of(accuracy.mistakes, Mean),
        "won_positions": accuracy.won_games,
        "converted": estimate_of(accuracy.conversion),
    }
