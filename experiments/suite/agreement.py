"""How far the order in which a suite puts agents is that of a gauntlet they have played.

`python -m experiments.suite.agreement RUN...` writes the table of what was found so far, which ships with the project,
from gauntlets that have been played.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from experiments import log
from experiments.facts import AgentFacts
from experiments.runs import load_run
from experiments.suite.asking import ask_all
from experiments.suite.screening import Score, screen
from experiments.suite.store import Suite, read_suite
from isolation.durable import write_text

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


def agreement_with(run: str | Path, suite: Suite, jobs: int = 1) -> Agreement:
    """The agreement of a suite with a gauntlet, on its baseline and contenders.

    Raises:
        ValueError: there is no such run, it was played on another board, or it has fewer than three such agents.
    """
    info = load_run(run)
    facts = [one for one in info.agents.values() if {"baseline", "contender"} & set(one.roles)]
    size = info.requested["board"]
    if size != suite.size or len(facts) < 3:
        raise ValueError(f"{run}: {len(facts)} agents on {size} cannot be compared with a suite of {suite.size}")
    rates = win_rates(run, facts)
    first, *rest = ask_all([one.spec for one in facts], suite.positions, jobs=jobs)
    screening = screen(suite, first, rest)
    scores = [screening.baseline, *(score for score, _ in screening.contenders)]
    return Agreement(
        size, facts[0].limit_text, len(facts), int(info.requested["pairs"]),
        *(_correlation(rates, scores, half) for half in ("kept", "trouble", "both")),
    )  # fmt: skip


def win_rates(run: str | Path, agents: Sequence[AgentFacts]) -> list[float]:
    """The share of its games that each agent has won."""
    games = log.read_games(run, ("agent_1", "agent_2", "winner"))
    names = games[["agent_1", "agent_2"]].astype(str).to_numpy()
    winner = names[np.arange(len(names)), games["winner"].to_numpy() - 1]
    return [float((winner == one.name).sum() / (names == one.name).any(axis=1).sum()) for one in agents]


def known_agreements(size: str) -> list[Agreement]:
    """What was found so far on boards of a size, the smallest limit first."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = [
            Agreement(row["size"], row["limit"], int(row["agents"]), int(row["pairs"]),
                      *(float(row[half]) for half in ("kept", "trouble", "both")))
            for row in csv.DictReader(file)
        ]  # fmt: skip
    return [row for row in rows if row.size == size]


def write_agreements(runs: Sequence[str]) -> None:
    """Write what these gauntlets say of the shipped suites of their boards."""
    found = [agreement_with(run, read_suite(load_run(run).requested["board"], "screen"), jobs=2) for run in runs]
    names = [field.name for field in fields(Agreement)]
    lines = [",".join(names)]
    for one in found:
        row = asdict(one)
        lines.append(",".join(f"{row[name]:.3f}" if isinstance(row[name], float) else str(row[name]) for name in names))
    write_text(FILE, "\n".join(lines) + "\n")


def _correlation(rates: Sequence[float], scores: Sequence[Score], half: str) -> float:
    return float(spearmanr(rates, [getattr(score, half).estimate for score in scores]).statistic)


if __name__ == "__main__":
    write_agreements(sys.argv[1:])
