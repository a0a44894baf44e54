"""A heuristic before and after, judged where nothing was learned from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from experiments.suite.agent_answers import ask
from experiments.suite.screening import Screening, screen
from experiments.suite.suite_file import Suite
from isolation.players.agents import SearchAgent
from isolation.rules.limits import Limit
from isolation.rules.parameters import bind_parameters


def screened(
    heuristic: Callable[[Any, Any], float], values: Mapping[str, float], held_out: Suite, limit: Limit
) -> Screening:
    """The heuristic under new values beside itself as it is, in a suite's positions."""
    before, after = (
        ask(SearchAgent(name, "alphabeta", function, name, limit), held_out.positions)
        for name, function in (("before", heuristic), ("after", bind_parameters(heuristic, values)))
    )
    return screen(held_out, before, [after])
