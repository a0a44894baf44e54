"""Make the table of rank correlations of the shipped suites with gauntlets.

`python -m benchmarks.make_gauntlet_agreements RUN...` computes it from finished gauntlets.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from knights_isolation.experiments.record.log import read_games
from knights_isolation.experiments.record.run_directory import load_run
from knights_isolation.experiments.record.schema import AgentEntry
from knights_isolation.experiments.studies.screening import collect_answers, score
from knights_isolation.experiments.suite.suite_file import FILE, Agreement, Suite, read_suite
from knights_isolation.isolation.files.received import write_shipped


def agreement_with(run: str | Path, suite: Suite, jobs: int = 1) -> Agreement:
    """Correlate a suite with a gauntlet, over its baseline and contenders.

    Raises:
        ValueError: there is no such run, it was played on another board, or it has fewer than three such agents.
    """
    info = load_run(run)
    facts = {name: entry for name, entry in info.agents.items() if {"baseline", "contender"} & set(entry.roles)}
    size = info.requested["board"]
    if size != str(suite.size) or len(facts) < 3:
        raise ValueError(f"{run}: {len(facts)} agents on {size} cannot be compared with a suite of {suite.size}")
    rates, specs = win_rates(run, facts), [entry.spec for entry in facts.values()]
    scores = [score(suite, asked) for asked in collect_answers(specs, suite.positions, jobs=jobs)]
    halves = (
        [score.kept.estimate for score in scores],
        [score.trouble for score in scores],
        [score.both for score in scores],
    )
    correlations = (float(spearmanr(rates, values).statistic) for values in halves)
    return Agreement(
        size, next(iter(facts.values())).limit_text, len(facts), int(info.requested["pairs"]), *correlations
    )


def win_rates(run: str | Path, agents: Mapping[str, AgentEntry]) -> list[float]:
    """Return each agent's share of games won."""
    games = read_games(run, ("agent_1", "agent_2", "winner"))
    names = games[["agent_1", "agent_2"]].astype(str).to_numpy()
    winner = names[np.arange(len(names)), games["winner"].to_numpy() - 1]
    return [float((winner == agent).sum() / (names == agent).any(axis=1).sum()) for agent in agents]


def write_agreements(runs: Sequence[str]) -> None:
    """Write the correlations of these gauntlets with the shipped suites of their boards."""
    agreements = [agreement_with(run, read_suite(load_run(run).requested["board"], "screen"), jobs=2) for run in runs]
    names = [field.name for field in fields(Agreement)]
    lines = [",".join(names)]
    for agreement in agreements:
        row = asdict(agreement)
        lines.append(",".join(f"{row[name]:.3f}" if isinstance(row[name], float) else str(row[name]) for name in names))
    write_shipped(FILE, "\n".join(lines) + "\n")


if __name__ == "__main__":
    write_agreements(sys.argv[1:])
