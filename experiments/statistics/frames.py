"""Results of runs side by side: verdicts, standings and ratings as pandas frames; differences of runs; equal games.

In frames shares are between 0 and 1, differences of shares between -1 and 1 (0.03 is three percentage points), ratings
in Elo. Nothing is rounded, and unknown values are NaN. `low` and `high` are the ends of a 95 % interval.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..record.log import read_games
from ..record.run_directory import is_imported
from ..record.schema import RunInfo
from .contender_verdicts import judge
from .paired_differences import HeadToHead
from .proportions import ALPHA, Interval, without_gap
from .ratings import rate
from .run_results import RunResults

if TYPE_CHECKING:
    import pandas as pd


VERDICTS = (
    *("contender", "baseline", "measure", "estimate", "low", "high", "joint_low", "joint_high", "p_value"),
    *("adjusted_p", "verdict", "is_control", "observations", "is_census", "run_state"),
)


STANDINGS = (
    *("agent", "wins", "games", "win_rate", "low", "high", "both_won", "split", "both_lost"),
    *("unfinished", "openings", "run_state"),
)


RATINGS = ("agent", "rating", "low", "high", "wins", "games", "is_zero", "half_game_added", "run_state")


def verdict_frame(findings: RunResults, alpha: float = ALPHA) -> pd.DataFrame:
    """Return a row for each contender and measure, in the order of the run: is it better than the baseline?

    Over shared opponents `measure` is ``difference``: `estimate` is the contender's win rate minus the baseline's, and
    `observations` are openings. Head to head it is ``score``: the share of games won against the baseline, where 0.5 is
    no difference, and `observations` are pairs. A gauntlet has both: they are two questions, and may have different
    answers. All values are about the openings of the run's kind on its board. `low`, `high` and `p_value` hold
    individually; `joint_low`, `joint_high` and `adjusted_p` hold for all rows of one measure except controls together.
    As long as games are missing, `joint_low`, `joint_high` and `verdict` are valid at any time, the others for a single
    look at the end, and `adjusted_p` is NaN. `verdict` is ``better`` or ``worse`` exactly if no difference is outside
    of `joint_low` to `joint_high`, or at an end that is open there: if `adjusted_p` is at most `alpha`. Otherwise it is
    ``no significant difference``, after a census also ``equal``. `is_census`: every existing opening was played.
    `run_state` is ``running``, ``stopped`` or ``finished``, as in all frames.

    ValueError if there is no baseline, or no agent to compare with it.
    """
    verdicts, rows = judge(findings, alpha), []
    for result in verdicts.results:
        alone, measure = (result.rate, "score") if isinstance(result, HeadToHead) else (result.difference, "difference")
        ends = (alone.low, alone.high, result.jointly.low, result.jointly.high)
        rows.append(
            (
                *(result.contender, result.baseline, measure, alone.estimate),
                *(without_gap(end, result.null) for end in ends),
                *(result.p_value, result.adjusted_p, result.verdict, result.contender in verdicts.controls),
                *(result.openings, result.is_census),
            )
        )
    return _frame(findings, rows, VERDICTS)


def standings_frame(findings: RunResults) -> pd.DataFrame:
    """Return one row per agent, the highest win rate first, over all opponents.

    `wins` and `games` count all games. `win_rate` is the share of games won in complete pairs, with an interval over
    openings. `both_won`, `split` and `both_lost` count the pairs, `unfinished` those that lack a game, and `openings`
    the openings played.
    """
    rows = [
        (
            *(each.agent, each.wins, each.games, each.rate.estimate, each.rate.low, each.rate.high),
            *(each.pairs.won, each.pairs.split, each.pairs.lost, each.unfinished, each.openings),
        )
        for each in findings.standings
    ]
    return _frame(findings, rows, STANDINGS)


def ratings_frame(findings: RunResults, zero: str | None = None) -> pd.DataFrame:
    """Return one row per agent, the highest rating first: Bradley-Terry ratings in Elo.

    Intervals are by bootstrap over openings; an end is infinite if the results do not bound it. The baseline, or the
    agent `zero`, is at 0, and its `is_zero` is true; without either the mean of the pool is 0. `half_game_added`: an
    agent was given half a game won and half a game lost, because it won, or lost, all its games against the largest
    group, or had none. ValueError if `zero` has no games.
    """
    ratings = rate(findings, zero)
    rows = [
        (
            *(each.agent, each.elo, each.low, each.high, each.wins, each.games),
            *(each.agent == ratings.zero, each.agent in ratings.half_game_added),
        )
        for each in ratings.ratings
    ]
    return _frame(findings, rows, RATINGS)


def _frame(findings: RunResults, rows: list[tuple[Any, ...]], columns: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([(*row, findings.state) for row in rows], columns=list(columns))


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
    settings = [[getattr(info.agents.get(name), "settings", None) for name in names] for info in (before, after)]
    agents = map(DesignChange, names, *settings)
    if imported:
        return tuple(change for change in (*changes, *agents) if _is_known(change) and change.before != change.after)
    changes += agents
    tools = dict.fromkeys((*before.versions, *after.versions))
    changes += [
        DesignChange(f"version of {tool}", before.versions.get(tool), after.versions.get(tool)) for tool in tools
    ]
    return tuple(change for change in changes if change.before != change.after)


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
