"""Estimates with intervals: differences, ratings and distributions, of runs and studies; running estimates; cards."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from knights_isolation.experiments.record.tries import Try
from knights_isolation.experiments.statistics.anytime import ConfidenceSequence
from knights_isolation.experiments.statistics.contender_verdicts import Verdicts, judge
from knights_isolation.experiments.statistics.move_statistics import (
    ExampleGame,
    game_lengths,
    games_by_opponent,
    searched,
)
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead
from knights_isolation.experiments.statistics.proportions import Floats, Interval
from knights_isolation.experiments.statistics.ratings import Ratings
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.statistics.sprt import live_rate, run_tests

from ..text.cell_values import Elo, Points, Share, pluralise, signed
from ..text.verdict_details import finding_title
from .chart import Axis, Card, Panel, Picture, Plot, Row, RowChart, Series, fit_axis, points_row, role_of, row_chart
from .grids import leads

if TYPE_CHECKING:
    # Each command draws the chart of one study, and does not wait for what the others compute with.
    from knights_isolation.experiments.studies.feature_selection import Selection
    from knights_isolation.experiments.studies.screening import Screening

_LABEL = "difference from the baseline in percentage points"
_LUCK = " Dotted: the baseline against itself, what chance does."
_MOST_TRIES = 40
_SPREAD = "Thin: 90 % of the values, thick: half of them, dot: median."


def forest(findings: RunResults, verdicts: Verdicts) -> RowChart | None:
    """Return every contender's difference to the baseline, largest first, with its joint and its own interval."""
    all_claims: list[Comparison | HeadToHead] = [*verdicts.comparisons, *verdicts.duels]
    claims = {claim.contender: claim for claim in all_claims if not claim.is_empty}
    rows, is_joint = [], verdicts.family > 1 and not findings.is_interim
    ranked = sorted(findings.in_order(claims), key=lambda name: -claims[name].estimate)
    for name in sorted(ranked, key=lambda name: name in verdicts.controls):
        claim = claims[name]
        role = "control" if name in verdicts.controls else claim.verdict
        inner = None
        if is_joint and role != "control":
            scale, null = (200, 100) if isinstance(claim, HeadToHead) else (100, 0)
            alone = claim.rate if isinstance(claim, HeadToHead) else claim.difference
            inner = scale * alone.low - null, scale * alone.high - null
        rows.append(points_row(name, role, claim.estimate, *claim.lead, inner))
    title = finding_title(findings, verdicts) or f"Win rate compared with {verdicts.baseline}"
    colours = "Blue better, orange worse: the interval excludes 0. Grey: no significant difference."
    thin = "; thin: for all contenders at once, thick: for one alone" if is_joint else ""
    together = " for all contenders at once, valid at any time" if findings.is_interim else thin
    note = f"95 % intervals{together}. {colours}{_LUCK if verdicts.controls else ''}"
    return row_chart(title, rows, _LABEL, note)


def tries_chart(tries: Mapping[int, Try]) -> RowChart | None:
    """Return the latest tries by their numbers in the log, each as a difference to its baseline; None without any."""
    rows = []
    for number, each in list(tries.items())[-_MOST_TRIES:]:
        estimate, low, high = each.difference
        name = f"{number} {each.command}: {each.agent}{', head to head' * (each.measure == 'head to head')}"
        rows.append(Row(name, role_of(low, high), estimate, low, high, Points(estimate / 100).text))
    title = f"The latest {len(rows)} of {len(tries)} tries" if len(tries) > len(rows) else "Tries, the first on top"
    note = "95 % intervals, each as it was reported: not corrected for the number of tries."
    return row_chart(title, rows, _LABEL, f"{note} The best of many is too high.")


def ladder(ratings: Ratings) -> RowChart | None:
    """Return ratings with their intervals, best first; None without any finite one."""
    rows = [
        Row(rating.agent, "", rating.elo, rating.low, rating.high, Elo(rating.elo).text) for rating in ratings.ratings
    ]
    ends = np.array([(row.low, row.value, row.high) for row in rows])
    if not np.isfinite(ends).any():
        return None
    arrows = "" if np.isfinite(ends).all() else "; arrow: the rating is unbounded on that side"
    zero = f"{ratings.zero} is 0" if ratings.zero else "the pool's mean is 0"
    label = f"Elo, with individual 95 % intervals{arrows}"
    return row_chart("Ratings", rows, label, f"Elo by the Bradley–Terry model; {zero}.")


SPREADS = {
    "depth": ("Depth of search", "plies of the last completed iteration"),
    "nodes": ("Nodes per move", "nodes (MCTS: simulations)"),
    "lengths": ("Length of games", "plies, including the opening"),
}
"""Title and axis of what varies among an agent's searches, or its games."""


def spread(findings: RunResults, kind: str) -> RowChart | None:
    """Return the 90 % range, the interquartile range and the median of one of the `SPREADS` for each agent."""
    agents = findings.in_order(findings.pairs.agents)
    values = game_lengths(findings, agents) if kind == "lengths" else searched(findings, kind, agents)
    title, label = SPREADS[kind]
    rows = []
    for name, quantiles in zip(values.names, values.quantiles((0.05, 0.25, 0.5, 0.75, 0.95)), strict=True):
        if not np.isnan(quantiles).any():
            least, lower, median, upper, most = quantiles.tolist()
            rows.append(Row(name, "", median, least, most, f"{median:,.0f}", (lower, upper)))
    if not rows:
        return None
    ends = [end for row in rows for end in (row.low, row.high)]
    axis = fit_axis(label, ends, is_log=kind == "nodes", is_whole=True)
    return RowChart(title, tuple(rows), axis, None, _SPREAD)


_MAX_POINTS = 100
_NEAREST = 6


def nearest_to_decision(findings: RunResults, verdicts: Verdicts | None) -> list[str]:
    """Return the agents whose joint interval is nearest to just excluding 0; the first without a baseline."""
    if verdicts is None or not findings.contenders:
        return list(findings.measured[:_NEAREST])
    return [claim.contender for claim in sorted(verdicts.judged, key=_distance_from_decision)[:_NEAREST]]


def _distance_from_decision(claim: Comparison | HeadToHead) -> float:
    """Return the distance of the joint interval from just excluding no difference, in its own half-widths."""
    low, high = claim.lead
    half = (high - low) / 2
    return abs(abs((low + high) / 2) / half - 1) if half else math.inf


@dataclass(frozen=True)
class Estimates:
    """Anytime-valid estimates by agent after each `unit`: differences to the baseline, or else win rates."""

    sequences: Mapping[str, ConfidenceSequence]
    is_difference: bool
    unit: str

    @property
    def null(self) -> float:
        """No difference, in per cent."""
        return 0.0 if self.is_difference else 50.0

    @property
    def axis(self) -> Axis:
        """The shared axis, scaled to the current intervals, not to the wide initial ones."""
        ends = np.concatenate([self.percent(np.array(sequence.last)) for sequence in self.sequences.values()])
        reach = min(100.0 - self.null, max(1.1 * float(np.abs(ends - self.null).max()), 2.0))
        if self.is_difference:
            return fit_axis("difference, points", (-reach, reach), signed)
        return fit_axis("games won, per cent", (self.null - reach, self.null + reach))

    def percent(self, shares: Floats) -> Floats:
        """Convert shares to per cent; shares that encode differences become points."""
        return 100 * (2 * shares - 1) if self.is_difference else 100 * shares


def estimates(findings: RunResults, agents: Sequence[str] | None = None, *, together: bool = False) -> Estimates:
    """Return the running estimates of these agents (default: all that are measured) that have any.

    With `together` the intervals of all contenders hold at once, as those of an unfinished run's verdicts do.
    """
    if findings.baseline is not None and findings.contenders:
        tests = [
            test for test in run_tests(findings, 0, 10, together=together) if agents is None or test.contender in agents
        ]
        sequences = {test.contender: test.live for test in tests}
        is_difference = bool(tests) and not tests[0].is_duel
        unit = "openings" if is_difference else "pairs"
    else:
        sequences = {name: live_rate(findings, name) for name in findings.measured if agents is None or name in agents}
        is_difference, unit = False, "openings"
    sequences = {name: sequences[name] for name in findings.in_order(sequences) if sequences[name].values.size}
    return Estimates(sequences, is_difference, unit)


def running(findings: RunResults, agents: Sequence[str] | None = None) -> Plot | None:
    """Plot the running estimate of these agents (default: all) after each pair or opening, with its 95 % band."""
    found = estimates(findings, agents)
    if not found.sequences:
        return None
    y, lengths = found.axis, [sequence.values.size for sequence in found.sequences.values()]
    x = fit_axis(f"{found.unit} played", [1, *lengths], is_whole=True)
    panels = tuple(Panel(name, (band(name, found),), x, y, found.null) for name in found.sequences)
    note = "Estimate after each opening, with a 95 % band that is valid at all times simultaneously."
    return Plot("Running estimates", panels, note)


def band(name: str, found: Estimates, points: int = _MAX_POINTS) -> Series:
    """Return the course of an agent's estimate as a line in a band."""
    sequence = found.sequences[name]
    at = np.unique(np.linspace(0, sequence.values.size - 1, points).astype(np.int64))
    mean, low, high = (
        tuple(found.percent(values[at]).tolist()) for values in (sequence.mean, sequence.low, sequence.high)
    )
    return Series(name, "0", tuple((at + 1.0).tolist()), mean, low, high, "band")


def screening_chart(screening: Screening) -> RowChart | None:
    """Return each contender's difference to the baseline on a suite, the best first; None without any."""
    ranked = sorted(screening.contenders, key=lambda pair: -pair[1].both.estimate)
    return differences_chart(
        f"Kept and trouble together, compared with {screening.baseline.agent}",
        ((score.agent, against.both, role_of(against.both.low, against.both.high)) for score, against in ranked),
        "95 % intervals, for all contenders at once.",
    )


def differences_chart(title: str, claims: Iterable[tuple[str, Interval, str]], note: str) -> RowChart | None:
    """Return rows with a name, a difference and a role each; None without any."""
    rows = [points_row(name, role, lead.estimate, lead.low, lead.high) for name, lead, role in claims]
    return row_chart(title, rows, "difference in percentage points", note)


def features_chart(selection: Selection) -> RowChart | None:
    """Return how often each feature by itself ranks a winning move first, and how often those chosen do together."""
    named = [("+ " * bool(number) + step.feature, step.ranked) for number, step in enumerate(selection.chosen)]
    named += [(f"{feature.feature} alone", feature.ranked) for feature in selection.alone]
    if not named:
        return None
    axis = fit_axis("decisions whose best move keeps the win, per cent", [100 * share for _, share in named])
    rows = tuple(Row(name, "", 100 * share, axis.low, 100 * share, Share(share).text) for name, share in named)
    return RowChart("Features: those chosen, one after the other, and each alone", rows, axis)


_PICTURES = 3


def card(findings: RunResults) -> Card | None:
    """Return the card of a run with a baseline: games of the best contender, where it leads most; None without data."""
    verdicts = judge(findings)
    rows = forest(findings, verdicts)
    if rows is None:
        return None
    claims = [claim for claim in verdicts.judged if not claim.is_empty]
    if not claims:
        return None
    best = max(claims, key=lambda claim: claim.estimate).contender
    of_pairs = {
        pair: cell.lead
        for pair, cell in leads(findings, verdicts).items()
        if pair[0] == best and not math.isnan(cell.lead)
    }
    most = dict(sorted(of_pairs.items(), key=lambda pair: -pair[1])[:_PICTURES])
    games = games_by_opponent(findings, most)
    pictures = tuple(_picture(findings, game, *pair) for pair, game in games.items())
    where = " and ".join(dict.fromkeys(source.info.requested["board"] for source in findings.sources))
    return Card(rows.title, rows, pictures, f"{pluralise(findings.played, 'game')} on {where}.")


def _picture(findings: RunResults, game: ExampleGame, agent: str, opponent: str) -> Picture:
    has_won = game.agents[game.winner - 1] == agent
    caption = f"{agent} {'beats' if has_won else 'loses to'}\n{opponent} in {len(game.moves)} plies"
    if game.instead is not None:
        caption += f",\nwhere {findings.baseline} {'lost' if has_won else 'won'}"
    return Picture(game.size, game.moves, caption)
