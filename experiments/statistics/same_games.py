"""Agents that played the same games, move by move: they cannot be compared, whatever their code says."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..record.log import read_games
from .run_results import RunResults


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
