"""Agents of a run: costs per node, forfeits, and whether some played the same games."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from knights_isolation.isolation.rules.game import ON_THE_BOARD, Cost

from ..record.columns import codes
from ..record.log import read_games
from .run_results import RunResults


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
