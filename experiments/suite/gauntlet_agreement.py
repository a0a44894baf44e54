"""Rank correlation of suites with gauntlets.

`benchmarks/make_gauntlet_agreements.py` computes the table of correlations, which ships with the project.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from knights_isolation.isolation.files.received import read_shipped

from ..plan.agent_facts import AgentFacts, run_facts
from ..record import log
from ..record.run_directory import load_run
from .agent_answers import collect_answers
from .screening import score
from .suite_file import Suite

FILE = Path(__file__).with_name("data") / "gauntlets.csv"


@dataclass(frozen=True)
class Agreement:
    """Rank correlations (Spearman) between a gauntlet's win rates and a suite's scores of the same agents.

    Attributes:
        size: board.
        limit: limit of the agents, in the syntax of specs.
        agents: number of agents.
        pairs: number of openings that each of them played against each opponent, on both sides.
        kept, trouble, both: correlations of wins kept, of trouble, and of both.
    """

    size: str
    limit: str
    agents: int
    pairs: int
    kept: float
    trouble: float
    both: float


def known_agreements(name: str) -> list[Agreement]:
    """Return the known correlations of a shipped suite, by ascending limit; empty for other suites."""
    rows = TypeAdapter(list[Agreement]).validate_python([*csv.DictReader(read_shipped(FILE).decode().splitlines())])
    return [row for row in rows if row.size == name]


def agreement_with(run: str | Path, suite: Suite, jobs: int = 1) -> Agreement:
    """Correlate a suite with a gauntlet, over its baseline and contenders.

    Raises:
        ValueError: there is no such run, it was played on another board, or it has fewer than three such agents.
    """
    info = load_run(run)
    everybody = (run_facts(name, entry) for name, entry in info.agents.items())
    facts = [agent for agent in everybody if {"baseline", "contender"} & set(agent.roles)]
    size = info.requested["board"]
    if size != suite.size or len(facts) < 3:
        raise ValueError(f"{run}: {len(facts)} agents on {size} cannot be compared with a suite of {suite.size}")
    rates = win_rates(run, facts)
    scores = [
        score(suite, asked) for asked in collect_answers([fact.spec for fact in facts], suite.positions, jobs=jobs)
    ]
    halves = (
        [score.kept.estimate for score in scores],
        [score.trouble for score in scores],
        [score.both for score in scores],
    )
    from scipy.stats import spearmanr  # here, since its import takes a second, and most read the shipped table

    correlations = (float(spearmanr(rates, values).statistic) for values in halves)
    return Agreement(size, facts[0].limit_text, len(facts), int(info.requested["pairs"]), *correlations)


def win_rates(run: str | Path, agents: Sequence[AgentFacts]) -> list[float]:
    """Return each agent's share of games won."""
    games = log.read_games(run, ("agent_1", "agent_2", "winner"))
    names = games[["agent_1", "agent_2"]].astype(str).to_numpy()
    winner = names[np.arange(len(names)), games["winner"].to_numpy() - 1]
    return [float((winner == agent.name).sum() / (names == agent.name).any(axis=1).sum()) for agent in agents]
