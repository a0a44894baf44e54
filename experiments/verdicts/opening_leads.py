"""Where a contender wins: its difference to the baseline by the first cell of the opening."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knights_isolation.isolation.rules.geometry import canonical_opening

from ..statistics.first_placements import FEWEST, commonest_size, first_cells
from ..statistics.run_results import RunResults
from .example_games import ExampleGame, example_games, load_games


@dataclass(frozen=True)
class OpeningLead:
    """A contender's difference to the baseline where player 1 began on a cell, or on one of its images, `cells`.

    `lead` is the difference of the shares of games won, from the same openings, sides and opponents. `game` is the
    shortest game of the contender that ended otherwise than the baseline's, in the direction of the lead.
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
    own, own_keys, own_won = played.of(contender)
    twin, twin_keys, twin_won = played.of(findings.baseline)
    _, of_own, of_twin = np.intersect1d(own_keys, twin_keys, return_indices=True)
    own, twin = own[of_own], twin[of_twin]
    canonical = np.array([canonical_opening([cell], *size)[0] for cell in range(size[0] * size[1])])
    first = first_cells(findings, size)[0]
    at = np.where(first[own] >= 0, canonical[first[own]], -1)
    gain = own_won[of_own] - twin_won[of_twin]
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
