"""Charts of studies: screenings, fits, tuning, features, refutations, plans, solutions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from knights_isolation.experiments.statistics.planning import FixedPlan, pairs_for_effect
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.geometry import cells_of, full_mask

from ..text.cell_values import Points, Share
from . import chart

if TYPE_CHECKING:
    # Each command draws the chart of one study, and does not wait for what the others compute with.
    from knights_isolation.experiments.exact.refutation import Refuted
    from knights_isolation.experiments.statistics.proportions import Interval
    from knights_isolation.experiments.studies.feature_selection import Selection
    from knights_isolation.experiments.studies.pairwise_fit import Fit
    from knights_isolation.experiments.studies.screening import Screening
    from knights_isolation.experiments.studies.tuning import Tuning
    from knights_isolation.isolation.rules.classic_board import Board
    from knights_isolation.isolation.search.solver import Solution

_CHANCE = 3.84
"""How much worse a value is, at most, within the 95 % interval."""
_CUT = 12.0
_EFFECTS = np.geomspace(0.5, 2.0, 13)
"""Effects of the curve of a plan, over the one that was asked for."""


def screening_chart(screening: Screening) -> chart.RowChart | None:
    """Return each contender's difference to the baseline on a suite, the best first; None without any."""
    ranked = sorted(screening.contenders, key=lambda pair: -pair[1].both.estimate)
    return differences_chart(
        f"Kept and trouble together, compared with {screening.baseline.agent}",
        ((score.agent, against.both, chart.role_of(against.both.low, against.both.high)) for score, against in ranked),
        "95 % intervals, for all contenders at once.",
    )


def differences_chart(title: str, claims: Iterable[tuple[str, Interval, str]], note: str) -> chart.RowChart | None:
    """Return rows with a name, a difference and a role each; None without any."""
    rows = [
        chart.Row(name, role, 100 * lead.estimate, 100 * lead.low, 100 * lead.high, Points(lead.estimate).text)
        for name, lead, role in claims
    ]
    return chart.row_chart(title, rows, "difference in percentage points", note)


def features_chart(selection: Selection) -> chart.RowChart | None:
    """Return how often each feature by itself ranks a winning move first, and how often those chosen do together."""
    named = [("+ " * bool(number) + step.feature, step.ranked) for number, step in enumerate(selection.chosen)]
    named += [(f"{feature.feature} alone", feature.ranked) for feature in selection.alone]
    if not named:
        return None
    axis = chart.fit_axis("decisions whose best move keeps the win, per cent", [100 * share for _, share in named])
    shown = [(name, 100 * share, Share(share).text) for name, share in named]
    rows = tuple(chart.Row(name, "", share, axis.low, share, text) for name, share, text in shown)
    return chart.RowChart("Features: those chosen, one after the other, and each alone", rows, axis)


def refutations_chart(results: Sequence[Refuted]) -> chart.Grid:
    """Return the share of won openings that agents hold, and in brackets win in games, by board and limit."""
    columns = list(dict.fromkeys((result.size, result.limit) for result in results))
    by_agent: dict[str, dict[tuple[Size, str], Refuted]] = {}
    for result in results:
        by_agent.setdefault(result.agent, {})[result.size, result.limit] = result
    order = sorted(by_agent, key=lambda agent: -sum(result.held for result in by_agent[agent].values()))
    rows = tuple((agent, tuple(_held_cell(by_agent[agent].get(column)) for column in columns)) for agent in order)
    heads = tuple(f"{size}, {limit}" for size, limit in columns)
    note = "Per cent of won openings held against an opponent who knows every move, and in brackets won in games."
    return chart.Grid("Won openings held", heads, rows, note=note)


def _held_cell(result: Refuted | None) -> chart.Cell:
    if result is None:
        return chart.Cell("", 0)
    return chart.Cell(f"{100 * result.held:.0f} ({100 * result.won:.0f})", round(100 * result.held), is_amount=True)


def fit_chart(fit: Fit) -> chart.Plot | None:
    """Return how much worse other values of each parameter are than the fitted one; None without parameters."""
    y = chart.fit_axis("worse by", [0.0, _CUT])
    panels = []
    for number, parameter in enumerate(fit.parameters):
        x, worse = (tuple(column) for column in zip(*parameter.profile, strict=True))
        cut = tuple(min(value, _CUT) for value in worse)
        series = chart.Series("", str(number % chart.COLOURS), x, cut)
        panels.append(chart.Panel(parameter.name, (series,), chart.fit_axis(parameter.name, x), y, _CHANCE))
    note = "All other parameters refitted. Above the line: outside the 95 % interval. Cut off at the top."
    return chart.Plot(f"The parameters of {fit.heuristic}", tuple(panels), note) if panels else None


def tuning_chart(tuning: Tuning) -> chart.Plot | None:
    """Return the path of each parameter through its range, round by round; None of a tuning that has none."""
    if tuning.vectors is not None or not tuning.parameters:
        return None
    rounds = list(map(float, range(len(tuning.path))))
    series = []
    for number, (parameter, path) in enumerate(zip(tuning.parameters, tuning.path.T, strict=True)):
        low, high = parameter.range
        series.append(_curve(parameter.name, number, rounds, 100 * (path - low) / (high - low)))
    title = f"{series[0].name if len(series) == 1 else 'Parameters'}, round by round"
    height = chart.fit_axis("value, per cent of the range", [end for line in series for end in line.y])
    panel = chart.Panel(title, tuple(series), chart.fit_axis("round", rounds, is_whole=True), height)
    return chart.Plot(title, (panel,), "The path of the search; the finals decide which values are taken.")


def plan_chart(plans: Sequence[tuple[str, FixedPlan]]) -> chart.Plot:
    """Return the pairs or openings needed by the effect to detect, for each of some plans."""
    series = []
    for number, (name, plan) in enumerate(plans):
        effects = [effect for effect in (abs(plan.effect) * _EFFECTS).tolist() if effect < 0.5]
        needed = [pairs_for_effect(effect, plan.power, plan.alpha, plan.variance).pairs for effect in effects]
        series.append(_curve(name, number, [100 * effect for effect in effects], needed))
    title = "Games needed by effect"
    x_axis = chart.fit_axis("effect in percentage points", [at for line in series for at in line.x])
    y_axis = chart.fit_axis("pairs, or openings", [0.0, *(at for line in series for at in line.y)])
    return chart.Plot(title, (chart.Panel(title, tuple(series), x_axis, y_axis),))


def _curve(name: str, number: int, x: Iterable[float], y: Iterable[float]) -> chart.Series:
    height = tuple(map(float, y))
    return chart.Series(name, str(number % chart.COLOURS), tuple(x), height, height, height, "band")


def solution_map(board: Board, solution: Solution) -> chart.Boards:
    """Return a board with the moves of the side to move: blue wins, orange loses, ? undecided."""
    size = Size(board.height, board.width)
    texts = dict.fromkeys(cells_of(full_mask(*size) & ~board.blank), chart.Cell("×", 0))
    texts |= dict.fromkeys(board.legal_cells(), chart.Cell("loses", -60))
    texts |= dict.fromkeys(solution.undecided, chart.Cell("?", 0))
    texts |= {cell: chart.Cell("wins", 60) for cell in solution.moves}
    texts |= {
        cell: chart.Cell(f"player {number + 1}", 0) for number, cell in enumerate(board.locations) if cell is not None
    }
    grid = chart.board_grid(f"Player {board.active_index + 1} moves", size, texts)
    winner = f"Player {solution.winner} wins" if solution.winner else "Undecided within the limit"
    return chart.Boards(f"{winner} with perfect play", (grid,), "Blue wins, orange loses; ×: visited.")
