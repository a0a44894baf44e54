"""Batches of games: openings that two agents play twice each with sides swapped, here or spread over workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.seeds import splitmix64

from ..plan import make_agent, parse_spec
from ..plan.openings import OpeningSet, orbit_ids, random_openings, split_of
from ..play.cluster.cluster_access import UserFile, chosen, files_of, placed_specs
from ..play.parallel_map import parallel_mapper
from ..statistics.proportions import Ints

if TYPE_CHECKING:
    from knights_isolation.isolation.search.agents import Agent


@dataclass(frozen=True)
class Batch:
    """Openings to be played by two agents, each twice with sides swapped: by key, specs, and the openings' numbers."""

    key: int
    first: str
    second: str
    openings: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class BatchResult:
    """Results of a batch: for each opening a digit, the games that the first agent won of two; and games forfeited."""

    key: int
    won: str
    forfeits: int

    @classmethod
    def of(cls, key: int, wins: Ints, forfeits: int) -> BatchResult:
        """Return the result of a batch of which so many games were won by opening: int64[n]."""
        return cls(key, "".join(map(str, wins.tolist())), forfeits)

    @property
    def each(self) -> Ints:
        """int64[n], games won of each opening's two."""
        return np.array(list(map(int, self.won)), np.int64)

    @property
    def games(self) -> int:
        """Number of games."""
        return 2 * len(self.won)

    @property
    def wins(self) -> int:
        """Number of games won."""
        return int(self.each.sum())


@dataclass(frozen=True)
class OpeningPool:
    """Openings of one side of the split, and their orbits: int64[n]."""

    openings: OpeningSet
    orbits: Ints

    def __len__(self) -> int:
        return len(self.openings)

    def batch(self, key: int, first: str, second: str, start: int, count: int) -> Batch:
        """Return so many openings from a place on, around and around."""
        numbers = tuple(number % len(self) for number in range(start, start + count))
        return Batch(key, first, second, tuple(self.openings[number] for number in numbers), numbers)


def pool_of(size: Size, plies: int, count: int, seed: int) -> OpeningPool:
    """Draw at most `count` random openings of the half for fitting.

    Raises:
        ValueError: the board has too few openings of that many plies.
    """
    drawn = random_openings(size, plies, 2 * count + 200, seed)
    orbits = orbit_ids(drawn.cells, size)
    rows = np.flatnonzero(split_of(orbits) == "fit")[:count]
    if not len(rows):
        raise ValueError(f"a {size} board has too few openings of {plies} plies to hold some out; use more plies")
    return OpeningPool(OpeningSet(size, drawn.cells[rows], 0), np.unique(orbits[rows], return_inverse=True)[1])


PlayBatches = Callable[[Sequence[Batch]], Iterator[BatchResult]]
"""What becomes of batches, in no order."""


@contextmanager
def playing(size: Size, jobs: int = 1, cluster: str | None = None) -> Iterator[PlayBatches]:
    """Return a function that plays batches on boards of one size; see `parallel_mapper`."""
    with parallel_mapper(jobs, cluster) as spread:

        def play(batches: Sequence[Batch]) -> Iterator[BatchResult]:
            specs = (spec for batch in batches for spec in (batch.first, batch.second))
            files = files_of(specs) if chosen(cluster, jobs) else ()
            return spread(play_batch, ((batch, size, files) for batch in batches))

        yield play


def play_batch(batch: Batch, size: Size, files: Sequence[UserFile] = ()) -> BatchResult:
    """Play every opening of a batch twice, by agents that may come from these users' files of another machine."""
    first, second = (make_agent(parse_spec(text)) for text in placed_specs((batch.first, batch.second), files))
    return BatchResult.of(batch.key, *play_pairs(first, second, batch.openings, batch.numbers, size))


def play_pairs(
    first: Agent, second: Agent, openings: Sequence[Sequence[int]], numbers: Iterable[int], size: Size
) -> tuple[Ints, int]:
    """Play every opening twice with sides swapped; seeds follow from the openings' numbers.

    Returns:
        int64[n], the games that the first agent won of each opening's two, and how many games were forfeited.
    """
    from knights_isolation.isolation.games.match import play_games

    seeds = [int(splitmix64(number + 1)) for number in numbers]
    games = (play_games(first, second, openings, seeds, size), play_games(second, first, openings, seeds, size))
    wins = (games[0].winner == 1).astype(np.int64) + (games[1].winner == 2)
    return wins, sum(int(game.is_forfeit.sum()) for game in games)


def prepare(specs: Iterable[str], size: Size) -> list[Agent]:
    """Return the agents of specs, compiled, so that workers find their code.

    Raises:
        SpecError: a spec names no agent.
    """
    agents = [make_agent(parse_spec(text)) for text in specs]
    for agent in agents:
        agent.compiled(size)
    return agents
