"""Agents of a run: costs per node, effort, forfeits, and whether some played the same games."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knights_isolation.isolation.rules.limits import Cost
from knights_isolation.isolation.rules.outcome import ON_THE_BOARD

from ..record.columns import Table, codes, lengths, lists, numbers
from ..record.log import read_games
from .argument_checks import Ints
from .run_results import LoadedRun, RunResults, fold_counted


def node_costs(findings: RunResults) -> dict[str, Cost]:
    """Return the costs of all agents whose runs know them, relative to the reference agent of each run."""
    costs: dict[str, Cost] = {}
    for source in findings.sources:
        for name, cost in source.info.processor_costs.items():
            costs.setdefault(source.names[name], cost)
    return costs


def relative_costs(findings: RunResults) -> dict[str, Cost]:
    """Return the costs relative to the baseline's, for agents whose run knows both."""
    costs: dict[str, Cost] = {}
    for source in findings.sources:
        known = {source.names[name]: cost for name, cost in source.info.processor_costs.items()}
        if usual := known.get(findings.baseline or ""):
            costs = {name: cost.over(usual) for name, cost in known.items()} | costs
    return costs


@dataclass(frozen=True)
class ForfeitGroup:
    """Games an agent lost for one reason: their number, and run, id and details of the first one."""

    agent: str
    reason: str
    games: int
    run: Path
    game_id: int
    detail: str


def forfeits_of(findings: RunResults) -> tuple[ForfeitGroup, ...]:
    """Group the games that were not decided on the board by loser and reason, largest group first."""
    is_forfeit = codes(findings.table, "reason", ON_THE_BOARD) < 0
    if not is_forfeit.any():
        return ()
    lost = findings.games[is_forfeit]
    loser = np.where(lost["winner"] == 1, lost["agent_2"].astype(str), lost["agent_1"].astype(str))
    details = {number: _details(findings.sources[number].info.path) for number in lost["run"].unique()}
    groups = []
    for (agent, reason), group in lost.groupby([loser, lost["reason"].astype(str)]):
        run, own_id = int(group["run"].iloc[0]), int(group["own_id"].iloc[0])
        path = findings.sources[run].info.path
        groups.append(ForfeitGroup(str(agent), str(reason), len(group), path, own_id, details[run].get(own_id, "")))
    return tuple(sorted(groups, key=lambda group: -group.games))


def _details(run: Path) -> dict[int, str]:
    frame = read_games(run, ["game_id", "detail"])
    with_detail = frame[(frame["detail"] != "").to_numpy()]
    return dict(zip(with_detail["game_id"].tolist(), with_detail["detail"].tolist(), strict=True))


def games_by_agent(result: RunResults) -> dict[str, bytes]:
    """Return a hash of the games of each agent of a run: openings, sides and moves."""
    (source,) = result.sources
    games = read_games(source.info.path, ["agent_1", "agent_2", "moves"])
    digests: dict[str, Any] = {name: hashlib.sha256() for name in source.info.agents}
    for first, second, moves in zip(games["agent_1"], games["agent_2"], games["moves"], strict=True):
        for side, name in ((b"1", first), (b"2", second)):
            digests[name].update(side + np.asarray(moves).tobytes())
    return {source.names[name]: digest.digest() for name, digest in digests.items()}


def same_games(result: RunResults, names: list[str]) -> list[list[str]]:
    """Return those of some agents that played the same games, in groups."""
    groups: dict[bytes, list[str]] = {}
    games = games_by_agent(result)
    for name in names:
        groups.setdefault(games[name], []).append(name)
    return [group for group in groups.values() if len(group) > 1]


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


def total(parts: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the sum of arrays of one shape; 0 without any."""
    return np.asarray(sum(parts))


def agent_codes(table: Table, side: str, names: list[str], called: Mapping[str, str]) -> Ints:
    """Return the indices in `names` of a column of agents, after renaming them by `called`; −1 for others."""
    indices = [names.index(name) if name in names else -1 for name in called.values()]
    return np.array([*indices, -1], np.int64)[codes(table, side, tuple(called))]


def _sums(names: list[str], source: LoadedRun, games: Iterable[Table]) -> npt.NDArray[np.float64]:
    return total(_sums_of(names, source, table) for table in games)


def _sums_of(names: list[str], source: LoadedRun, table: Table) -> npt.NDArray[np.float64]:
    players = [agent_codes(table, side, names, source.names) for side in ("agent_1", "agent_2")]
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
