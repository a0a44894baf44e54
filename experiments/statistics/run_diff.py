"""Differences of two runs: designs, agents, shared games; runs of one question at other costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..plan.agent_facts import read_facts, run_facts
from ..record.log import read_games
from ..record.run_directory import FACTS, RunInfo, is_imported, load_run
from .contender_verdicts import judge
from .paired_differences import Comparison, HeadToHead
from .proportions import Interval
from .run_results import RunResults, load_findings

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
    settings = [[info.agents.get(name, {}).get("settings") for name in names] for info in (before, after)]
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
    return sorted(entry["spec"] for entry in info.agents.values() if _ROLES[key] in entry["roles"])


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


_SAME = ("board", "format", "openings", "limit")
"""Keys that must be equal in two runs that differ in their cost only."""


@dataclass(frozen=True)
class EqualCost:
    """A run at equal cost, and its verdicts on contenders, by their names in the other run."""

    run: Path
    claims: dict[str, Comparison | HeadToHead]


def equal_cost_verdicts(findings: RunResults, names: Iterable[str]) -> EqualCost | None:
    """Return the verdicts on these contenders of the latest equal-cost run in the same folder; None if there are none.

    That run has the same settings and the same baseline, and its contenders differ from these in their limits only.
    """
    wanted = {findings.agents[name].apart_from_limit: name for name in names}
    for info in _beside(findings):
        facts = [run_facts(name, entry) for name, entry in info.agents.items() if "contender" in entry["roles"]]
        called = {fact.name: wanted[fact.apart_from_limit] for fact in facts if fact.apart_from_limit in wanted}
        verdicts = judge(load_findings([info.path])) if called else None
        claims = verdicts.judged if verdicts else ()
        if claims_by_name := {called[claim.contender]: claim for claim in claims if claim.contender in called}:
            return EqualCost(info.path, claims_by_name)
    return None


def _beside(findings: RunResults) -> Iterator[RunInfo]:
    """Yield runs of the same settings at equal cost in the folder of a run, the latest first."""
    first, baseline = findings.sources[0].info, findings.agents[findings.baseline or ""]
    runs = []
    for facts in first.path.parent.glob(f"*/{FACTS}"):
        with suppress(ValueError):  # unreadable runs are skipped
            runs.append(load_run(facts.parent))
    for info in sorted(runs, key=lambda info: info.created_at, reverse=True):
        asked = info.requested
        is_same = all(asked.get(key) == first.requested.get(key) for key in _SAME)
        settings = read_facts(info.agents[info.baseline]["settings"]).settings if info.baseline else None
        if asked.get("equal_cost") and is_same and settings == baseline.settings:
            yield info
