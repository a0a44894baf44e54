"""Where a contender wins: its difference to the baseline by the first cell of the opening."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knights_isolation.experiments.inference.argument_checks import Ints
from knights_isolation.experiments.statistics.first_placements import FEWEST, commonest_size, first_cells
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.verdicts.example_games import ExampleGame, Played, example_games, load_games
from knights_isolation.isolation.rules.geometry import canonical_opening


@dataclass(frozen=True)
class OpeningLead:
    """A contender's difference to the baseline where player 1 began on a cell, or on one of its images.

    Attributes:
        cell, cells: the cell, and all that are counted with it.
        lead: difference of the shares of games won, from the same openings, sides and opponents.
        openings: number of openings.
        game: the shortest game of the contender that ended otherwise than the baseline's, in the direction of the lead.
    """

    cell: int
    cells: tuple[int, ...]
    lead: float
    openings: int
    game: ExampleGame | None


def leads_by_opening(findings: RunResults, contender: str) -> tuple[OpeningLead, ...]:
    """Return the leads of a contender, symmetric cells merged; without those of fewer than `FEWEST` openings."""
    size = commonest_size(findings)
    if size is None or findings.baseline is None:
        return ()
    played = load_games(findings)
    if not {contender, findings.baseline} <= set(played.names):
        return ()
    own, twin = _twins(played, contender, findings.baseline)
    canonical = np.array([canonical_opening([cell], *size)[0] for cell in range(size[0] * size[1])])
    first = first_cells(findings, size)[0]
    at = np.where(first[own] >= 0, canonical[first[own]], -1)
    gain = _won(played, own, contender) - _won(played, twin, findings.baseline)
    leads, chosen = [], {}
    for cell in np.unique(canonical).tolist():
        here = at == cell
        openings = int(np.unique(played.opening[own[here]]).size)
        if openings < FEWEST:
            continue
        lead = float(gain[here].mean())
        turned = np.flatnonzero(here & (gain == (1 if lead >= 0 else -1)))
        if turned.size:
            best = turned[np.lexsort((own[turned], played.plies[own[turned]]))[0]]
            chosen[cell] = int(own[best]), int(twin[best])
        leads.append((cell, tuple(np.flatnonzero(canonical == cell).tolist()), lead, openings))
    games = example_games(findings, chosen)
    return tuple(OpeningLead(*facts, games.get(facts[0])) for facts in leads)


def _twins(played: Played, contender: str, baseline: str) -> tuple[Ints, Ints]:
    own, own_keys = _keyed(played, contender)
    other, other_keys = _keyed(played, baseline)
    _, of_own, of_other = np.intersect1d(own_keys, other_keys, return_indices=True)
    return own[of_own], other[of_other]


def _keyed(played: Played, agent: str) -> tuple[Ints, Ints]:
    """Return an agent's games, and a number for each one's opening, opponent and side."""
    code, (first, second) = played.names.index(agent), played.sides
    games = np.flatnonzero((first == code) | (second == code))
    is_first = first[games] == code
    opponent = np.where(is_first, second[games], first[games])
    return games, (played.opening[games] * len(played.names) + opponent) * 2 + is_first


def _won(played: Played, games: Ints, agent: str) -> Ints:
    is_first = played.sides[0][games] == played.names.index(agent)
    won: Ints = (played.winner[games] == np.where(is_first, 1, 2)).astype(np.int64)
    return won
