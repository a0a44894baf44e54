"""Statistics over the moves of a run, read a chunk of games at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..inference.argument_checks import Ints
from ..record.checked_parquet import to_numpy
from ..record.log import codes_in
from .agent_results import agent_codes, list_chunks, total
from .run_results import LoadedRun, RunResults, fold_counted

T = TypeVar("T")
R = TypeVar("R")

_EDGES_AN_OCTAVE = 8


@dataclass(frozen=True, eq=False)
class Plies:
    """Moves that players chose themselves, without openings.

    Fields: the mover (an index in the requested names), the ply (0 is the first placement), the requested column, and
    whether the mover won.
    """

    agent: npt.NDArray[np.int16]
    ply: npt.NDArray[np.int16]
    value: npt.NDArray[Any]
    won: npt.NDArray[np.bool_]


def over_moves(
    findings: RunResults,
    column: str,
    names: Sequence[str],
    look: Callable[[Plies], T],
    fold: Callable[[Iterator[T]], R],
) -> list[R]:
    """Apply `look` to the moves of `names` in some thousand games at a time, and `fold` to the results, for each run.

    Args:
        column: a per-ply column of the log.
    """

    def seen(source: LoadedRun, table: pa.Table) -> T:
        sides = (agent_codes(table[side], list(names), source.names) for side in ("agent_1", "agent_2"))
        players = [side.astype(np.int16) for side in sides]
        return look(_chosen(table, column, players))

    columns = ["opening", "winner", column]
    return [fold_counted(source, columns, partial(seen, source), fold) for source in findings.sources]


def _chosen(table: pa.Table, column: str, players: Sequence[npt.NDArray[np.int16]]) -> Plies:
    opening, winner = pc.list_value_length(table["opening"]).to_numpy(), table["winner"].to_numpy()
    (offsets, values), *_ = list_chunks(table, column)
    lengths = np.diff(offsets)
    game = np.repeat(np.arange(lengths.size), lengths)
    ply = (np.arange(offsets[-1]) - offsets[:-1][game]).astype(np.int16)
    second = ply % 2 == 1
    agent = np.where(second, players[1][game], players[0][game])
    kept = (agent >= 0) & (ply >= opening[game])
    return Plies(agent[kept], ply[kept], values[kept], ((winner[game] == 2) == second)[kept])


@dataclass(frozen=True, eq=False)
class Distribution:
    """Frequency of each value, by agent: `names[i]` has `values[j]` `counts[i, j]` times."""

    names: tuple[str, ...]
    values: npt.NDArray[np.float64]
    counts: Ints

    def quantiles(self, shares: Sequence[float]) -> npt.NDArray[np.float64]:
        """Return quantiles for each name, at these shares of all values; NaN for names without values."""
        total = self.counts.cumsum(axis=1)
        table = np.full((len(self.names), len(shares)), np.nan)
        for row, running in enumerate(total):
            if running.size and running[-1]:
                table[row] = self.values[np.searchsorted(running, np.array(shares) * running[-1])]
        return table


def game_lengths(findings: RunResults, names: Sequence[str]) -> Distribution:
    """Return the number of plies in the games of each agent, including openings."""
    plies = to_numpy(findings.table["plies"])
    most = int(plies.max(initial=0))
    counts = np.zeros((len(names), most + 1), np.int64)
    for column in ("agent_1", "agent_2"):
        agent = codes_in(names, findings.table[column])
        np.add.at(counts, (agent[agent >= 0], plies[agent >= 0]), 1)
    return Distribution(tuple(names), np.arange(most + 1, dtype=np.float64), counts)


def searched(findings: RunResults, column: str, names: Sequence[str]) -> Distribution:
    """Return depth, or nodes (to within a tenth), of the moves of each agent, without moves that were not searched."""
    is_fine = column == "depth"
    size = 2**10 if is_fine else 64 * _EDGES_AN_OCTAVE

    def counted(plies: Plies) -> Ints:
        kept = plies.value > 0
        agent, value = plies.agent[kept].astype(np.int64), plies.value[kept]
        level = value if is_fine else np.round(np.log2(value) * _EDGES_AN_OCTAVE)
        flat = agent * size + np.minimum(level.astype(np.int64), size - 1)
        return np.bincount(flat, minlength=len(names) * size).reshape(len(names), size)

    counts = np.zeros((len(names), size), np.int64) + total(over_moves(findings, column, names, counted, total))
    levels = np.arange(size, dtype=np.float64)
    return Distribution(tuple(names), levels if is_fine else 2 ** (levels / _EDGES_AN_OCTAVE), counts)
