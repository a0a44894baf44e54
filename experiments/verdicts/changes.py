"""What changed between two runs: their designs, their agents, and the games that both have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.inference.clusters import Interval
from experiments.log import read_games
from experiments.runs import RunInfo

_GAME = ["agent_1", "agent_2", "opening", "rows", "columns"]


@dataclass(frozen=True)
class DesignChange:
    """A key of the design, or the code or the version of something, that is not the same in both runs."""

    what: str
    before: Any
    after: Any


@dataclass(frozen=True)
class SharedGames:
    """Games that both runs have: same players by name, same sides, same opening; those played alike move by move."""

    games: int
    same_winner: int
    same_moves: int


def design_changes(before: RunInfo, after: RunInfo) -> tuple[DesignChange, ...]:
    """What was asked for otherwise, agents with other settings, agents of one run only, and other versions."""
    keys = dict.fromkeys((*before.requested, *after.requested))
    found = [DesignChange(key, before.requested.get(key), after.requested.get(key)) for key in keys]
    names = dict.fromkeys((*before.agents, *after.agents))
    settings = [[info.agents.get(name, {}).get("settings") for name in names] for info in (before, after)]
    found += map(DesignChange, names, *settings)
    tools = dict.fromkeys((*before.versions, *after.versions))
    found += [DesignChange(f"version of {tool}", before.versions.get(tool), after.versions.get(tool)) for tool in tools]
    return tuple(change for change in found if change.before != change.after)


def shared_games(before: Path, after: Path) -> SharedGames:
    """How many games both runs have, and how far they went alike."""
    one, other = (_keyed(path) for path in (before, after))
    both = one.add_suffix("_before").join(other.add_suffix("_after"), how="inner")
    same_winner = both["winner_before"] == both["winner_after"]
    same_moves = both["moves_before"] == both["moves_after"]
    return SharedGames(len(both), int(same_winner.sum()), int(same_moves.sum()))


def difference_of(before: Interval, after: Interval) -> Interval:
    """The difference of two rates that were measured apart, by their own intervals.

    Newcombe, R. G. (1998), "Interval estimation for the difference between independent proportions", method 10. Where
    the runs share openings it is too wide rather than too narrow.
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
