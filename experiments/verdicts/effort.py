"""What searching cost: plies and nodes reached, and time, by agent. Read a column at a time: a run has tens of
millions of plies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from experiments.inference.arguments import Ints
from experiments.log import read_table
from experiments.verdicts.findings import Findings

QUICKEST_MOVE = 5
"""Microseconds a move on average below which times say nothing: the log has whole ones."""

FEWEST_MOVES = 100
LEAST_SECONDS = 1
"""Below either, time a node is mostly what else the machine did meanwhile."""


@dataclass(frozen=True)
class Effort:
    """Sums over an agent's own moves, the opening's left out. `nodes` are simulations for MCTS, 0 without a search."""

    moves: int
    depth: int
    nodes: int
    microseconds: int

    @property
    def mean_depth(self) -> float:
        """Plies searched a move; NaN without moves or without a search."""
        return self.depth / self.moves if self.moves and self.depth else math.nan

    @property
    def mean_nodes(self) -> float:
        """Nodes a move; NaN without moves or without a search."""
        return self.nodes / self.moves if self.moves and self.nodes else math.nan

    @property
    def milliseconds_a_move(self) -> float:
        """Wall time a move; NaN without moves, or if they were too quick for the log's clock."""
        is_measured = self.moves and self.microseconds >= QUICKEST_MOVE * self.moves
        return self.microseconds / self.moves / 1000 if is_measured else math.nan

    @property
    def nanoseconds_a_node(self) -> float:
        """Wall time a node; NaN without nodes, or if moves were too quick for the log's clock of whole microseconds."""
        is_measured = self.nodes and self.microseconds >= QUICKEST_MOVE * self.moves
        return 1000 * self.microseconds / self.nodes if is_measured else math.nan

    @property
    def is_enough(self) -> bool:
        """Whether so much searching was timed that the cost of a node can be told."""
        return self.moves >= FEWEST_MOVES and self.microseconds >= 1_000_000 * LEAST_SECONDS


def measure_effort(findings: Findings) -> dict[str, Effort]:
    """Every agent's effort, over all games of all runs."""
    names = list(findings.agents)
    sums = np.zeros((4, len(names)))
    for number in range(len(findings.sources)):
        players, opening, plies = _players(findings, number, names)
        # plies 0, 2, … are the first player's, so of the first n plies it has played (n + 1) // 2
        moves = [(plies + odd) // 2 - (opening + odd) // 2 for odd in (1, 0)]
        columns = [moves, *(_sums(findings, number, name) for name in ("depth", "nodes", "time_us"))]
        for row, by_side in enumerate(columns):
            for side, values in enumerate(by_side):
                sums[row] += np.bincount(players[side], values, len(names))
    return {name: Effort(*(int(value) for value in sums[:, place])) for place, name in enumerate(names)}


def list_chunks(table: pa.Table, column: str) -> Iterator[tuple[Ints, npt.NDArray[np.generic]]]:
    """A list column chunk by chunk: where each game's plies begin and end, and all their values."""
    for chunk in table[column].chunks:
        offsets = chunk.offsets.to_numpy().astype(np.int64)
        yield offsets - offsets[:1], chunk.flatten().to_numpy(zero_copy_only=False)


def agent_codes(column: pa.ChunkedArray, names: list[str], called: dict[str, str]) -> Ints:
    """Places in `names` of a dictionary column of agents, which are `called` something else there."""
    place = {name: code for code, name in enumerate(names)}
    parts = []
    for chunk in column.chunks:
        codes = np.array([place[called.get(name, name)] for name in chunk.dictionary.to_pylist()], np.int64)
        parts.append(codes[chunk.indices.to_numpy()])
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _players(findings: Findings, number: int, names: list[str]) -> tuple[list[Ints], Ints, Ints]:
    source = findings.sources[number]
    table = read_table(source.info.path, ["agent_1", "agent_2", "opening", "plies"])
    players = [agent_codes(table[column], names, dict(source.names)) for column in ("agent_1", "agent_2")]
    return players, pc.list_value_length(table["opening"]).to_numpy(), table["plies"].to_numpy().astype(np.int64)


def _sums(findings: Findings, number: int, column: str) -> list[npt.NDArray[np.int64]]:
    """For each game, the sum of a column over the plies of its first and of its second player."""
    table = read_table(findings.sources[number].info.path, [column])
    first, second = [], []
    for offsets, values in list_chunks(table, column):
        before = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
        alternating = np.concatenate(
            [[0], np.cumsum(np.where(np.arange(values.size) % 2, -1, 1) * values.astype(np.int64))]
        )
        total = before[offsets[1:]] - before[offsets[:-1]]
        lead = (alternating[offsets[1:]] - alternating[offsets[:-1]]) * np.where(offsets[:-1] % 2, -1, 1)
        first.append((total + lead) // 2)
        second.append((total - lead) // 2)
    return [np.concatenate(parts) if parts else np.zeros(0, np.int64) for parts in (first, second)]
