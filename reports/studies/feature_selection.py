"""Tables of `features`."""

from __future__ import annotations

from knights_isolation.experiments.learn.feature_selection import Selection
from knights_isolation.experiments.roster.function_files import is_function_file
from knights_isolation.reports.text.cell_values import Share, pluralise
from knights_isolation.reports.text.sections import Section


def feature_sections(selection: Selection) -> tuple[Section, ...]:
    """Return the tables of single features, and of the features chosen one after another."""
    alone = tuple(
        {
            "feature": _label(feature.feature),
            "loss": round(feature.loss, 4),
            "ranked": Share(feature.ranked),
            "meaning": feature.meaning,
        }
        for feature in selection.alone
    )
    chosen = tuple(
        {
            "feature": _label(step.feature),
            "gain": round(step.gain, 1),
            "nanoseconds": round(step.nanoseconds, 1),
            "ranked": Share(step.ranked),
            "weights": ", ".join(f"{weight:.3g}".replace("-", "−") for weight in step.weights),
        }
        for step in selection.chosen
    )
    seen = (
        f"{pluralise(selection.decisions, 'decision')}, searched to {selection.at} with {selection.guide}. Ranked: "
        f"the share of held-out decisions in which the best move keeps the win."
    )
    steps = (
        "Gain: reduction of the loss per decision, in thousandths, on held-out openings. Nanoseconds: added cost per "
        "node. Each row adds the feature with the best gain for its cost to those above it; weights are for all "
        "features so far."
    )
    return (
        Section("alone", "Single features", alone, (seen,)),
        Section("chosen", "Forward selection of features", chosen, (steps,)),
    )


def _label(feature: str) -> str:
    """Return a feature as tables name it: a function of a script or cell by its name, without its file."""
    path, _, name = feature.rpartition(":")
    return name if is_function_file(path) else feature
