"""Grids of coloured cells: boards (placements, leads, visits, solutions), leads, refutations, calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from knights_isolation.experiments.statistics.contender_verdicts import Verdicts
from knights_isolation.experiments.statistics.game_pairs import matchups
from knights_isolation.experiments.statistics.move_statistics import (
    BANDS,
    FEWEST,
    FEWEST_SCORES,
    OpeningLead,
    Placement,
    band_auc,
    commonest_size,
    scores_of,
    visits,
)
from knights_isolation.experiments.statistics.ratings import Ratings
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.geometry import canonical_opening, cell_name, cells_of, full_mask

from ..text.cell_values import Points, Share, estimate_of, pluralise
from .chart import Boards, Cell, Grid, board_grid, signed, strength

if TYPE_CHECKING:
    from knights_isolation.experiments.exact.board_solving import BoardSummary
    from knights_isolation.experiments.exact.refutation import Refuted
    from knights_isolation.isolation.rules.classic_board import Board
    from knights_isolation.isolation.search.solver import Solution

_STRONGEST_LEAD = 0.2


def placement_maps(
    placements: Sequence[Placement], size: Size | None, links: Mapping[tuple[int, bool], str]
) -> Boards | None:
    """Return maps of both players' games won by first placement, each cell linked to an example game.

    Symmetric cells have equal numbers; cells with too few openings are blank.
    """
    if size is None:
        return None
    boards = []
    for is_first, title in ((True, "win rate when placing first"), (False, "win rate when placing second")):
        cells: dict[int, Cell] = {}
        for placement in placements:
            if placement.placed_first == is_first and placement.openings >= FEWEST:
                rate, openings = estimate_of(placement.rate).text, pluralise(placement.openings, "opening")
                text, colour = f"{100 * placement.rate.estimate:.0f}", strength(placement.rate.estimate - 0.5, 0.5)
                link = links.get((placement.cell, is_first), "")
                for cell in placement.cells:
                    tooltip = f"{cell_name(cell, size.columns)}: {rate} of {placement.games:,} games, {openings}"
                    cells[cell] = Cell(text, colour, tooltip, link)
        boards.append(board_grid(title, size, cells))
    note = f"Symmetric cells are counted together; blank: fewer than {FEWEST} openings."
    return Boards("Win rate by first placement, in per cent", tuple(boards), note)


def lead_map(contender: str, leads: Sequence[OpeningLead], size: Size, links: Mapping[int, str]) -> Boards | None:
    """Return a map of a contender's difference to the baseline by the first cell, linked to a game that decided it."""
    if not leads:
        return None
    cells: dict[int, Cell] = {}
    for orbit in leads:
        for cell in orbit.cells:
            name, openings = cell_name(cell, size.columns), pluralise(orbit.openings, "opening")
            tooltip = f"{name}: {Points(orbit.lead).text} points, {openings}"
            text = signed(round(100 * orbit.lead))
            cells[cell] = Cell(text, strength(orbit.lead, _STRONGEST_LEAD), tooltip, links.get(orbit.cell, ""))
    most, least = (pick(leads, key=lambda orbit: orbit.lead) for pick in (max, min))
    title = (
        f"{contender} gains {Points(most.lead).text} after a first placement on {cell_name(most.cell, size.columns)}"
    )
    if least is not most:
        title += f", {Points(least.lead).text} after {cell_name(least.cell, size.columns)}"
    note = (
        f"Points compared with the baseline by the first cell of the opening; symmetric cells are counted together; "
        f"blank: fewer than {FEWEST} openings. Single cells are uncertain."
    )
    return Boards(title, (board_grid("", size, cells),), note)


def visit_map(findings: RunResults) -> Boards | None:
    """Return a map of the share of games in which a cell was visited."""
    shares, size = visits(findings), commonest_size(findings)
    if shares is None or size is None:
        return None
    cells = {
        cell: Cell(f"{100 * share:.0f}", strength(share, 1.0), is_amount=True) for cell, share in enumerate(shares)
    }
    return Boards("Visited cells", (board_grid("share of games that visited the cell, in per cent", size, cells),))


def refutation_maps(summary: BoardSummary) -> Boards:
    """Return maps of the number of refutations of each first cell, and the refutations of each one up to symmetry."""
    size = summary.size
    counts = np.array([len(cells) for cells in summary.refutations])
    span = max(1, int(np.ptp(counts)))
    overview = {
        cell: Cell(str(count), strength(count - counts.min(), span), is_amount=True)
        for cell, count in enumerate(counts)
    }
    details = []
    for first in range(size.cells):
        if canonical_opening([first], *size) == (first,):
            winners = summary.winners[first]
            replies = {cell: Cell("", 100 if winner == 2 else -100) for cell, winner in enumerate(winners) if winner}
            title = f"{cell_name(first, size.columns)}: {len(summary.refutations[first])}"
            details.append(board_grid(title, size, replies | {first: Cell("●", 0)}))
    return Boards(
        f"Winning replies to each first placement, {summary.size}",
        (board_grid("", size, overview),),
        details=tuple(details),
        legend="Replies to the first placement (dot): blue wins for player 2, orange for player 1",
    )


UNRANKED = "–"
_STRONGEST_TABLE_LEAD = 0.12


@dataclass(frozen=True)
class RateCell:
    """A win rate against an opponent, and its difference from the baseline's, or from one half without a baseline."""

    rate: float
    lead: float


def leads(findings: RunResults, verdicts: Verdicts | None) -> dict[tuple[str, str], RateCell]:
    """Return each measured agent's lead against each opponent it met; the baseline's own is 0.

    Against the baseline itself there is none, only a win rate.
    """
    rates = {}
    for name in sorted(findings.in_order(findings.measured), key=lambda name: name == findings.baseline):
        met = matchups(findings.pooled_pairs if name == findings.baseline else findings.all_pairs, name)
        rates[name] = {matchup.opponent: matchup.rate.estimate for matchup in met}
    base = rates.get(findings.baseline or "", {})
    compared = {
        (comparison.contender, effect.opponent): effect.difference.estimate
        for comparison in (verdicts.comparisons if verdicts else ())
        for effect in comparison.effects
    }
    return {
        (name, other): RateCell(rate, compared.get((name, other), rate - (base.get(other, math.nan) if base else 0.5)))
        for name, row in rates.items()
        for other, rate in row.items()
    }


def differences(
    findings: RunResults,
    leads: Mapping[tuple[str, str], RateCell],
    links: Mapping[tuple[str, str], str],
    ratings: Ratings,
    title: str = "",
) -> Grid | None:
    """Return leads as a table of agents by opponents, linked to games; the baseline's row has its win rates.

    Agents and opponents are in the order of their mean leads; the baseline is last. Where all meet all, rows and
    columns are both in the order of rank.
    """
    agents, opponents = (_by_lead(findings, leads, side) for side in (0, 1))
    if not opponents:
        return None
    ranks: dict[str, str] = {}
    if findings.baseline is None and set(agents) == set(opponents):
        ranks = {rating.agent: str(rank) for rating, rank in zip(ratings.ratings, ratings.ranks, strict=True)}
        ranks |= {name: UNRANKED for name in agents if name not in ranks}
        agents = opponents = [name for name in ranks if name in agents]
    rows = []
    for name in agents:
        is_baseline = name == findings.baseline
        cells = (_lead_cell(findings, leads.get((name, other)), is_baseline, links.get((name, other), ""))
                 for other in opponents)  # fmt: skip
        rows.append((name, tuple(cells)))
    note = "Win rates in percentage points above 50 %, without intervals."
    if findings.baseline is not None:
        note = (
            "Win rates compared with the baseline, in percentage points, without intervals. The baseline's row shows "
            "its win rate."
        )
    if findings.baseline in opponents:
        note += f" The column {findings.baseline} has the games against it: win rates in per cent."
    corner = "rank, agent" if ranks else "agent"
    numbers = tuple(ranks[name] for name in agents) if ranks else ()
    return Grid(title or "Win rate by opponent", tuple(opponents), tuple(rows), corner, note, numbers)


def _by_lead(findings: RunResults, leads: Mapping[tuple[str, str], RateCell], side: int) -> list[str]:
    """Return the agents (side 0) or the opponents (side 1) of leads, the largest mean lead first, the baseline last."""
    of_names: dict[str, list[float]] = {}
    for pair, lead in leads.items():
        of_names.setdefault(pair[side], []).extend([] if math.isnan(lead.lead) else [lead.lead])
    ranked = sorted(findings.in_order(of_names), key=lambda name: -fmean(of_names[name] or [0.0]))
    return sorted(ranked, key=lambda name: name == findings.baseline)


def _lead_cell(findings: RunResults, lead: RateCell | None, is_baseline: bool, link: str) -> Cell:
    if lead is None or math.isnan(lead.rate):
        return Cell("–", 0, "", link)
    is_rate = is_baseline or math.isnan(lead.lead)
    text = f"{100 * lead.rate:.1f}" if is_rate else Points(lead.lead).text
    colour = 0 if is_rate else strength(lead.lead, _STRONGEST_TABLE_LEAD if findings.baseline else 0.5)
    return Cell(text, colour, f"{Share(lead.rate).text} won", link)


def calibration(findings: RunResults) -> Grid | None:
    """Return the AUC of every measured agent's scores, overall and by stage of the game; plies are counted from 1."""
    scores = scores_of(findings, findings.measured)
    names = [name for name in findings.in_order(findings.measured) if not math.isnan(scores[name].auc)]
    bands = [band for band in BANDS if any(scores[name].between(*band).positions >= FEWEST_SCORES for name in names)]
    if not names:
        return None
    rows = []
    for name in names:
        values = [scores[name].auc, *(band_auc(scores[name], band) for band in bands)]
        cells = (
            Cell("–", 0) if math.isnan(auc) else Cell(f"{auc:.2f}", strength(auc - 0.5, 0.5), is_amount=auc >= 0.5)
            for auc in values
        )
        rows.append((name, tuple(cells)))
    columns = ("all", *(f"{first + 1}–{last + 1}" for first, last in bands))
    note = (
        "AUC by ply, counted from 1: the probability that a position whose mover won has a higher score than one "
        "whose mover lost. 0.5 is a coin flip, 1 perfect. Proven scores are excluded."
    )
    return Grid("How well scores predict the winner (AUC)", columns, tuple(rows), note=note)


def refutations_chart(results: Sequence[Refuted]) -> Grid:
    """Return the share of won openings that agents hold, and in brackets win in games, by board and limit."""
    columns = list(dict.fromkeys((result.size, result.limit) for result in results))
    by_agent: dict[str, dict[tuple[Size, str], Refuted]] = {}
    for result in results:
        by_agent.setdefault(result.agent, {})[result.size, result.limit] = result
    order = sorted(by_agent, key=lambda agent: -sum(result.held for result in by_agent[agent].values()))
    rows = tuple((agent, tuple(_held_cell(by_agent[agent].get(column)) for column in columns)) for agent in order)
    heads = tuple(f"{size}, {limit}" for size, limit in columns)
    note = "Per cent of won openings held against an opponent who knows every move, and in brackets won in games."
    return Grid("Won openings held", heads, rows, note=note)


def _held_cell(result: Refuted | None) -> Cell:
    if result is None:
        return Cell("", 0)
    return Cell(f"{100 * result.held:.0f} ({100 * result.won:.0f})", round(100 * result.held), is_amount=True)


def solution_map(board: Board, solution: Solution) -> Boards:
    """Return a board with the moves of the side to move: blue wins, orange loses, ? undecided."""
    size = Size(board.height, board.width)
    texts = dict.fromkeys(cells_of(full_mask(*size) & ~board.blank), Cell("×", 0))
    texts |= dict.fromkeys(board.legal_cells(), Cell("loses", -60))
    texts |= dict.fromkeys(solution.undecided, Cell("?", 0))
    texts |= {cell: Cell("wins", 60) for cell in solution.moves}
    texts |= {cell: Cell(f"player {number + 1}", 0) for number, cell in enumerate(board.locations) if cell is not None}
    grid = board_grid(f"Player {board.active_index + 1} moves", size, texts)
    winner = f"Player {solution.winner} wins" if solution.winner else "Undecided within the limit"
    return Boards(f"{winner} with perfect play", (grid,), "Blue wins, orange loses; ×: visited.")
