"""What the order of a suite has meant for gauntlets so far: a small table that ships with the project."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from isolation.files.shipped_data import read_shipped

FILE = Path(__file__).with_name("data") / "gauntlets.csv"


@dataclass(frozen=True)
class Agreement:
    """Rank correlations (Spearman) between a gauntlet's win rates and what a suite says of the same agents.

    Attributes:
        size: of the board.
        limit: of the agents, as specs have it.
        agents: how many.
        pairs: openings that each of them played against each opponent, both sides.
        kept, trouble, both: of wins kept alone, of trouble alone, of both.
    """

    size: str
    limit: str
    agents: int
    pairs: int
    kept: float
    trouble: float
    both: float


def known_agreements(name: str) -> list[Agreement]:
    """What was found so far of a shipped suite, the smallest limit first; nothing of others."""
    rows = [
        Agreement(row["size"], row["limit"], int(row["agents"]), int(row["pairs"]),
                  *(float(row[half]) for half in ("kept", "trouble", "both")))
        for row in csv.DictReader(read_shipped(FILE).decode().splitlines())
    ]  # fmt: skip
    return [row for row in rows if row.size == name]
