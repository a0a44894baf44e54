"""Estimate how long a plan takes to play."""

from __future__ import annotations

import math

from knights_isolation.isolation.rules.geometry import parse_size

from .agent_facts import AgentFacts, read_facts
from .tournament_plan import Entrant, Plan

WITHIN = 2.5
"""Factor by which the forecast may be wrong in either direction: heuristics and machines differ."""
_NODE = 20e-9
"""Seconds per node: `improved` needs 14e-9 on one core, the shipped heuristics more on average."""
_SHARE_OF_NODES = 0.65
"""Mean share of a node limit that moves use: late in the game trees are smaller."""
_TREE_NODES = {"mcts": 2e-6, "bestfirst": 0.2e-6}
"""Seconds per simulation, and per position of best-first search: both descend a tree for each."""
_BRANCHING = {"minimax": 3.7, "alphabeta": 2.7}
"""Branching factor: the nodes of a search of depth d are about this to the power of d."""
_GAME = 150e-6
"""Seconds per game besides its moves: logging it and transferring it."""
_SHARE_OF_CELLS = 0.62
"""Share of the board's cells that are visited when a game ends."""


def seconds_to_play(plan: Plan, games: int | None = None) -> float:
    """Estimate the CPU seconds that a plan, or `games` of its games, takes, within a factor of `WITHIN`.

    Code that cannot be compiled is slower, which is unknown before it has been tried. Moves of
    the agents in `of_unknown_speed` are not included.
    """
    rows, columns = parse_size(plan.schedule.size)
    moves = max(_SHARE_OF_CELLS * rows * columns - plan.schedule.cells.shape[1], 1) / 2
    costs = [_seconds_a_move(entrant) for entrant in plan.entrants]
    total = math.fsum(
        2 * match.pairs * (_GAME + moves * (costs[match.first] + costs[match.second]))
        for match in plan.schedule.matches
    )
    return total if games is None else total * games / len(plan.schedule)


def of_unknown_speed(plan: Plan) -> list[str]:
    """Return the engines whose speed is unknown: those without a time limit."""
    return [entrant.agent.name for entrant in plan.entrants if _has_unknown_speed(read_facts(entrant.settings))]


def whole_limits(plan: Plan) -> list[str]:
    """Return notes about classic players, which may use less than the time limit that the forecast assumes."""
    return [
        f"{entrant.agent.name} uses its full {_seconds_a_move(entrant) * 1000:g} ms per move"
        for entrant in plan.entrants
        if entrant.agent.is_user_code and not entrant.agent.is_compilable
    ]


def _has_unknown_speed(facts: AgentFacts) -> bool:
    return facts.is_unknown and (facts.limit is None or facts.limit[0] in ("depth", "nodes"))


def _seconds_a_move(entrant: Entrant) -> float:
    facts = read_facts(entrant.settings)
    if _has_unknown_speed(facts):
        return 0.0
    if facts.limit is None:
        return 1e-6
    unit, value = facts.limit
    if unit in ("ms", "cpu_ms"):
        return value / 1000
    if unit == "depth":
        return _NODE * math.exp(value * math.log(_BRANCHING.get(facts.method, 3.0)))
    return value * _TREE_NODES.get(facts.method, _SHARE_OF_NODES * _NODE)
