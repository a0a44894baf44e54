"""Differences of two runs: designs, agents, shared games, rates."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..record.log import read_games
from ..record.run_directory import is_imported
from ..record.schema import RunInfo
from .proportions import Interval

if TYPE_CHECKING:
    import pandas as pd


_ROLES = {"contenders": "contender", "baseline": "baseline", "opponents": "opponent"}
"""Keys of the design that name agents, and the roles of those."""


_KNOWN_OF_IMPORTED = ("board",)
"""Facts that are known about games that were played elsewhere."""


_GAME = ["agent_1", "agent_2", "opening", "rows", "columns"]


@dataclass(frozen=True)
class DesignChange:
    """A key of the design, or code, or a version, that differs between the runs."""

    what: str
    before: Any
    after: Any


@dataclass(frozen=True)
class SharedGames:
    """Games that both runs have: same players by name, same sides, same opening; and those with the same moves.

    `unchanged` are the agents all of whose games are in both runs, with the same moves.
    """

    games: int
    same_winner: int
    same_moves: int
    unchanged: frozenset[str]


def design_changes(before: RunInfo, after: RunInfo) -> tuple[DesignChange, ...]:
    """Return changed keys of the request, agents with other settings, agents of one run only, and changed versions.

    Agents count as equal in the request if their completed specs are equal. Little is known about imported games, so
    only that is compared.
    """
    imported = is_imported(before) or is_imported(after)
    keys = _KNOWN_OF_IMPORTED if imported else dict.fromkeys((*before.requested, *after.requested))
    changes = [DesignChange(key, _requested_value(before, key), _requested_value(after, key)) for key in keys]
    names = dict.fromkeys((*before.agents, *after.agents))
    settings = [[_settings(info, name) for name in names] for info in (before, after)]
    agents = map(DesignChange, names, *settings)
    if imported:
        return tuple(change for change in (*changes, *agents) if _is_known(change) and change.before != change.after)
    changes += agents
    tools = dict.fromkeys((*before.versions, *after.versions))
    changes += [
        DesignChange(f"version of {tool}", before.versions.get(tool), after.versions.get(tool)) for tool in tools
    ]
    return tuple(change for change in changes if change.before != change.after)


def _settings(info: RunInfo, agent: str) -> str | None:
    return info.agents[agent].settings if agent in info.agents else None


def _requested_value(info: RunInfo, key: str) -> Any:
    asked = info.requested.get(key)
    if key not in _ROLES or not asked:
        return asked
    return sorted(entry.spec for entry in info.agents.values() if _ROLES[key] in entry.roles)


def _is_known(change: DesignChange) -> bool:
    """Return whether a change applies to an imported run, of whose players only the names are known."""
    return change.what in _KNOWN_OF_IMPORTED or None in (change.before, change.after)


def shared_games(before: Path, after: Path) -> SharedGames:
    """Count the games that both runs have, and those with the same moves."""
    first, other = (_keyed(path) for path in (before, after))
    both = first.add_suffix("_before").join(other.add_suffix("_after"), how="inner")
    same_winner = both["winner_before"] == both["winner_after"]
    same_moves = both["moves_before"] == both["moves_after"]
    counts = [
        Counter(name for column in _GAME[:2] for name in games.index.get_level_values(column))
        for games in (first, other, both[same_moves & same_winner])
    ]
    unchanged = frozenset(name for name in counts[2] if len({count[name] for count in counts}) == 1)
    return SharedGames(len(both), int(same_winner.sum()), int(same_moves.sum()), unchanged)


def difference_of(before: Interval, after: Interval) -> Interval:
    """Estimate the difference of two rates from separate runs, from their own intervals.

    Newcombe, R. G. (1998), "Interval estimation for the difference between independent proportions", method 10. If the
    runs share openings it is conservative.
    """
    change = after.estimate - before.estimate
    down = math.hypot(after.estimate - after.low, before.high - before.estimate)
    up = math.hypot(after.high - after.estimate, before.estimate - before.low)
    return Interval(change, max(change - down, -1.0), min(change + up, 1.0), after.confidence)


def _keyed(path: Path) -> pd.DataFrame:
    games = read_games(path, [*_GAME, "winner", "moves"])
    for column in ("opening", "moves"):
        games[column] = [cells.tobytes() for cells in games[column]]
    for column in ("agent_1", "agent_2"):
        games[column] = games[column].astype(str)
    return games.drop_duplicates(_GAME).set_index(_GAME)
