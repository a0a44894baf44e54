"""Statistics over the moves of a run, read a chunk of games at a time: effort, calibration of scores, rates by limit.

Calibration is how well scores predict the winner. AUC is the chance that a position from which the mover won has a
higher score than one of the same ply from which it lost: 0.5 is no better than guessing, 1 is perfect. Proven scores
are excluded: they come from the search, not from the heuristic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..record.columns import Table, codes, lengths, lists, numbers
from .first_placements import GroupedCounts, count_groups, merge_counts, total
from .game_pairs import standings
from .proportions import Interval, Ints
from .run_results import SIDES, LoadedRun, RunResults, agent_codes, fold_counted

T = TypeVar("T")

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
    fold: Callable[[Iterator[Plies]], T],
) -> list[T]:
    """Return what `fold` makes of the moves of `names` in some thousand games at a time, for each run.

    Args:
        column: a per-ply column of the log.
    """

    def moves(source: LoadedRun, games: Iterator[Table]) -> T:
        return fold(_chosen(table, column, list(names), source.names) for table in games)

    columns = ["opening", "winner", column]
    return [fold_counted(source, columns, partial(moves, source)) for source in findings.sources]


def _chosen(table: Table, column: str, names: list[str], called: Mapping[str, str]) -> Plies:
    players = [agent_codes(table, side, called, names) for side in SIDES]
    opening, winner = lengths(table, "opening"), numbers(table, "winner")
    values, starts = lists(table, column)
    plies = np.diff(starts)
    game = np.repeat(np.arange(plies.size), plies)
    ply = (np.arange(values.size) - starts[:-1][game]).astype(np.int16)
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
    plies = numbers(findings.table, "plies")
    most = int(plies.max(initial=0))
    counts = np.zeros((len(names), most + 1), np.int64)
    for column in SIDES:
        agent = codes(findings.table, column, names)
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

    runs = over_moves(findings, column, names, lambda moves: total(map(counted, moves)))
    counts = np.zeros((len(names), size), np.int64) + total(runs)
    levels = np.arange(size, dtype=np.float64)
    return Distribution(tuple(names), levels if is_fine else 2 ** (levels / _EDGES_AN_OCTAVE), counts)


BANDS = ((2, 5), (6, 9), (10, 13), (14, 17), (18, 21), (22, 25), (26, 31), (32, 47))
"""Stages of the game: first and last ply, counted from 0 as in the log."""
FEWEST_SCORES = 100
_FEWEST_OF_EACH = 10
_NOTHING = GroupedCounts((np.zeros(0, np.int16), np.zeros(0, np.int16), np.zeros(0)), (np.zeros(0, np.int64),) * 2)


@dataclass(frozen=True, eq=False)
class Scores:
    """An agent's unproven scores: numbers of winning and losing movers by ply and score (mover's view).

    Sorted by ply, then by score.
    """

    ply: npt.NDArray[np.int16]
    score: npt.NDArray[np.float64]
    won: Ints
    lost: Ints

    @property
    def positions(self) -> int:
        """Number of scored positions."""
        return int(self.won.sum() + self.lost.sum())

    def between(self, first: int, last: int) -> Scores:
        """Return the scores at plies `first` to `last`."""
        kept = slice(*np.searchsorted(self.ply, [first, last + 1]))
        return Scores(self.ply[kept], self.score[kept], self.won[kept], self.lost[kept])

    @property
    def auc(self) -> float:
        """Mean AUC of the plies, weighted by their number of pairs of a won and a lost position; NaN without any."""
        starts = np.flatnonzero(np.diff(self.ply, prepend=-1))
        if not starts.size:
            return math.nan
        won, lost = (np.add.reduceat(column, starts) for column in (self.won, self.lost))
        # number of each ply's lost positions with lower scores than a row's, plus half of those with equal scores
        below = (
            self.lost.cumsum() - self.lost / 2 - np.repeat(lost.cumsum() - lost, np.diff(starts, append=len(self.ply)))
        )
        pairs = float(won @ lost)
        return float(self.won @ below) / pairs if pairs else math.nan


def band_auc(scores: Scores, band: tuple[int, int]) -> float:
    """Return the AUC of the plies of a band; NaN if there are too few won or lost positions."""
    part = scores.between(*band)
    rarer = min(int(part.won.sum()), int(part.lost.sum()))
    return part.auc if part.positions >= FEWEST_SCORES and rarer >= _FEWEST_OF_EACH else math.nan


def scores_of(findings: RunResults, names: Sequence[str]) -> dict[str, Scores]:
    """Return the scores of each agent, over all runs."""
    runs = over_moves(findings, "score", names, lambda moves: merge_counts(map(_counted, moves), _NOTHING))
    counts = merge_counts(runs, _NOTHING)
    agent, ply, score = counts.keys
    bounds = np.searchsorted(agent, np.arange(len(names) + 1)).tolist()
    return {
        name: Scores(ply[first:end], score[first:end], *(count[first:end] for count in counts.counts))
        for name, first, end in zip(names, bounds, bounds[1:], strict=False)
    }


def _counted(plies: Plies) -> GroupedCounts:
    finite = np.isfinite(plies.value)
    won = plies.won[finite]
    return count_groups(
        [plies.agent[finite], plies.ply[finite], plies.value[finite]], [won.astype(np.int64), (~won).astype(np.int64)]
    )


UNITS = {"nodes": "nodes a move", "depth": "depth in plies", "ms": "ms a move", "cpu_ms": "CPU ms a move"}
"""Units of limits in words."""


@dataclass(frozen=True)
class AtLimit:
    """Win rate of an agent under one limit, in units of it; `kind` is the agent without its limit."""

    kind: str
    name: str
    is_baseline: bool
    unit: str
    limit: float
    rate: Interval


def by_limit(runs: Sequence[RunResults]) -> list[tuple[AtLimit, ...]]:
    """Return the win rates of each kind of agent by ascending limit, best at its highest limit first.

    Runs are evaluated separately, each with its own opponents. Only limits of the commonest unit count; controls are
    left out.
    """
    points = [point for run in runs for point in _points(run)]
    units = [point.unit for point in points]
    commonest = max(dict.fromkeys(units), key=units.count, default="")
    lines: dict[str, list[AtLimit]] = {}
    for point in sorted(points, key=lambda point: point.limit):
        if point.unit == commonest:
            lines.setdefault(point.kind, []).append(point)
    return sorted(map(tuple, lines.values()), key=lambda line: -line[-1].rate.estimate)


def _points(run: RunResults) -> Iterator[AtLimit]:
    for standing in standings(run.pairs):
        facts, is_known = run.agents.get(standing.agent), not math.isnan(standing.rate.estimate)
        is_measured = standing.agent in run.measured and is_known
        if facts and facts.limit and is_measured and "control" not in facts.roles:
            unit, value = facts.limit
            name = standing.agent.partition("@")[0]
            yield AtLimit(facts.apart_from_limit, name, standing.agent == run.baseline, unit, value, standing.rate)


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
        sums += fold_counted(source, ("opening", "plies", *_COLUMNS), partial(_sums, names, source))
    return {name: Effort(*(int(value) for value in sums[:, index])) for index, name in enumerate(names)}


def _sums(names: list[str], source: LoadedRun, games: Iterable[Table]) -> npt.NDArray[np.float64]:
    return total(_sums_of(names, source, table) for table in games)


def _sums_of(names: list[str], source: LoadedRun, table: Table) -> npt.NDArray[np.float64]:
    players = [agent_codes(table, side, source.names, names) for side in SIDES]
    opening, plies = lengths(table, "opening"), numbers(table, "plies").astype(np.int64)
    # plies 0, 2, … are the first player's, so (n + 1) // 2 of the first n plies
    moves = [(plies + odd) // 2 - (opening + odd) // 2 for odd in (1, 0)]
    summed = [moves, *(_by_side(table, column) for column in _COLUMNS)]
    return np.array(
        [sum(np.bincount(*side, len(names)) for side in zip(players, values, strict=True)) for values in summed]
    )


def _by_side(table: Table, column: str) -> list[Ints]:
    """Return, for each game, the sums of a column over the plies of its first and of its second player."""
    values, starts = lists(table, column)
    # cumulative sums over the values at even positions, and over those at odd ones
    before = np.zeros((values.size // 2 + 2, 2), np.int64)
    for odd in (0, 1):
        every_other = values[odd::2]
        np.cumsum(every_other, dtype=np.int64, out=before[1 : every_other.size + 1, odd])
    start, end = starts[:-1], starts[1:]
    parities = [(start + side) % 2 for side in (0, 1)]
    return [before[(end + 1 - odd) // 2, odd] - before[(start + 1 - odd) // 2, odd] for odd in parities]
