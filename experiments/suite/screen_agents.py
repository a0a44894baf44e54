"""Screen agents: ask them in the positions of a suite, and compare their answers with the baseline's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knights_isolation.isolation.checks.search_cost import Cost
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.rules.limits import Limit

from . import agent_answers
from .agent_answers import AgentAnswers
from .screening import Mistake, Screening, screen, worst_mistakes
from .suite_file import Suite

MISTAKES = 5
"""Number of mistakes that are shown of each contender."""


@dataclass(frozen=True)
class Screened:
    """Scores on a suite, by contender the clearest mistakes, and by agent the cost of a node.

    `own` and `others` are the answers of baseline and contenders; for `failing` see `agent_answers.failing_positions`.
    """

    screening: Screening
    mistakes: dict[str, list[Mistake]]
    costs: dict[str, Cost]
    own: AgentAnswers
    others: tuple[AgentAnswers, ...]
    failing: dict[str, tuple[str, Board]]


def screen_agents(
    specs: Sequence[str], suite: Suite, limit: Limit | None, *, equal_cost: bool, **settings: Any
) -> Screened:
    """Compare agents with the first, the baseline, in all positions of a suite; `settings` are of `collect_answers`.

    Raises:
        ValueError: an agent is invalid, the baseline is alone, or user code does not answer in time.
    """
    asked = agent_answers.scaled_specs(specs, limit, suite.size) if equal_cost else specs
    own, *others = agent_answers.collect_answers(asked, suite.positions, limit=limit, **settings)
    if not others:
        raise ValueError(f"{own.name} is the baseline itself: name another contender or another --baseline")
    costs = agent_answers.costs_over_first([own.spec, *(other.spec for other in others)], suite.size)
    failing = agent_answers.failing_positions([own, *others], suite.positions)
    mistakes = {other.name: worst_mistakes(suite, other, own, MISTAKES) for other in others}
    return Screened(screen(suite, own, others), mistakes, costs, own, tuple(others), failing)
