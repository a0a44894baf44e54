"""Ratings of heuristics over all runs of the folder that have one board and limit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..board.resources import Resources, run_of
from ..text.cell_values import Elo, Estimate
from .run_lines import RunLine, target_of

if TYPE_CHECKING:
    from knights_isolation.experiments.statistics.run_results import RunResults

MOST_GAMES = 1_000_000
"""Games that a pool reads; older runs beyond that are left out."""
_USUAL = "improved"
"""Heuristic whose rating is zero in pools without one baseline."""


@dataclass(frozen=True)
class RunPool:
    """Runs with one board and limit, the latest first, and the signatures of their files."""

    board: str
    limit: str
    runs: tuple[str, ...]
    seen: tuple[str, ...]


def pools(lines: Iterable[RunLine]) -> list[RunPool]:
    """Return the pools of runs that have games, those of most runs first."""
    by_question: dict[tuple[str, str], list[RunLine]] = defaultdict(list)
    for line in sorted(lines, key=lambda line: line.begun, reverse=True):
        if line.played and line.limit:
            by_question[line.board, line.limit].append(line)
    found = []
    for (board, limit), of_pool in by_question.items():
        read = np.cumsum([line.played for line in of_pool])
        latest = of_pool[: max(int(np.searchsorted(read, MOST_GAMES, side="right")), 1)]
        found.append(RunPool(board, limit, tuple(line.name for line in latest), tuple(line.seen for line in latest)))
    return sorted(found, key=lambda pool: -len(pool.runs))


def rated(shelf: Resources, runs: Sequence[str], limit: str) -> dict[str, Any]:
    """Return the ratings of the heuristics that agents with `limit` played.

    Each has a 95 % interval as text, what it is relative to, and the number of its runs and games.
    """
    from knights_isolation.experiments.statistics.run_results import load_findings
    from knights_isolation.experiments.verdicts.contender_verdicts import rate

    findings = load_findings([run_of(shelf, run) for run in runs], mixed=True)
    agents = _most_played(findings, limit)
    ratings = rate(findings, None if findings.baseline else agents.get(_USUAL))
    known = {rating.agent: rating for rating in ratings.ratings}
    zero = f"compared with {ratings.zero}" if ratings.zero else "above the mean of its pool"
    rows = {}
    for reference, agent in agents.items():
        if agent in known:
            rating = known[agent]
            text = Estimate(*map(Elo, (rating.elo, rating.low, rating.high))).text
            played = sum(agent in source.names.values() for source in findings.sources)
            scale = "the zero of its pool" if agent == ratings.zero else zero
            rows[reference] = {"elo": text, "zero": scale, "runs": played, "games": rating.games}
    return {"ratings": rows}


def _most_played(findings: RunResults, limit: str) -> dict[str, str]:
    """Return for each heuristic, as the gallery calls it, its agent of this limit: the baseline, or else of most games.

    A control stands for no heuristic: it is the baseline on other openings.
    """
    pairs = findings.all_pairs
    games = np.bincount(np.concatenate([pairs.first, pairs.second]), minlength=len(pairs.agents))
    found: dict[str, str] = {}
    for name in sorted(pairs.agents, key=lambda name: (name == findings.baseline, games[pairs.code(name)])):
        facts = findings.agents[name]
        is_shown = facts.limit_text == limit and "control" not in facts.roles
        if is_shown and (reference := target_of(facts.spec).rpartition("/")[2]):
            found[reference] = name
    return found
