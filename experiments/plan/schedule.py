"""Schedule: all games with ids and seeds, as columns, before anything is played.

A *match* is two agents; it plays its openings in order, each twice with the sides swapped: a *pair*. The schedule
proceeds in rounds: the first pair of every match, then the second pair of every match, and so on, so that all
contenders have met the same openings at any time. A game's id is its position in that order,

    game_id = (round * matches + match) * 2 + side        pair_id = game_id // 2

where on side 0 the match's first agent moves first. Matches may have different numbers of pairs: ids may have gaps.

A game's seed is derived from the run's, the opening, the side and the match's second agent, the opponent: all agents
that meet this opponent get the same random numbers, so that agents that play identically get equal results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.seeds import SeedsBy, game_seeds

from .openings import Cells, colour_roles, opening_ids, orbit_ids

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Match:
    """Two agents, by their index in the schedule's agents, and the rows of the openings they play."""

    first: int
    second: int
    start: int
    pairs: int
    population: int
    """Number of openings to draw from: 0 if unknown, or if the opening does not determine the game."""


@dataclass(frozen=True)
class Schedule:
    """All games to be played.

    `agents` are names; `cells` holds one opening per row, padded with -1; `seeds_by` is the rule of `seeds.game_seeds`.
    """

    size: Size
    seed: int
    agents: tuple[str, ...]
    matches: tuple[Match, ...]
    cells: Cells
    seeds_by: SeedsBy = "opponent"

    @cached_property
    def _columns(self) -> list[Ids]:
        """The fields of `Match`, an array each with the values of all matches."""
        return [*np.array([astuple(match) for match in self.matches], np.int64).T]

    @property
    def pairs(self) -> Ids:
        """Number of pairs of each match."""
        return self._columns[3]

    @property
    def rounds(self) -> int:
        """Number of pairs of the longest match."""
        return int(self.pairs.max())

    @property
    def bound(self) -> int:
        """Upper bound: every id is below it."""
        return self.rounds * len(self.matches) * 2

    def __len__(self) -> int:
        """Return the number of games."""
        return 2 * int(self.pairs.sum())

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything that is scheduled; the rule of its seeds is stored beside it."""
        facts = repr((str(self.size), self.seed, self.agents, self.matches, self.cells.shape))
        return hashlib.sha256(facts.encode() + self.cells.astype("<i2").tobytes()).hexdigest()

    @cached_property
    def opening_ids(self) -> NDArray[np.uint64]:
        """See `openings.opening_ids`."""
        return opening_ids(self.cells, self.size)

    @cached_property
    def orbit_ids(self) -> NDArray[np.uint64]:
        """See `openings.orbit_ids`."""
        return orbit_ids(self.cells, self.size)

    @cached_property
    def colour_roles(self) -> NDArray[np.int8]:
        """See `openings.colour_roles`."""
        return colour_roles(self.cells, self.size)

    def exists(self, ids: Ids) -> NDArray[np.bool_]:
        """Return which of the ids are games."""
        match_indices, inside = self.match_of(ids), (ids >= 0) & (ids < self.bound)
        there: NDArray[np.bool_] = inside & (self.round_of(ids) < self.pairs[match_indices])
        return there

    def match_of(self, ids: Ids) -> Ids:
        """Return the match of each game, as an index in `matches`."""
        return ids // 2 % len(self.matches)

    def round_of(self, ids: Ids) -> Ids:
        """Return the round of each game: the number of its pair within its match, from 0."""
        return ids // 2 // len(self.matches)

    def players(self, ids: Ids) -> NDArray[np.int16]:
        """Return the two agents of each game, as indices in `agents`: first mover, second mover."""
        players = np.stack(self._columns[:2], axis=1).astype(np.int16)[self.match_of(ids)]
        return np.where((ids % 2 == 0)[:, None], players, players[:, ::-1])

    def opening_rows(self, ids: Ids) -> Ids:
        """Return the row of each game's opening in `cells`."""
        return self._columns[2][self.match_of(ids)] + self.round_of(ids)

    def populations(self, ids: Ids) -> Ids:
        """Return the `population` of each game's match."""
        return self._columns[4][self.match_of(ids)]

    def openings(self, ids: Ids) -> list[list[int]]:
        """Return the cells of each game's opening."""
        return [[cell for cell in row if cell >= 0] for row in self.cells[self.opening_rows(ids)].tolist()]

    def seeds(self, ids: Ids) -> NDArray[np.uint64]:
        """Return the seed of each game; see `game_seeds`."""
        openings = self.opening_ids[self.opening_rows(ids)]
        return game_seeds(self.seeds_by, self.seed, self.agents, ids, self.players(ids), openings)


def points_table(schedule: Schedule) -> NDArray[np.int8]:
    """Return an empty table of results, points[round, match, side]: -1 for a game not played yet."""
    return np.full((schedule.rounds, len(schedule.matches), 2), -1, np.int8)


def pair_points(points: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return, for each pair, the number of its two games that the match's first agent won; -1 while one is missing."""
    total: NDArray[np.int8] = points.sum(axis=2, dtype=np.int8)
    return np.where((points < 0).any(axis=2), np.int8(-1), total)


def record_points(points: NDArray[np.int8], ids: Ids, winner: Sequence[int] | NDArray[np.int8]) -> None:
    """Write winners (1 moved first, 2 moved second) into a table: 1 if the match's first agent won, 0 if it lost."""
    points.reshape(-1)[ids] = (np.asarray(winner) - 1) == ids % 2
