"""The players' own moves, ply by ply and file by file: a large run has too many to hold them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from experiments.inference.arguments import Ints
from experiments.log import read_table
from experiments.verdicts.effort import agent_codes, list_chunks
from experiments.verdicts.findings import Findings

_EDGES_AN_OCTAVE = 8


@dataclass(frozen=True, eq=False)
class Plies:
    """Moves that players chose themselves, the opening's left out: who moved (a place among the names asked for), the
    ply (0 is the first placement), the column asked for, and whether the mover won."""

    agent: Ints
    ply: Ints
    value: npt.NDArray[Any]
    won: npt.NDArray[np.bool_]


def chosen_moves(findings: Findings, column: str, names: Sequence[str]) -> Iterator[Plies]:
    """A per-ply column of the log for the moves of the agents `names`, in pieces."""
    everybody = list(findings.agents)
    wanted = np.array([names.index(name) if name in names else -1 for name in everybody], np.int64)
    for source in findings.sources:
        table = read_table(source.info.path, ["agent_1", "agent_2", "opening", "winner", column])
        players = [wanted[agent_codes(table[key], everybody, dict(source.names))] for key in ("agent_1", "agent_2")]
        opening = pc.list_value_length(table["opening"]).to_numpy()
        winner = table["winner"].to_numpy()
        first = 0
        for offsets, values in list_chunks(table, column):
            games = slice(first, first + len(offsets) - 1)
            first = games.stop
            lengths = np.diff(offsets)
            game = np.repeat(np.arange(lengths.size), lengths)
            ply = np.arange(offsets[-1]) - offsets[:-1][game]
            second = ply % 2 == 1
            agent = np.where(second, players[1][games][game], players[0][games][game])
            kept = (agent >= 0) & (ply >= opening[games][game])
            won = (winner[games][game] == 2) == second
            yield Plies(agent[kept], ply[kept], values[kept], won[kept])


@dataclass(frozen=True, eq=False)
class Distribution:
    """How often each value occurred, by agent: `counts[i, j]` times `values[j]` for `names[i]`."""

    names: tuple[str, ...]
    values: npt.NDArray[np.float64]
    counts: Ints

    def quantiles(self, shares: Sequence[float]) -> npt.NDArray[np.float64]:
        """For each name, the values below which these shares of all lie; NaN for names without values."""
        total = self.counts.cumsum(axis=1)
        found = np.full((len(self.names), len(shares)), np.nan)
        for row, running in enumerate(total):
            if running.size and running[-1]:
                found[row] = self.values[np.searchsorted(running, np.array(shares) * running[-1])]
        return found


def game_lengths(findings: Findings, names: Sequence[str]) -> Distribution:
    """Plies of the games of each agent, the opening's included."""
    games = findings.games
    most = int(games["plies"].max()) if len(games) else 0
    counts = np.zeros((len(names), most + 1), np.int64)
    for column in ("agent_1", "agent_2"):
        place = np.array(
            [names.index(name) if name in names else -1 for name in games[column].cat.categories], np.int64
        )
        agent = place[games[column].cat.codes.to_numpy()] if place.size else np.zeros(0, np.int64)
        kept = agent >= 0
        np.add.at(counts, (agent[kept], games["plies"].to_numpy()[kept]), 1)
    return Distribution(tuple(names), np.arange(most + 1, dtype=np.float64), counts)


def searched(findings: Findings, column: str, names: Sequence[str]) -> Distribution:
    """Depth, or nodes (to within a tenth), of the moves of each agent, those without a search left out."""
    is_fine = column == "depth"
    size = 2**10 if is_fine else 64 * _EDGES_AN_OCTAVE
    counts = np.zeros((len(names), size), np.int64)
    for plies in chosen_moves(findings, column, names):
        kept = plies.value > 0
        agent, value = plies.agent[kept], plies.value[kept]
        level = value if is_fine else np.round(np.log2(value) * _EDGES_AN_OCTAVE)
        flat = agent * size + np.minimum(level.astype(np.int64), size - 1)
        counts += np.bincount(flat, minlength=counts.size).reshape(counts.shape)
    levels = np.arange(size, dtype=np.float64)
    return Distribution(tuple(names), levels if is_fine else 2 ** (levels / _EDGES_AN_OCTAVE), counts)
