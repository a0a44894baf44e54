"""Statistics of the games of a run, read some thousand at a time: placements, example games, effort, scores.

Calibration is how well scores predict the winner. AUC is the chance that a position from which the mover won has a
higher score than one of the same ply from which it lost: 0.5 is no better than guessing, 1 is perfect. Proven scores
are excluded: they come from the search, not from the heuristic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.geometry import canonical_opening

from ..record.columns import Table, among, codes, lengths, lists, numbers, on_board
from ..record.log import fold_batches
from .game_pairs import standings
from .proportions import Interval, Ints, rate_interval
from .run_results import SIDES, LoadedRun, RunResults, agent_codes, fold_counted

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """Columns of equal length: `keys`, by which rows are distinct and sorted lexicographically, and their `counts`."""

    keys: tuple[npt.NDArray[Any], ...]
    counts: tuple[Ints, ...]


def count_groups(keys: Sequence[npt.NDArray[Any]], counts: Sequence[Ints]) -> GroupedCounts:
    """Sum the rows of equal keys."""
    order = np.lexsort(keys[::-1])
    ordered = [key[order] for key in keys]
    is_new = np.zeros(order.size, bool)
    is_new[:1] = True
    for key in ordered:
        is_new[1:] |= key[1:] != key[:-1]
    starts = np.flatnonzero(is_new)
    sums = (np.add.reduceat(count[order], starts) if starts.size else count for count in counts)
    return GroupedCounts(tuple(key[starts] for key in ordered), tuple(sums))


def merge_counts(parts: Iterable[GroupedCounts], nothing: GroupedCounts) -> GroupedCounts:
    """Merge the rows of all parts; `nothing` is a part without rows.

    Parts of similar size are merged first, so that a row is sorted only a few times however many parts there are.
    """
    waiting = [nothing]
    for part in parts:
        waiting.append(part)
        while len(waiting) > 1 and waiting[-2].counts[0].size <= 2 * waiting[-1].counts[0].size:
            waiting[-2:] = [_joined(waiting[-2:])]
    return _joined(waiting)


def _joined(parts: Sequence[GroupedCounts]) -> GroupedCounts:
    if len(parts) == 1:
        return parts[0]
    keys = [np.concatenate(columns) for columns in zip(*(part.keys for part in parts), strict=True)]
    return count_groups(
        keys, [np.concatenate(columns) for columns in zip(*(part.counts for part in parts), strict=True)]
    )


def total(parts: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the sum of arrays of one shape; 0 without any."""
    return np.asarray(sum(parts))


FEWEST = 5
"""Minimum number of openings for a cell to be shown."""


@dataclass(frozen=True)
class Placement:
    """Result of a first placement by the player who places first or second: share of games won, over openings."""

    cell: int
    placed_first: bool
    cells: tuple[int, ...]
    games: int
    openings: int
    rate: Interval


def commonest_size(findings: RunResults) -> Size | None:
    """Return rows and columns of the board most games were played on; None without games."""
    if not findings.played:
        return None
    return _size(findings.games["size"].mode().iloc[0])


def _size(number: int) -> Size:
    """Return the size that the frame of a run's games has as one number."""
    return Size(*divmod(int(number), 1000))


def placements(findings: RunResults) -> tuple[Placement, ...]:
    """Return results of every first cell up to symmetry, for both players; clustered by the orbit of the opening."""
    size = commonest_size(findings)
    if size is None:
        return ()
    canonical = np.array([canonical_opening([cell], *size)[0] for cell in range(size.cells)])
    winner, orbit = (numbers(findings.table, name) for name in ("winner", "orbit"))
    cells = first_cells(findings, size)
    player, game = np.nonzero(cells >= 0)
    won = (winner[game] == player + 1).astype(np.int64)
    counted = count_groups([player, canonical[cells[player, game]], orbit[game]], [np.ones_like(won), won])
    player, own, _ = counted.keys
    games, wins = counted.counts
    rows = []
    # each row is an orbit of openings: the rows of a cell are its clusters
    for first, end in pairwise(np.flatnonzero(np.diff(2 * own + player, prepend=-1, append=-1)).tolist()):
        rate = rate_interval(wins[first:end], games[first:end])
        cell = int(own[first])
        alike = tuple(int(index) for index in np.flatnonzero(canonical == cell))
        rows.append(Placement(cell, not player[first], alike, int(games[first:end].sum()), end - first, rate))
    return tuple(rows)


def visits(findings: RunResults) -> npt.NDArray[np.float64] | None:
    """Return, for each cell, the share of games in which it was visited; None without games."""
    size = commonest_size(findings)
    if size is None:
        return None
    cells = size.cells

    def counted(games: Iterable[Table]) -> Ints:
        tables = [on_board(table, size) for table in games]
        visited = (np.bincount(lists(table, "moves")[0], minlength=cells)[:cells] for table in tables)
        return np.append(total(visited), sum(map(len, tables)))

    columns = ["rows", "columns", "moves"]
    *counts, games = total(fold_counted(source, columns, counted) for source in findings.sources)
    return np.array(counts, np.float64) / float(games)


def first_cells(findings: RunResults, size: Size) -> npt.NDArray[np.int16]:
    """Return both players' first cells, [player, game], in each game of the table; −1 without, and on other boards."""
    cells = np.full((2, findings.played), -1, np.int16)
    runs, ids = (numbers(findings.table, name) for name in ("run", "own_id"))
    for number, source in enumerate(findings.sources):
        own = np.flatnonzero(runs == number)
        order = own[np.argsort(ids[own])]

        def enter(games: Iterable[Table], order: Ints = order) -> None:
            for game_ids, firsts in (_first_cells(table, size) for table in games):
                near = np.searchsorted(ids[order], game_ids)
                is_known = np.append(ids[order], -1)[near] == game_ids  # the table lacks duplicates
                cells[:, order[near[is_known]]] = firsts[:, is_known]

        fold_counted(source, ["game_id", "rows", "columns", "moves"], enter)
    return cells


def _first_cells(table: Table, size: Size) -> tuple[Ints, npt.NDArray[np.int16]]:
    table = on_board(table, size)
    values, starts = lists(table, "moves")
    moves = np.append(values, np.array([-1, -1], np.int16))
    cells = [np.where(np.diff(starts) > index, moves[starts[:-1] + index], -1) for index in (0, 1)]
    return numbers(table, "game_id"), np.array(cells, np.int16)


@dataclass(frozen=True)
class ExampleGame:
    """An example game, its run by index in `RunResults.sources`; the agent that placed first comes first in `agents`.

    `instead` is the baseline's game in the same run, from the same opening, on the same side and against the same
    opponent, with the opposite result; None if there is none.
    """

    run: int
    game_id: int
    size: Size
    agents: tuple[str, str]
    winner: int
    moves: tuple[int, ...]
    instead: int | None


_MEETING = ["opening_id", "is_first", "opponent"]
"""Columns that are equal in two games of different agents that can be compared."""


def games_by_opponent(
    findings: RunResults, leads: Mapping[tuple[str, str], float]
) -> dict[tuple[str, str], ExampleGame]:
    """Return, by agent and opponent, the shortest game that the agent won (lost, if its lead is negative).

    If possible, it is a game with the opposite result for the baseline in the agent's place.
    """
    of_baseline = _games_of(findings, findings.baseline)
    chosen: dict[tuple[str, str], tuple[int, int | None]] = {}
    for agent in dict.fromkeys(agent for agent, _ in leads):
        is_ahead = {opponent: lead >= 0 for (name, opponent), lead in leads.items() if name == agent}
        own, others = (
            games[games["opponent"].map(wanted) == games["won"]]
            for games, wanted in (
                (_games_of(findings, agent), is_ahead),
                (of_baseline, {opponent: not ahead for opponent, ahead in is_ahead.items()}),
            )
        )
        twins = own.merge(others.drop_duplicates(_MEETING, keep="last"), "left", _MEETING, suffixes=("", "_twin"))
        twins = twins.assign(has_none=twins["game_twin"].isna()).sort_values(["has_none", "plies", "game"])
        best = twins.drop_duplicates("opponent")
        for opponent, game, twin in zip(best["opponent"], best["game"], best["game_twin"].fillna(-1), strict=True):
            chosen[agent, opponent] = int(game), int(twin) if twin >= 0 else None
    chosen = {pair: chosen[pair] for pair in leads if pair in chosen}
    return example_games(findings, chosen)


def games_by_placement(findings: RunResults, placements: Iterable[Placement]) -> dict[tuple[int, bool], ExampleGame]:
    """Return, by first cell and whether it was placed first, a game of the two best players of that placement."""
    size = commonest_size(findings)
    if size is None:
        return {}
    rank = {name: index for index, name in enumerate(findings.ranked)}
    ranks = [findings.games[side].map(lambda name: rank.get(name, len(rank))).to_numpy(int) for side in SIDES]
    cells = first_cells(findings, size)
    order = np.lexsort((findings.games["plies"].to_numpy(), np.sum(ranks, axis=0)))
    chosen: dict[tuple[int, bool], tuple[int, int | None]] = {}
    for placement in placements:
        own = order[np.isin(cells[0 if placement.placed_first else 1][order], placement.cells)]
        if own.size:
            chosen[placement.cell, placement.placed_first] = int(own[0]), None
    return example_games(findings, chosen)


def _games_of(findings: RunResults, agent: str | None) -> pd.DataFrame:
    """Return an agent's games: rows of the frame with their indices, the opponent, the side, and whether it won."""
    games = findings.games
    is_first = games["agent_1"] == agent
    opponent = games["agent_2"].where(is_first, games["agent_1"])
    is_won = (games["winner"] == 1) == is_first
    own = games.assign(game=np.arange(len(games)), opponent=opponent, is_first=is_first, won=is_won)
    return own.loc[is_first | (games["agent_2"] == agent), ["game", *_MEETING, "won", "plies"]]


def example_games(findings: RunResults, chosen: Mapping[Key, tuple[int, int | None]]) -> dict[Key, ExampleGame]:
    """Return the games at these indices of the frame, each with the one of opposite result, if there is one."""
    own_ids, runs = (findings.games[column].to_numpy() for column in ("own_id", "run"))
    moves = _moves(findings, [index for index, _ in chosen.values()])
    examples = {}
    for key, (index, twin) in chosen.items():
        row = findings.games.iloc[index]
        examples[key] = ExampleGame(
            run=int(row["run"]),
            game_id=int(row["own_id"]),
            size=_size(row["size"]),
            agents=(str(row["agent_1"]), str(row["agent_2"])),
            winner=int(row["winner"]),
            moves=moves[index],
            instead=None if twin is None or runs[twin] != row["run"] else int(own_ids[twin]),
        )
    return examples


def _moves(findings: RunResults, indices: list[int]) -> dict[int, tuple[int, ...]]:
    rows = findings.games.iloc[indices]
    moves_by_game: dict[tuple[int, int], tuple[int, ...]] = {}
    for number, source in enumerate(findings.sources):
        wanted = rows.loc[rows["run"] == number, "own_id"].to_numpy()

        def enter(games: Iterable[Table], number: int = number, wanted: Ints = wanted) -> None:
            for row in (row for table in games for row in among(table, wanted).to_pylist()):
                moves_by_game[number, row["game_id"]] = tuple(row["moves"])

        fold_batches(source.info.path, ["game_id", "moves"], enter)
    runs, ids = rows["run"].tolist(), rows["own_id"].tolist()
    return {index: moves_by_game[run, own] for index, run, own in zip(indices, runs, ids, strict=True)}


@dataclass(frozen=True)
class OpeningLead:
    """A contender's difference to the baseline where player 1 began on a cell, or on one of its images, `cells`.

    `lead` is the difference of the shares of games won, from the same openings, sides and opponents. `game` is the
    shortest that ended otherwise than the baseline's, in the direction of the lead.
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
    own, twin = (_games_of(findings, name).drop_duplicates(_MEETING) for name in (contender, findings.baseline))
    both = own.merge(twin, on=_MEETING, suffixes=("", "_twin"))
    canonical = np.array([canonical_opening([cell], *size)[0] for cell in range(size.cells)])
    first = first_cells(findings, size)[0][both["game"]]
    both = both.assign(gain=both["won"].astype(int) - both["won_twin"])
    leads, chosen = [], {}
    cells = np.where(first >= 0, canonical[first], -1)
    for cell in np.unique(canonical).tolist():
        here = both[cells == cell]
        openings = int(here["opening_id"].nunique())
        if openings < FEWEST:
            continue
        lead = float(here["gain"].mean())
        turned = here[here["gain"] == (1 if lead >= 0 else -1)].sort_values(["plies", "game"])
        if len(turned):
            chosen[cell] = int(turned["game"].iloc[0]), int(turned["game_twin"].iloc[0])
        leads.append((cell, tuple(np.flatnonzero(canonical == cell).tolist()), lead, openings))
    games = example_games(findings, chosen)
    return tuple(OpeningLead(*facts, games.get(facts[0])) for facts in leads)


_EDGES_AN_OCTAVE = 8


@dataclass(frozen=True, eq=False)
class Plies:
    """Moves without openings: mover (an index in the requested names), ply from 0, requested column, and who won."""

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
    """Return what `fold` makes of a per-ply column of the moves of `names`, some thousand games at a time, by run."""

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
    """An agent's unproven scores: numbers of winning and losing movers by ply, then score (mover's view), ascending."""

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

_EFFORT = ("nodes", "time_us", "depth")


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
    sums = np.zeros((1 + len(_EFFORT), len(names)))
    for source in findings.sources:

        def counted(games: Iterable[Table], called: Mapping[str, str] = source.names) -> Any:
            return total(_effort_of(table, called, names) for table in games)

        sums += fold_counted(source, ("opening", *_EFFORT), counted)
    return {name: Effort(*map(int, sums[:, index])) for index, name in enumerate(names)}


def _effort_of(games: Table, called: Mapping[str, str], names: Sequence[str]) -> npt.NDArray[np.float64]:
    players = np.stack([agent_codes(games, side, called, names) for side in SIDES])
    starts = lists(games, "nodes")[1]
    game = np.repeat(np.arange(len(games)), np.diff(starts))
    ply = np.arange(game.size) - starts[game]
    agent = players[ply % 2, game]
    moves = np.bincount(agent[ply >= lengths(games, "opening")[game]], minlength=len(names))
    return np.array([moves, *(np.bincount(agent, lists(games, column)[0], len(names)) for column in _EFFORT)])
