"""Forfeits by agent and reason."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from knights_isolation.isolation.rules.outcome import ON_THE_BOARD

from ..record.log import codes_in, read_games
from .run_results import RunResults


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
    is_forfeit = codes_in(ON_THE_BOARD, findings.table["reason"]) < 0
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
