"""Results by first placement, symmetric cells merged; visits by cell; example games for the numbers of a report."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.geometry import canonical_opening

from ..record.columns import Table, among, lists, numbers, on_board
from ..record.log import fold_batches
from .proportions import Interval, Ints, rate_interval
from .run_results import SIDES, RunResults, fold_counted

if TYPE_CHECKING:
    import pandas as pd


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


FEWEST = 5
"""Minimum number of openings for a cell to be shown."""

_NOTHING = GroupedCounts((np.zeros(0, np.int64),) * 3, (np.zeros(0, np.int64),) * 2)


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
    by_player = []
    for number, cells in enumerate(first_cells(findings, size)):
        there = cells >= 0
        own, won = canonical[cells[there]], (winner[there] == number + 1).astype(np.int64)
        by_player.append(count_groups([np.full(own.size, number), own, orbit[there]], [np.ones_like(won), won]))
    counted = merge_counts(by_player, _NOTHING)
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


Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class ExampleGame:
    """An example game, its run by index in `RunResults.sources`, its board as rows and columns.

    The agent that placed first comes first in `agents`; `winner` is 1 or 2. `instead` is the baseline's game in the
    same run, from the same opening, on the same side and against the same opponent, with the opposite result; None if
    there is none.
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
    signs: dict[str, dict[str, bool]] = {}
    for (agent, opponent), lead in leads.items():
        signs.setdefault(agent, {})[opponent] = lead >= 0
    of_baseline = _games_of(findings, findings.baseline)
    chosen: dict[tuple[str, str], tuple[int, int | None]] = {}
    for agent, is_ahead in signs.items():
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
        for table in fold_batches(source.info.path, ["game_id", "moves"], partial(_these, wanted)):
            for own, moves in zip(table["game_id"].to_pylist(), table["moves"].to_pylist(), strict=True):
                moves_by_game[number, own] = tuple(moves)
    runs, ids = rows["run"].tolist(), rows["own_id"].tolist()
    return {index: moves_by_game[run, own] for index, run, own in zip(indices, runs, ids, strict=True)}


def _these(wanted: Ints, games: Iterable[Table]) -> list[Table]:
    return [among(table, wanted) for table in games]


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


def total(parts: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the sum of arrays of one shape; 0 without any."""
    return np.asarray(sum(parts))
