"""What was learned of a heuristic's parameters, in tables and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from experiments.learn.fitting import Fit, FittedParameter
from reports.cells import Share, counted
from reports.sections import Section


def fit_sections(fit: Fit) -> tuple[Section, ...]:
    """The parameters before and after, and their profiles."""
    rows = tuple(
        {
            "parameter": one.name,
            "range": between(*one.range),
            "before": short(one.before),
            "after": short(one.after),
            "interval": between(one.low, one.high),
            "matters": one.matters,
        }
        for one in fit.parameters
    )
    kind = "linear in its parameters" if fit.is_linear else "not linear in its parameters: the best of several starts"
    notes = [
        f"{fit.heuristic} is {kind}. {counted(fit.decisions, 'decision')} with {counted(fit.pairs, 'pair')} of moves, "
        f"seen at {fit.at}. Intervals are 95 %, by opening up to symmetry.",
        _ranked("fitted on", fit.ranked),
        _ranked("of openings held out", fit.ranked_held_out),
        *_remarks(fit.parameters),
    ]
    return Section("parameters", f"The parameters of {fit.heuristic}, fitted", rows, tuple(notes)), _profiles(fit)


def _profiles(fit: Fit) -> Section:
    rows = tuple(
        {"parameter": one.name, "value": short(value), "worse_by": round(worse, 1)}
        for one in fit.parameters
        for value, worse in one.profile
    )
    note = (
        "Each value with all other parameters fitted again. Worse by: twice the loss of log likelihood, as clustered "
        "openings make it; beyond 3.8 it is more than chance."
    )
    return Section("profiles", "Profiles", rows, (note,))


def _ranked(where: str, shares: tuple[float, float]) -> str:
    before, after = (Share(share).shown for share in shares)
    return f"Of the decisions {where}, its best move keeps the win in {before} before and {after} after."


def _remarks(parameters: Sequence[FittedParameter]) -> list[str]:
    """What to do about parameters that do not matter, and about those that end at a bound."""
    found = [
        f"{one.name} does not matter: no value of its range is worse than the best by more than chance."
        for one in parameters
        if not one.matters
    ]
    return found + [
        f"{one.name} ends at the {one.end} end of its range, {short(one.after)}: a wider range, "
        f"as in Annotated[float, Interval(ge=…, le=…)], may be better."
        for one in parameters
        if one.end and one.matters
    ]


def short(value: float) -> str:
    """A number in few digits."""
    return "–" if math.isnan(value) else f"{value:.4g}"


def between(low: float, high: float) -> str:
    """Two ends, as in 0.3 to 1.2."""
    return f"{short(low)} to {short(high)}"
