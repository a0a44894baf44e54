"""Depth, nodes and time per agent, read a chunk of games at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..inference.argument_checks import Ints
from ..record.arrow_numpy import to_numpy
from ..record.log import codes_in
from .run_results import LoadedRun, RunResults, fold_counted

QUICKEST_MOVE = 5
"""Mean microseconds per move below which times are meaningless: the log has whole microseconds."""

_COLUMNS = ("nodes", "time_us", "depth")


@dataclass(frozen=True)
class Effort:
    """Sums over an agent's own moves, without openings. `nodes` are simulations for MCTS, 0 without a search."""

    moves: int
    nodes: int
    microseconds: int
    depth: int

    @property
    def mean_nodes(self) -> float:
        """Nodes per move; NaN without moves or without a search."""
        return self.nodes / self.moves if self.moves and self.nodes else math.nan

    @property
    def milliseconds_a_move(self) -> float:
        """Wall time per move; NaN without moves, or if they were too fast for the log's clock."""
        is_measured = self.moves and self.microseconds >= QUICKEST_MOVE * self.moves
        return self.microseconds / self.moves / 1000 if is_measured else math.nan

    @property
    def mean_depth(self) -> float:
        """Plies searched per move; NaN without moves or without a search."""
        return self.depth / self.moves if self.moves and self.depth else math.nan


def measure_effort(findings: RunResults) -> dict[str, Effort]:
    """Return every agent's effort, over all games of all runs."""
    names = list(findings.agents)
    sums = np.zeros((1 + len(_COLUMNS), len(names)))
    for source in findings.sources:
        sums += fold_counted(source, ("opening", "plies", *_COLUMNS), partial(_sums, names, source), total)
    return {name: Effort(*(int(value) for value in sums[:, index])) for index, name in enumerate(names)}


def total(parts: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the sum of arrays of one shape; 0 without any."""
    return np.asarray(sum(parts))


def list_chunks(table: pa.Table, column: str) -> Iterator[tuple[Ints, npt.NDArray[np.generic]]]:
    """Yield a list column by chunks: the offsets of each game's plies, and all values."""
    for chunk in table[column].chunks:
        offsets = to_numpy(chunk.offsets).astype(np.int64)
        yield offsets - offsets[:1], to_numpy(chunk.flatten())


def agent_codes(column: pa.ChunkedArray, names: list[str], called: Mapping[str, str]) -> Ints:
    """Return the indices in `names` of a column of agents, after renaming them by `called`; −1 for others."""
    codes = [names.index(name) if name in names else -1 for name in called.values()]
    return np.array([*codes, -1], np.int64)[codes_in(tuple(called), column)]


def _sums(names: list[str], source: LoadedRun, table: pa.Table) -> npt.NDArray[np.float64]:
    import pyarrow.compute as pc

    players = [agent_codes(table[column], names, source.names) for column in ("agent_1", "agent_2")]
    opening, plies = to_numpy(pc.list_value_length(table["opening"])), to_numpy(table["plies"]).astype(np.int64)
    # plies 0, 2, … are the first player's, so (n + 1) // 2 of the first n plies
    moves = [(plies + odd) // 2 - (opening + odd) // 2 for odd in (1, 0)]
    summed = [moves, *(_by_side(table, column) for column in _COLUMNS)]
    return np.array(
        [sum(np.bincount(*side, len(names)) for side in zip(players, values, strict=True)) for values in summed]
    )


def _by_side(table: pa.Table, column: str) -> list[Ints]:
    """Return, for each game, the sums of a column over the plies of its first and of its second player."""
    sides: tuple[list[Ints], list[Ints]] = ([], [])
    for offsets, values in list_chunks(table, column):
        # cumulative sums over the chunk of the values at even positions, and of those at odd ones
        before = np.zeros((values.size // 2 + 2, 2), np.int64)
        for odd in (0, 1):
            every_other = values[odd::2]
            np.cumsum(every_other, dtype=np.int64, out=before[1 : every_other.size + 1, odd])
        start, end = offsets[:-1], offsets[1:]
        for side, running in enumerate(sides):
            parity = (start + side) % 2
            running.append(before[(end + 1 - parity) // 2, parity] - before[(start + 1 - parity) // 2, parity])
    return [np.concatenate(parts) if parts else np.zeros(0, np.int64) for parts in sides]
