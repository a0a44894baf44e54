"""Tables of `features`."""

from __future__ import annotations

from experiments.learn.feature_selection import Selection
from heuristics import meaning
from reports.text.cell_values import Share, pluralise
from reports.text.sections import Section


def feature_sections(selection: Selection) -> tuple[Section, ...]:
    """Features alone, and those that were chosen one after another."""
    alone = tuple(
        {
            "feature": one.feature,
            "loss": round(one.loss, 4),
            "ranked": Share(one.ranked),
            "meaning": meaning(one.feature),
        }
        for one in selection.alone
    )
    chosen = tuple(
        {
            "feature": one.feature,
            "gain": round(one.gain, 1),
            "nanoseconds": round(one.nanoseconds, 1),
            "ranked": Share(one.ranked),
            "weights": ", ".join(f"{weight:.3g}".replace("-", "−") for weight in one.weights),
        }
        for one in selection.chosen
    )
    seen = (
        f"{pluralise(selection.decisions, 'decision')}, seen at {selection.at} by {selection.guide}. Ranked: the share "
        "of decisions, of openings held out, in which the best move keeps the win."
    )
    steps = (
        "Gain: by how much the loss a decision falls, in thousandths, on openings that the weights were not fitted to. "
        "Nanoseconds: by how much a node gets slower. Each is the best gain for its cost beside those above it; "
        "weights are of all features so far."
    )
    return (
        Section("alone", "Features alone", alone, (seen,)),
        Section("chosen", "Features chosen one after another", chosen, (steps,)),
    )
