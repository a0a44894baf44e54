"""The archive of a search: the best programs at every cost."""

from __future__ import annotations

from bisect import bisect

from numpy.random import Generator

from experiments.discovery.kept_wins import Found
from experiments.discovery.programs import Shape, structure

EDGES = (10.0, 12.0, 14.0, 17.0, 20.0, 25.0, 32.0)
"""Upper ends of the cells of the archive, in estimated nanoseconds a node; the last cell is open."""
EACH = 4
"""Programs kept in each cell, of different structures."""


class Archive:
    """The best programs of each cell by wins kept in all positions of `fit`, the best first.

    Climbs decide by those for training alone: what was lucky there does not beget the programs that follow.
    """

    def __init__(self) -> None:
        self.cells: list[list[Found]] = [[] for _ in range(len(EDGES) + 1)]

    def __len__(self) -> int:
        return sum(map(len, self.cells))

    @property
    def all(self) -> list[Found]:
        """All programs, the best first."""
        return sorted((found for cell in self.cells for found in cell), key=lambda found: -found.kept)

    def add(self, found: Found) -> None:
        """Add a program if it belongs to the best of its cell; of equal structures only the best stays."""
        cell = self.cells[bisect(EDGES, found.cost)]
        best: dict[frozenset[Shape], Found] = {}
        for each in sorted([*cell, found], key=lambda each: -each.kept):  # stable: the earlier one of equals stays
            best.setdefault(structure(each.program), each)
        cell[:] = list(best.values())[:EACH]

    def pick(self, generator: Generator) -> Found:
        """Draw a program: any in three cases of ten, else the best of three."""
        everything = self.all
        draws = generator.integers(len(everything), size=3)
        return everything[int(draws[0] if generator.random() < 0.3 else draws.min())]
